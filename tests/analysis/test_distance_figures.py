"""Figures say what they show: units, n and chance; no word is cut or lies on another."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from vit_str.analysis.distance.figures import (
    along_training,
    differences_by_layer,
    heads_by_depth,
    models_on_one_scale,
    offsets_gallery,
)
from vit_str.reports.images import svg
from vit_str.reports.style import ready_to_draw

LENGTHS = defaultdict(lambda: {"uniform": [45.55] * 24, "window 3x3": [6.43] * 24})
UNIFORM = {"distance": 45.55, "distance_x": 42.5, "distance_y": 10.5, "entropy": 4.85}
HOSTILE = "runs/$x$ 文字 \x07\x1b _/a rather long name of a folder/weights.safetensors"
MODELS = {
    "one": (["tiny", "untrained:tiny"], 6, 4),
    "two": (["tiny", HOSTILE, "untrained:tiny"], 12, 3),
    "four": (["a", HOSTILE, "c", "d", "untrained:a", f"untrained:{HOSTILE}"], 24, 4),
    "untrained": (["untrained:tiny"], 1, 1),
}
every_case = pytest.mark.parametrize(
    ("models", "layers", "heads"), MODELS.values(), ids=MODELS
)


def make_rows(models: Sequence[str], layers: int = 6, heads: int = 4) -> pd.DataFrame:
    """Heads that look farther with depth; those without training look like chance."""
    random = np.random.default_rng(0)
    rows = []
    for model in models:
        for layer in range(1, layers + 1):
            for head in (*range(1, heads + 1), None):
                share = 0.2 + 0.7 * layer / layers * random.random()
                share = 0.999 if model.startswith("untrained:") else share
                for metric, value in UNIFORM.items():
                    unit = "nats" if metric == "entropy" else "px"
                    rows.append(
                        (
                            model,
                            layer,
                            head,
                            metric,
                            unit,
                            share * value,
                            0.02 * value,
                            1200,
                        )
                    )
    return make_table(rows)


def make_table(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    """As of `measurements`, from means with the half of their intervals."""
    columns = ["model", "layer", "head", "metric", "unit", "mean", "error", "n"]
    table = pd.DataFrame(rows, columns=columns).astype({"head": "Int64"})
    low, high = table["mean"] - table["error"], table["mean"] + table["error"]
    return table.assign(low=low, high=high, norm="raw")


def check(sheet: Figure, *expected: str) -> str:
    """Draw; no word is cut or lies on another. Returns everything that is written."""
    drawn: dict[Text, None] = {}
    draw = Text.draw

    def note(text: Text, renderer: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            drawn[text] = None
        draw(text, renderer)

    with pytest.MonkeyPatch.context() as patch, ready_to_draw(sheet):
        patch.setattr(Text, "draw", note)
        sheet.draw_without_rendering()
        boxes = {text: text.get_window_extent() for text in drawn}
    page = sheet.bbox.padded(0.5)
    for text, box in boxes.items():
        assert page.x0 <= box.x0 and box.x1 <= page.x1, f"{text.get_text()} is cut"
        assert page.y0 <= box.y0 and box.y1 <= page.y1, f"{text.get_text()} is cut"
    for (one, first), (other, second) in combinations(boxes.items(), 2):
        on_each_other = first.padded(-0.5).overlaps(second.padded(-0.5))
        assert not on_each_other, (one.get_text(), other.get_text())
    written = "\n".join(text.get_text() for text in boxes)
    for words in expected:
        assert words in written
    return written


@every_case
def test_heads_by_depth(models, layers, heads):
    sheet = heads_by_depth(make_rows(models, layers, heads), LENGTHS)
    check(
        sheet,
        "attention distance (px, raw)",
        "layer",
        "n = 1,200",
        "untrained",
        "uniform: 45.5 px",
        "window 3x3: 6.4 px",
    )
    trained = [
        model for model in models if not model.startswith("untrained:")
    ] or models
    assert len(sheet.axes) == len(trained)


def test_values_are_drawn_where_they_belong():
    rows = make_rows(["tiny", "untrained:tiny"])
    axes = heads_by_depth(rows, LENGTHS).axes[0]
    drawn = {
        (round(float(x)), round(float(y), 6))
        for line in axes.get_lines()
        if line.get_marker() == "o" and len(line.get_xdata()) == 1
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
    heads = rows.query("model == 'tiny' and metric == 'distance' and head.notna()")
    assert drawn == set(zip(heads["layer"], heads["mean"].round(6), strict=True))
    assert axes.get_ylim()[0] == 0


def test_chance_that_differs_by_layer_is_drawn_in_steps():
    lines = {"tiny": {"uniform": [14.4, 14.4, 28.8, 28.8, 57.6, 57.6]}}
    sheet = heads_by_depth(make_rows(["tiny"]), lines)
    check(sheet, "uniform: 14.4 to 57.6 px")
    (steps,) = [patch for patch in sheet.axes[0].patches if hasattr(patch, "get_data")]
    assert list(steps.get_data().values) == lines["tiny"]["uniform"]
    assert steps.get_data().edges[0] == 0.5


def test_a_panel_for_each_layer_in_the_order_of_training():
    table = make_table(
        [
            (model, layer, head, "distance", "px", value, 1, 9)
            for model, distance in {"late": 10.0, "start": 45.0, "middle": 30.0}.items()
            for layer in range(1, 7)
            for head, value in {
                1: distance - 5,
                2: distance + 5,
                None: distance,
            }.items()
        ]
    )
    images = {"late": 1_500_000, "start": 0, "middle": 400_000}
    sheet = along_training(
        table, images, {"uniform": [45.4] * 6, "window 3x3": [8.1] * 6}
    )
    check(
        sheet,
        "layer 6",
        "images trained on",
        "distance (px)",
        "uniform: 45.4 px",
        "400k",
        "2M",
    )
    assert len(sheet.axes) == 6
    for axes in sheet.axes:
        curves = [line for line in axes.lines if len(line.get_xdata()) == 3]
        assert [list(curve.get_xdata()) for curve in curves] == [
            [0, 400_000, 1_500_000]
        ] * 3
        heights = [list(curve.get_ydata()) for curve in curves]
        assert heights == [[40, 25, 5], [50, 35, 15], [45, 30, 10]]


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Distances as shares of uniform and of the diagonal."""
    units = {"share of uniform": 45.55, "share of diagonal": 3 * 45.55}
    numbers, rows = ["mean", "low", "high"], rows[rows["metric"] == "distance"]
    tables = [
        rows.assign(unit=unit, **rows[numbers] / by) for unit, by in units.items()
    ]
    return pd.concat(tables)


