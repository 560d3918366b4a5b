"""The results of studies in Markdown: a page of verdicts, and a page with a figure for each."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from studies import NAMES, describe
from studies.running import FIGURE, Result, load_result
from studies.study import POSTS, Cell, Verdict
from vit_str.files import write_atomically
from vit_str.reports.tables import piped, plain, write_json


def write_page(results: Path, page: Path) -> int:
    """Make pages of the results in a folder, and of those that are on the pages already.

    Pages of studies with figures and results go to a folder of the name of the page next to it.
    """
    new = list(filter(None, (load_result(results / name) for name in NAMES)))
    if not new:
        raise ValueError(
            f"{results} holds no result of a study; run: python -m studies run all"
        )
    folder = page.with_suffix("")
    for result in new:
        with write_atomically(folder / f"{result['name']}.png") as path:
            shutil.copyfile(results / result["name"] / FIGURE, path)
        write_json(folder / f"{result['name']}.json", result)
    kept = (load_result(folder, f"{name}.json") for name in NAMES)
    written = list(filter(None, kept))
    for result in written:
        _write(folder / f"{result['name']}.md", study_text(result))
    _write(page, page_text(written, folder.name))
    return len(written)


def _write(page: Path, text: str) -> None:
    with write_atomically(page) as path:
        path.write_text(text, encoding="utf-8")


def study_text(result: Result) -> str:
    """The page of one study."""
    return _filled("study.md.jinja", result=result, study=describe(result["name"]))


def page_text(results: Sequence[Result], figures: str) -> str:
    """The page of verdicts; studies without a result are named."""
    studies = {result["name"]: describe(result["name"]) for result in results}
    verdicts = Counter(result["verdict"] for result in results)
    return _filled(
        "page.md.jinja",
        studies=[(result, studies[result["name"]]) for result in results],
        missing=[name for name in NAMES if name not in studies],
        quick=sum(result["settings"]["quick"] for result in results),
        counts=", ".join(
            f"{verdicts[verdict]} {verdict.lower()}" for verdict in Verdict
        ),
        changed=[name for name, study in studies.items() if study.rule],
        identities=[
            n for n, study in studies.items() if study.kind.startswith("identity")
        ],
        captions=[name for name, study in studies.items() if "caption" in study.kind],
        weighed=[name for name, study in studies.items() if study.weights],
        posts=POSTS,
        figures=figures,
    )


def _filled(template: str, **values: Any) -> str:
    environment = Environment(  # noqa: S701 - Markdown: `plain` escapes its marks
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": plain, "table": _table}
    return environment.get_template(template).render(values) + "\n"


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
