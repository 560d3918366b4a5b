"""What a model has learned about where tokens are: how alike its positions are.

The similarity of two positions is the cosine of their vectors (Dosovitskiy et al. 2020, figure 7),
here without the mean vector: what all positions share does not tell where a token is, and the slow
waves of sinusoids are almost only that.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float64
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.results import AnalysisRun
from vit_str.models import Encoder
from vit_str.models.positions import FixedPositions, LearnedPositions, sinusoidal_positions_2d
from vit_str.reports.style import DIFFERENCE, UNIFORM, figure, model_colors, plain, styled
from vit_str.reports.tables import write_csv

Similarities = Float64[Tensor, "token token"]


class Positions(NamedTuple):
    """The vectors of the tokens of a grid, in reading order.

    Attributes:
        vectors: as they are.
        start: sinusoids.
        change: how far the vectors have moved from the start over its length; NaN for other
            libraries, which do not start there.
    """

    vectors: Float64[Tensor, "token dim"]
    start: Float64[Tensor, "token dim"]
    change: float


def positions_of(encoder: Encoder) -> Positions:
    """The positions of an encoder.

    Raises:
        ValueError: it has none.
    """
    if isinstance(encoder, LibraryEncoder):
        if encoder.positions is None:
            raise ValueError(
                f"{type(encoder.model).__name__} has no vector for every position: positions are "
                "rotary or relative, or learned for images of another size"
            )
        vectors = encoder.positions.double().cpu()
        start = sinusoidal_positions_2d(*encoder.grid, vectors.shape[1]).double()
        return Positions(vectors, start, float("nan"))
    positions = getattr(encoder, "embed_positions", None)
    if not isinstance(positions, LearnedPositions | FixedPositions):
        raise ValueError(f"{type(encoder).__name__} has no positions, learned or sinusoidal")
    vectors = positions.weight.detach().double().cpu()
    start = sinusoidal_positions_2d(*encoder.grid, encoder.dim).double()
    return Positions(vectors, start, float((vectors - start).norm() / start.norm()))


def similarities(vectors: Float64[Tensor, "token dim"]) -> Similarities:
    """Cosines of every vector with every other, their mean taken off first."""
    directions = F.normalize(vectors - vectors.mean(0), dim=1)
    return directions @ directions.T


def explained(similarity: Similarities, grid: TokenGrid) -> dict[str, float]:
    """Share of the variance of the similarity of different tokens that is explained by classes.

    * ``distance``: pairs at the same distance, in pixels;
    * ``offset``: pairs as many rows and columns apart;
    * ``rows``, ``columns``: pairs as many rows, or columns, apart.

    1 says that nothing else matters, 0 that the class does not. Similarities that do not vary have
    nothing to explain: NaN.
    """
    patch = torch.tensor(grid.patch_size[::-1], dtype=torch.float64)
    across, down = (grid.differences().abs() / patch).round().unbind(-1)
    classes = {
        "distance": grid.distances().mul(1e6).round(),
        "offset": down * grid.columns + across,
        "rows": down,
        "columns": across,
    }
    others = ~torch.eye(len(grid), dtype=torch.bool)
    values = similarity[others]
    return {name: _explained(values, of[others]) for name, of in classes.items()}


def along_axes(
    similarity: Similarities, grid: TokenGrid
) -> tuple[Float64[Tensor, " columns"], Float64[Tensor, " rows"]]:
    """Mean similarity of tokens 0, 1, ... columns apart in a row, and rows apart in a column."""
    pairs = similarity.view(grid.rows, grid.columns, grid.rows, grid.columns)
    in_rows, in_columns = (
        torch.stack([places.diagonal(step).mean() for step in range(len(places))])
        for places in (pairs.diagonal(dim1=0, dim2=2).mean(-1), pairs.diagonal(0, 1, 3).mean(-1))
    )
    return in_rows, in_columns


def _explained(values: Float64[Tensor, " pair"], classes: Float64[Tensor, " pair"]) -> float:
    number = torch.unique(classes, return_inverse=True)[1]
    counts = torch.bincount(number).double()
    means = torch.bincount(number, values) / counts
    total = values.var(correction=0)
    if total < 1e-20:
        return float("nan")
    return float(1 - (values - means[number]).square().mean() / total)


_LEAD = """\
Every token is given a vector that says where it stands. Training starts from sinusoids and may \
change them: what it makes of them tells which places the model needs to tell apart. Similarity is \
the cosine after the mean of all positions is taken off, as that tells no places apart. No images \
are needed."""

_SHARES = """\
How much of the variance of the similarity of different tokens is explained by their distance, by \
how many rows and columns they are apart (offset), and by rows or columns alone: 1 says that \
nothing else matters. Change is the length of what training added, over the length of the start."""

_SHARE_COLUMNS = ("distance", "offset", "rows", "columns")
_PAIR_COLUMNS = ("model", "row", "column", "other row", "other column", "distance px", "cosine")
SINUSOIDS = "sinusoids"
Curve = Sequence[tuple[float, float]]
"""Distance in px and mean similarity."""

_MOST_COLUMNS = 8


class _Similarity(NamedTuple):
    """How alike the positions of a model are, and how far training has moved them."""

    name: str
    grid: TokenGrid
    values: Similarities
    change: float

    def shares(self) -> list[object]:
        """Its row of the table of what explains similarity."""
        of_variance = explained(self.values, self.grid)
        return [self.name, *(of_variance[name] for name in _SHARE_COLUMNS), self.change]

    def pairs(self) -> list[list[object]]:
        """A row for each two tokens; rows and columns count from 1."""
        distances = self.grid.distances().tolist()
        return [
            [self.name, *_place(one, self.grid), *_place(other, self.grid), distance, cosine]
            for one, cosines in enumerate(self.values.tolist())
            for other, (distance, cosine) in enumerate(zip(distances[one], cosines, strict=True))
        ]

    def curves(self) -> tuple[Curve, Curve]:
        """Mean similarity by distance, in rows and in columns."""
        height, width = self.grid.patch_size
        in_rows, in_columns = along_axes(self.values, self.grid)
        return (
            [(step * width, value) for step, value in enumerate(in_rows.tolist())],
            [(step * height, value) for step, value in enumerate(in_columns.tolist())],
        )


def report(run: AnalysisRun) -> int:
    """Compare the positions of every model, and write tables and a page."""
    models = []
    for subject in run.subjects:
        encoder, grid = subject.encoder, TokenGrid.of(subject.encoder)
        positions = positions_of(encoder)
        values = similarities(positions.vectors)
        models.append(_Similarity(subject.name, grid, values, positions.change))
    start = similarities(positions_of(run.subjects[0].encoder).start)
    compared = [*models, _Similarity(SINUSOIDS, models[0].grid, start, 0.0)]
    columns, shares = ["positions of", *_SHARE_COLUMNS, "change"], [m.shares() for m in compared]
    write_csv(run.folder / "positions.csv", columns, shares)
    pairs = [row for model in models for row in model.pairs()]
    write_csv(run.folder / "similarity.csv", _PAIR_COLUMNS, pairs)
    page = run.page("Similarity of positions", _LEAD)
    page.heading("By distance")
    page.figure(
        similarity_by_distance({model.name: model.curves() for model in compared}),
        "by-distance",
        "Mean cosine of the positions of tokens in one row and in one column, by their distance in "
        "pixels; dashed: the sinusoids that training starts from.",
    )
    page.heading("Token by token")
    for number, (name, grid, values, _) in enumerate(models, 1):
        by_place = values.view(grid.rows, grid.columns, grid.rows, grid.columns).numpy()
        page.figure(
            similarity_maps(by_place, grid.patch_size),
            f"maps-{number}",
            f"{name}: each map is the cosine of the position of one token with those "
            f"of all {len(grid)}; maps lie as their tokens do.",
        )
    page.heading("What explains similarity")
    page.paragraph(_SHARES)
    caption = "Shares of the variance of the cosines, from 0 to 1; change"
    page.table(columns, shares, caption)
    return run.finish(page)


def _place(token: int, grid: TokenGrid) -> tuple[int, int]:
    """Row and column of a token, from 1."""
    row, column = divmod(token, grid.columns)
    return row + 1, column + 1


@styled()
def similarity_maps(
    values: Float64[np.ndarray, "row column row column"], patch_size: tuple[float, float]
) -> Figure:
    """For each token a map: its similarity to every other. Maps lie where their tokens lie.

    Of wide grids some columns are left out.
    """
    mosaic, rows, columns = _mosaic(values)
    height, width = (side * step for side, step in zip(mosaic.shape, patch_size, strict=True))
    sheet = figure(10.5, 9.3 * height / width + 0.45)
    axes = sheet.subplots()
    shown = axes.imshow(mosaic, DIFFERENCE, vmin=-1, vmax=1, extent=(0, width, height, 0))
    axes.grid(visible=False)
    axes.set_xticks([x * patch_size[1] for x in columns.values()], [f"{i + 1}" for i in columns])
    axes.set_yticks([y * patch_size[0] for y in rows.values()], [f"{i + 1}" for i in rows])
    axes.tick_params(length=0)
    axes.set(xlabel="column of the token", ylabel="row")
    axes.spines[:].set_visible(False)
    sheet.colorbar(shown, ax=axes, aspect=12, pad=0.01, ticks=[-1, 0, 1]).set_label("cosine")
    return sheet


def _mosaic(
    values: Float64[np.ndarray, "row column row column"],
) -> tuple[np.ndarray, dict[int, float], dict[int, float]]:
    """Maps of all rows and some columns with gaps between, and where their middles are."""
    rows, columns = values.shape[:2]
    chosen = np.unique(np.linspace(0, columns - 1, min(columns, _MOST_COLUMNS)).round().astype(int))
    gap = ((0, 0), (0, 0), (0, 1), (0, 1))
    maps = np.pad(values[:, chosen], gap, constant_values=np.nan)
    canvas = rearrange(maps, "row column y x -> (row y) (column x)")[:-1, :-1]
    down = {row: row * (rows + 1) + rows / 2 for row in range(rows)}
    across = {int(c): i * (columns + 1) + columns / 2 for i, c in enumerate(chosen)}
    return canvas, down, across


@styled()
def similarity_by_distance(curves: Mapping[str, tuple[Curve, Curve]]) -> Figure:
    """Mean similarity of tokens in one row, and in one column, by distance and model."""
    sheet = figure(10.5, 3.6)
    grid = sheet.subplots(1, 2, sharey=True)
    colors = model_colors(name for name in curves if name != SINUSOIDS)
    for axis, axes in enumerate(grid):
        for name, both in curves.items():
            distances, values = zip(*both[axis], strict=True)
            style = UNIFORM if name == SINUSOIDS else {"color": colors[name], "marker": "o"}
            axes.plot(distances, values, markersize=3.5, label=plain(name), **style)
        axes.set_xlim(0, None)
        axes.set_title(("in one row", "in one column")[axis])
        axes.set_xlabel("distance (px)")
    grid[0].set_ylabel("mean cosine of positions")
    grid[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return sheet
