"""The pictures in a file: one, or the pages of a TIFF or PDF file."""

from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from vit_str.images import MAX_PIXELS, SUFFIXES, UnreadableImage, load_pages

PAGE_SUFFIXES = (*SUFFIXES, ".pdf")
_RESOLUTION = 200
"""Dots per inch that the pages of a PDF file are drawn with."""
_POINTS_PER_INCH = 72


def pictures_in(path: str) -> Iterator[Image.Image | UnreadableImage]:
    """The pages of a file, upright and in RGB; what cannot be read is handed out as an error."""
    try:
        yield from _pdf_pages(path) if path.lower().endswith(".pdf") else load_pages(path)
    except UnreadableImage as error:
        yield error


def _pdf_pages(path: str) -> Iterator[Image.Image]:
    try:
        import pypdfium2
    except ImportError:
        raise UnreadableImage(path, "reading PDF files needs pip install 'vit-str[page]'") from None
    try:
        document = pypdfium2.PdfDocument(Path(path))
        for page in document:
            width, height = (side * _RESOLUTION / _POINTS_PER_INCH for side in page.get_size())
            scale = min(1.0, (MAX_PIXELS / max(1.0, width * height)) ** 0.5)
            yield page.render(scale=scale * _RESOLUTION / _POINTS_PER_INCH).to_pil().convert("RGB")
    except (pypdfium2.PdfiumError, OSError, ValueError) as error:
        raise UnreadableImage(path, f"a damaged or locked PDF file ({error})") from None
