"""What twice and ten times as many images would bring, as far as the logs of a training tell.

    python benchmarks/learning_curve.py RUN_FOLDER|metrics.csv ... --out curve.png [--json FILE]

Joins the legs of one run (``log/metrics.csv`` or ``log/version_*/metrics.csv`` in its folder, or
the files in their order) and fits ``error = floor + scale * images ** -exponent``, with the floor
free and with none, to the validations at the full learning rate after the model has begun to read.
Validations while the rate falls are better than such a law knows: how much better the last of them
is than the law at its place is applied to the forecast. For comparison also to all validations
after that beginning. The figure marks them all and shows the first of these laws that there are
points enough for.
"""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator
from measuring import add_json, described_parser, table, write_json
from power_law import Phase, Point, PowerLaw, fit_power_law

from vit_str.console import reason_of
from vit_str.reports.style import MUTED, figure, model_colors, plain, styled

_METRIC = "/word_accuracy_36"
_COLUMNS = ("step", "images", "learning_rate")  # of each log
_NO_LOG = (
    "not the log of a training; give the folder of a run, or metrics.csv in its log/"
)
_FULL = 0.999
_TIMES = (2, 10)
_LAWS: dict[str, tuple[bool, tuple[Phase, ...]]] = {
    "free floor": (True, ("constant",)),
    "no floor": (False, ("constant",)),
    "free floor, decay too": (True, ("constant", "decay")),
    "no floor, decay too": (False, ("constant", "decay")),
}
"""Whether the floor is free, and the points that are fitted."""


_MARKS = {"before reading": "x", "constant": "o", "decay": "D"}
_ERRORS = 0.02, 0.05, 0.1, 0.2, 0.5, 1.0


def main() -> int:
    """Join, fit, print, draw."""
    options = _parser().parse_args()
    try:
        files = chain.from_iterable(_files(place) for place in options.logs)
        rows = joined([read_leg(file) for file in files])
        curves = points(rows, _words(options.words), options.takeoff)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"learning_curve: {reason_of(error)}\n")
        return 2
    laws = {}
    cells = []
    values = {}
    for name, curve in curves.items():
        found = _laws(curve)
        values[name] = {"points": [asdict(point) for point in curve], "laws": {}}
        for kind, law in found.items():
            forecast = _forecast(curve, kind, law)
            values[name]["laws"][kind] = forecast
            cells.append(_row(name, kind, forecast))
        if found:
            laws[name] = next(iter(found.values()))
    promised = tuple(f"x{times}" for times in _TIMES)
    titles = ("set", "law", "points", "floor", "exponent", "last", *promised)
    print(table([titles, *cells]))
    print(_remarks(curves))
    if options.out:
        last = max(point.images for point in chain.from_iterable(curves.values()))
        learning_curve(curves, laws, max(_TIMES) * last).savefig(options.out, dpi=150)
    write_json(options.json, values)
    return 0


@styled()
def learning_curve(
    points: Mapping[str, Sequence[Point]], laws: Mapping[str, PowerLaw], furthest: float
) -> Figure:
    """One color per set; lines end at the last point they were fitted to, then they are dashed.

    Args:
        points: set -> validations.
        laws: set -> what was fitted to its points of the constant phase; sets may lack.
        furthest: images to draw the laws to.
    """
    sheet = figure(7.2, 4.6)
    axes = sheet.subplots()
    for name, color in model_colors(points).items():
        _draw_points(axes, points[name], color)
        if name in laws:
            fitted = [
                point.images for point in points[name] if point.phase == "constant"
            ]
            _draw_law(axes, laws[name], min(fitted), max(fitted), furthest, color)
        axes.plot([], [], "o", color=color, label=plain(name))
    for phase, mark in _MARKS.items():
        filling = MUTED if phase == "constant" else "none"
        axes.plot([], [], mark, color=MUTED, markerfacecolor=filling, label=phase)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="images seen",
        ylabel="words read wrong (%)",
    )
    lowest = min(point.error for point in chain.from_iterable(points.values()))
    axes.set_ylim(max(0.004, lowest / 3), 1.1)
    axes.set_yticks(_ERRORS)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(loc="lower left", ncols=2, fontsize=8)
    return sheet


