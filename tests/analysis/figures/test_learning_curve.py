from vit_str.analysis.learning_curve import Phase, Point, fit_power_law
from vit_str.analysis.learning_curve.figures import learning_curve


def test_points_by_phase_and_laws_beyond_them() -> None:
    phases: list[Phase] = ["before reading", "constant", "constant", "constant", "decay"]
    errors = [0.95, 0.4, 0.3, 0.25, 0.2]
    points = [
        Point(100_000 * (place + 1), error, 500, phase)
        for place, (error, phase) in enumerate(zip(errors, phases, strict=True))
    ]
    law = fit_power_law(points[1:4], with_floor=False)
    sheet = learning_curve({"a": points, "b": points}, {"a": law}, 5e6)
    (axes,) = sheet.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn = [list(line.get_ydata()) for line in axes.lines]
    for expected in ([0.95], [0.4, 0.3, 0.25], [0.2]):
        assert drawn.count(expected) == 2
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1, "only sets with a law have one"
    assert dashed[0].get_xdata()[-1] == 5e6
    assert dashed[0].get_ydata()[-1] == law.at(5e6)
    assert len(axes.collections) == 1
    assert {"a", "b", "decay"} < {text.get_text() for text in axes.get_legend().get_texts()}
