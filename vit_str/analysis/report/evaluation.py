"""The figures of an evaluation, beside its page of Markdown."""

from pathlib import Path

from matplotlib.figure import Figure

from vit_str.analysis.figures.evaluation import breakdown, rejection, reliability
from vit_str.analysis.report.illustrations import of_figure
from vit_str.analysis.tables import write_whole
from vit_str.evaluation import Report
from vit_str.evaluation.breakdown import breakdown as kinds
from vit_str.evaluation.breakdown import rejection as kept
from vit_str.evaluation.markdown import FIGURES
from vit_str.metrics import FULL

# The others are there already: aspects tell what is tall, the reliability what is sure.
_KINDS = ("length", "case", "aspect", "height")


def figures_of(report: Report) -> dict[str, Figure]:
    """Every one of ``markdown.FIGURES``: name -> figure."""
    parts = report.parts()
    groups = {name: each for name, each in kinds(report.whole).items() if name in _KINDS}
    found = {
        "reliability": reliability(
            {
                name: (("36 characters", calibration), ("exact", words.calibration(FULL)))
                for name, (words, _, calibration) in parts.items()
            }
        ),
        "rejection": rejection({name: kept(words) for name, (words, _, _) in parts.items()}),
        "breakdown": breakdown(groups),
    }
    assert set(found) == set(FIGURES)
    return found


def write_figures(report: Report, folder: Path) -> None:
    """Write the figures as ``<name>.png``, each whole or not at all.

    Raises:
        OSError: one cannot be written.
    """
    for name, each in figures_of(report).items():
        write_whole(folder / f"{name}.png", of_figure(each).png)
