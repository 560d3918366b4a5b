"""A report as a page of Markdown."""

from collections.abc import Mapping, Sequence

from vit_str.evaluation.metrics import FULL
from vit_str.evaluation.statistics import percent
from vit_str.evaluation.words.breakdown import (
    SHOWN,
    AcceptedWords,
    Group,
    Share,
    breakdown,
    rejection,
)
from vit_str.evaluation.words.calibration_error import BINS, Bin, Calibration
from vit_str.evaluation.words.confusions import Confusion, confusions
from vit_str.evaluation.words.mistakes import Mistake, surest_mistakes
from vit_str.evaluation.words.report import CHARACTER_TITLES, WORD_TITLES, Report
from vit_str.reports.tables import code, piped, plain

_MOST_MISTAKES = 25  # that are listed
_DIMENSIONS = {
    "length": "characters of the label",
    "case": "the characters of the label",
    "orientation": "how the image lies",
    "aspect": "width over height of the image",
    "height": "height of the line in pixels: that of the image, or the width of a tall one",
}


def report_markdown(
    report: Report,
    model: str,
    command: str,
    how: str,
    comparison: Sequence[str] = (),
) -> str:
    """A page about a report. It holds no image of a word."""
    sections = [
        _head(report, model, command, how),
        _accuracy(report),
        *([comparison] if comparison else []),
        _confidence(report),
        _kinds(report),
        _confusions(confusions(report.whole)),
        _mistakes(surest_mistakes(report.words, _MOST_MISTAKES)),
    ]
    return "\n\n".join("\n".join(section).strip() for section in sections) + "\n"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of plain text as a table; the first has the titles, the first column is text."""
    return piped([[plain(cell) for cell in row] for row in rows])


def _head(report: Report, model: str, command: str, how: str) -> list[str]:
    count = len(report.words)
    many = f"{report.overall.n:,} words" + (f" of {count} sets" if count > 1 else "")
    return [
        f"# How well {plain(model)} reads",
        "",
        f"{many}, {plain(how)}. Made by",
        "",
        "```text",
        command,
        "```",
        "",
        "Percent, with 95 % intervals in brackets: Wilson's for shares of words, bootstrap over",
        "words for the others. 36: letters and digits without case. 62: with case. 94: printable",
        "ASCII without the space. full: everything, as it is written. 1-NED: mean of 1 - edit",
        "distance / length of the longer text.",
    ]


def _accuracy(report: Report) -> list[str]:
    words = table(report.rows(WORD_TITLES))
    characters = table(report.rows(CHARACTER_TITLES))
    lines = ["## Accuracy", "", *words, "", *characters]
    notes = [f"* {plain(note)}" for note in report.notes()]
    if notes:
        lines += ["", *notes]
    return lines


def _confidence(report: Report) -> list[str]:
    full = report.whole.calibration(FULL)
    return [
        "## Confidence",
        "",
        "The confidence is meant as the probability that the whole text is right, with case and",
        "symbols (full). Expected calibration error: distance of mean confidence and share of",
        f"right words in {BINS} bins, mean over words.",
        "",
        *table(_calibration_rows(report)),
        "",
        "Confidences of all words, and how many of them were right:",
        "",
        *table(_bin_rows(report.overall_calibration, full)),
        "",
        "If the least sure words are rejected, of those that are kept are right:",
        "",
        *table(_kept_rows(rejection(report.whole))),
    ]


def _calibration_rows(report: Report) -> list[tuple[str, ...]]:
    titles = ("set", "words", "mean confidence", "error, word 36", "error, word full")
    rows: list[tuple[str, ...]] = [titles]
    for name, (words, _, calibration) in report.parts().items():
        full = words.calibration(FULL)
        mean = f"{100 * full.confidence:.1f}" if full.n else "-"
        errors = (percent(part.error, part.interval) for part in (calibration, full))
        rows.append((name, f"{full.n:,}", mean, *errors))
    return rows


def _bin_rows(calibration: Calibration, full: Calibration) -> list[tuple[str, ...]]:
    titles = ("confidence", "words", "mean", "right, word 36", "right, word full")
    rows: list[tuple[str, ...]] = [titles]
    for first, second in zip(calibration.bins, full.bins, strict=True):
        if second.n:
            place = f"{second.low:.2f} to {second.high:.2f}"
            rows.append(
                (
                    place,
                    f"{second.n:,}",
                    f"{100 * second.confidence:.1f}",
                    _bin_accuracy(first),
                    _bin_accuracy(second),
                )
            )
    return rows


def _bin_accuracy(part: Bin) -> str:
    return f"{100 * part.accuracy:.1f}" if part.n else "-"


def _kinds(report: Report) -> list[str]:
    lines = ["## By kind of word", ""]
    groups = breakdown(report.whole)
    for name, what in _DIMENSIONS.items():
        if groups[name]:
            rows = _group_rows(name, groups[name])
            lines += [f"By {name}: {what}.", "", *table(rows), ""]
    return lines


def _group_rows(dimension: str, groups: list[Group]) -> list[tuple[str, ...]]:
    """A table of accuracy by kind of word, its titles first."""
    rows = [(dimension, "words", *_share_titles())]
    rows += [(group.name, f"{group.n:,}", *_cells(group.shares)) for group in groups]
    return rows


def _kept_rows(kept: list[AcceptedWords]) -> list[tuple[str, ...]]:
    """A table of accuracy if the least sure words are rejected, its titles first."""
    rows = [("kept", "words", "confidence from", *_share_titles())]
    for words in kept:
        surest = f"surest {100 * words.coverage:.0f} %"
        confidence = f"{words.confidence:.3f}".replace("nan", "-")
        rows.append((surest, f"{words.n:,}", confidence, *_cells(words.shares)))
    return rows


def _share_titles() -> list[str]:
    return [WORD_TITLES[metric] for metric in SHOWN]


def _cells(shares: Mapping[str, Share]) -> list[str]:
    return [percent(share.value, share.interval) for share in shares.values()]


def _confusions(mistakes: Sequence[Confusion]) -> list[str]:
    rows = [("written", "read", "times", "of", "share")]
    for mistake in mistakes:
        row = (
            code(mistake.written),
            code(mistake.read),
            f"{mistake.times:,}",
            f"{mistake.of:,}",
            f"{100 * mistake.times / mistake.of:.1f} %",
        )
        rows.append(row)
    return [
        "## Characters taken for others",
        "",
        "In words of which at least half was read right; of: how often the label has the",
        "character, or any, where one was read that is not there.",
        "",
        *(piped(rows, text_columns=2) if mistakes else ["None."]),
    ]


def _mistakes(mistakes: Sequence[Mistake]) -> list[str]:
    rows = [("label", "read", "set", "confidence")]
    for mistake in mistakes:
        row = (
            code(mistake.label),
            code(mistake.text),
            plain(mistake.set),
            f"{mistake.confidence:.4f}",
        )
        rows.append(row)
    return [
        "## Surest mistakes",
        "",
        "Read wrong even without case and symbols, in order of confidence.",
        "",
        *(piped(rows, text_columns=3) if mistakes else ["None."]),
    ]
