"""One labeled word, as all formats hold it."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabeledWord:
    """A picture of a word, as the bytes of an image file, and what it says.

    Attributes:
        image: an encoded image, such as the bytes of a PNG file.
        label: the text.
        boxes: left, top, right, bottom of every character, in pixels.
        name: where it was read: a file, a key, a member of an archive; empty if nowhere.
    """

    image: bytes
    label: str
    boxes: tuple[tuple[float, ...], ...] = ()
    name: str = ""

    def json_of_boxes(self, **more: str) -> str:
        """One line of JSON: what is in ``more``, the label, and a box for each character."""
        values = {**more, "label": self.label, "boxes": self.boxes}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
