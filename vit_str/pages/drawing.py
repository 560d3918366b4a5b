"""Draws the pages of a PDF file, as a program with limits that `pictures_in` runs.

See `limited_process`. It takes the ``path`` of the file, ``ranges`` of pages, ``resolution`` in
dots per inch, null for what shows all of the images, ``password``, ``text``, whether text of the
file is wanted, and most ``pixels`` of a page. For every page it answers with the RGB pixels and
``{"size": [width, height], "lines": [...], "left_out": 0, "pages": 1}``, the last two the number of
images that PDFium could not decode, and that of all pages of the file; or with
``{"error": "..."}``. It imports no more than it needs, to start fast.
"""

import math
from itertools import islice
from typing import Any

from vit_str.images.limited_process import answer, limit_time, receive

_POINTS_PER_INCH = 72
_RESOLUTION = 200  # dots per inch, at least, where no other is asked for
_LONGEST = 50_000  # pixels of a side
# As PDFium has one at the end of a line, without a sign that it ends there
_SOFT_HYPHEN = 2
_REGULAR = 400  # weight of a font
_ITALIC = 1 << 6  # flag of a slanted font (PDF 32000-1, table 123)
_BOLD = 700
_BOLD_NAMES = (b"bold", b"black", b"heavy", b"semib", b"demib")
_LONGEST_NAME = 200  # bytes of the name of a font
_NICENESS = 10  # of this process: reading goes first
_THINNEST = 4.0  # points of a side; letters that can be read are larger
_SMALLEST = 8  # pixels of a side of an image that may hold text
# Of a page, that are decoded once more to know whether they are damaged
_MOST_IMAGES = 20
_MOST_SIZES = 10_000  # images of a page, of which the sizes are looked at


def main() -> None:
    """Draw all pages that are wanted."""
    import pypdfium2

    wanted, _ = receive(_NICENESS)
    try:
        document = pypdfium2.PdfDocument(wanted["path"], wanted["password"])
    except (pypdfium2.PdfiumError, OSError, ValueError) as error:
        answer({"error": _why_closed(str(error), wanted["password"])})
        return
    for number in (n for n in range(len(document)) if _holds(wanted["ranges"], n + 1)):
        limit_time(wanted)
        try:
            header, pixels = _page(document[number], wanted)
        except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
            reason = f"page {number + 1} cannot be drawn ({error})"
            answer({"error": reason, "pages": len(document)})
        else:
            answer(header | {"pages": len(document)}, pixels)


