"""Draws the pages of a PDF file, as a program of its own that `pictures_in` runs and may kill.

    python drawing.py FILE FIRST_PAGE DOTS_PER_INCH MOST_PIXELS MOST_BYTES MOST_SECONDS

For every page from the first on it writes a line of JSON, ``{"size": [width, height]}`` and then
the RGB pixels, or ``{"error": "..."}``. It imports no more than it needs, to start fast.
"""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_POINTS_PER_INCH = 72
_LONGEST = 50_000  # pixels of a side
_THINNEST = 4.0  # points of a side; letters that can be read are larger


def main(arguments: list[str]) -> None:
    """Draw all pages from the first that is wanted."""
    import pypdfium2

    path = Path(arguments[0])
    first, resolution, pixels, memory, seconds = map(int, arguments[1:])
    _limit("RLIMIT_AS", memory)
    try:
        document = pypdfium2.PdfDocument(path)
        numbers = range(first - 1, len(document))
    except (pypdfium2.PdfiumError, OSError, ValueError) as error:
        _write({"error": f"a damaged or locked PDF file ({error})"})
        return
    for number in numbers:
        _limit("RLIMIT_CPU", int(time.process_time()) + seconds + 1)
        try:
            picture = _draw(document[number], resolution, pixels)
        except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
            _write({"error": f"page {number + 1} cannot be drawn ({error})"})
        else:
            _write({"size": picture.size}, picture.tobytes())


def _draw(page: Any, resolution: int, pixels: int) -> Any:
    """A page as a Pillow image of at most about so many pixels.

    Raises:
        ValueError: it is too thin to hold text.
    """
    width, height = page.get_size()
    if not min(width, height) >= _THINNEST:
        raise ValueError(f"it measures {width:.4g} x {height:.4g} points")
    scale = resolution / _POINTS_PER_INCH
    scale = min(scale, (pixels / (width * height)) ** 0.5, _LONGEST / max(width, height))
    return page.render(scale=scale).to_pil().convert("RGB")


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
    main(sys.argv[1:])
