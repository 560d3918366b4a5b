"""Small drawings for the cells of a table: the heads of one model by depth."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from markupsafe import Markup, escape

from vit_str.reports.style import COLORS, GRID, INK

_WIDTH = 220  # pixels
_HEIGHT = 64  # pixels
_EDGE = 5
_LEAST_TOP = 1.2  # share of uniform attention, so that most models have one scale


def heads_by_depth(layers: Sequence[dict[str, Any]]) -> Markup:
    """Distance of every head as a share of uniform attention, from the first layer to the last.

    A dot is a head, the line is the mean of a layer; dashed is uniform attention, dotted that to
    the 3 x 3 tokens around.
    """
    shares = [layer_shares(layer) for layer in layers]
    near = [
        layer["chance"]["window 3x3"]["distance"] / uniform(layer) for layer in layers
    ]
    top = max([_LEAST_TOP, *near, *chain.from_iterable(shares)])

    def x(index: int) -> float:
        return _EDGE + (_WIDTH - 2 * _EDGE) * (index + 0.5) / len(layers)

    def y(share: float) -> float:
        return _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * share / top

    dots = []
    for index, heads in enumerate(shares):
        for head, share in enumerate(heads, 1):
            title = f"layer {index + 1}, head {head}: {share:.2f} of uniform"
            dots.append(_dot(x(index), y(share), title))
    means = [(x(index), y(layer_mean(layer))) for index, layer in enumerate(layers)]
    nearby = [(x(index), y(share)) for index, share in enumerate(near)]
    ends = [(_EDGE, y(1)), (_WIDTH - _EDGE, y(1))]
    floor = [(_EDGE, y(0)), (_WIDTH - _EDGE, y(0))]
    parts = [
        _line(floor, GRID),
        _line(ends, INK, dash="6 3"),
        _line(nearby, INK, dash="1 2"),
        *dots,
        _line(means, COLORS[0]),
    ]
    label = (
        f"{len(layers)} layers, heads as shares of the distance of uniform attention"
    )
    return Markup(  # noqa: S704 - numbers and texts of this file only
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{label}"><rect width="100%" height="100%" fill="#ffffff"/>'
        f"{''.join(parts)}</svg>"
    )


def uniform(layer: dict[str, Any]) -> float:
    """Distance of uniform attention; 1 where a token can attend to itself only."""
    return layer["chance"]["uniform"]["distance"] or 1.0


def layer_mean(layer: dict[str, Any]) -> float:
    """Mean distance of the heads of a layer as a share of uniform attention."""
    return layer["metrics"]["distance"]["mean"] / uniform(layer)


def layer_shares(layer: dict[str, Any]) -> list[float]:
    """Distance of each head as a share of uniform attention."""
    return [
        head["mean"] / uniform(layer) for head in layer["metrics"]["distance"]["heads"]
    ]


def _dot(x: float, y: float, text: str) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.8" fill="{COLORS[1]}" '
        f'fill-opacity="0.55"><title>{escape(text)}</title></circle>'
    )


def _line(points: Sequence[tuple[float, float]], color: str, dash: str = "") -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="1.2" '
        f'stroke-dasharray="{dash or "none"}"/>'
    )
