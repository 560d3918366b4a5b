"""``vit-str analyze positions``: which positions look alike to a model."""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

from vit_str.analysis import cli
from vit_str.analysis.figures.positions import (
    SINUSOIDS,
    Curve,
    similarity_by_distance,
    similarity_maps,
)
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.positions import (
    Positions,
    Similarities,
    along_axes,
    explained,
    positions_of,
    similarities,
)
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import write_csv, write_summary
from vit_str.pages.page import Page

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


class _Measured(NamedTuple):
    subject: Subject
    grid: TokenGrid
    positions: Positions
    similarity: Similarities


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand, which looks at no images."""
    cli.models(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--seed", type=int, default=1, help="of untrained models (1)")


def run(options: argparse.Namespace) -> None:
    """Compare the positions of every model and write what was found."""
    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    models = [_measure(subject) for subject in subjects]
    columns, cells = _explained(models)
    write_csv(options.out / "positions.csv", columns, cells)
    write_csv(options.out / "similarity.csv", *_pairs(models))
    seconds = time.monotonic() - start
    write_summary(options.out, options, subjects, None, seconds)
    page = _page(models)
    page.heading("What explains similarity")
    page.paragraph(_SHARES)
    page.table(columns, cells, "Shares of the variance of the cosines, from 0 to 1; change")
    cli.report(page.write(options.out))


def _measure(subject: Subject) -> _Measured:
    encoder = subject.recognizer.encoder
    positions = positions_of(encoder)
    return _Measured(subject, TokenGrid.of(encoder), positions, similarities(positions.vectors))


def _explained(models: list[_Measured]) -> tuple[list[str], list[list[object]]]:
    rows: list[list[object]] = []
    for model in models:
        shares = explained(model.similarity, model.grid)
        change = model.positions.change()
        rows.append([model.subject.name, *(shares[name] for name in _SHARE_COLUMNS), change])
    first = models[0]
    shares = explained(similarities(first.positions.start), first.grid)
    rows.append([SINUSOIDS, *(shares[name] for name in _SHARE_COLUMNS), 0.0])
    return ["positions of", *_SHARE_COLUMNS, "change"], rows


def _pairs(models: list[_Measured]) -> tuple[list[str], list[list[object]]]:
    """Every pair of tokens; rows and columns count from 1."""
    columns = ["model", "row", "column", "other row", "other column", "distance px", "cosine"]
    rows: list[list[object]] = []
    for model in models:
        across, distances = model.grid.columns, model.grid.distances().tolist()
        for one, cosines in enumerate(model.similarity.tolist()):
            for other, cosine in enumerate(cosines):
                places = *divmod(one, across), *divmod(other, across)
                counted = [place + 1 for place in places]
                rows.append([model.subject.name, *counted, distances[one][other], cosine])
    return columns, rows


def _page(models: list[_Measured]) -> Page:
    page = Page("Similarity of positions", _LEAD)
    page.heading("By distance")
    first = models[0]
    curves = {model.subject.name: _curves(model.similarity, model.grid) for model in models}
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
            f"{model.subject.name}: each map is the cosine of the position of one token with those "
            f"of all {len(grid)}; maps lie as their tokens do.",
        )
    return page


def _curves(similarity: Similarities, grid: TokenGrid) -> tuple[Curve, Curve]:
    height, width = grid.patch_size
    in_rows, in_columns = along_axes(similarity, grid)
    return (
        [(step * width, value) for step, value in enumerate(in_rows.tolist())],
        [(step * height, value) for step, value in enumerate(in_columns.tolist())],
    )
