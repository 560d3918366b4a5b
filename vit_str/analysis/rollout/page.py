"""The page of ``vit-str analyze rollout``."""

from collections.abc import Mapping, Sequence

from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.receptive_field.figures import distance_by_depth
from vit_str.analysis.results import Measurement, table_of
from vit_str.pages.page import Page

_LEAD = """\
Attention of one layer tells which tokens a token takes from; rollout multiplies the attention of \
all layers up to it, with the skip connections, and tells which patches reach the token as far as \
attention decides."""

_METHOD = """\
Every layer is taken as residual * I + (1 - residual) * A, A the mean of its heads. What values \
and feed-forward layers do is left out, and a token that looks everywhere alike moves rollout \
towards even, whatever it does with what it sees. Rollout of a model without training is a chance \
line."""


def rollout_page(
    rows: Sequence[Measurement],
    chance: Mapping[str, float],
    words: Mapping[str, Sequence[MappedWord]],
    images: str,
) -> Page:
    """The whole page.

    Args:
        rows: distances and more by rollout, and of the attention of single layers.
        chance: distance by chance.
        words: model -> words to show.
        images: what they are.
    """
    n = rows[0].n
    page = Page("Attention rollout", f"{_LEAD} Measured on {images}.")
    page.heading("By depth")
    page.figure(
        distance_by_depth(rows, chance, "rollout_distance", "distance (px)", dotted="distance"),
        "rollout-distance",
        "Mean distance from a token to the patches that reach it by rollout, in pixels (solid), "
        f"and to the tokens that the layer alone attends to (dotted); n = {n:,} images, bands are "
        "95 % bootstrap intervals.",
    )
    page.paragraph(_METHOD)
    page.heading("In numbers")
    page.table(*table_of(rows), f"Means over n = {n:,} images with 95 % intervals")
    shown = {model: mapped for model, mapped in words.items() if mapped}
    if shown:
        page.heading("Word by word")
        page.note(CAUTION)
    for number, (name, mapped) in enumerate(shown.items(), 1):
        page.figure(
            map_sheet(mapped),
            f"words-{number}",
            f"{name}: for every character that it read the cross-attention of the last decoder "
            "block, the same through the encoder by rollout, and gradients; dark is the most of "
            "each map.",
        )
    return page
