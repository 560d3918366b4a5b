from vit_str.analysis.distance.training import along_training

from vit_str.analysis.results import Row


def rows(model: str, distance: float) -> list[Row]:
    values = {1: distance - 5, 2: distance + 5, None: distance}
    return [
        Row(model, layer, head, "distance", "px", "renormalized", value, value - 1, value + 1, 9)
        for layer in (1, 2)
        for head, value in values.items()
    ]


def test_lines_of_layers_in_the_order_of_training() -> None:
    table = [*rows("late", 10.0), *rows("start", 45.0), *rows("middle", 30.0)]
    images = {"late": 1_500_000, "start": 0, "middle": 4_096}
    sheet = along_training(table, images, {"uniform": 45.4, "window 3x3": 8.1})
    means, nearest = sheet.axes[:2]
    for axes, expected in ((means, [45, 30, 10]), (nearest, [40, 25, 5])):
        curves = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 3]
        assert [list(curve) for curve in curves] == [expected, expected]
    labels = [text.get_text() for text in means.get_xticklabels()]
    assert labels == ["0", "4.1k", "1.5M"]
