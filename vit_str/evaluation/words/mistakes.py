"""The worst mistakes: words that were read wrong and surely."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from vit_str.console import one_line
from vit_str.datasets import LabeledWord, WordSource
from vit_str.evaluation.metrics import FULL, Protocol, normalize_label
from vit_str.evaluation.words.results import ReadWords
from vit_str.images.loading import load_image
from vit_str.images.refusals import UnreadableImage
from vit_str.reports.sheets import Captioned, framed, sheet
from vit_str.synthesis.fonts import find_fonts

_COLUMNS = 4  # of a sheet
_SIZE = (256, 64)  # width and height of a picture on the sheet, in pixels
_BACKGROUND = "#e7e5df"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A word that was read wrong."""

    set: str
    place: int
    label: str
    text: str
    confidence: float

    def caption(self) -> str:
        """One line about it for the sheet."""
        label = one_line(self.label)
        name = one_line(self.set)
        return f"{self.confidence:.3f} labeled {label}, read {shown(self.text)}, {name}"


def surest_mistakes(words: Mapping[str, ReadWords], most: int = 60) -> list[Mistake]:
    """Words read wrong, the surest first.

    Case and symbols make no mistake here where `fitting_protocol` can do without them.
    """
    mistakes: list[Mistake] = []
    for name, part in words.items():
        mistakes += _mistakes_of(name, part)
    return sorted(mistakes, key=lambda mistake: -mistake.confidence)[:most]


def _mistakes_of(name: str, words: ReadWords) -> Iterator[Mistake]:
    """Words of a set that were read wrong, in its order."""
    known = zip(words.places, words.labels, words.texts, words.confidences, strict=True)
    for place, label, text, confidence in known:
        if confidence is not None and label and is_wrong(label, text):
            yield Mistake(name, place, label, text, confidence)


def fitting_protocol(label: str) -> Protocol:
    """36 where the letters and digits of a label are among its characters, else the full one."""
    characters = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", label)))
    return 36 if characters and characters.isascii() else FULL


def is_wrong(label: str, text: str) -> bool:
    """Whether a text is not what a label says, under `fitting_protocol`."""
    protocol = fitting_protocol(label)
    return normalize_label(label, protocol) != normalize_label(text, protocol)


def picture_sheet(
    captions: Mapping[tuple[str, int], str], sets: Mapping[str, WordSource]
) -> Image.Image | None:
    """Pictures of words with captions, by set and place in it; None if none can be had."""
    cells = []
    places: dict[str, set[int]] = {name: set() for name in sets}
    for name, place in captions:
        places[name].add(place)
    pictures = {name: _images_at(sets[name], wanted) for name, wanted in places.items()}
    for (name, place), caption in captions.items():
        if place in pictures[name]:
            cells.append(Captioned(_framed(pictures[name][place]), caption))
    return sheet(cells, min(_COLUMNS, len(cells)), find_fonts) if cells else None


def shown(text: str) -> str:
    """The reading, in one line."""
    return one_line(text) or "(nothing)"


def _images_at(source: WordSource, places: set[int]) -> dict[int, bytes]:
    words = enumerate(islice(source, max(places, default=-1) + 1))
    images = {}
    for place, word in words:
        if place in places and isinstance(word, LabeledWord):
            images[place] = word.image
    return images


def _framed(picture: bytes) -> Image.Image:
    """An image as it is, as large as it fits in the middle of a frame."""
    try:
        return framed(load_image(picture), _SIZE, _BACKGROUND)
    except UnreadableImage:  # it could be read before; the sheet has a gap then
        return Image.new("RGB", _SIZE, _BACKGROUND)
