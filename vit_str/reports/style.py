"""How figures look: one set of colors, lines and fonts, and nothing of pyplot's global state.

Functions that draw are decorated with ``@styled()``, start from `figure` and give labels that come
from users through `plain`::

    @styled()
    def depth(rows: pd.DataFrame) -> Figure:
        sheet = figure(8, 4)
        axes = sheet.subplots()
"""

import logging
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from typing import Any, cast

import matplotlib
import matplotlib.style
from cycler import cycler
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.typing import ColorType

PLATE = "#ffffff"
"""Ground of every figure, on light and on dark pages alike."""
INK = "#23262b"
MUTED = "#666c75"
GRID = "#e7e5df"
COLORS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b0578d",
    "#b98500",
    "#3a3f8f",
    "#4a9fce",
    "#7a4f2a",
)
"""One for each model, distinct for color-blind readers too (after Okabe and Ito, darkened)."""

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")

LineStyle = dict[str, Any]
UNIFORM: LineStyle = {"color": INK, "linewidth": 1.1, "linestyle": (0, (6, 2.5))}
WINDOW: LineStyle = {"color": INK, "linewidth": 1.1, "linestyle": (0, (1.2, 2))}
UNTRAINED: LineStyle = {"color": "#c4b49c", "linewidth": 2.2, "linestyle": "-"}
UNTRAINED_INK = "#7d705f"
"""For letters about untrained models: their lines are too pale to read."""

DEPTH: Colormap = LinearSegmentedColormap.from_list(
    "depth", ["#e0a526", "#cf6a4c", "#a83b74", "#5b2a86", "#1d1a4b"]
)
"""From the first layer (light) to the last (dark): lightness falls evenly."""
HEAT: Colormap = LinearSegmentedColormap.from_list(
    "heat", ["#fbfaf7", "#f3d9a4", "#e79a62", "#c44f5c", "#7a2365", "#25103f"], 128
)
"""Attention, from none (the ground of the page) to the most."""
RATIO: Colormap = LinearSegmentedColormap.from_list(
    "ratio",
    [
        *((0.0, "#64809a"), (0.3, "#b9c8d3"), (0.5, "#f8f6f1")),
        *((0.64, "#f3c48c"), (0.8, "#dc6b40"), (1.0, "#6a1730")),
    ],
    129,
)
"""From less than chance (cool, pale) to more (warm, strong), as much as chance in the middle."""

STYLE: dict[str, Any] = {
    # Comes with matplotlib: the same figure on every machine
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#a5a8ad",
    "axes.facecolor": PLATE,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=COLORS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "svg.hashsalt": "vit-str",  # the same figure, the same file
    "pdf.fonttype": 42,  # letters that other programs can edit
    "figure.facecolor": PLATE,
    "savefig.facecolor": PLATE,
}

# Families that draw what DejaVu Sans lacks, on Linux, macOS and Windows; those installed are used.
_FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Hiragino Sans GB",
    "Arial Unicode MS",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Yu Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "IPAGothic",
    "M PLUS 2",
    "Noto Sans",
    "Noto Sans Arabic",
    *(
        "Noto Sans Hebrew",
        "Noto Sans Devanagari",
        "Noto Sans Bengali",
        "Noto Sans Tamil",
    ),
    "Noto Sans Thai",
    "Noto Sans KR",
    "Noto Sans Symbols2",
    "FreeSans",
    "Unifont",
)


@contextmanager
def styled() -> Iterator[None]:
    """Draw in our style inside; as ``@styled()`` on functions. The caller's settings stay."""
    with matplotlib.style.context(STYLE, after_reset=True):
        yield


def figure(width: float, height: float) -> Figure:
    """An empty figure, size in inches: 7.5 fill the text column of a page, 10.5 are the widest."""
    with styled():
        sheet = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(sheet)
    return sheet


def plain(text: object) -> str:
    """Text from users, such as file names, as matplotlib draws it letter by letter.

    Dollars are no formulas, control characters and bytes that are not UTF-8 show as �, an empty
    text or one that starts with an underscore keeps its place in a legend.
    """
    shown = printable(str(text)).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{shown}" if shown[:1] in ("", "_") else shown


def printable(text: str, kept: str = "") -> str:
    """Text without control characters but those to keep, and without what UTF-8 cannot hold."""

    def shown(letter: str) -> str:
        is_control = unicodedata.category(letter) in ("Cc", "Cs")
        if is_control and letter not in kept:
            return "\N{REPLACEMENT CHARACTER}"
        return letter

    return "".join(map(shown, text))


def plain_lines(text: str, width: int) -> str:
    """Plain text in two lines at most, broken after a separator where there is one."""
    text = shortened(text, 2 * width)
    if len(text) <= width:
        return plain(text)
    end = max(text.rfind(separator, 0, width) + 1 for separator in "/ _-,")
    end = end if len(text) - end <= width else width
    return f"{plain(text[:end].rstrip())}\n{plain(text[end:])}"


def shortened(text: str, length: int) -> str:
    """The text, without its middle if it is too long: names of files differ at the end."""
    if len(text) <= length:
        return text
    start = length // 3
    return f"{text[:start]}…{text[start + 1 - length :]}"


def model_colors(names: Iterable[str]) -> dict[str, str]:
    """A color for every model, in order; untrained models are muted."""
    colors = cycle(COLORS)
    return {
        name: UNTRAINED_INK if is_untrained(name) else next(colors) for name in names
    }


def model_marks(names: Iterable[str]) -> dict[str, str]:
    """A mark for every model, in order, which tells them apart where colors are not printed."""
    return dict(zip(names, cycle(_MARKS), strict=False))


def is_untrained(name: str) -> bool:
    """Whether a model of this name has the weights of its initialization."""
    return name.startswith("untrained:")


def depth_color(layer: int, layers: int) -> tuple[float, float, float, float]:
    """Color of a layer, counted from 1, of a model with so many."""
    return DEPTH((layer - 1) / max(layers - 1, 1))


def dot_style(color: ColorType, hollow: bool) -> LineStyle:
    """A dot that is full, or hollow with its color around."""
    return {"markerfacecolor": PLATE if hollow else color, "markeredgecolor": color}


def chance_style(name: str) -> LineStyle:
    """How the line or mark of a chance value looks: "uniform", "window 3x3", "untrained"."""
    styles = {"uniform": UNIFORM, "untrained": UNTRAINED}
    return styles.get(name.split(" ")[0].split(":")[0], WINDOW)


@contextmanager
def ready_to_draw(sheet: Figure) -> Iterator[None]:
    """Draw inside: our settings, fonts for every letter that the system can draw, no warnings.

    Letters that no font has are drawn as a box with their code: a page with a box in it is better
    than none.
    """
    texts = cast(list[Text], sheet.findobj(Text))
    letters = "".join(text.get_text() for text in texts)
    # Not of a Latin alphabet
    if any(unicodedata.category(letter) == "Lo" for letter in letters):
        for text in texts:
            text.set_fontfamily([*text.get_fontfamily(), *_fallbacks()])
    # Reports families that have no bold
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with styled(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+", UserWarning)
            yield
    finally:
        log.setLevel(level)


@cache
def _fallbacks() -> list[str]:
    """Installed families with letters that our own font lacks, best first."""
    installed = set(font_manager.get_font_names())
    return [family for family in _FALLBACKS if family in installed]
