"""Figures of an evaluation: how far confidence can be believed, and which words are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from vit_str.evaluation.breakdown import AcceptedWords, Group
from vit_str.evaluation.breakdown import breakdown as kinds
from vit_str.evaluation.breakdown import rejection as kept_shares
from vit_str.evaluation.calibration import Calibration
from vit_str.evaluation.markdown import FIGURES
from vit_str.evaluation.metrics import FULL
from vit_str.evaluation.report import Report
from vit_str.evaluation.statistics import Interval
from vit_str.files import write_atomically
from vit_str.reports.images import figure_image, png
from vit_str.reports.style import (
    COLORS,
    GRID,
    INK,
    MUTED,
    figure,
    model_colors,
    plain,
    shortened,
    styled,
)

_COLUMNS = 4
_NAME = 28
_METRICS = {"word_accuracy_36": "36 characters", "word_accuracy_full": "exact"}
_FEWEST = 5
"""Words that a bin or group needs to be drawn: fewer say next to nothing."""

# The page has the others already: aspects say what is tall, the reliability what is sure.
_DIMENSIONS = ("length", "case", "aspect", "height")


def write_figures(report: Report, folder: Path) -> None:
    """Write every one of ``markdown.FIGURES`` as ``<name>.png``, each atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, sheet in figures_of(report).items():
        with write_atomically(folder / f"{name}.png") as path:
            path.write_bytes(png(figure_image(sheet)))


def figures_of(report: Report) -> dict[str, Figure]:
    """Every one of ``markdown.FIGURES``: name -> figure."""
    parts = report.parts()
    groups = {name: each for name, each in kinds(report.whole).items() if name in _DIMENSIONS}
    figures = {
        "reliability": reliability(
            {
                name: (("36 characters", calibration), ("exact", words.calibration(FULL)))
                for name, (words, _, calibration) in parts.items()
            }
        ),
        "rejection": rejection({name: kept_shares(words) for name, (words, _, _) in parts.items()}),
        "breakdown": breakdown(groups),
    }
    assert set(figures) == set(FIGURES)
    return figures


@styled()
def reliability(calibrations: Mapping[str, Sequence[tuple[str, Calibration]]]) -> Figure:
    """A panel for every set: share of right words in each bin against its mean confidence.

    Args:
        calibrations: set -> (what counts as right, calibration) for every line.
    """
    rows = -(-len(calibrations) // _COLUMNS)
    columns = min(len(calibrations), _COLUMNS)
    sheet = figure(max(4.2, 2.7 * columns), 3.1 * rows + 0.3)
    grid = list(sheet.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    for unused in grid[len(calibrations) :]:
        unused.remove()
    for axes, (name, lines) in zip(grid, calibrations.items(), strict=False):
        _reliability(axes, lines)
        axes.set_title(plain(shortened(name, _NAME)))
        axes.set_xlabel("confidence")
    for axes in grid[::_COLUMNS]:
        axes.set_ylabel("share of words that are right")
    handles, labels = grid[0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return sheet


def _reliability(axes: Axes, lines: Sequence[tuple[str, Calibration]]) -> None:
    most = max((each.n for _, calibration in lines for each in calibration.bins), default=0)
    bins = lines[0][1].bins if lines else ()
    axes.bar(
        [each.low for each in bins],
        [0.25 * each.n / max(most, 1) for each in bins],
        [each.high - each.low for each in bins],
        align="edge",
        color=GRID,
        edgecolor="white",
        label="share of words",
    )
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)), label="honest")
    for (label, calibration), color in zip(lines, COLORS, strict=False):
        drawn = [each for each in calibration.bins if each.n >= _FEWEST]
        axes.plot(
            [each.confidence for each in drawn],
            [each.accuracy for each in drawn],
            "o-",
            markersize=3.5,
            color=color,
            label=plain(label),
        )
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xticks=(0, 0.5, 1), yticks=(0, 0.25, 0.5, 0.75, 1))


@styled()
def rejection(kept: Mapping[str, Sequence[AcceptedWords]]) -> Figure:
    """Share of right words, 36 characters, of the surest so many, a line for every set.

    Args:
        kept: set -> accuracies, see `breakdown.rejection`.
    """
    sheet = figure(7.5, 3.6)
    axes = sheet.subplots()
    for name, color in model_colors(kept).items():
        known = [each for each in kept[name] if each.shares["word_accuracy_36"].n]
        shares = [each.shares["word_accuracy_36"] for each in known]
        covered = [100 * each.coverage for each in known]
        low, high = ([100 * share.interval[end] for share in shares] for end in (0, 1))
        axes.fill_between(covered, low, high, color=color, alpha=0.13, linewidth=0)
        values = [100 * share.value for share in shares]
        label = plain(shortened(name, _NAME))
        axes.plot(covered, values, "o-", markersize=3, color=color, label=label)
    axes.set(xlabel="words that are kept, the surest first (%)", ylabel="right, word 36 (%)")
    axes.set_xlim(102, 8)
    axes.legend(loc="lower right")
    return sheet


@styled()
def breakdown(groups: Mapping[str, Sequence[Group]]) -> Figure:
    """A panel for every dimension: accuracy of its groups with intervals, and how many words.

    Args:
        groups: dimension -> its groups, see `breakdown.breakdown`.
    """
    shown = {name: each for name, each in groups.items() if each}
    lines = [len(each) for each in shown.values()]
    most = [max(lines[row : row + 2]) for row in range(0, len(lines), 2)] or [1]
    sheet = figure(10.5, sum(0.25 * each + 0.75 for each in most) + 0.4)
    grid = list(sheet.subplots(len(most), 2, squeeze=False, sharex=True, height_ratios=most).flat)
    for unused in grid[len(shown) :]:
        unused.remove()
    for axes, (name, each) in zip(grid, shown.items(), strict=False):
        _breakdown(axes, each)
        axes.set_title(plain(name))
    for axes in grid[max(0, len(shown) - 2) : len(shown)]:
        axes.set_xlabel("right (%), 95 % interval")
        axes.xaxis.set_tick_params(labelbottom=True)
    if shown:
        handles, labels = grid[0].get_legend_handles_labels()
        sheet.legend(handles, labels, loc="outside upper right", ncols=len(labels))
    return sheet


def _breakdown(axes: Axes, groups: Sequence[Group]) -> None:
    for place, (metric, label) in enumerate(_METRICS.items()):
        known = [(row, each) for row, each in enumerate(groups) if each.shares[metric].n]
        shares = [each.shares[metric] for _, each in known]
        values = [100 * share.value for share in shares]
        axes.errorbar(
            values,
            [row + 0.26 * place - 0.13 for row, _ in known],
            xerr=_reach(values, [share.interval for share in shares]),
            fmt="o",
            markersize=4,
            color=COLORS[place],
            elinewidth=1.1,
            label=label,
        )
    names = [f"{plain(each.name)}  ({each.n:,})" for each in groups]
    axes.set_yticks(range(len(groups)), names, color=INK)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(-2, 102)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(visible=False, axis="y")


def _reach(values: Sequence[float], intervals: Sequence[Interval]) -> list[list[float]]:
    """How far intervals go below and above values, all in percent."""
    pairs = list(zip(values, intervals, strict=True))
    below = [max(0.0, value - 100 * low) for value, (low, _) in pairs]
    above = [max(0.0, 100 * high - value) for value, (_, high) in pairs]
    return [below, above]
