"""Print goes to the network of the package, photographs to another detector."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find import detectors
from vit_str.pages.find.detection import find_lines
from vit_str.pages.find.detectors import AUTO, open_detector

pytest.importorskip("cv2")
LINE = np.array([(10, 10), (90, 10), (90, 30), (10, 30)], float)
TEXT = "The harbor office opens at nine and boats leave with the tide"


class Other:
    """A detector that knows one line and counts the images it is asked for."""

    opened = 0

    def __init__(self) -> None:
        type(self).opened += 1
        self.sizes: list[tuple[int, int]] = []

    def lines(self, image: Image.Image) -> list[np.ndarray]:
        self.sizes.append(image.size)
        return [LINE]


@pytest.fixture
def by_kind(monkeypatch):
    monkeypatch.setattr(Other, "opened", 0)
    monkeypatch.setattr(detectors, "RapidDetector", Other)
    monkeypatch.setattr(detectors, "detector_file", lambda: "a file")
    return open_detector(AUTO)


def picture(fonts, rows: int, size: int = 24) -> Image.Image:
    image = Image.new("RGB", (900, 700), "white")
    font = ImageFont.truetype(str(fonts / "DejaVuSans.ttf"), size)
    for row in range(rows):
        place = (40, 30 + 40 * row)
        ImageDraw.Draw(image).text(place, TEXT, "black", font)
    return image


def test_print_is_for_our_own_network(by_kind, matplotlib_fonts):
    lines = find_lines(by_kind, picture(matplotlib_fonts, 6)).quadrilaterals
    assert len(lines) == 6
    assert Other.opened == 0


def test_all_else_is_for_the_other_one_that_is_opened_once(by_kind, matplotlib_fonts):
    for image in (picture(matplotlib_fonts, 1), Image.new("RGB", (640, 480), "gray")):
        assert np.allclose(find_lines(by_kind, image).quadrilaterals, [LINE])
        assert np.allclose(by_kind.lines(image), [LINE])
    assert Other.opened == 1
    assert by_kind.lacking == 0


def test_without_another_detector_ours_takes_all_and_counts(
    monkeypatch, matplotlib_fonts
):
    monkeypatch.setattr(detectors, "detector_file", lambda: None)
    detector = open_detector(AUTO)
    few, many = picture(matplotlib_fonts, 1), picture(matplotlib_fonts, 6)
    lines = [find_lines(detector, each).quadrilaterals for each in (few, many)]
    assert [len(each) for each in lines] == [1, 6]
    assert detector.lacking == 1


def test_large_type_and_small_type_are_print(matplotlib_fonts):
    finder = open_detector("ours")
    assert finder.sees_print(picture(matplotlib_fonts, 12, 14))
    large = picture(matplotlib_fonts, 6).resize((2700, 2100))
    assert finder.sees_print(large)
