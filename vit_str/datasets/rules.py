"""Which words of a data set can be used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vit_str.datasets.source import Reason, Skipped

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.charset import Charset
    from vit_str.datasets.source import LabeledWord

# What no charset allows is a line break: a word is one line, and label files have a line for each.
_NO_LINE_BREAK = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a word has to be to be used. A word that is not is left out whole, never changed.

    Attributes:
        charset: the characters that a label may hold; any but line breaks without one.
        maximum_length: most characters of a label, 1 or more; any number without one.
        least_size: least height and least width of an image, in pixels.
    """

    charset: Charset | None = None
    maximum_length: int | None = None
    least_size: int = 4

    def label(self, word: LabeledWord) -> Skipped | None:
        """Why the label cannot be used, or None if it can; the image is not looked at."""
        label = word.label
        if not label.strip():
            detail = f"only spaces: {label!r}" if label else ""
            return Skipped(word.name, Reason.NO_LABEL, detail)
        unknown = self.charset.unknown(label) if self.charset else _NO_LINE_BREAK.sub("", label)
        if unknown:
            once = "".join(dict.fromkeys(unknown))
            return Skipped(word.name, Reason.CHARSET, f"{once!r} in {label!r}")
        if self.maximum_length is not None and len(label) > self.maximum_length:
            detail = f"{len(label)} characters, more than {self.maximum_length}: {label!r}"
            return Skipped(word.name, Reason.LONG, detail)
        return None

    def decode(self, word: LabeledWord) -> Image.Image | Skipped:
        """The upright RGB image of a word, or why the word cannot be used.

        The label comes first: no image is decoded for one that cannot be used.
        """
        from vit_str.images import UnreadableImage, load_image

        skipped = self.label(word)
        if skipped:
            return skipped
        try:
            image = load_image(word.image)
        except UnreadableImage as error:
            return Skipped(word.name, Reason.UNREADABLE, error.reason)
        if min(image.size) < self.least_size:
            size = f"{image.height} x {image.width} pixels, less than {self.least_size}"
            return Skipped(word.name, Reason.SMALL, size)
        return image