@every_case
def test_models_on_one_scale(models, layers, heads):
    sheet = models_on_one_scale(shares(make_rows(models, layers, heads)))
    check(
        sheet,
        "share of uniform attention",
        "share of the diagonal of the image",
        "layer",
    )
    first, second = sheet.axes
    assert first.get_ylim()[1] > 2.5 * second.get_ylim()[1]
    labels = first.get_legend_handles_labels()[1]
    assert len(labels) == len(models) + 1, "a line for each model and that of chance"
    named = [line for line in first.lines if not line.get_label().startswith("_")]
    looks = {(line.get_marker(), line.get_linestyle()) for line in named}
    assert len(looks) == len(labels), "told apart without colors"


def test_the_pointer_shows_which_head_a_dot_is():
    rows = make_rows(["a", HOSTILE], 12, 12)
    drawing = svg(heads_by_depth(rows, LENGTHS))
    root = ElementTree.fromstring(drawing)  # noqa: S314 - drawn here
    titles = [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 2 * 12 * 12
    row = next(rows.query("layer == 3 and head == 11").itertuples())
    assert (
        f"layer 3, head 11: {row.mean:.1f} [{row.low:.1f}, {row.high:.1f}] px" in titles
    )
    shown = svg(models_on_one_scale(shares(rows)))
    assert "runs/$x$ 文字 ��" in shown


def test_differences_by_layer():
    rows = [
        (layer, head, mean, mean - 1, mean + 1, p, 99)
        for layer in (1, 2, 3)
        for head, mean, p in ((1, -3.0, 0.01), (2, 0.5, 0.2), (None, -1.25, 0.01))
    ]
    columns = ["layer", "head", "difference", "low", "high", "p_holm", "n"]
    table = pd.DataFrame(rows, columns=columns).astype({"head": "Int64"})
    table = table.assign(matching="index")
    sheet = differences_by_layer(table, "heads by index", ("tiny", "untrained:tiny"))
    check(
        sheet,
        "distance (px), untrained:tiny",
        "no difference",
        "heads by index",
        "n = 99",
    )
    assert sheet.axes[0].get_ylabel().endswith("\N{MINUS SIGN} tiny"), (
        "the first is taken off"
    )
    assert sheet.axes[0].get_xlabel() == "layer"
    assert full_dots(sheet) == {-3.0: True, 0.5: False}, "hollow where it may be chance"


def full_dots(sheet: Figure) -> dict[float, bool]:
    """Height of every dot of the first panel -> whether it is full."""
    drawn = [line for line in sheet.axes[0].get_lines() if line.get_marker() == "o"]
    dots = [line for line in drawn if len(line.get_ydata())]  # not those of the legend
    return {
        float(dot.get_ydata()[0]): dot.get_markerfacecolor() != "#ffffff"
        for dot in dots
    }


def test_layers_matched_by_depth_are_shares_of_the_depth():
    """Four layers against twelve: neither has layers 1 to 4 of the figure."""
    rows = [
        (layer, layer, 0.5, 4.5, 0.02 * layer, 9, "depth") for layer in (1, 2, 3, 4)
    ]
    columns = ["layer", "difference", "low", "high", "p_holm", "n", "matching"]
    table = pd.DataFrame(rows, columns=columns).assign(
        head=pd.array([None] * 4, dtype="Int64")
    )
    sheet = differences_by_layer(table, "matched by depth", ("tiny", "deep"))
    check(sheet, "p below 0.05 (Holm)", "p of 0.05 or more")
    assert full_dots(sheet) == {1.0: True, 2.0: True, 3.0: False, 4.0: False}
    (axes,) = sheet.axes
    assert "depth" in axes.get_xlabel()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        "0 %",
        "33 %",
        "67 %",
        "100 %",
    ]


