"""``vit-str render --compare``: statistics of rendered words against photographed ones."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

import vit_str
from vit_str.pages.tables import write_csv, write_json
from vit_str.realism.comparison import measure
from vit_str.realism.page import comparison_page
from vit_str.realism.tables import characters_table, statistics_table, summary_of, text_of
from vit_str.realism.words import draw, load
from vit_str.synthesis.renderer import Renderer


def compare(
    renderer: Renderer, folders: Sequence[Path | str], count: int, seed: int, out: Path
) -> str:
    """Compare rendered words with those of folders; write ``report.html``, tables and figures.

    Args:
        renderer: what to judge.
        folders: of photographed words, with ``labels.tsv`` each.
        count: words to render, and most images of each folder, evenly spread.
        seed: of the renderer.
        out: folder to write to.

    Returns:
        Text for a terminal.

    Raises:
        ValueError: no folder, one without images that can be read, or a count below 1.
    """
    start = time.monotonic()
    photographed = load(folders, renderer.image_size, count)
    comparison = measure(draw(renderer, count, seed), photographed, seed)
    write_csv(out / "realism.csv", *statistics_table(comparison))
    write_csv(out / "characters.csv", *characters_table(comparison))
    summary = summary_of(comparison) | {
        "count": count,
        "seed": seed,
        "image_size": renderer.image_size,
        "ingredients": asdict(renderer.ingredients),
        "versions": {"vit-str": vit_str.__version__, "torch": torch.__version__},
        "seconds": round(time.monotonic() - start, 2),
    }
    write_json(out / "summary.json", summary)
    page = comparison_page(comparison).write(out)
    return "\n".join([*text_of(comparison), f"{page}"])
