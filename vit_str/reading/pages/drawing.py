"""Draws the pages of a PDF file, as a program of its own that `pictures_in` runs and may kill.

    python drawing.py FILE

From standard input it takes a JSON object: ``pages``, ranges of numbers from 1, ``resolution`` in
dots per inch, ``password``, ``text``, whether text of the file is wanted, and the limits ``pixels``
and ``seconds`` of a page and ``memory`` in bytes. For every page it writes a line of JSON,
``{"size": [width, height], "lines": [...]}`` and then the RGB pixels, or ``{"error": "..."}``. It
imports no more than it needs, to start fast.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_POINTS_PER_INCH = 72
_LONGEST = 50_000  # pixels of a side
_NICENESS = 10  # of the process that draws
_SOFT_HYPHEN = 2  # as PDFium has one at the end of a line
_THINNEST = 4.0  # points of a side; letters that can be read are larger


def main(path: Path, wanted: dict[str, Any]) -> None:
    """Draw all pages that are wanted."""
    import pypdfium2

    _limit("RLIMIT_AS", wanted["memory"])
    if hasattr(os, "nice"):  # reading goes first
        os.nice(_NICENESS)
    try:
        document = pypdfium2.PdfDocument(path, wanted["password"])
    except (pypdfium2.PdfiumError, OSError, ValueError) as error:
        _write({"error": _why_closed(str(error), wanted["password"])})
        return
    for number in (n for n in range(len(document)) if _holds(wanted["pages"], n + 1)):
        _limit("RLIMIT_CPU", int(time.process_time()) + wanted["seconds"] + 1)
        try:
            page = document[number]
            picture = _draw(page, wanted["resolution"], wanted["pixels"])
            lines = _lines(page, *picture.size) if wanted["text"] else []
        except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
            _write({"error": f"page {number + 1} cannot be drawn ({error})"})
        else:
            _write({"size": picture.size, "lines": lines}, picture.tobytes())


def _holds(ranges: list[list[int | None]], number: int) -> bool:
    return any(first <= number <= (last or number) for first, last in ranges if first)


def _why_closed(reason: str, password: str | None) -> str:
    if "password" not in reason.lower():
        return f"a damaged or locked PDF file ({reason})"
    return "not the password of this PDF file" if password else "locked, needs its --password"


def _draw(page: Any, resolution: int, pixels: int) -> Any:
    """A page as a Pillow image of at most about so many pixels."""
    width, height = page.get_size()
    if not min(width, height) >= _THINNEST:
        raise ValueError(f"it measures {width:.4g} x {height:.4g} points")
    scale = resolution / _POINTS_PER_INCH
    scale = min(scale, (pixels / (width * height)) ** 0.5, _LONGEST / max(width, height))
    return page.render(scale=scale).to_pil().convert("RGB")


def _lines(page: Any, width: int, height: int) -> list[list[tuple[str, list[int]]]]:
    """Lines of words that the file has as text, with left, top, right and bottom in pixels."""
    import ctypes

    from pypdfium2 import raw

    def place(x: float, y: float) -> tuple[int, int]:
        found = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, x, y, *map(ctypes.byref, found))
        return found[0].value, found[1].value

    lines: list[list[tuple[str, list[int]]]] = [[]]
    text = ""
    corners = []
    characters = page.get_textpage()
    for index in range(characters.count_chars() + 1):
        code = raw.FPDFText_GetUnicode(characters.raw, index)  # 0 at the end
        letter = "-" if code == _SOFT_HYPHEN else chr(code)
        if code and letter.isprintable() and not letter.isspace():
            left, bottom, right, top = characters.get_charbox(index, loose=True)
            corners += [place(left, top), place(right, bottom)]
            text += letter
            continue
        if text:
            x, y = zip(*corners, strict=True)
            lines[-1].append((text, [min(x), min(y), max(x), max(y)]))
            text = ""
            corners = []
        if letter in "\r\n":
            lines.append([])
    return [line for line in lines if line]


def _limit(name: str, value: int) -> None:
    """Lower a limit of this process, where the system has it."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(getattr(resource, name))[1]
        resource.setrlimit(getattr(resource, name), (value, hard))


def _write(line: dict[str, Any], pixels: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps(line).encode() + b"\n" + pixels)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.load(sys.stdin))
