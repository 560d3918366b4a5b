"""A reader and labeled images -> how well it reads them, with 95 % intervals."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from vit_str.calibration import BINS, Calibration, calibrate
from vit_str.images import UnreadableImage, one_line
from vit_str.metrics import (
    METRICS,
    WORD_PROTOCOLS,
    Interval,
    Scores,
    normalize_label,
    right_words,
    score,
)
from vit_str.reading import Reader, Reading


class LabeledImages:
    """A folder of word images with a file ``labels.tsv``.

    Every line of it names an image, beside it or in the folder ``images``, and after a tab what
    the image says. UTF-8; blank lines are skipped.

    Args:
        folder: the folder.

    Attributes:
        name: of the folder.
        paths: of the images that are there.
        labels: what they say.
        missing: names of images that are not there.

    Raises:
        ValueError: no such folder, no ``labels.tsv`` in it, or one that cannot be understood.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.name = self.folder.resolve().name
        self.paths: list[Path] = []
        self.labels: list[str] = []
        self.missing: list[str] = []
        for file, label in _rows(self.folder / "labels.tsv"):
            path = self._find(file)
            if path is None:
                self.missing.append(file)
            else:
                self.paths.append(path)
                self.labels.append(label)

    def __len__(self) -> int:
        return len(self.paths)

    def _find(self, file: str) -> Path | None:
        places = (self.folder / "images" / file, self.folder / file)
        return next((path for path in places if path.is_file()), None)


@dataclass(frozen=True, slots=True)
class ReadWords:
    """The words of a set and what was read, one of each per image.

    Attributes:
        labels: what the images say.
        texts: what was read; empty where an image is damaged.
        confidences: probability of each text according to the model; None for a damaged image.
        missing: one line for every image that is not there.
        damaged: one line for every image that cannot be read.
    """

    labels: list[str]
    texts: list[str]
    confidences: list[float | None]
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def right(self, protocol: int = 36) -> Bool[np.ndarray, " word"]:
        """Which of the words that the protocol can judge are read exactly."""
        return right_words(self.texts, self.labels, protocol)

    def scores(self) -> Scores:
        """All metrics."""
        return score(self.texts, self.labels, len(self.damaged), len(self.missing))

    def calibration(self) -> Calibration:
        """Confidences against what is right under 36 characters, of the words that it can judge."""
        judged = [
            confidence
            for confidence, label in zip(self.confidences, self.labels, strict=True)
            if normalize_label(label, 36)
        ]
        pairs = zip(judged, self.right(36).tolist(), strict=True)
        sure = [(confidence, right) for confidence, right in pairs if confidence is not None]
        return calibrate([pair[0] for pair in sure], [pair[1] for pair in sure])


