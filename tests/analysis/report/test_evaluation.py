from pathlib import Path

from PIL import Image

from vit_str.analysis.report.evaluation import figures_of, write_figures
from vit_str.evaluation import ReadWords, Report
from vit_str.evaluation.markdown import FIGURES


def report() -> Report:
    one = ReadWords(["Hotel"] * 9, ["Hotel"] * 8 + ["x"], [0.9] * 8 + [0.1], sizes=[(20, 60)] * 9)
    return Report.of({"one": one, "two": ReadWords(["한글"], ["한글"], [0.5])})


def test_the_figures_of_the_page() -> None:
    figures = figures_of(report())
    assert list(figures) == list(FIGURES)
    titles = [axes.get_title(loc="left") for axes in figures["reliability"].axes]
    assert titles == ["one", "two", "all"]
    titles = [axes.get_title(loc="left") for axes in figures["breakdown"].axes]
    assert titles == ["length", "case", "aspect", "height"]


def test_files(tmp_path: Path) -> None:
    write_figures(report(), tmp_path / "new")
    files = sorted(tmp_path.joinpath("new").iterdir())
    assert [file.name for file in files] == sorted(f"{name}.png" for name in FIGURES)
    for file in files:
        with Image.open(file) as image:
            assert image.width > 400
            assert not image.info, "nothing about who drew it and when"


def test_nothing_to_draw(tmp_path: Path) -> None:
    write_figures(Report.of({"x": ReadWords([], [], [])}), tmp_path)
    assert len(list(tmp_path.iterdir())) == len(FIGURES)