def _draw_points(axes: Axes, points: Sequence[Point], color: str) -> None:
    for phase, mark in _MARKS.items():
        chosen = [point for point in points if point.phase == phase]
        axes.plot(
            [point.images for point in chosen],
            [point.error for point in chosen],
            mark,
            color=color,
            markersize=4.5,
            markerfacecolor=color if phase == "constant" else "none",
            alpha=0.5 if phase == "before reading" else 1,
        )


def _draw_law(
    axes: Axes, law: PowerLaw, first: float, last: float, furthest: float, color: str
) -> None:
    seen = np.geomspace(first, last, 40)
    beyond = np.geomspace(last, furthest, 60)
    axes.plot(seen, [law.at(images) for images in seen], color=color, linewidth=1.2)
    axes.plot(
        beyond,
        [law.at(images) for images in beyond],
        "--",
        color=color,
        linewidth=1.2,
    )
    band = np.array([law.interval(images) for images in beyond]).clip(1e-4)
    axes.fill_between(
        beyond,
        band[:, 0],
        band[:, 1],
        color=color,
        alpha=0.12,
        linewidth=0,
    )


def _short(number: float) -> str:
    return f"{number / 1e6:g}M" if number >= 1e6 else f"{number / 1e3:g}k"


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    parser.add_argument(
        "logs",
        type=Path,
        nargs="+",
        help="folder of the run, or its CSV files",
    )
    parser.add_argument("--out", type=Path, help="figure (.png, .pdf, .svg)")
    add_json(parser)
    parser.add_argument(
        "--words",
        nargs="+",
        default=[],
        metavar="SET=N",
        help="words judged of a set (500 each)",
    )
    parser.add_argument(
        "--takeoff",
        type=float,
        default=0.5,
        help="the model reads from this share of its best accuracy on (0.5)",
    )
    return parser


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    found = sorted(
        place.glob("log/version_*/metrics.csv"),
        key=lambda file: int(file.parent.name[8:]),
    )
    found += place.glob("log/metrics.csv")
    if not found:
        raise ValueError(f"{place}: no log/metrics.csv in it")
    return found


def read_leg(file: Path) -> list[dict[str, float]]:
    """Rows of a log, without empty cells; a ValueError if it is none."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            missing = [
                name for name in _COLUMNS if name not in (reader.fieldnames or ())
            ]
            if missing:
                raise ValueError(f"no column {', '.join(missing)}")
            rows = [
                {name: float(cell) for name, cell in row.items() if cell}
                for row in reader
            ]
            if any("step" not in row for row in rows):
                raise ValueError("a row without a step")
    except (ValueError, TypeError, csv.Error) as error:
        raise ValueError(f"{file}: {_NO_LOG} ({reason_of(error)})") from None
    return rows


def joined(legs: Sequence[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Rows of all legs by step; what a leg did after the place where the next began is dropped."""
    rows: list[dict[str, float]] = []
    for leg in filter(None, legs):  # one may have ended before its first row
        start = min(row["step"] for row in leg)
        rows = [row for row in rows if row["step"] < start] + leg
    return sorted(rows, key=lambda row: row["step"])


