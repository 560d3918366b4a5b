"""The answer of ``vit-str analyze characters``: what was found, and what it does not show."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from vit_str.analysis.characters.figures import TITLES, center_errors, heads, scores_by_length
from vit_str.analysis.characters.localization import METRICS
from vit_str.analysis.characters.measure import Observer
from vit_str.analysis.characters.records import mapped, record
from vit_str.analysis.characters.scores import GROUPS, Score, Scoreboard, comparisons, not_better
from vit_str.analysis.images import batches_of
from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.results import Inspection
from vit_str.devices import choose_device
from vit_str.reports.page import Page

_LEAD = """\
Where the decoder looked while it wrote each character: its cross-attention over the tokens of the \
image, the box that follows from it, and how well both agree with where the character is."""

_TRUTH = """\
True boxes come from the renderer, which drew the characters: the upright box around each glyph's \
rectangle after slant, rotation and bending. Characters of wrong readings count where an alignment \
of least edit distance matches them with the same character of the label. Equal-width slices cut \
the image into as many parts as characters were read, and know nothing else; the untrained model \
has random weights and writes the text that the trained one read."""

_BY_GROUP = ("iou", "pointing", "center_error")
_PER_SHEET = 6


def answer(inspection: Inspection, block: int | None, head: int | None, show: int) -> int:
    """Watch a model read, score where it looked, and write tables and a page.

    Args:
        inspection: the model, and the same without training.
        block: of the decoder, from 1; the last if None.
        head: from 1; the mean of all if None.
        show: words to draw, evenly spread; those without text are left out.
    """
    subject, *others = inspection.subjects
    batch_size, device = inspection.how
    observer = Observer(subject, others, choose_device(device))
    source = observer.source(block, head)
    board = Scoreboard(source, [other.name for other in others], observer.grid)
    images = inspection.load(subject)
    drawn = {index * images.count // max(show, 1) for index in range(show)}
    records: list[dict[str, Any]] = []
    shown: list[MappedWord] = []
    for batch, pixels in batches_of(subject, images, batch_size, observer.device):
        for index, word in enumerate(observer.observe(batch, pixels)):
            board.add(word)
            looks = word.looks(source, board.grid)
            if len(records) in drawn and word.text:
                shown.append(mapped(subject, word, looks, pixels[index]))
            records.append(record(word, looks, source))
    rows = board.rows(inspection.seed)
    inspection.write_rows("characters.csv", Score, rows)
    height, width = subject.recognizer.encoder.image_size
    inspection.write_json(
        "characters.json",
        {
            "model": subject.name,
            "block": source.counted[0],
            "head": head,
            "image_size": {"height": height, "width": width},
            "unit": "pixels of the model's input; boxes are left, top, right, bottom",
            "images": records,
        },
    )
    page = inspection.page("Where the decoder looked", f"{_LEAD} Asked of {subject.name}.")
    page.paragraph(_summary(board, records))
    known = {
        (row.model, row.group, row.metric): f"{row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]"
        for row in rows
        if row.versus is None and (row.block, row.head) in ((None, None), source.counted)
    }
    scored = any(row.metric == "iou" for row in rows)
    if scored:
        _scores(page, board, rows)
    else:
        page.note(
            "Where the characters of these images are is not known, so that nothing can be scored "
            "but whether attention moves in reading direction; --data rendered has true boxes."
        )
    names = [each.model for each in board.chosen]
    if rows:
        page.heading("In numbers")
        cells: list[list[object]] = [
            [TITLES[metric], unit, *(known.get((name, "all", metric)) for name in names)]
            for metric, unit in METRICS.items()
            if (subject.name, "all", metric) in known
        ]
        caption = f"Means over {board.words:,} words with 95 % intervals"
        page.table(["score", "unit", *names], cells, caption)
    counts = {row.group: row.n for row in rows if row.metric == "iou" and row.model == subject.name}
    for metric in _BY_GROUP if scored else ():
        cells = [
            [group, counts[group], *(known.get((name, group, metric)) for name in names)]
            for group in GROUPS
            if group in counts
        ]
        caption = (
            f"{TITLES[metric]} ({METRICS[metric]}) by group of words: read right or wrong, length "
            "of the label, line level, rotated (rising by more than half a character) or curved"
        )
        page.table(["words", "n", *names], cells, caption)
    _words(page, shown)
    return inspection.finish(
        page,
        words=board.words,
        characters=board.characters,
        not_better_than_slices=[asdict(row) for row in not_better(rows)],
    )


def _summary(board: Scoreboard, records: Sequence[dict[str, Any]]) -> str:
    judged = [record["right"] for record in records if record["right"] is not None]
    right = f", {sum(judged):,} of {len(judged):,} of them right" if judged else ""
    empty = sum(not record["text"] for record in records)
    nothing = f" In {empty:,} no text was seen." if empty else ""
    block, head = board.source.counted
    which = "the mean of the heads" if head is None else f"head {head}"
    scored = (
        f" {board.characters:,} characters of {board.words:,} words could be scored."
        if board.characters
        else ""
    )
    return (
        f"{len(records):,} images were read{right}.{nothing}{scored} Maps and boxes are of {which} "
        f"of block {block} of the decoder unless said otherwise."
    )


def _scores(page: Page, board: Scoreboard, rows: Sequence[Score]) -> None:
    page.heading("Against equal-width slices")
    page.paragraph(_TRUTH)
    page.note(verdict(rows))
    page.figure(
        scores_by_length(rows),
        "scores-by-length",
        "Scores against the length of the label: means over words of the means over their "
        "characters, with 95 % bootstrap intervals over n words.",
        vector=True,
    )
    page.figure(
        center_errors({source: board.errors[source] for source in board.chosen}),
        "center-errors",
        "Sideways error of the center of attention in character widths, "
        f"n = {board.characters:,} characters; to the right is positive.",
    )
    page.figure(
        heads(rows),
        "heads",
        "Share of the attention that lies in the box of the character, by block and head of the "
        f"decoder (diamond: mean of its heads), n = {board.words:,} words, 95 % intervals.",
    )


def verdict(rows: Sequence[Score]) -> str:
    """On which scores and words attention is not shown to be better than slices."""
    aside = "Reading direction is left aside here: slices have it by construction."
    compared, losses = comparisons(rows), not_better(rows)
    if not losses:
        return (
            f"Attention beats equal-width slices in all {len(compared)} comparisons of a score on "
            f"a group of words: no 95 % interval of the differences holds zero. {aside}"
        )
    listed = "; ".join(
        f"{TITLES[row.metric].lower()} ({row.group}): {signed(row.mean)} [{signed(row.low)}, "
        f"{signed(row.high)}], n = {row.n:,}"
        for row in losses
    )
    return (
        f"Attention does not beat equal-width slices in {len(losses)} of {len(compared)} "
        "comparisons of a score on a group of words. Attention minus slices, with 95 % intervals: "
        f"{listed}. {aside}"
    )


def signed(value: float) -> str:
    """A difference with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def _words(page: Page, shown: Sequence[MappedWord]) -> None:
    if not shown:
        return
    page.heading("Word by word")
    page.note(CAUTION)
    for number, start in enumerate(range(0, len(shown), _PER_SHEET), 1):
        page.figure(
            map_sheet(shown[start : start + _PER_SHEET]),
            f"overlays-{number}",
            "Every word with the boxes from attention (in the colors of the characters) and, where "
            "known, the true ones (white in black). For every character attention, and "
            "|gradient × input| of its score, summed over the patch; dark is the most of each map.",
        )