def _page(page: Any, wanted: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer for a page."""
    picture = _draw(page, wanted["resolution"], wanted["pixels"])
    lines = _lines(page, *picture.size) if wanted["text"] else []
    left_out = _left_out(page, picture)
    if left_out and not lines and _is_plain(picture):
        raise ValueError("its image is damaged, or of a kind that PDFium does not know")
    return {
        "size": picture.size,
        "lines": lines,
        "left_out": left_out,
    }, picture.tobytes()


def _holds(ranges: list[list[int | None]], number: int) -> bool:
    return any(first <= number <= (last or number) for first, last in ranges if first)


def _why_closed(reason: str, password: str | None) -> str:
    if "password" not in reason.lower():
        return f"a damaged or locked PDF file ({reason})"
    return (
        "not the password of this PDF file"
        if password
        else "locked, needs its --password"
    )


def _draw(page: Any, resolution: int | None, pixels: int) -> Any:
    """A page as a Pillow image of at most about so many pixels."""
    width, height = page.get_size()
    least = _RESOLUTION / _POINTS_PER_INCH
    scale = max(least, _scale_of_images(page)) if min(width, height) > 0 else least
    if not min(width, height) * scale / least >= _THINNEST:
        raise ValueError(f"it measures {width:.4g} x {height:.4g} points")
    if resolution is not None:
        scale = resolution / _POINTS_PER_INCH
    scale = min(
        scale, (pixels / (width * height)) ** 0.5, _LONGEST / max(width, height)
    )
    return page.render(scale=scale).to_pil().convert("RGB")


def _scale_of_images(page: Any) -> float:
    """Pixels per point with which a page has as many of them as all of its images together.

    Scanners and programs that join pictures to a file may say any resolution of them.
    """
    import ctypes

    from pypdfium2 import raw

    pixels = 0
    images = page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,))
    for image in islice(images, _MOST_SIZES):
        size = ctypes.c_uint(), ctypes.c_uint()
        if raw.FPDFImageObj_GetImagePixelSize(image.raw, *map(ctypes.byref, size)):
            pixels += size[0].value * size[1].value
    width, height = page.get_size()
    return float((pixels / (width * height)) ** 0.5)


def _lines(
    page: Any, width: int, height: int
) -> list[list[tuple[str, list[int], int, float]]]:
    """Lines of words that the file has as text.

    With left, top, right and bottom in pixels, the weight of the font, such as 400 or 700, and its
    size in pixels.
    """
    from pypdfium2 import raw

    size = width, height
    lines: list[list[tuple[str, list[int], int, float]]] = [[]]
    text = ""
    weight = 0
    font_size = 0.0
    scale = width / page.get_width()
    corners = []
    characters = page.get_textpage()
    for index in range(characters.count_chars() + 1):
        code = raw.FPDFText_GetUnicode(characters.raw, index)  # 0 at the end
        letter = "-" if code == _SOFT_HYPHEN else chr(code)
        if code and letter.isprintable() and not letter.isspace():
            left, bottom, right, top = characters.get_charbox(index, loose=True)
            corners += [
                _pixel(page, size, left, top),
                _pixel(page, size, right, bottom),
            ]
            if not text:
                weight = _weight(characters, index)
                font_size = round(scale * _font_size(characters, index), 2)
            text += letter
            if code != _SOFT_HYPHEN:
                continue
        if text:
            x, y = zip(*corners, strict=True)
            sides = [min(x), min(y), max(x), max(y)]
            lines[-1].append((text, sides, weight, font_size))
            text = ""
            corners = []
        if letter in "\r\n" or code == _SOFT_HYPHEN:
            lines.append([])
    return [line for line in lines if line]


def _weight(characters: Any, index: int) -> int:
    """How bold the font of a character is: what its name says, or else what it says itself.

    Office programs say that all fonts are regular but in their names. What browsers say of slanted
    fonts, the width of a letter I, is wider than its strokes.
    """
    import ctypes

    from pypdfium2 import raw

    weight = raw.FPDFText_GetFontWeight(characters.raw, index)
    name = ctypes.create_string_buffer(_LONGEST_NAME)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(
        characters.raw, index, name, _LONGEST_NAME, ctypes.byref(flags)
    )
    is_bold = any(each in name.value.lower() for each in _BOLD_NAMES)
    if is_bold:
        return max(_BOLD, int(weight))
    if flags.value & _ITALIC:
        return _REGULAR
    return int(weight) if weight > 0 else _REGULAR


def _font_size(characters: Any, index: int) -> float:
    """The size of the font of a character as it is set, in points."""
    import ctypes

    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(characters.raw, index, ctypes.byref(matrix))
    scale = math.hypot(matrix.c, matrix.d)
    return scale * raw.FPDFText_GetFontSize(characters.raw, index)


def _left_out(page: Any, picture: Any) -> int:
    """How many images PDFium left out, which it does without a word.

    Where an image should be, all is of one color then, and it cannot be decoded alone either.
    """
    from pypdfium2 import raw

    left_out = 0
    images = page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,))
    for image in islice(images, _MOST_IMAGES):
        place = _place_of(image, page, picture.size)
        left, top, right, bottom = place
        is_large = min(right - left, bottom - top) >= _SMALLEST
        if is_large and _is_plain(picture.crop(place)) and not _decodes(image):
            left_out += 1
    return left_out


def _place_of(
    image: Any, page: Any, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of an image in the picture of a page of some size."""
    width, height = size
    if image.level:  # inside a form, which has coordinates of its own
        return 0, 0, width, height
    # Pypdfium2 4
    bounds = image.get_bounds if hasattr(image, "get_bounds") else image.get_pos
    left, bottom, right, top = bounds()
    x1, y1 = _pixel(page, size, left, top)
    x2, y2 = _pixel(page, size, right, bottom)
    return (
        max(0, min(x1, x2)),
        max(0, min(y1, y2)),
        min(width, max(x1, x2)),
        min(height, max(y1, y2)),
    )


def _pixel(page: Any, size: tuple[int, int], x: float, y: float) -> tuple[int, int]:
    """A point of a page in its picture."""
    import ctypes

    from pypdfium2 import raw

    found = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, *size, 0, x, y, *map(ctypes.byref, found))
    return found[0].value, found[1].value


def _is_plain(picture: Any) -> bool:
    """Whether a picture is of one color."""
    return all(low == high for low, high in picture.getextrema())


def _decodes(image: Any) -> bool:
    import pypdfium2

    try:
        image.get_bitmap()
    except pypdfium2.PdfiumError:
        return False
    return True


if __name__ == "__main__":
    main()
