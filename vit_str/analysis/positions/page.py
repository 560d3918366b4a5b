"""The tables and the page of ``vit-str analyze positions``."""

from collections.abc import Sequence
from typing import NamedTuple

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.positions.figures import (
    SINUSOIDS,
    Curve,
    similarity_by_distance,
    similarity_maps,
)
from vit_str.analysis.positions.measure import (
    Positions,
    Similarities,
    along_axes,
    explained,
    positions_of,
    similarities,
)
from vit_str.analysis.subjects import Subject
from vit_str.pages.page import Page
from vit_str.pages.tables import Table

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


class ModelPositions(NamedTuple):
    """The positions of one model and how alike they are."""

    name: str
    grid: TokenGrid
    positions: Positions
    similarity: Similarities

    @classmethod
    def of(cls, subject: Subject) -> "ModelPositions":
        """Those of the encoder.

        Raises:
            ValueError: it has none that are understood.
        """
        encoder = subject.recognizer.encoder
        positions = positions_of(encoder)
        similarity = similarities(positions.vectors)
        return cls(subject.name, TokenGrid.of(encoder), positions, similarity)


def explained_table(models: Sequence[ModelPositions]) -> Table:
    """What explains how alike positions are, and how far training has moved them."""
    rows: list[list[object]] = []
    for model in models:
        shares = explained(model.similarity, model.grid)
        change = model.positions.change()
        rows.append([model.name, *(shares[name] for name in _SHARE_COLUMNS), change])
    first = models[0]
    shares = explained(similarities(first.positions.start), first.grid)
    rows.append([SINUSOIDS, *(shares[name] for name in _SHARE_COLUMNS), 0.0])
    return ["positions of", *_SHARE_COLUMNS, "change"], rows


def pairs_table(models: Sequence[ModelPositions]) -> Table:
    """Every pair of tokens; rows and columns count from 1."""
    columns = ["model", "row", "column", "other row", "other column", "distance px", "cosine"]
    rows: list[list[object]] = []
    for model in models:
        across, distances = model.grid.columns, model.grid.distances().tolist()
        for one, cosines in enumerate(model.similarity.tolist()):
            for other, cosine in enumerate(cosines):
                places = *divmod(one, across), *divmod(other, across)
                counted = [place + 1 for place in places]
                rows.append([model.name, *counted, distances[one][other], cosine])
    return columns, rows


def positions_page(models: Sequence[ModelPositions]) -> Page:
    """The whole page."""
    page = Page("Similarity of positions", _LEAD)
    page.heading("By distance")
    first = models[0]
    curves = {model.name: _curves(model.similarity, model.grid) for model in models}
    curves[SINUSOIDS] = _curves(similarities(first.positions.start), first.grid)
    page.figure(
        similarity_by_distance(curves),
        "by-distance",
        "Mean cosine of the positions of tokens in one row and in one column, by their distance in "
        "pixels; dashed: the sinusoids that training starts from.",
    )
    page.heading("Token by token")
    for number, model in enumerate(models, 1):
        grid = model.grid
        values = model.similarity.view(grid.rows, grid.columns, grid.rows, grid.columns).numpy()
        page.figure(
            similarity_maps(values, grid.patch_size),
            f"maps-{number}",
            f"{model.name}: each map is the cosine of the position of one token with those "
            f"of all {len(grid)}; maps lie as their tokens do.",
        )
    page.heading("What explains similarity")
    page.paragraph(_SHARES)
    caption = "Shares of the variance of the cosines, from 0 to 1; change"
    page.table(*explained_table(models), caption)
    return page


def _curves(similarity: Similarities, grid: TokenGrid) -> tuple[Curve, Curve]:
    height, width = grid.patch_size
    in_rows, in_columns = along_axes(similarity, grid)
    return (
        [(step * width, value) for step, value in enumerate(in_rows.tolist())],
        [(step * height, value) for step, value in enumerate(in_columns.tolist())],
    )
