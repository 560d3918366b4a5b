import pytest

from studies import Verdict, sinusoid
from vit_str.models.positions import sinusoidal_positions


def test_formula_is_that_of_the_models() -> None:
    exact = sinusoid.exact_positions(50, 32)
    assert (exact.float() - sinusoidal_positions(50, 32)).abs().max() < 1e-7
    assert exact[0].tolist() == [0.0, 1.0] * 16
    assert exact.norm(dim=1) == pytest.approx([4.0] * 50)


def test_distance_depends_on_the_offset_only() -> None:
    exact = sinusoid.exact_positions(60, 16)
    curve = sinusoid.distance_by_offset(16, 60)
    for first, second in ((0, 7), (50, 57), (57, 50)):
        assert float((exact[first] - exact[second]).norm()) == pytest.approx(float(curve[7]))
    assert curve[0] == 0
    assert float(sinusoid.distance_by_offset(2, 2)[1]) == pytest.approx(
        0.9588510772
    )  # 2 sin(1 / 2)


def test_properties_are_exact() -> None:
    found = sinusoid.properties(80, 32)
    assert float(found["spread"]) < 1e-12
    assert float(found["rotation error"]) < 1e-12
    assert found["largest value"] == 1.0
    assert found["same in half the length"] is True
    assert sinusoid.is_prefix(40, 8)


def test_a_wrong_turn_is_noticed() -> None:
    exact = sinusoid.exact_positions(40, 8)
    assert sinusoid.rotation_error(exact[:, [1, 0, 3, 2, 5, 4, 7, 6]]) > 0.1


def test_verdicts() -> None:
    assert sinusoid.judge(1.0, 1e-13, True) is Verdict.SUPPORTED
    assert sinusoid.judge(1e-5, 1e-13, True) is Verdict.PARTLY
    assert sinusoid.judge(1.0, 1e-3, True) is Verdict.PARTLY
    assert sinusoid.judge(0.0, 1.0, False) is Verdict.NOT_SUPPORTED
