"""The answer of ``vit-str analyze filters``."""

from vit_str.analysis.filters.figures import SHOWN, Weights, captured_by_patches, mosaics
from vit_str.analysis.filters.measure import (
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
from vit_str.analysis.results import Inspection

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

_COMPONENT_COLUMNS = (
    *("of", "component", "share", "low_frequency_share", "roughness", "gray_share"),
)
_MEAN_COLUMNS = (
    *("model", "filters", "low frequencies", "roughness", "gray", "components"),
    "in a tenth of the patches'",
)


def answer(inspection: Inspection) -> int:
    """Measure the filters of every model and the patches of the images; write tables and a page."""
    subjects = inspection.subjects
    banks = {subject.name: first_filters(subject.encoder) for subject in subjects}
    covariances = {size: PatchCovariance(size) for size in map(_size, banks.values())}
    for _, batch in inspection.batches(subjects[0]):
        for covariance in covariances.values():
            covariance.update(batch)
    patches = {size: covariance.components() for size, covariance in covariances.items()}
    components = {name: Components.of_filters(filters) for name, filters in banks.items()}
    components |= {f"patches {h} x {w}": found for (h, w), found in patches.items()}
    rows = [row for name, found in components.items() for row in _component_rows(name, found)]
    inspection.write_table("components.csv", _COMPONENT_COLUMNS, rows)
    within = {
        name: patches[_size(filters)].captured(filters).tolist() for name, filters in banks.items()
    }
    means: list[list[object]] = [
        [name, len(filters), *bank_means(filters).values(), _first_tenth(within[name])]
        for name, filters in banks.items()
    ]
    noise = chance_low_frequency(next(iter(banks.values()))), CHANCE_ROUGHNESS, CHANCE_GRAY
    means.append(["noise", None, *noise, None, 0.1])
    inspection.write_table("filters.csv", _MEAN_COLUMNS, means)
    page = inspection.page("Filters of the first layer", _LEAD)
    page.heading("Principal components")
    page.figure(
        mosaics({name: _strongest(found) for name, found in components.items()}),
        "components",
        f"The {SHOWN} strongest principal components and the share of the energy of each in "
        "percent; gray is zero.",
    )
    for size, found in patches.items():
        curves = {name: within[name] for name, filters in banks.items() if _size(filters) == size}
        page.figure(
            captured_by_patches(curves, found.shares.cumsum(0).tolist()),
            "captured-{}x{}".format(*size),
            "Share of the energy of the filters within the first principal components of patches "
            "of {} x {} px; chance is what random filters have.".format(*size),
        )
    page.heading("Filters")
    page.figure(
        mosaics({name: _norms(filters) for name, filters in banks.items()}),
        "filters",
        f"The {SHOWN} strongest filters and their norms.",
    )
    page.heading("In numbers")
    page.paragraph(_MEASURES)
    caption = "Means over filters, strong ones counting more, against noise"
    page.table(_MEAN_COLUMNS, means, caption)
    counts = {"{} x {}".format(*size): each.patches for size, each in covariances.items()}
    return inspection.finish(page, patches=counts)


def _size(filters: Filters) -> tuple[int, int]:
    return filters.shape[2], filters.shape[3]


def _component_rows(name: str, components: Components) -> list[list[object]]:
    """Every component: how strong, how smooth, how gray."""
    vectors = components.vectors.float()
    measured = [
        measure(vectors).tolist() for measure in (low_frequency_share, roughness, gray_share)
    ]
    values = zip(components.shares.tolist(), *measured, strict=True)
    return [[name, number, *each] for number, each in enumerate(values, 1)]


def _first_tenth(captured: list[float]) -> float:
    return captured[max(len(captured) // 10, 1) - 1]


def _strongest(components: Components) -> tuple[Weights, list[str]]:
    shares = [f"{100 * share:.1f}" for share in components.shares[:SHOWN].tolist()]
    return components.vectors[:SHOWN].numpy(), shares


def _norms(filters: Filters) -> tuple[Weights, list[str]]:
    norms = filters.flatten(1).norm(dim=1)
    strongest = norms.argsort(descending=True)[:SHOWN]
    return filters[strongest].numpy(), [f"{norm:.2f}" for norm in norms[strongest].tolist()]
