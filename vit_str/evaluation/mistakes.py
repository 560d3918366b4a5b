"""The worst mistakes: words that were read wrong and surely."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from vit_str.console import one_line
from vit_str.datasets import LabeledWord, WordSource
from vit_str.evaluation.metrics import FULL, Protocol, normalize_label
from vit_str.evaluation.words import ReadWords
from vit_str.reports.sheets import Captioned, Font, framed, sheet
from vit_str.runtime.images import UnreadableImage, load_image

_COLUMNS = 4
_SIZE, _BACKGROUND = (256, 64), "#e7e5df"  # width and height of a picture on the sheet, in pixels


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
        read = one_line(self.text) or "(nothing)"
        label, name = one_line(self.label), one_line(self.set)
        return f"{self.confidence:.3f} labeled {label}, read {read}, {name}"


def surest_mistakes(words: Mapping[str, ReadWords], most: int = 60) -> list[Mistake]:
    """Words read wrong, the surest first.

    Case and symbols make no mistake here where `fitting_protocol` can do without them.
    """
    found = [
        Mistake(name, place, label, text, confidence)
        for name, each in words.items()
        for place, label, text, confidence in zip(
            each.places, each.labels, each.texts, each.confidences, strict=True
        )
        if confidence is not None and label and is_wrong(label, text)
    ]
    return sorted(found, key=lambda each: -each.confidence)[:most]


def fitting_protocol(label: str) -> Protocol:
    """36 where the letters and digits of a label are among its characters, else the full one."""
    characters = [each for each in unicodedata.normalize("NFKD", label) if each.isalnum()]
    return 36 if characters and all(map(str.isascii, characters)) else FULL


def is_wrong(label: str, text: str) -> bool:
    """Whether a text is not what a label says, under `fitting_protocol`."""
    protocol = fitting_protocol(label)
    return normalize_label(label, protocol) != normalize_label(text, protocol)


def mistake_sheet(
    mistakes: Sequence[Mistake], sets: Mapping[str, WordSource], font: Font | None = None
) -> Image.Image:
    """Pictures of the mistakes with label, text, confidence and set below, the surest first."""
    pictures = {
        name: images_at(each, {mistake.place for mistake in mistakes if mistake.set == name})
        for name, each in sets.items()
    }
    cells = [
        Captioned(shown(picture), mistake.caption())
        for mistake in mistakes
        if (picture := pictures[mistake.set].get(mistake.place)) is not None
    ]
    if not cells:
        raise ValueError("no mistake to show: every word that can be judged is read right")
    return sheet(cells, min(_COLUMNS, len(cells)), font)


def images_at(source: WordSource, places: set[int]) -> dict[int, bytes]:
    """The images at some places of a data set; those that cannot be had are left out."""
    words = enumerate(islice(source, max(places, default=-1) + 1))
    return {i: word.image for i, word in words if i in places and isinstance(word, LabeledWord)}


def shown(picture: bytes) -> Image.Image:
    """An image as it is, as large as it fits in the middle of a frame."""
    try:
        return framed(load_image(picture), _SIZE, _BACKGROUND)
    except UnreadableImage:  # it could be read before; the sheet has a gap then
        return Image.new("RGB", _SIZE, _BACKGROUND)
