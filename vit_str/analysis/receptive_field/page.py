"""The page of ``vit-str analyze receptive-field``."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vit_str.analysis.receptive_field.figures import LayerField, distance_by_depth, field_gallery
from vit_str.analysis.receptive_field.gradients import GradientFields
from vit_str.analysis.receptive_field.windows import ReceptiveField
from vit_str.analysis.results import Measurement, table_of
from vit_str.pages.page import Page
from vit_str.pages.tables import Table

_LEAD = """\
How far around itself a token sees. A convolution can see a window that grows with depth (its \
theoretical receptive field), a Vision Transformer the whole image from the first layer on. What \
either does see is told by the gradients of a token's output with respect to the pixels: their \
mean distance from the token, in pixels of the model's input, is one unit for both."""

_METHOD = """\
Gradient distance is the sum of |g| |p - q| over the sum of |g|: |g| is the norm of the gradient \
over the colors of pixel p, q the middle of the token. The channels of a token are added with \
random signs, because in a plain sum their gradients would cancel. It is about all layers up to \
the one it stands at, while attention distance is about that layer alone; skip connections hold it \
near the token."""

_CAUTION = """\
A gradient tells what a small change of a pixel would do to the features of this image. It does \
not tell which pixels a reading rests on."""


class ModelFields(NamedTuple):
    """One model by name: what it can see, and what it does."""

    model: str
    bounds: list[ReceptiveField]
    fields: GradientFields


def bounds_table(models: Sequence[ModelFields]) -> Table:
    """What a token can see at most, layer by layer."""
    columns = ["model", "layer", "field height", "field width", "stride down", "stride across"]
    rows: list[list[object]] = [
        [each.model, layer, *field.size, *field.stride]
        for each in models
        for layer, field in enumerate(each.bounds, 1)
    ]
    return columns, rows


def receptive_field_page(
    models: Sequence[ModelFields],
    rows: Sequence[Measurement],
    chance: Mapping[str, float],
    images: str,
) -> Page:
    """The whole page.

    Args:
        models: what was measured of each.
        rows: the same as means over images.
        chance: gradient distance by chance.
        images: what they are.
    """
    n = models[0].fields.seen
    page = Page("Receptive fields", f"{_LEAD} Measured on {images}.")
    page.heading("How far tokens see")
    page.figure(
        distance_by_depth(rows, chance),
        "gradient-distance",
        f"Mean gradient distance in pixels by layer; bands are 95 % bootstrap intervals over n = "
        f"{n:,} images. The line uniform is for gradients that are alike everywhere.",
    )
    for each in models:
        page.paragraph(_finding(each))
    page.paragraph(_METHOD)
    page.heading("Where the middle token sees")
    page.figure(
        field_gallery({each.model: _gallery(each) for each in models}),
        "fields",
        "Norm of the gradients of the token in the middle (small frame), mean over "
        f"n = {n:,} images, dark where large, on the scale of the square root; dashed: what the "
        "token can see at most.",
    )
    page.note(_CAUTION)
    page.heading("In numbers")
    page.table(*table_of(rows), f"Means over n = {n:,} images with 95 % intervals")
    caption = "What a token can see at most, in pixels (Araujo et al. 2019)"
    page.table(*bounds_table(models), caption)
    return page


def _finding(measured: ModelFields) -> str:
    """The main numbers in a sentence."""
    means = measured.fields.values("gradient_distance").nanmean(1).tolist()
    area = float(measured.fields.values("gradient_area")[-1].nanmean())
    height, width = measured.bounds[-1].size
    return (
        f"{measured.model}: from {means[0]:.1f} px in the first layer to {means[-1]:.1f} px "
        f"in the last of {len(means)}, in which a token can see {height} x {width} px at most and "
        f"nine tenths of its gradient lie in {area:.0%} of the image."
    )


def _gallery(measured: ModelFields) -> list[LayerField]:
    fields = measured.fields
    means = fields.values("gradient_distance").nanmean(1).tolist()
    return [
        LayerField(field.numpy(), mean, cell, bounds.of_unit(*unit))
        for field, mean, bounds, (unit, cell) in zip(
            fields.centered, means, measured.bounds, fields.middle_cells(), strict=True
        )
    ]
