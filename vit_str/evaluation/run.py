"""Read sets of labeled images."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from vit_str.console import one_line
from vit_str.datasets import LabeledWord, Skipped, WordSource, open_words
from vit_str.evaluation.words import ImageSize, ReadWords
from vit_str.runtime import Reader
from vit_str.runtime.images import ORIENTATION_TAG, QUARTER_TURNS, UnreadableImage

PathOrSource = str | Path | WordSource


def read_sets(
    reader: Reader,
    sources: Iterable[PathOrSource],
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, ReadWords]:
    """Read labeled images: name of the set -> words."""
    sets = named([opened(source) for source in sources])
    if not sets:
        raise ValueError("nothing to evaluate: give one folder with labels.tsv or more")
    return {
        name: _read(reader, source, batch_size, workers, advance) for name, source in sets.items()
    }


def opened(source: PathOrSource) -> WordSource:
    """The labeled images at a path."""
    return source if isinstance(source, WordSource) else open_words(source)


def named(sets: Sequence[WordSource]) -> dict[str, WordSource]:
    """Sets under the last part of their paths, or the paths where two have the same."""
    names = [source.name for source in sets]
    unique = [str(source.path) if names.count(source.name) > 1 else source.name for source in sets]
    return dict(zip(unique, sets, strict=True))


def _read(
    reader: Reader,
    source: WordSource,
    batch_size: int,
    workers: int | None,
    advance: Callable[[], object],
) -> ReadWords:
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
            words.sizes.append(size_of(word.image))
        advance()
    return words


def size_of(image: bytes) -> ImageSize | None:
    """Height and width of an image file, upright, from its header alone; None if that fails."""
    try:
        with Image.open(BytesIO(image)) as picture:
            width, height = picture.size
            # Asking a PNG file for more than its header says would decode it. TIFF is upright.
            stored = "exif" in picture.info and picture.format != "TIFF"
            turned = stored and picture.getexif().get(ORIENTATION_TAG) in QUARTER_TURNS
            return (width, height) if turned else (height, width)
    except Exception:  # it has been read, the size is optional
        return None
