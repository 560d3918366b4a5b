"""The results of studies as one page of Markdown with figures."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from studies import NAMES, describe
from studies.running import FIGURE, Result, load_result
from studies.study import POSTS, Cell, Verdict
from vit_str.files import write_atomically
from vit_str.reports.tables import piped, plain


def write_page(results: Path, page: Path) -> int:
    """Make a page of the results in a folder; its figures go to a folder of its name next to it."""
    found = [result for name in NAMES if (result := load_result(results / name))]
    if not found:
        raise ValueError(f"{results} holds no result of a study; run: python -m studies run all")
    figures = page.with_suffix("")
    for result in found:
        with write_atomically(figures / f"{result['name']}.png") as path:
            shutil.copyfile(results / result["name"] / FIGURE, path)
    text = page_text(found, figures.name)
    with write_atomically(page) as path:
        path.write_text(text, encoding="utf-8")
    return len(found)


def page_text(results: Sequence[Result], figures: str) -> str:
    """The page itself; studies without a result are named."""
    environment = Environment(  # noqa: S701 - Markdown: `plain` escapes its marks
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": plain, "table": _table}
    return (
        environment.get_template("page.md.jinja").render(
            studies=[(result, describe(result["name"])) for result in results],
            missing=[name for name in NAMES if name not in {result["name"] for result in results}],
            quick=sum(result["settings"]["quick"] for result in results),
            counts=", ".join(
                f"{sum(result['verdict'] == verdict for result in results)} {verdict.lower()}"
                for verdict in Verdict
            ),
            posts=POSTS,
            figures=figures,
        )
        + "\n"
    )


def _table(rows: Sequence[Mapping[str, Cell]]) -> str:
    titles = [plain(title) for title in rows[0]]
    cells = [[plain(_shown(cell)) for cell in row.values()] for row in rows]
    # Numbers are set to the right: columns from the first one on that has no other text.
    texts = [any(isinstance(row[title], str) for row in rows) for title in rows[0]]
    left = texts.index(False) if False in texts else len(texts)
    return "\n".join(piped([titles, *cells], text_columns=max(1, left)))


def _shown(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
