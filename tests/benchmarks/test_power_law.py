import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from power_law import Point, fit_power_law


def curve(floor: float, scale: float, exponent: float, n: int = 10_000) -> list[Point]:
    images = [100_000 * 2**doubling for doubling in range(6)]
    return [
        Point(each, floor + scale * each**-exponent, n, "constant") for each in images
    ]


@pytest.mark.parametrize(("floor", "exponent"), [(0.0, 0.5), (0.1, 0.5), (0.05, 1.0)])
def test_a_power_law_is_found_again(floor, exponent):
    points = curve(floor, 0.5 * 100_000**exponent, exponent)
    law = fit_power_law(points, with_floor=True)
    assert law.floor == pytest.approx(floor, abs=1e-3)
    assert law.exponent == pytest.approx(exponent, abs=0.01)
    for point in points:
        assert law.at(point.images) == pytest.approx(point.error, abs=1e-4)
    assert law.at(1e7) == pytest.approx(floor + 0.5 * 100**-exponent, abs=2e-3)


def test_the_interval_widens_with_the_distance_and_narrows_with_words():
    widths = {}
    for n in (500, 50_000):
        law = fit_power_law(curve(0.05, 150, 0.5, n), with_floor=True)
        for images in (1e6, 1e8):
            low, high = law.interval(images)
            assert low <= law.at(images) <= high
            widths[n, images] = high - low
    assert widths[500, 1e6] > 3 * widths[50_000, 1e6]
    assert widths[500, 1e8] > widths[500, 1e6]


def test_as_many_points_as_numbers():
    points = curve(0.1, 150, 0.5)
    assert fit_power_law(points[:2], with_floor=False).exponent > 0
    with pytest.raises(
        ValueError, match="3 numbers need as many points or more, found 2"
    ):
        fit_power_law(points[:2], with_floor=True)
