"""The report of ``vit-str analyze characters``: what was found, and what it does not show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from vit_str.analysis.characters.figures import (
    TITLES,
    center_errors,
    heads,
    scores_by_length,
)
from vit_str.analysis.characters.localization import METRICS, CharacterAttention
from vit_str.analysis.characters.measure import (
    Observer,
    Source,
    Word,
    gradient_times_input,
)
from vit_str.analysis.characters.scores import (
    GROUPS,
    Scoreboard,
    comparisons,
    not_better,
)
from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.analysis.subjects import Subject
from vit_str.reports.page import Page
from vit_str.reports.tables import write_frame, write_json

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
_PER_SHEET = 6  # words
_MOST_SHOWN = 60  # words


@dataclass(frozen=True, slots=True)
class _Observed:
    """Readings and attention of a model on all images.

    Attributes:
        board: scores of all words.
        records: one for each image, for the table of characters.
        shown: words to draw.
    """

    board: Scoreboard
    records: list[dict[str, Any]]
    shown: list[MappedWord]


def report(run: AnalysisRun, block: int | None, head: int | None, show: int) -> int:
    """Score where a model looked while it read, and write tables and a page.

    Blocks (default: the last) and heads (the mean of all) count from 1. The words drawn are evenly
    spread; those without text are left out.

    Raises:
        ValueError: ``show`` is out of range.
    """
    if not 0 <= show <= _MOST_SHOWN:
        raise ValueError(f"--show must be from 0 to {_MOST_SHOWN}, found {show}")
    subject, *others = run.subjects
    observer = Observer(subject, others)
    observed = _observe(run, observer, observer.source(block, head), show)
    board = observed.board
    rows = board.rows()
    write_frame(run.folder / "characters.csv", rows)
    _write_characters(run, observed, head)
    page = run.page("Where the decoder looked", f"{_LEAD} The model is {subject.name}.")
    page.paragraph(_summary(board, observed.records))
    _add_scores(page, board, rows, subject.name, head)
    _words(page, observed.shown)
    columns, cells = cells_of(not_better(rows))
    losses = [dict(zip(columns, loss, strict=True)) for loss in cells]
    return run.finish(
        page,
        words=board.words,
        characters=board.characters,
        characters_drawn=board.drawn,
        not_better_than_slices=losses,
    )


def _observe(
    run: AnalysisRun,
    observer: Observer,
    source: Source,
    show: int,
) -> _Observed:
    """Read all images; ``show`` of them, evenly spread, are drawn."""
    subject, *others = run.subjects
    board = Scoreboard(source, [other.name for other in others], observer.grid)
    observed = _Observed(board, records=[], shown=[])
    batches = run.batches(subject)
    assert run.images is not None
    drawn = {index * run.images.count // max(show, 1) for index in range(show)}
    for batch, pixels in batches:
        for index, word in enumerate(observer.observe(batch, pixels)):
            board.add(word)
            attended = word.character_attention(source, board.grid)
            if len(observed.records) in drawn and word.text:
                drawing = mapped(subject, word, attended, pixels[index])
                observed.shown.append(drawing)
            observed.records.append(record(word, attended, source))
    return observed


def _write_characters(run: AnalysisRun, observed: _Observed, head: int | None) -> None:
    """Write the texts, boxes and scores of all images."""
    subject = run.subjects[0]
    height, width = subject.recognizer.encoder.image_size
    write_json(
        run.folder / "characters.json",
        {
            "model": subject.name,
            "block": observed.board.source.counted[0],
            "head": head,
            "image_size": {"height": height, "width": width},
            "unit": "pixels of the model's input; boxes are left, top, right, bottom",
            "images": observed.records,
        },
    )


def _add_scores(
    page: Page, board: Scoreboard, rows: pd.DataFrame, subject: str, head: int | None
) -> None:
    """Figures, and tables of the means over all words and over groups of them."""
    of_boxes = rows[(rows["metric"] == "iou") & (rows["model"] == subject)]
    counts = dict(zip(of_boxes["group"], of_boxes["n"], strict=True))
    if counts:
        _scores(page, board, rows)
    else:
        page.note(
            "Where the characters of these images are is not known, so that nothing "
            "can be scored but whether attention moves in reading direction; --data "
            "rendered has true boxes."
        )
    means = _means(rows, board.source.counted[0], head)
    names = [chosen.model for chosen in board.chosen]
    if means:
        page.heading("In numbers")
        page.table(
            ["score", "unit", *names],
            _cells_of_scores(means, names, subject),
            f"Means over {board.words:,} words with 95 % intervals",
        )
    for metric in _BY_GROUP if counts else ():
        page.table(
            ["words", "n", *names],
            _cells_of_groups(means, names, counts, metric),
            f"{TITLES[metric]} ({METRICS[metric]}) by group of words: read right or "
            "wrong, length of the label, line level, rotated (rising by more than "
            "half a character) or curved",
        )


_Means = dict[tuple[str, str, str], str]
"""(model, group, metric) -> a mean and its interval."""


def _means(rows: pd.DataFrame, block: int | None, head: int | None) -> _Means:
    """The means of one block and head, and of sources that have neither."""
    is_chosen = (rows["block"] == block) & (rows["head"].fillna(0) == (head or 0))
    has_no_block = rows["block"].isna()
    compared = rows[(rows["versus"] == "") & (has_no_block | is_chosen)]
    means = {}
    for row in compared.itertuples():
        interval = f"[{row.low:.3f}, {row.high:.3f}]"
        means[row.model, row.group, row.metric] = f"{row.mean:.3f} {interval}"
    return means


def _cells_of_scores(
    means: _Means,
    names: Sequence[str],
    subject: str,
) -> list[list[object]]:
    """A row for each score that the subject has, a column for each model."""
    rows: list[list[object]] = []
    for metric, unit in METRICS.items():
        if (subject, "all", metric) in means:
            of_models = [means.get((name, "all", metric)) for name in names]
            rows.append([TITLES[metric], unit, *of_models])
    return rows


def _cells_of_groups(
    means: _Means, names: Sequence[str], counts: Mapping[str, int], metric: str
) -> list[list[object]]:
    """A row for each group of words, a column for each model."""
    rows: list[list[object]] = []
    for group in GROUPS:
        if group in counts:
            of_models = [means.get((name, group, metric)) for name in names]
            rows.append([group, counts[group], *of_models])
    return rows


def _summary(board: Scoreboard, records: Sequence[dict[str, Any]]) -> str:
    judged = [record["right"] for record in records if record["right"] is not None]
    right = f", {sum(judged):,} of {len(judged):,} of them right" if judged else ""
    empty = sum(not record["text"] for record in records)
    nothing = f" In {empty:,} no text was seen." if empty else ""
    block, head = board.source.counted
    which = "the mean of the heads" if head is None else f"head {head}"
    scored = ""
    if board.drawn:
        share = f"{board.characters / board.drawn:.1%}"
        scored = (
            f" {board.characters:,} characters of {board.words:,} words could be "
            f"scored: those that were read right, {share} of all. The others have no "
            "place of their own in the text and count nowhere; scores of all "
            "characters would be lower."
        )
    return (
        f"{len(records):,} images were read{right}.{nothing}{scored} Maps and boxes "
        f"are of {which} of block {block} of the decoder unless said otherwise."
    )


def _scores(page: Page, board: Scoreboard, rows: pd.DataFrame) -> None:
    page.heading("Against equal-width slices")
    page.paragraph(_TRUTH)
    page.note(verdict(rows))
    page.figure(
        scores_by_length(rows),
        "scores-by-length",
        "Scores against the length of the label: means over words of the means over "
        "their characters, with 95 % intervals over n words.",
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
        "Share of the attention that lies in the box of the character, by block and "
        f"head of the decoder (diamond: mean of its heads), n = {board.words:,} "
        "words, 95 % intervals.",
    )


def verdict(rows: pd.DataFrame) -> str:
    """On which scores and words attention is not shown to be better than slices."""
    aside = "Reading direction is left aside here: slices have it by construction."
    compared = comparisons(rows)
    losses = not_better(rows)
    if losses.empty:
        return (
            f"Attention beats equal-width slices in all {len(compared)} comparisons "
            "of a score on a group of words: no 95 % interval of the differences "
            f"holds zero. {aside}"
        )
    listed = "; ".join(
        f"{TITLES[row.metric].lower()} ({row.group}): {signed(row.mean)} "
        f"[{signed(row.low)}, {signed(row.high)}], n = {row.n:,}"
        for row in losses.itertuples()
    )
    return (
        f"Attention does not beat equal-width slices in {len(losses)} of "
        f"{len(compared)} comparisons of a score on a group of words. Attention "
        f"minus slices, with 95 % intervals: {listed}. {aside}"
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
            "Every word with the boxes from attention (in the colors of the "
            "characters) and, where known, the true ones (white in black). For "
            "every character attention, and |gradient × input| of its score, summed "
            "over the patch; dark is the most of each map.",
        )


def mapped(
    subject: Subject,
    word: Word,
    attended: CharacterAttention,
    image: Tensor,
) -> MappedWord:
    """A word with attention and gradients of every character."""
    ids = torch.tensor([subject.charset.encode(word.text)], device=image.device)
    gradients = gradient_times_input(subject.recognizer, image[None], ids)[0]
    verdict = "" if word.label is None else f"the label is {word.label}"
    if word.right:
        verdict = "read right"
    title = f"{word.text}    {verdict}    ({word.name})"
    maps = {"attention": attended.maps, "|gradient × input|": gradients}
    truth = [] if word.true_boxes is None else word.true_boxes.tolist()
    return MappedWord(
        title, word.pixels, word.text, maps, attended.boxes.tolist(), truth
    )


def record(word: Word, attended: CharacterAttention, source: Source) -> dict[str, Any]:
    """One image as plain values, in pixels of the model's input."""
    true_boxes = {}
    if word.true_boxes is not None:
        for place, in_label in word.true_places():
            true_boxes[place] = _rounded(word.true_boxes[in_label])
    special = source.of(word.special_mass[source.model]).tolist()
    characters = [
        {
            "character": character,
            "confidence": round(word.confidences[index], 6),
            "centroid": _rounded(attended.centers[index]),
            "box": _rounded(attended.boxes[index]),
            "true_box": true_boxes.get(index),
            "special_mass": round(special[index], 6),
        }
        for index, character in enumerate(word.text)
    ]
    return {
        "image": word.name,
        "text": word.text,
        "label": word.label,
        "right": word.right,
        "characters": characters,
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 2) for value in values.tolist()]
