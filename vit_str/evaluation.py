"""A reader and labeled images -> how well it reads them, with 95 % intervals."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vit_str.images import UnreadableImage, one_line
from vit_str.metrics import METRICS, WORD_PROTOCOLS, Interval, Scores, score
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
class Report:
    """Scores of every set and of all words together.

    Attributes:
        sets: name -> scores, in the order they were given.
        overall: scores of all words.
        troubles: one line for every image that is missing or cannot be read.
    """

    sets: dict[str, Scores]
    overall: Scores
    troubles: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions."""
        sets = {name: scores.to_dict() for name, scores in self.sets.items()}
        return {"sets": sets, "overall": self.overall.to_dict()}

    def table(self) -> str:
        """Text for a terminal: percent with the 95 % interval in brackets."""
        titles = ("set", "words", "word 36", "word 62", "word 94", "character", "1-NED")
        rows = [titles, *(_row(*item) for item in self.sets.items())]
        if len(self.sets) > 1:
            rows.append(_row("all", self.overall))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join([*(_aligned(row, widths) for row in rows), *_notes(self.overall)])


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
    sets = _named([_labeled_images(folder) for folder in folders])
    if not sets:
        raise ValueError("nothing to evaluate: give one folder with labels.tsv or more")
    scores: dict[str, Scores] = {}
    predictions: list[str] = []
    troubles: list[str] = []
    for name, images in sets.items():
        texts, damaged = _read(reader.stream(images.paths, batch_size, workers), advance)
        scores[name] = score(texts, images.labels, len(damaged), len(images.missing))
        predictions += texts
        troubles += [f"{one_line(str(images.folder / file))}: missing" for file in images.missing]
        troubles += damaged
    labels = [label for images in sets.values() for label in images.labels]
    unreadable = sum(each.unreadable for each in scores.values())
    missing = sum(each.missing for each in scores.values())
    return Report(scores, score(predictions, labels, unreadable, missing), tuple(troubles))


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
    stream: Iterable[tuple[object, Reading | UnreadableImage]],
    advance: Callable[[], object] | None,
) -> tuple[list[str], list[str]]:
    """Text of every image, and a line for each that cannot be read, whose text is empty."""
    texts: list[str] = []
    damaged: list[str] = []
    for _, reading in stream:
        if isinstance(reading, UnreadableImage):
            damaged.append(str(reading))
        texts.append("" if isinstance(reading, UnreadableImage) else reading.text)
        if advance:
            advance()
    return texts, damaged


def _row(name: str, scores: Scores) -> tuple[str, ...]:
    cells = (_percent(scores.values[metric], scores.interval[metric]) for metric in METRICS)
    return (one_line(name), f"{scores.n:,}", *cells)


def _notes(scores: Scores) -> Iterator[str]:
    yield "percent [95 % interval]"
    for metric, words in scores.left_out.items():
        if words and metric in WORD_PROTOCOLS:
            protocol = WORD_PROTOCOLS[metric]
            yield f"{words:,} labels with none of the {protocol} characters: not in word {protocol}"
    if scores.unreadable:
        yield f"{scores.unreadable:,} damaged images: counted as read wrong"
    if scores.missing:
        yield f"{scores.missing:,} labels without an image: not counted"


def _percent(value: float, interval: Interval) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join(cells).rstrip()
