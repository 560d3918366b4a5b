"""Pictures with captions in a grid, to look at."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from vit_str.console import warn
from vit_str.files import write_atomically

_GAP = 6  # pixels between cells
_CAPTION = 18  # pixels below them for a caption
_FONT_SIZE = 11  # pixels

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
FindFonts = Callable[[], Iterable[Path]]


@dataclass(frozen=True, slots=True)
class Captioned:
    """A picture on a sheet and what is written below it."""

    image: Image.Image
    caption: str = ""
    color: str = "black"


def sheet(
    cells: Sequence[Captioned], columns: int, find_fonts: FindFonts = list
) -> Image.Image:
    """Pictures of one size in rows, each with its caption below, see `caption_font`."""
    font = caption_font("".join(cell.caption for cell in cells), find_fonts)
    width, height = cells[0].image.size
    across = width + _GAP
    down = height + _CAPTION
    rows = math.ceil(len(cells) / columns)
    picture = Image.new("RGB", (across * columns, down * rows), "white")
    pen = ImageDraw.Draw(picture)
    for index, cell in enumerate(cells):
        row, column = divmod(index, columns)
        x = column * across
        y = row * down
        picture.paste(cell.image, (x, y))
        caption = _shortened(cell.caption, width - _GAP, pen, font)
        # The baseline is the same in every font, so that no caption leaves its cell.
        pen.text((x, y + down - 5), caption, fill=cell.color, font=font, anchor="ls")
    return picture


def framed(
    image: Image.Image, size: tuple[int, int], background: str | tuple[int, int, int]
) -> Image.Image:
    """A picture in the middle of a frame of (width, height), scaled to fit, its aspect kept."""
    scale = min(size[0] / image.width, size[1] / image.height)
    width, height = (max(1, round(scale * side)) for side in image.size)
    frame = Image.new("RGB", size, background)
    scaled = image.resize((width, height), Image.Resampling.BICUBIC)
    frame.paste(scaled, ((size[0] - width) // 2, (size[1] - height) // 2))
    return frame


def check_picture(path: Path) -> None:
    """Refuse a name that Pillow would not know how to write."""
    if path.suffix.lower() not in {".png", ".jpg", ".jpeg", ".webp"}:
        raise ValueError(
            f"a picture needs a name that ends in .png, .jpg or .webp, found {path}"
        )


def write_picture(path: Path, picture: Image.Image) -> None:
    """Write a picture, whole or not at all, into a folder that is made if it is missing."""
    with write_atomically(path) as temporary:
        picture.save(temporary)


def caption_font(text: str, find_fonts: FindFonts) -> Font:
    """A font for captions that has every character of ``text``, or else the most of them.

    Without the library that looks into fonts it is Pillow's own, and a line says so.
    """
    default = ImageFont.load_default(_FONT_SIZE)
    needed = {ord(character) for character in text if not character.isspace()}
    if max(needed, default=0) < 128:
        return default
    try:
        import fontTools  # noqa: F401
    except ModuleNotFoundError:
        warn(
            "captions in other scripts need fontTools, without it they are boxes; "
            "run: pip install fonttools"
        )
        return default
    best = None
    most = 0
    for path in sorted(find_fonts(), key=_plainness):
        known = len(needed & _code_points(path))
        if known > most:
            best = path
            most = known
        if known == len(needed):
            break
    return default if best is None else ImageFont.truetype(best, _FONT_SIZE)


def _plainness(path: Path) -> tuple[bool, int, str]:
    """Fonts to read come before fonts to look at: sans before others, short names before long."""
    stem = path.stem.casefold()
    return "sans" not in stem, len(stem), stem


def _code_points(path: Path) -> set[int]:
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            return set(font.getBestCmap() or ())
    # A damaged font is of no use here
    except (TTLibError, OSError, ValueError, KeyError):
        return set()


def _shortened(caption: str, width: int, pen: ImageDraw.ImageDraw, font: Font) -> str:
    while len(caption) > 1 and pen.textlength(caption, font) > width:
        caption = caption[:-2] + "…"
    return caption
