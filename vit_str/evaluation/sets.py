"""What holds labeled images: a folder with ``labels.tsv``, or any other format of a data set."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from vit_str.datasets import IndexedSource, LabeledWord, Skipped, WordSource, open_words
from vit_str.images import one_line

LABELS = "labels.tsv"

Picture = Path | bytes
"""The file of an image, or what is in it."""


class Item(NamedTuple):
    """A word to read.

    Attributes:
        picture: its image.
        label: what it says.
        place: its number in the set, for `WordSet.pictures`.
        name: what to call it in a message; empty for a file, which has a path.
    """

    picture: Picture
    label: str
    place: int
    name: str = ""


class WordSet(ABC):
    """Labeled images, one after the other.

    Attributes:
        path: where they are.
        name: the last part of the path.
        count: number of words; None if only going through them tells.
    """

    count: int | None

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.resolve().name

    @abstractmethod
    def __iter__(self) -> Iterator[Item | str]:
        """Every word, or one line about a word that cannot be judged."""

    @abstractmethod
    def pictures(self, places: Collection[int]) -> dict[int, Picture]:
        """The images at some places, to look at; those that cannot be had are left out."""


class LabeledImages(WordSet):
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
        super().__init__(folder)
        self.folder = self.path
        self.paths: list[Path] = []
        self.labels: list[str] = []
        self.missing: list[str] = []
        for file, label in _rows(self.folder / LABELS):
            path = self._find(file)
            if path is None:
                self.missing.append(file)
            else:
                self.paths.append(path)
                self.labels.append(label)
        self.count = len(self)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[Item | str]:
        for file in self.missing:
            yield f"{one_line(str(self.folder / file))}: missing"
        for place, (path, label) in enumerate(zip(self.paths, self.labels, strict=True)):
            yield Item(path, label, place)

    def pictures(self, places: Collection[int]) -> dict[int, Picture]:
        return {place: self.paths[place] for place in places}

    def _find(self, file: str) -> Path | None:
        names = (file, file.replace("\\", "/"))  # as Windows writes them
        places = (self.folder / inner / name for name in names for inner in ("images", ""))
        return next((path for path in places if path.is_file()), None)


class LabeledWords(WordSet):
    """Words of a data set of any format.

    Args:
        source: the data set; words without a usable image or label are told and not judged.
    """

    def __init__(self, source: WordSource) -> None:
        super().__init__(source.path)
        self.source = source
        self.count = len(source) if isinstance(source, IndexedSource) else None

    def __iter__(self) -> Iterator[Item | str]:
        for place, word in enumerate(self.source):
            if isinstance(word, Skipped):
                detail = f" ({one_line(word.detail)})" if word.detail else ""
                yield f"{self._name(word.name, place)}: {word.reason}{detail}"
            else:
                yield Item(word.image, word.label, place, self._name(word.name, place))

    def pictures(self, places: Collection[int]) -> dict[int, Picture]:
        if isinstance(self.source, IndexedSource):
            found = {place: self.source[place] for place in sorted(places)}
        else:
            last = max(places, default=-1)
            words = zip(range(last + 1), self.source, strict=False)
            found = {place: word for place, word in words if place in places}
        return {place: word.image for place, word in found.items() if isinstance(word, LabeledWord)}

    def _name(self, name: str, place: int) -> str:
        return one_line(f"{self.path}: {name or f'word {place}'}")


def open_set(source: str | Path | WordSet) -> WordSet:
    """The labeled images of a path: a folder with ``labels.tsv``, or what else a data set can be.

    Raises:
        ValueError: there is nothing, or no data set that is known.
    """
    if isinstance(source, WordSet):
        return source
    path = Path(source)
    # A folder is what to expect where there is nothing yet; its message says what it needs.
    if (path / LABELS).is_file() or _is_bare(path):
        return LabeledImages(path)
    return LabeledWords(open_words(path))


def _is_bare(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


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