def points(
    rows: Sequence[dict[str, float]], words: dict[str, int], takeoff: float
) -> dict[str, list[Point]]:
    """Set -> validations. Images and learning rate are those of the nearest step with a loss."""
    steps = [row for row in rows if "images" in row and row["step"] > 0]
    at = np.array([row["step"] for row in steps])
    rates = np.array([row["learning_rate"] for row in steps])
    columns = set(chain.from_iterable(rows))
    names = sorted(name for name in columns if name.endswith(_METRIC))
    if not names:
        raise ValueError(f"no column {_METRIC} in these logs: train with validation")
    curves = {}
    for name in names:
        validations = [row for row in rows if name in row]
        best = max(row[name] for row in validations)
        curve = []
        for row in validations:
            nearest = int(np.abs(at - row["step"]).argmin())
            phase: Phase = "decay"
            if rates[nearest] >= _FULL * rates.max():
                phase = "constant" if row[name] >= takeoff * best else "before reading"
            elif at[nearest] < at[rates.argmax()]:
                phase = "before reading"
            per_step = steps[nearest]["images"] / at[nearest]
            images = round((row["step"] + 1) * per_step)
            n = words.get(name.removesuffix(_METRIC), 500)
            curve.append(Point(images, 1 - row[name], n, phase))
        curves[name.removesuffix(_METRIC)] = curve
    return curves


def _words(given: Sequence[str]) -> dict[str, int]:
    return {name: int(n) for name, _, n in (text.partition("=") for text in given)}


def _laws(curve: Sequence[Point]) -> dict[str, PowerLaw]:
    """Those that there are points enough for, a point more than numbers if the floor is free."""
    laws = {}
    for kind, (with_floor, phases) in _LAWS.items():
        fitted = [point for point in curve if point.phase in phases]
        if len(fitted) >= (4 if with_floor else 2):
            laws[kind] = fit_power_law(fitted, with_floor)
    return laws


def _forecast(curve: Sequence[Point], kind: str, law: PowerLaw) -> dict[str, Any]:
    last = curve[-1]
    _, phases = _LAWS[kind]
    # Of what the law expects without decay, so much was left after it.
    factor = last.error / law.at(last.images) if phases == ("constant",) else 1.0
    return {
        "points": sum(point.phase in phases for point in curve),
        "floor": law.floor,
        "exponent": law.exponent,
        "last": 1 - last.error,
        "decay_factor": factor,
        "promised": [_promise(law, factor, times * last.images) for times in _TIMES],
    }


def _promise(law: PowerLaw, factor: float, images: int) -> dict[str, Any]:
    low, high = law.interval(images)
    return {
        "images": images,
        "accuracy": 1 - factor * law.at(images),
        "interval": (1 - factor * high, 1 - factor * low),
    }


def _row(name: str, kind: str, found: dict[str, Any]) -> tuple[str, ...]:
    doubtful = "  law too steep" if found["decay_factor"] > 1 else ""
    *promised, furthest = [_percent(promise) for promise in found["promised"]]
    return (
        name,
        kind,
        str(found["points"]),
        f"{100 * found['floor']:.1f}",
        f"{found['exponent']:.2f}",
        f"{100 * found['last']:.1f}",
        *promised,
        f"{furthest}{doubtful}",
    )


def _percent(promise: dict[str, Any]) -> str:
    low, high = promise["interval"]
    return f"{100 * promise['accuracy']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _remarks(curves: dict[str, list[Point]]) -> str:
    first = next(iter(curves.values()))
    fitted = [point.images for point in first if point.phase == "constant"] or [1]
    last = first[-1].images
    reach = max(fitted) / min(fitted)
    furthest = max(_TIMES)
    beyond = furthest * last / max(fitted)
    return f"""
Word accuracy (36), percent. last: after {last:,} images; x2, x10: after {_TIMES[0] * last:,}
and {furthest * last:,} and a decay that helps as much as this one did [95 % of fits to words drawn
anew].
How little this can be trusted: the points at the full rate span a factor of {reach:.1f} in images,
the last forecast lies {beyond:.0f} times beyond them. The intervals know chance in the words only,
not other seeds, not other laws: the rows of a set differ by more, and that is the better measure.
"law too steep": it promised less error at the end of this very run than the run had after its
decay. "decay too": fitted to points of a falling rate as well, which makes a law look steeper than
it is.
A free floor needs four points."""


if __name__ == "__main__":
    sys.exit(main())
