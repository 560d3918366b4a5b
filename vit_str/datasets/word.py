"""One labeled word, as all formats hold it."""

import json
from dataclasses import dataclass

# What files of each kind begin with.
_SIGNS = (
    *((b"\xff\xd8\xff", ".jpg"), (b"\x89PNG", ".png"), (b"GIF8", ".gif"), (b"BM", ".bmp")),
    *((b"II*\0", ".tif"), (b"MM\0*", ".tif"), (b"\0\0\0\x0cjP", ".jp2")),
    *((b"P1", ".pbm"), (b"P4", ".pbm"), (b"P2", ".pgm"), (b"P5", ".pgm")),
    *((b"P3", ".ppm"), (b"P6", ".ppm")),
)


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

    @property
    def suffix(self) -> str:
        """The usual ending of image files of its kind, ``.png`` for a kind that is not known."""
        start = self.image[:12]
        if start[:4] == b"RIFF" and start[8:] == b"WEBP":
            return ".webp"
        if start[4:12] in (b"ftypavif", b"ftypavis"):
            return ".avif"
        return next((suffix for sign, suffix in _SIGNS if start.startswith(sign)), ".png")

    def json_of_boxes(self, **more: str) -> str:
        """One line of JSON: what is in ``more``, the label, and a box for each character."""
        values = {**more, "label": self.label, "boxes": self.boxes}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
