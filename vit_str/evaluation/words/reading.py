"""Open and read sets of labeled images."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from vit_str.console import one_line
from vit_str.datasets import LabeledWord, Skipped, WordSource, open_words
from vit_str.evaluation.words.results import ReadWords
from vit_str.images.headers import upright_size
from vit_str.images.refusals import UnreadableImage
from vit_str.words.reader import Reader


def open_sets(paths: Iterable[str | Path]) -> dict[str, WordSource]:
    """Labeled images by the last part of their paths, or by their paths where two have the same.

    Raises:
        ValueError: no data set there, or one without words.
    """
    sources = [open_words(path) for path in paths]
    for source in sources:
        if not len(source):
            raise ValueError(
                f"{source.path}: holds no labeled words; check the path and the labels"
            )
    names = [source.name for source in sources]
    return {
        str(source.path) if names.count(source.name) > 1 else source.name: source
        for source in sources
    }


def read_words(
    reader: Reader,
    source: WordSource,
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] = lambda: None,
) -> ReadWords:
    """Read all labeled images of a set; ``advance`` is called after each."""
    words = ReadWords([], [], [])
    # Asked for by the reader, which decodes ahead, and not read yet.
    waiting: deque[tuple[int, LabeledWord]] = deque()

    def images() -> Iterator[bytes]:
        for place, word in enumerate(source):
            if isinstance(word, Skipped):
                words.missing.append(one_line(f"{source.path}: {word}"))
            else:
                waiting.append((place, word))
                yield word.image

    for _, reading in reader.stream(images(), batch_size, workers):
        place, word = waiting.popleft()
        words.labels.append(word.label)
        words.places.append(place)
        if isinstance(reading, UnreadableImage):
            name = f"{source.path}: {word.name or f'word {place}'}"
            words.damaged.append(str(UnreadableImage(name, reading.reason)))
            words.texts.append("")
            words.confidences.append(None)
            words.sizes.append(None)
        else:
            words.texts.append(reading.text)
            words.confidences.append(reading.confidence)
            words.sizes.append(upright_size(word.image))
        advance()
    return words


def _is_quoted(label: str) -> bool:
    return len(label) > 2 and label[0] == label[-1] == '"'


def remarks(name: str, words: ReadWords) -> Iterator[str]:
    """Warnings about odd labels of a set, a line each; else they would pass for bad reading."""
    if not words.labels:
        yield f"{name}: holds no word to judge"
    quoted = sum(map(_is_quoted, words.labels))
    if quoted > 1 and 2 * quoted > len(words.labels):
        yield (
            f"{name}: {quoted:,} of {len(words.labels):,} labels are in quotes, "
            "which count as characters; only .csv files have quotes around labels"
        )
