"""Read sets of labeled images."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from vit_str.evaluation.report import Report
from vit_str.evaluation.sets import Item, Picture, WordSet, open_set
from vit_str.evaluation.words import ReadWords, Size
from vit_str.images import UnreadableImage
from vit_str.reading import Reader

_ORIENTATION_TAG = 0x0112
_QUARTER_TURNS = {5, 6, 7, 8}

Source = str | Path | WordSet


def evaluate(
    reader: Reader,
    sources: Iterable[Source],
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] | None = None,
) -> Report:
    """Read labeled images and compare.

    Args:
        reader: what reads.
        sources: one set each: folders with ``labels.tsv``, or what `open_set` opens.
        batch_size: images read at once.
        workers: threads that decode images, see ``Reader.stream``.
        advance: called after every image, to show progress.

    Raises:
        ValueError: no source, or one that is no set of labeled images.
    """
    return Report.of(read_sets(reader, sources, batch_size, workers, advance))


def read_sets(
    reader: Reader,
    sources: Iterable[Source],
    batch_size: int = 32,
    workers: int | None = None,
    advance: Callable[[], object] | None = None,
) -> dict[str, ReadWords]:
    """Read labeled images: name of the set -> words. Arguments and errors as in `evaluate`."""
    sets = named([open_set(source) for source in sources])
    if not sets:
        raise ValueError("nothing to evaluate: give one folder with labels.tsv or more")
    return {
        name: _read(reader, each, batch_size, workers, advance or (lambda: None))
        for name, each in sets.items()
    }


def named(sets: Sequence[WordSet]) -> dict[str, WordSet]:
    """Sets under the last part of their paths, or the paths where two have the same."""
    names = [each.name for each in sets]
    return {str(each.path) if names.count(each.name) > 1 else each.name: each for each in sets}


def _read(
    reader: Reader,
    words: WordSet,
    batch_size: int,
    workers: int | None,
    advance: Callable[[], object],
) -> ReadWords:
    found = ReadWords([], [], [])
    waiting: deque[Item] = deque()  # asked for by the reader, which decodes ahead, not read yet

    def pictures() -> Iterator[Picture]:
        for item in words:
            if isinstance(item, str):
                found.missing.append(item)
            else:
                waiting.append(item)
                yield item.picture

    for _, reading in reader.stream(pictures(), batch_size, workers):
        item = waiting.popleft()
        found.labels.append(item.label)
        found.places.append(item.place)
        if isinstance(reading, UnreadableImage):
            name = item.name or reading.name
            found.damaged.append(str(UnreadableImage(name, reading.trouble)))
            found.texts.append("")
            found.confidences.append(None)
            found.sizes.append(None)
        else:
            found.texts.append(reading.text)
            found.confidences.append(reading.confidence)
            found.sizes.append(size_of(item.picture))
        advance()
    return found


def size_of(picture: Picture) -> Size | None:
    """Height and width of an image file, upright, from its header alone; None if that fails."""
    try:
        with Image.open(BytesIO(picture) if isinstance(picture, bytes) else picture) as image:
            width, height = image.size
            # Asking a PNG file for more than its header says would decode it. TIFF is upright.
            stored = "exif" in image.info and image.format != "TIFF"
            turned = stored and image.getexif().get(_ORIENTATION_TAG) in _QUARTER_TURNS
            return (width, height) if turned else (height, width)
    except Exception:  # it has been read: the size is worth no trouble
        return None
