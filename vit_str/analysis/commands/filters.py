"""``vit-str analyze filters``: what the first layer looks for."""

import argparse
import time
from typing import NamedTuple

from vit_str.analysis import cli
from vit_str.analysis.figures.filters import SHOWN, Weights, captured_by_patches, mosaics
from vit_str.analysis.filters import (
    CHANCE_GRAY,
    CHANCE_ROUGHNESS,
    Components,
    Filters,
    PatchCovariance,
    bank_means,
    chance_low_frequency,
    first_filters,
    gray_share,
    low_frequency_share,
    roughness,
)
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import write_csv, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.pages.page import Page

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

Size = tuple[int, int]


class Bank(NamedTuple):
    """The first layer of one model."""

    subject: Subject
    filters: Filters
    components: Components

    @property
    def size(self) -> Size:
        """Height and width of a filter."""
        return self.filters.shape[2], self.filters.shape[3]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser)
    cli.common(parser)


def run(options: argparse.Namespace) -> None:
    """Measure the filters of every model and the patches of the images; write what was found."""
    start = time.monotonic()
    banks = [_bank(subject) for subject in load_subjects(options.models, options.seed)]
    subjects = [bank.subject for bank in banks]
    covariances = {bank.size: PatchCovariance(bank.size) for bank in banks}
    material = material_for(subjects[0], options)
    for _, images in walk(subjects[0], material, options):
        for covariance in covariances.values():
            covariance.update(images)
    patches = {size: covariance.components() for size, covariance in covariances.items()}
    counts = {f"{size[0]} x {size[1]}": each.patches for size, each in covariances.items()}
    write_csv(options.out / "components.csv", *_components(banks, patches))
    columns, cells = _means(banks, patches)
    write_csv(options.out / "filters.csv", columns, cells)
    seconds = time.monotonic() - start
    write_summary(options.out, options, subjects, material, seconds, patches=counts)
    page = _page(banks, patches, material.description)
    page.table(columns, cells, "Means over filters, strong ones counting more, against noise")
    cli.report(page.write(options.out), material)


def _bank(subject: Subject) -> Bank:
    filters = first_filters(subject.recognizer.encoder)
    return Bank(subject, filters, Components.of_filters(filters))


def _named(banks: list[Bank], patches: dict[Size, Components]) -> dict[str, Components]:
    """Components of every model, then of the patches."""
    of_models = {bank.subject.name: bank.components for bank in banks}
    return of_models | {f"patches {h} x {w}": found for (h, w), found in patches.items()}


def _components(
    banks: list[Bank], patches: dict[Size, Components]
) -> tuple[list[str], list[list[object]]]:
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


def _means(
    banks: list[Bank], patches: dict[Size, Components]
) -> tuple[list[str], list[list[object]]]:
    rows: list[list[object]] = []
    for bank in banks:
        captured = patches[bank.size].captured(bank.filters)
        within = float(captured[max(len(captured) // 10, 1) - 1])
        rows.append(
            [bank.subject.name, len(bank.filters), *bank_means(bank.filters).values(), within]
        )
    noise = chance_low_frequency(banks[0].filters), CHANCE_ROUGHNESS, CHANCE_GRAY
    rows.append(["noise", None, *noise, None, 0.1])
    names = ["low frequencies", "roughness", "gray", "components", "in a tenth of the patches'"]
    return ["model", "filters", *names], rows


def _page(banks: list[Bank], patches: dict[Size, Components], images: str) -> Page:
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
        curves = {bank.subject.name: found.captured(bank.filters).tolist() for bank in same}
        page.figure(
            captured_by_patches(curves, found.shares.cumsum(0).tolist()),
            f"captured-{height}x{width}",
            f"Share of the energy of the filters within the first principal components of patches "
            f"of {height} x {width} px; chance is what random filters have.",
        )
    page.heading("Filters")
    page.figure(
        mosaics({bank.subject.name: _norms(bank.filters) for bank in banks}),
        "filters",
        f"The {SHOWN} strongest filters and their norms.",
    )
    page.heading("In numbers")
    page.paragraph(_MEASURES)
    return page


def _strongest(components: Components) -> tuple[Weights, list[str]]:
    shares = [f"{100 * share:.1f}" for share in components.shares[:SHOWN].tolist()]
    return components.vectors[:SHOWN].numpy(), shares


def _norms(filters: Filters) -> tuple[Weights, list[str]]:
    norms = filters.flatten(1).norm(dim=1)
    strongest = norms.argsort(descending=True)[:SHOWN]
    return filters[strongest].numpy(), [f"{norm:.2f}" for norm in norms[strongest].tolist()]
