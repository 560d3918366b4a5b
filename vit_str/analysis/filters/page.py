"""The tables and the page of ``vit-str analyze filters``."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vit_str.analysis.filters.figures import SHOWN, Weights, captured_by_patches, mosaics
from vit_str.analysis.filters.measure import (
    CHANCE_GRAY,
    CHANCE_ROUGHNESS,
    Components,
    Filters,
    bank_means,
    chance_low_frequency,
    gray_share,
    low_frequency_share,
    roughness,
)
from vit_str.pages.page import Page
from vit_str.pages.tables import Table

_LEAD = """\
The filters of the first layer, their principal components, and how these compare with the \
principal components of the patches of the images themselves: what training makes of random \
weights, and whether it is what the images look like."""

_MEASURES = """\
Low frequencies: share of the energy (sum of squared weights) in the lower half of the frequencies \
of the cosine transform down and across. Roughness: mean squared difference of \
neighboring weights over that of noise, 0 is flat. Gray: share that looks at brightness and not \
at color. Components: how many of equal strength the filters amount to. The last column is the \
share of their energy within the first tenth of the principal components of the patches."""

FilterSize = tuple[int, int]
"""Height and width of a filter."""


class Bank(NamedTuple):
    """The first layer of one model."""

    model: str
    filters: Filters
    components: Components

    @property
    def size(self) -> FilterSize:
        """Of every filter."""
        return self.filters.shape[2], self.filters.shape[3]


def _named(
    banks: Sequence[Bank], patches: Mapping[FilterSize, Components]
) -> dict[str, Components]:
    """Components of every model, then of the patches."""
    of_models = {bank.model: bank.components for bank in banks}
    return of_models | {f"patches {h} x {w}": found for (h, w), found in patches.items()}


def components_table(banks: Sequence[Bank], patches: Mapping[FilterSize, Components]) -> Table:
    """Every component: how strong, how smooth, how gray."""
    columns = ["of", "component", "share", "low_frequency_share", "roughness", "gray_share"]
    rows: list[list[object]] = []
    for name, found in _named(banks, patches).items():
        measures = (low_frequency_share, roughness, gray_share)
        values = zip(
            found.shares.tolist(),
            *(measure(found.vectors.float()).tolist() for measure in measures),
            strict=True,
        )
        rows += [[name, number, *each] for number, each in enumerate(values, 1)]
    return columns, rows


def means_table(banks: Sequence[Bank], patches: Mapping[FilterSize, Components]) -> Table:
    """Means over the filters of every model, and what noise has."""
    rows: list[list[object]] = []
    for bank in banks:
        captured = patches[bank.size].captured(bank.filters)
        within = float(captured[max(len(captured) // 10, 1) - 1])
        rows.append([bank.model, len(bank.filters), *bank_means(bank.filters).values(), within])
    noise = chance_low_frequency(banks[0].filters), CHANCE_ROUGHNESS, CHANCE_GRAY
    rows.append(["noise", None, *noise, None, 0.1])
    names = ["low frequencies", "roughness", "gray", "components", "in a tenth of the patches'"]
    return ["model", "filters", *names], rows


def filters_page(
    banks: Sequence[Bank], patches: Mapping[FilterSize, Components], images: str
) -> Page:
    """The whole page.

    Args:
        banks: of the models.
        patches: size of a patch -> principal components of the patches.
        images: what the patches are of.
    """
    page = Page("Filters of the first layer", f"{_LEAD} Patches from {images}.")
    page.heading("Principal components")
    named = _named(banks, patches).items()
    page.figure(
        mosaics({name: _strongest(found) for name, found in named}),
        "components",
        f"The {SHOWN} strongest principal components and the share of the energy of each in "
        "percent; gray is zero.",
    )
    for (height, width), found in patches.items():
        same = [bank for bank in banks if bank.size == (height, width)]
        curves = {bank.model: found.captured(bank.filters).tolist() for bank in same}
        page.figure(
            captured_by_patches(curves, found.shares.cumsum(0).tolist()),
            f"captured-{height}x{width}",
            f"Share of the energy of the filters within the first principal components of patches "
            f"of {height} x {width} px; chance is what random filters have.",
        )
    page.heading("Filters")
    page.figure(
        mosaics({bank.model: _norms(bank.filters) for bank in banks}),
        "filters",
        f"The {SHOWN} strongest filters and their norms.",
    )
    page.heading("In numbers")
    page.paragraph(_MEASURES)
    caption = "Means over filters, strong ones counting more, against noise"
    page.table(*means_table(banks, patches), caption)
    return page


def _strongest(components: Components) -> tuple[Weights, list[str]]:
    shares = [f"{100 * share:.1f}" for share in components.shares[:SHOWN].tolist()]
    return components.vectors[:SHOWN].numpy(), shares


def _norms(filters: Filters) -> tuple[Weights, list[str]]:
    norms = filters.flatten(1).norm(dim=1)
    strongest = norms.argsort(descending=True)[:SHOWN]
    return filters[strongest].numpy(), [f"{norm:.2f}" for norm in norms[strongest].tolist()]
