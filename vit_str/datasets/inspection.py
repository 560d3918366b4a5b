"""What a data set holds, and what of it can be used."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from tqdm import tqdm

from vit_str.datasets.judging import judged, known_total
from vit_str.datasets.rules import Rules
from vit_str.datasets.skip_report import SkipReport
from vit_str.datasets.source import Skipped, WordSource
from vit_str.datasets.summary import QUANTILES, Look, Statistics, look_at

_BAR = 40
_LONGEST = 30
_CHARACTERS = 40


def inspect(
    source: WordSource, rules: Rules, report: SkipReport, limit: int | None, as_json: bool
) -> Iterator[str]:
    """Look at every word and say what they are like.

    Args:
        source: the words.
        rules: which of them can be used.
        report: gets those that cannot.
        limit: look at the first ones only.
        as_json: whether to give one object of JSON instead of text.
    """
    statistics = Statistics()
    total = known_total([source])
    total = limit if total is None else min(total, limit or total)
    with tqdm(total=total, unit="word", disable=None, leave=False, delay=2) as bar:
        for results in judged(islice(source, limit), rules, look_at):
            _count(results, statistics, report)
            bar.update(len(results))
    if as_json:
        yield json.dumps(_values(source, statistics, report), ensure_ascii=False)
    else:
        yield from _lines(source, statistics, report)


def _count(results: list[Look | Skipped], statistics: Statistics, report: SkipReport) -> None:
    for result in results:
        if isinstance(result, Skipped):
            report.add(result)
        else:
            statistics.add(result)


def _values(source: WordSource, statistics: Statistics, report: SkipReport) -> dict[str, Any]:
    skipped = {
        str(reason): {"count": count, "examples": [each.name for each in _few(report, reason)]}
        for reason, count in report.counts.items()
    }
    return {
        "path": str(source.path),
        "format": source.format,
        "entries": len(statistics) + report.total,
        "skipped": skipped,
        "usable": statistics.summary(),
    }


def _few(report: SkipReport, reason: Any) -> list[Skipped]:
    return list(islice(report.words(reason), 10))


def _lines(source: WordSource, statistics: Statistics, report: SkipReport) -> Iterator[str]:
    entries = len(statistics) + report.total
    yield f"{source.path}: {source.format}, {entries:,} words"
    yield f"{len(statistics):,} can be used, {report.total:,} are left out"
    yield from (f"  {line}" for line in report.table().splitlines())
    summary = statistics.summary()
    if not summary["words"]:
        return
    yield from _lines_of_lengths(summary)
    yield from _lines_of_characters(summary["characters"])
    yield from _lines_of_images(summary)


def _lines_of_lengths(summary: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield "characters in a label"
    lengths = {int(length): count for length, count in summary["lengths"].items()}
    rows = [(str(length), lengths.get(length, 0)) for length in range(1, _LONGEST + 1)]
    beyond = sum(count for length, count in lengths.items() if length > _LONGEST)
    while rows and not rows[-1][1]:
        rows.pop()
    if beyond:
        rows.append((f"{_LONGEST + 1}+", beyond))
    most = max(count for _, count in rows)
    for length, count in rows:
        bar = "#" * round(_BAR * count / most)
        yield f"  {length:>3} {count:>11,} {bar}".rstrip()


def _lines_of_characters(characters: dict[str, Any]) -> Iterator[str]:
    yield ""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in characters["kinds"].items())
    yield f"{characters['different']:,} different characters; {kinds}"
    outside = characters["outside_ascii"]
    if not outside:
        yield "all are among the 94 of the bundled weights"
        return
    shown = " ".join(map(_visible, list(characters["most_outside_ascii"])[:_CHARACTERS]))
    more = " ..." if outside > _CHARACTERS else ""
    yield f"{outside:,} are not among the 94 of the bundled weights: {shown}{more}"


def _visible(character: str) -> str:
    """A character as it is, or what to call it where it would not be seen."""
    if character == " ":
        return "space"
    return character if character.isprintable() else f"U+{ord(character):04X}"


def _lines_of_images(summary: dict[str, Any]) -> Iterator[str]:
    images, repeated = summary["images"], summary["repeated"]
    kinds = ", ".join(f"{number:,} {kind[1:]}" for kind, number in images["kinds"].items())
    yield ""
    yield f"images: {kinds}"
    heads = ["least", *(f"{quantile:.0%}" for quantile in QUANTILES[1:-1]), "most"]
    yield f"  {'':14}" + "".join(f"{head:>9}" for head in heads)
    for name in ("height", "width"):
        yield f"  {name:14}" + "".join(f"{value:>9.0f}" for value in images[name])
    yield f"  {'width / height':14}" + "".join(f"{value:>9.2f}" for value in images["aspect"])
    yield f"{images['tall']:,} are so tall that they are turned to the left before they are read"
    yield (
        f"{repeated['images']:,} are the same file as one before; "
        f"{repeated['with_other_labels']:,} files come with different labels"
    )