@dataclass(frozen=True, slots=True)
class Report:
    """Scores of every set and of all words together.

    Attributes:
        sets: name -> scores, in the order they were given.
        overall: scores of all words.
        calibration: name -> how far confidences can be believed.
        overall_calibration: of all words.
        words: name -> what was read.
        troubles: one line for every image that is missing or cannot be read.
    """

    sets: dict[str, Scores]
    overall: Scores
    calibration: dict[str, Calibration]
    overall_calibration: Calibration
    words: dict[str, ReadWords]
    troubles: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: dict[str, ReadWords]) -> "Report":
        """Judge what was read."""
        whole = together(words.values())
        return cls(
            sets={name: each.scores() for name, each in words.items()},
            overall=whole.scores(),
            calibration={name: each.calibration() for name, each in words.items()},
            overall_calibration=whole.calibration(),
            words=words,
            troubles=tuple(
                line for each in words.values() for line in (*each.missing, *each.damaged)
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions; the bins of the calibration are a reliability table."""

        def values(scores: Scores, calibration: Calibration) -> dict[str, Any]:
            return scores.to_dict() | {"calibration": calibration.to_dict()}

        sets = {name: values(scores, self.calibration[name]) for name, scores in self.sets.items()}
        return {"sets": sets, "overall": values(self.overall, self.overall_calibration)}

    def table(self) -> str:
        """Text for a terminal: percent with the 95 % interval in brackets."""
        titles = ("set", "words", "word 36", "word 62", "word 94", "character", "1-NED")
        rows = [titles, *(_row(*item) for item in self.sets.items())]
        if len(self.sets) > 1:
            rows.append(_row("all", self.overall))
        lines = [*aligned(rows), "percent [95 % interval]", *self._calibration_lines()]
        return "\n".join([*lines, *_notes(self.overall)])

    def _calibration_lines(self) -> Iterator[str]:
        calibrations = dict(self.calibration)
        if len(calibrations) > 1:
            calibrations["all"] = self.overall_calibration
        errors = ", ".join(
            f"{one_line(name)} {percent(each.error, each.interval)}"
            for name, each in calibrations.items()
            if each.n
        )
        if errors:
            yield f"calibration error of confidences, word 36, {BINS} bins: {errors}"


def evaluate(
    reader: Reader,
    folders: Iterable[str | Path | LabeledImages],
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] | None = None,
) -> Report:
    """Read labeled images and compare.

    Args:
        reader: what reads.
        folders: one set each, see ``LabeledImages``.
        batch_size: images read at once.
        workers: threads that decode images, see ``Reader.stream``.
        advance: called after every image, to show progress.

    Raises:
        ValueError: no folder, or one that is no set of labeled images.
    """
    return Report.of(read_sets(reader, folders, batch_size, workers, advance))


def read_sets(
    reader: Reader,
    folders: Iterable[str | Path | LabeledImages],
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] | None = None,
) -> dict[str, ReadWords]:
    """Read labeled images: name of the set -> words. Arguments and errors as in `evaluate`."""
    sets = _named([_labeled_images(folder) for folder in folders])
    if not sets:
        raise ValueError("nothing to evaluate: give one folder with labels.tsv or more")
    words = {}
    for name, images in sets.items():
        stream = reader.stream(images.paths, batch_size, workers)
        missing = [f"{one_line(str(images.folder / file))}: missing" for file in images.missing]
        words[name] = _read(images.labels, missing, stream, advance)
    return words


def together(sets: Iterable[ReadWords]) -> ReadWords:
    """The words of all sets as one set."""
    names = [each.name for each in fields(ReadWords)]
    parts = [[getattr(each, name) for name in names] for each in sets]
    return ReadWords(*(list(chain.from_iterable(column)) for column in zip(*parts, strict=True)))


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise ValueError(f"{path}: no such file; a set is a folder with images and labels.tsv")
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    for number, line in enumerate(lines, 1):
        file, tab, label = line.rstrip("\r").partition("\t")
        if not line.strip():
            continue
        if not tab:
            raise ValueError(f"{path}, line {number}: expected file, tab, label, found {line!r}")
        yield file.strip(), label


def _named(sets: Sequence[LabeledImages]) -> dict[str, LabeledImages]:
    """Sets under their folders' names, or paths where two have the same name."""
    names = [images.name for images in sets]
    return {
        str(images.folder) if names.count(images.name) > 1 else images.name: images
        for images in sets
    }


def _labeled_images(folder: str | Path | LabeledImages) -> LabeledImages:
    return folder if isinstance(folder, LabeledImages) else LabeledImages(folder)


def _read(
    labels: list[str],
    missing: list[str],
    stream: Iterable[tuple[object, Reading | UnreadableImage]],
    advance: Callable[[], object] | None,
) -> ReadWords:
    words = ReadWords(labels, [], [], missing)
    for _, reading in stream:
        if isinstance(reading, UnreadableImage):
            words.damaged.append(str(reading))
            words.texts.append("")
            words.confidences.append(None)
        else:
            words.texts.append(reading.text)
            words.confidences.append(reading.confidence)
        if advance:
            advance()
    return words


def _row(name: str, scores: Scores) -> tuple[str, ...]:
    cells = (percent(scores.values[metric], scores.interval[metric]) for metric in METRICS)
    return (one_line(name), f"{scores.n:,}", *cells)


def _notes(scores: Scores) -> Iterator[str]:
    for metric, words in scores.left_out.items():
        if words and metric in WORD_PROTOCOLS:
            protocol = WORD_PROTOCOLS[metric]
            yield f"{words:,} labels with none of the {protocol} characters: not in word {protocol}"
    if scores.unreadable:
        yield f"{scores.unreadable:,} damaged images: counted as read wrong"
    if scores.missing:
        yield f"{scores.missing:,} labels without an image: not counted"


def percent(value: float, interval: Interval) -> str:
    """A share and its interval for a table."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table as lines, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