def test_lines_of_chance_say_of_which_model_they_are_where_they_differ():
    rows = make_rows(["vit", "swin"])
    chance = {
        "vit": {"uniform": [45.0] * 6},
        "swin": {"uniform": [13.0] * 3 + [45.0] * 3},
    }
    sheet = heads_by_depth(rows, chance)
    check(sheet, "uniform (vit): 45.0 px", "uniform (swin): 13.0 to 45.0 px")
    deeper = {"uniform": [45.0] * 12}  # as of a model with more layers
    sheet = heads_by_depth(rows, {"vit": chance["vit"], "swin": deeper})
    assert check(sheet).count("uniform: 45.0 px") == 1


@pytest.mark.parametrize(
    ("layers", "grid"), [((6, 4), (8, 16, 4.0, 8.0)), ((1, 1), (1, 26, 32.0, 4.0))]
)
def test_offsets_gallery(layers, grid):
    rows, columns, *patch = grid
    maps = np.full((*layers, 2 * rows - 1, 2 * columns - 1), 1 / (rows * columns))
    maps[0, 0, rows - 1, columns - 1] = 1.0
    maps[0, 0, 0, 0] = np.nan
    sheet = offsets_gallery(maps, 1 / (rows * columns), (patch[0], patch[1]), 32)
    check(sheet, "layer 1", "head 1", "1 (uniform)", "times uniform", "px", "n = 32")
    assert sheet.get_figwidth() <= 10.5
    images = [image for axes in sheet.axes for image in axes.get_images()]
    assert len(images) == layers[0] * layers[1]
    box = images[0].get_window_extent()
    shape = (2 * columns - 1) * patch[1] / ((2 * rows - 1) * patch[0])
    assert box.width / box.height == pytest.approx(shape, rel=0.01), (
        "as wide as in the image"
    )


def test_rows_that_cannot_be_drawn_are_an_error():
    rows = make_rows(["tiny"]).query("metric == 'entropy'")
    with pytest.raises(ValueError, match="no rows of distance in px"):
        heads_by_depth(rows, LENGTHS)
