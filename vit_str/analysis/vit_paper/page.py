"""The report of ``vit-str analyze vit-paper``: figure 7 of the ViT paper for any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.distance.measure import DistanceAnalysis, attends
from vit_str.analysis.distance.tables import measurements
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.results import AnalysisRun
from vit_str.analysis.subjects import Subject
from vit_str.analysis.vit_paper.figures import SHOWN_FILTERS, ModelPanels, figure_seven
from vit_str.analysis.vit_paper.filters import (
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
from vit_str.analysis.vit_paper.positions import explained, positions_of, similarities
from vit_str.console import reason_of
from vit_str.models import Encoder
from vit_str.reports.page import Page
from vit_str.reports.tables import write_csv, write_frame

_LEAD = (
    "Figure 7 of the paper that introduced the Vision Transformer (Dosovitskiy et al. "
    "2020), for other models: what the first layer looks for, what the model knows "
    "about places, and how far its heads look."
)
_CAPTION = (
    f"Left: the {SHOWN_FILTERS} strongest principal components of the first filters, "
    "each scaled for itself, gray is zero. Middle: a map for each of some patches, the "
    "cosine of its position with those of all patches; maps lie as their patches do "
    "(of wide images, columns run down). Right: attention distance of every head (dot) "
    "over the layers in pixels, and that of uniform attention"
)
_MEASURES = (
    "Low frequencies: share of the energy (sum of squared weights) in the lower half "
    "of the frequencies of the cosine transform down and across. Roughness: mean "
    "squared difference of neighboring weights over that of noise, 0 is flat. Gray: "
    "share that looks at brightness and not at color. Components: how many of equal "
    "strength the filters amount to. The last column is the share of their energy "
    "within the first tenth of the principal components of the patches of the images."
)
_SHARES = (
    "How much of the variance of the similarity of different positions is explained by "
    "their distance, by how many rows and columns they are apart (offset), and by rows "
    "or columns alone: 1 says that nothing else matters. Centered: after the mean of "
    "all positions is taken off, which tells no places apart."
)
_CAUTION = (
    "A model without training has filters of noise and heads close to uniform "
    "attention; models of this project start from sinusoidal positions, whose "
    "similarity falls with distance before any training. Compare with untrained:NAME."
)
_NO_ATTENTION = "no self-attention"
_FILTER_COLUMNS = (
    "model",
    "filters",
    "low frequencies",
    "roughness",
    "gray",
    "components",
    "in a tenth of the patches'",
)
_COMPONENT_COLUMNS = (
    "model",
    "component",
    "share",
    "low_frequency_share",
    "roughness",
    "gray_share",
)
_CLASSES = ("distance", "offset", "rows", "columns")
_POSITION_COLUMNS = ("model", "positions", *_CLASSES)
_PLACES = ("row", "column", "other row", "other column")


@dataclass(frozen=True, slots=True, eq=False)
class PaperFigure:
    """Measurements of one model; where it has nothing to measure, a string says why.

    Attributes:
        filters: of the first layer.
        patches: principal components of the images, in pieces of the size of a filter.
        positions: vectors of the tokens of the grid.
        distance: of the self-attention of all layers; None without attention.
    """

    subject: Subject
    filters: Filters | str
    patches: Components | None
    positions: Float64[Tensor, "token dim"] | str
    distance: DistanceAnalysis | None

    @property
    def grid(self) -> TokenGrid:
        """Where the tokens lie."""
        return TokenGrid.of(self.subject.encoder)

    def panels(self) -> ModelPanels:
        """The panels of the figure."""
        filters: np.ndarray | str
        if isinstance(self.filters, str):
            filters = self.filters
        else:
            filters = Components.of_filters(self.filters).vectors.numpy()
        positions: np.ndarray | str
        if isinstance(self.positions, str):
            positions = self.positions
        else:
            rows = self.grid.rows
            columns = self.grid.columns
            cosines = similarities(self.positions)
            positions = cosines.view(rows, columns, rows, columns).numpy()
        distances: pd.DataFrame | str = _NO_ATTENTION
        uniform: list[float] = []
        if self.distance is not None:
            distances = measurements(self.distance)
            uniform = self.distance.statistics.chance()["uniform"]["distance"]
        return ModelPanels(
            name=self.subject.name,
            filters=filters,
            positions=positions,
            patch_size=self.grid.patch_size,
            distances=distances,
            uniform=uniform,
        )

    def missing(self) -> list[str]:
        """Why panels are empty."""
        reasons = [
            each for each in (self.filters, self.positions) if isinstance(each, str)
        ]
        return reasons if self.distance is not None else [*reasons, _NO_ATTENTION]


def report(run: AnalysisRun, norm: str) -> int:
    """Measure all models on the same images, and write figure, tables and a page."""
    models = [_measured(run, subject, norm) for subject in run.subjects]
    attending = [model.distance for model in models if model.distance is not None]
    if attending:
        rows = pd.concat([measurements(distance) for distance in attending])
        write_frame(run.folder / "distance.csv", rows)
    page = run.page("Figure 7 of the ViT paper", _LEAD)
    images = (
        f", {norm}, means over n = {attending[0].images:,} images" if attending else ""
    )
    figure = figure_seven([model.panels() for model in models])
    page.figure(figure, "figure-7", f"{_CAPTION}{images}.", vector=True)
    for model in models:
        for reason in model.missing():
            page.paragraph(f"{model.subject.name}: {reason}.")
    page.note(_CAUTION)
    _write_filters(run, page, models)
    _write_positions(run, page, models)
    n = attending[0].images if attending else 0
    return run.finish(page, n=n)


def _measured(run: AnalysisRun, subject: Subject, norm: str) -> PaperFigure:
    """Filters, positions and distance of a model, and patches of the images as it takes them."""
    filters = _or_reason(first_filters, subject)
    positions = _or_reason(positions_of, subject)
    distance = None
    if attends(subject):
        distance = DistanceAnalysis(subject.name, subject.encoder, norm, ["distance"])
    covariance = None
    if not isinstance(filters, str):
        covariance = PatchCovariance((filters.shape[2], filters.shape[3]))
    wanted = [each.update for each in (distance, covariance) if each is not None]
    run.measure(subject, *wanted)
    patches = covariance.components() if covariance is not None else None
    return PaperFigure(subject, filters, patches, positions, distance)


def _or_reason(measure: Callable[[Encoder], Tensor], subject: Subject) -> Tensor | str:
    """The measurement of an encoder; or the reason in one line why there is none."""
    try:
        return measure(subject.encoder)
    except ValueError as error:
        return reason_of(error)


def _write_filters(run: AnalysisRun, page: Page, models: Sequence[PaperFigure]) -> None:
    """Tables of the filters of all models, of their principal components, and of noise."""
    components: list[list[object]] = []
    means: list[list[object]] = []
    noise = None
    for model in models:
        if isinstance(model.filters, str) or model.patches is None:
            continue
        name = model.subject.name
        within = model.patches.captured(model.filters).tolist()
        first_tenth = within[max(len(within) // 10, 1) - 1]
        values = bank_means(model.filters).values()
        means.append([name, len(model.filters), *values, first_tenth])
        components += _component_rows(name, Components.of_filters(model.filters))
        noise = noise or chance_low_frequency(model.filters)
    if noise is None:
        return
    means.append(["noise", None, noise, CHANCE_ROUGHNESS, CHANCE_GRAY, None, 0.1])
    write_csv(run.folder / "components.csv", _COMPONENT_COLUMNS, components)
    write_csv(run.folder / "filters.csv", _FILTER_COLUMNS, means)
    page.heading("Filters in numbers")
    page.paragraph(_MEASURES)
    page.table(_FILTER_COLUMNS, means, "Means over filters, strong ones counting more")


def _component_rows(name: str, components: Components) -> list[list[object]]:
    """Every component: how strong, how smooth, how gray."""
    vectors = components.vectors.float()
    smooth = low_frequency_share(vectors).tolist()
    rough = roughness(vectors).tolist()
    gray = gray_share(vectors).tolist()
    measured = zip(components.shares.tolist(), smooth, rough, gray, strict=True)
    return [[name, number, *values] for number, values in enumerate(measured, 1)]


def _write_positions(
    run: AnalysisRun, page: Page, models: Sequence[PaperFigure]
) -> None:
    """Tables of what explains the similarity of positions, and of every two of them."""
    shares: list[list[object]] = []
    pairs: list[pd.DataFrame] = []
    for model in models:
        if isinstance(model.positions, str):
            continue
        name = model.subject.name
        centered = model.positions - model.positions.mean(0)
        cosines = similarities(model.positions)
        for kind, values in (
            ("as they are", cosines),
            ("centered", similarities(centered)),
        ):
            of_variance = explained(values, model.grid)
            shares.append([name, kind, *(of_variance[each] for each in _CLASSES)])
        pairs.append(_pairs(name, model.grid, cosines))
    if not shares:
        return
    write_csv(run.folder / "positions.csv", _POSITION_COLUMNS, shares)
    write_frame(run.folder / "similarity.csv", pd.concat(pairs))
    page.heading("Positions in numbers")
    page.paragraph(_SHARES)
    page.table(
        _POSITION_COLUMNS, shares, "Shares of the variance of the cosines, from 0 to 1"
    )


def _pairs(
    name: str, grid: TokenGrid, cosines: Float64[Tensor, "token token"]
) -> pd.DataFrame:
    """A row for each two tokens; rows and columns count from 1."""
    one, other = np.indices(cosines.shape).reshape(2, -1)
    places = (*np.divmod(one, grid.columns), *np.divmod(other, grid.columns))
    columns = dict(zip(_PLACES, (place + 1 for place in places), strict=True))
    distances = grid.distances().flatten().numpy()
    values = {"distance px": distances, "cosine": cosines.flatten().numpy()}
    return pd.DataFrame({"model": name, **columns, **values})
