"""The results of studies as one page of Markdown with figures."""

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from vit_str.pages.markdown import piped, plain
from vit_str.studies import STUDIES, study_of
from vit_str.studies.corrections import CORRECTIONS
from vit_str.studies.result import FIGURE, Result, load_result, replace_file
from vit_str.studies.study import POSTS, Cell, Verdict

_QUICK = "quick"


def write_page(results: Path, ids: Sequence[str], page: Path) -> int:
    """Make a page of the results in a folder; its figures go to a folder of its name beside it.

    Args:
        results: a folder with a folder for each study.
        ids: of the studies that there are, in order.
        page: the file to write, such as ``claims.md``.

    Returns:
        Number of studies on it.

    Raises:
        ValueError: there is no result, or one is damaged.
        OSError: something cannot be read or written.
    """
    found = {name: load_result(results / name) for name in ids}
    known = {name: result for name, result in found.items() if result}
    if not known:
        raise ValueError(f"{results} holds no result of a study; run: vit-str study run all")
    figures = page.with_suffix("")
    figures.mkdir(parents=True, exist_ok=True)
    for name in known:
        copy = partial(shutil.copyfile, results / name / FIGURE)
        replace_file(figures / f"{name}.png", copy)
    text = page_text(known, ids, figures.name)
    replace_file(page, lambda path: path.write_text(text, encoding="utf-8"))
    return len(known)


def page_text(results: Mapping[str, Result], ids: Sequence[str], figures: str) -> str:
    """The page itself.

    Args:
        results: by id.
        ids: all studies that there are, in order; those without a result are named.
        figures: folder of the figures, as the page links to it.
    """
    sections = [_head(results), _verdicts(results, ids), _legend()]
    sections += [_study(results[name], figures) for name in ids if name in results]
    sections.append(_corrections([results[name] for name in ids if name in results]))
    return "\n\n".join("\n".join(section).strip() for section in sections) + "\n"


def _head(results: Mapping[str, Result]) -> list[str]:
    quick = [result for result in results.values() if result.quick]
    small = " --quick" if len(quick) == len(results) else ""
    lines = [
        "# What the posts claim, and what comes out when it is tried",
        "",
        "This project grew from five posts that walk from recurrent networks over attention to the",
        "Transformer and the Vision Transformer. Each of their claims is an experiment here, with",
        "the parts that the recognizers are made of. What to expect was written down before the",
        "run; the verdict is computed from the numbers by a rule in the code of the study. Sizes",
        "of the experiments were chosen in pilots, partly with the same seeds; where a rule or a",
        "design changed after first results had been seen, the study says so. Numbers in brackets",
        "are 95 % intervals over seeds; where nothing is random, there are none.",
        "",
        "```text",
        f"vit-str study run all{small} --out runs/studies",
        "vit-str study page runs/studies --out docs/claims.md",
        "```",
        "",
        "makes this page; `vit-str study run ID` one study of it: a table with a row for each seed",
        "and setting, the figure, and the numbers below.",
    ]
    if quick:
        lines += [
            "",
            f"**{len(quick)} of {len(results)} studies on this page were run in the small version "
            f"(`--quick`)**; they are marked {_QUICK}.",
        ]
    return lines


def _verdicts(results: Mapping[str, Result], ids: Sequence[str]) -> list[str]:
    rows: list[Sequence[str]] = [("study", "posts", "verdict", "decides", "number")]
    for name in ids:
        result = results.get(name)
        if result is None:
            rows.append((plain(name), "", "not run", "", ""))
            continue
        verdict = f"{result.verdict}{f' ({_QUICK})' if result.quick else ''}"
        link = f"[{plain(name)}](#{name})"
        rows.append((link, result.posts, verdict, plain(result.measure), plain(result.number)))
    counts = ", ".join(
        f"{sum(result.verdict == verdict for result in results.values())} {str(verdict).lower()}"
        for verdict in Verdict
    )
    return ["## Verdicts", "", *piped(rows, text_columns=4), "", f"{counts}."]


def _legend() -> list[str]:
    letters = ", ".join(f"{letter} = {plain(name)}" for letter, name in POSTS.items())
    return [f"Posts: {letters}."]


def _study(result: Result, figures: str) -> list[str]:
    posts = ", ".join(result.posts.replace(" ", ""))
    mark = f" ({_QUICK})" if result.quick else ""
    number = f"{plain(result.measure)}: {plain(result.number)}."
    lines = [
        *(f"## {result.id}", ""),
        *(f"**Claim** ({posts}). {plain(result.claim)}", ""),
        *(f"**Expected.** {plain(result.expectation)}", ""),
        *(f"**Experiment.** {plain(result.experiment)}", ""),
        *(f"**{result.verdict}**{mark}. {plain(result.because)}", ""),
        *(f"Decides: {number}", ""),
        *(f"![{_alternative(result)}]({figures}/{result.id}.png)", ""),
        *(*_table(result.summary), ""),
    ]
    if result.surprises:
        lines += ["**Surprises.**", "", *(f"* {plain(each)}" for each in result.surprises), ""]
    revised = study_of(result.id).revised if result.id in STUDIES else ""
    if revised:
        lines += [f"**Changed after first results.** {plain(revised)}", ""]
    if result.correction:
        lines += [f"**Correction.** {plain(result.correction)}", ""]
    return [*lines, _made_by(result)]


def _made_by(result: Result) -> str:
    many = f"{result.seeds} seed{'' if result.seeds == 1 else 's'}"
    torch = result.versions.get("torch", "?")
    how = f"{many}, {result.device}, {result.seconds:,.0f} s, torch {plain(torch)}"
    return f"`{result.command}`: {how}"


def _alternative(result: Result) -> str:
    return plain(f"Figure of the study {result.id}: {result.measure}").replace("]", r"\]")


def _table(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    titles = tuple(plain(title) for title in rows[0])
    cells = [tuple(plain(_shown(cell)) for cell in row.values()) for row in rows]
    # Numbers are set to the right: columns from the first one on that has no other text.
    texts = [any(isinstance(row[title], str) for row in rows) for title in rows[0]]
    left = texts.index(False) if False in texts else len(texts)
    return piped([titles, *cells], text_columns=max(1, left))


def _shown(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _corrections(results: Sequence[Result]) -> list[str]:
    lines = [
        "## Corrections to the posts",
        "",
        "The posts are good guides, and most of what they say stands. A reader should know:",
        "",
        *(f"* {each.posts}: {plain(each.said)} {plain(each.correction)}" for each in CORRECTIONS),
    ]
    lines += [
        f"* {', '.join(result.posts.replace(' ', ''))} ([{plain(result.id)}](#{result.id})): "
        f"{plain(result.correction)}"
        for result in results
        if result.correction
    ]
    return lines
