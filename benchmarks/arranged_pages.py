"""How well a network arranges pages whose words are given: order, headings, tables.

    vit-str render --pages 200 --held-out --seed 2 --out pages
    python benchmarks/arranged_pages.py pages --model runs/arrange/arranger.safetensors

Each page is a record of words with what is right for them (``vit-str render --pages``). The network
is given the words and shapes, and its blocks are compared with those of the page. Word errors are
edits of words in order over their number, without what runs above and below the text; all scores
are those of ``structure_scores.py``. Families of pages are rows.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import structure_scores as scores
import torch
from structure_scores import Heading, Structure

from vit_str.datasets.page_records import read_pages
from vit_str.models.arranger import RELATIONS, PageArranger
from vit_str.pages.arrange.decoding import RELATIONS as DECODED
from vit_str.pages.arrange.decoding import Arranged, Scores, arranged
from vit_str.pages.arrange.scores import RUNNING
from vit_str.torch_runtime.network_files import ARRANGER
from vit_str.training.pages.examples import Example, batch_of, example_of


def main() -> None:
    """Arrange pages and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--model", type=Path, required=True, metavar="FILE")
    parser.add_argument("--most", type=int, metavar="N", help="pages")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    assert RELATIONS == DECODED
    arranger, roles, _ = ARRANGER.load(options.model)
    random = np.random.default_rng(0)
    results: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, page in enumerate(read_pages(options.folder)):
        if number == options.most:
            break
        example = example_of(page, random, is_training=False)
        if example.tokens.pieces:
            results[page.family].append(measured(example, arranger, roles))
    everything = [each for family in results.values() for each in family]
    rows = [["family", "pages", *summary(everything)]]
    for family, found in [*sorted(results.items()), ("all", everything)]:
        rows.append([family, str(len(found)), *summary(found).values()])
    print(table(rows))
    print_machine()
    write_json(options.json, results)


def measured(
    example: Example, arranger: PageArranger, roles: Sequence[str]
) -> dict[str, Any]:
    """Scores of one page."""
    count = example.tokens.pieces
    batch = batch_of([example])
    with torch.inference_mode():
        found = arranger(batch.features, batch.places, batch.ngrams, batch.mask)
    said = Scores(
        roles=found.roles[0, :count].numpy(),
        levels=found.levels[0, :count].numpy(),
        relations=found.relations[0, :, :count, :count].numpy(),
        names=roles,
    )
    read = structure(arranged(said, example.tokens.places[:count, :4]), example)
    truth = structure(true_blocks(example, roles), example)
    return {
        "errors": scores.word_errors(read.body, truth.body),
        "headings": scores.heading_hits(read.headings, truth.headings),
        "levels": scores.heading_hits(read.headings, truth.headings, of_one_level=True),
        "cells": scores.cell_hits(read.tables, truth.tables),
        "teds": scores.table_similarity(read.tables, truth.tables)
        if truth.tables
        else [],
        "false table": bool(read.tables) if not truth.tables else None,
    }


def true_blocks(example: Example, roles: Sequence[str]) -> list[Arranged]:
    """The blocks of a page as its record has them."""
    found = []
    for number in sorted(set(example.block.tolist()) - {-1}):
        pieces = np.flatnonzero(example.block == number)
        pieces = pieces[np.argsort(example.place[pieces])]
        role, level, *place = example.about[pieces[0]].tolist()
        found.append(Arranged(roles[role], tuple(pieces.tolist()), level, *place))
    return sorted(found, key=lambda block: int(example.place[block.pieces[0]]))


def structure(blocks: Sequence[Arranged], example: Example) -> Structure:
    """What blocks say, as structure scores compare it."""
    texts = example.texts
    found = Structure()
    tables: dict[int, list[Arranged]] = defaultdict(list)
    for block in blocks:
        text = " ".join(texts[piece] for piece in block.pieces)
        if block.role in RUNNING:
            continue
        found.body += scores.words_of(text)
        if block.role == "heading":
            found.headings.append(Heading(text, block.level))
        if block.table >= 0:
            tables[block.table].append(block)
    found.tables = [as_rows(cells, texts) for cells in tables.values()]
    return found


def as_rows(cells: Sequence[Arranged], texts: Sequence[str]) -> list[list[str]]:
    """Rows of texts; of several rows or columns that a cell covers, all but the first are empty.

    Columns without any text, between labels and values, cannot be seen and are left out.
    """
    rows = max(cell.row + cell.rows for cell in cells)
    columns = max(cell.column + cell.columns for cell in cells)
    table = [[""] * columns for _ in range(rows)]
    for cell in cells:
        text = " ".join(texts[piece] for piece in cell.pieces)
        before = table[cell.row][cell.column]
        table[cell.row][cell.column] = f"{before} {text}".strip()
    is_kept = [any(texts) for texts in zip(*table, strict=True)]
    return [[*compress(row, is_kept)] for row in table]


def summary(pages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Scores of several pages, in percent."""
    similar = [value for page in pages for value in page["teds"]]
    false = [page["false table"] for page in pages if page["false table"] is not None]
    values = {
        "word errors": fmean(page["errors"] for page in pages),
        "headings": scores.f1([page["headings"] for page in pages]),
        "with level": scores.f1([page["levels"] for page in pages]),
        "cells": scores.f1([page["cells"] for page in pages]),
        "TEDS": fmean(similar) if similar else None,
        "false tables": fmean(false) if false else None,
    }
    return {
        name: "-" if value is None else f"{100 * value:.1f}"
        for name, value in values.items()
    }


if __name__ == "__main__":
    main()
