import random
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from vit_str.evaluation import breakdown as kinds
from vit_str.evaluation.figures import (
    breakdown,
    figures_of,
    rejection,
    reliability,
    write_figures,
)
from vit_str.evaluation.markdown import FIGURES
from vit_str.evaluation.report import Report
from vit_str.evaluation.words import ReadWords


def words(n: int) -> ReadWords:
    numbers = random.Random(0)
    labels = [numbers.choice(["Hotel", "EXIT", "42", "a-b"]) for _ in range(n)]
    sure = [numbers.random() for _ in labels]
    texts = [
        label if numbers.random() < each else "x" for label, each in zip(labels, sure, strict=True)
    ]
    return ReadWords(labels, texts, list(sure), sizes=[(20, 60)] * n)


def drawn(figure: Figure) -> np.ndarray:
    file = BytesIO()
    figure.savefig(file, dpi=50)
    return np.asarray(Image.open(file).convert("L"))


def test_reliability_has_a_panel_for_every_set() -> None:
    found = words(300)
    lines = [("36", found.calibration()), ("exact", found.calibration("full"))]
    names = ["one", "$two_", "three", "four", "five"]
    sheet = reliability(dict.fromkeys(names, lines))
    assert len(sheet.axes) == 5
    axes = sheet.axes[0]
    _, first, second = axes.lines
    for line, (_, calibration) in zip((first, second), lines, strict=True):
        bins = [each for each in calibration.bins if each.n >= 5]
        assert len(bins) > 5
        assert list(line.get_xdata()) == [each.confidence for each in bins]
        assert list(line.get_ydata()) == [each.accuracy for each in bins]
    heights = [bar.get_height() for bar in axes.patches]
    assert max(heights) == pytest.approx(0.25)
    assert len(np.unique(drawn(sheet))) > 10


def test_rejection_has_a_line_for_every_set() -> None:
    kept = kinds.rejection(words(300))
    sheet = rejection({"one": kept, "nothing": kinds.rejection(ReadWords([], [], []))})
    line, nothing = sheet.axes[0].lines
    assert list(line.get_xdata()) == pytest.approx([100, 90, 80, 70, 60, 50, 40, 30, 20, 10])
    values = [100 * each.shares["word_accuracy_36"].value for each in kept]
    assert list(line.get_ydata()) == values
    assert values[-1] > values[0]
    assert len(nothing.get_xdata()) == 0
    drawn(sheet)


def test_breakdown_has_a_row_for_every_group() -> None:
    groups = kinds.breakdown(words(100))
    groups["empty"] = []
    sheet = breakdown(groups)
    assert [axes.get_title(loc="left") for axes in sheet.axes] == [
        *("length", "case", "orientation", "aspect", "height", "confidence")
    ]
    case = sheet.axes[1]
    names = [label.get_text() for label in case.get_yticklabels()]
    assert names == [f"{group.name}  ({group.n})" for group in groups["case"]]
    assert len(np.unique(drawn(sheet))) > 10


def test_breakdown_of_nothing() -> None:
    groups = kinds.breakdown(ReadWords(["한"], ["한"], [None]))
    sheet = breakdown(groups)
    assert [axes.get_title(loc="left") for axes in sheet.axes] == ["length", "case"]
    drawn(sheet)
    drawn(breakdown(kinds.breakdown(ReadWords([], [], []))))


def report() -> Report:
    one = ReadWords(["Hotel"] * 9, ["Hotel"] * 8 + ["x"], [0.9] * 8 + [0.1], sizes=[(20, 60)] * 9)
    return Report({"one": one, "two": ReadWords(["한글"], ["한글"], [0.5])})


def test_files(tmp_path: Path) -> None:
    titles = [axes.get_title(loc="left") for axes in figures_of(report())["breakdown"].axes]
    assert titles == ["length", "case", "aspect", "height"]
    write_figures(report(), tmp_path / "new")
    files = sorted(tmp_path.joinpath("new").iterdir())
    assert [file.name for file in files] == sorted(f"{name}.png" for name in FIGURES)
    for file in files:
        with Image.open(file) as image:
            assert image.width > 400
            assert not image.info, "nothing about who drew it and when"
