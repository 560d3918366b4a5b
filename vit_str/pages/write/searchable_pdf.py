"""Searchable PDF files: pages as they are, with invisible text where the words were read."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from vit_str.images.loading import load_pages
from vit_str.machine import install_hint
from vit_str.pages.page import Page
from vit_str.pages.write import archive
from vit_str.pages.write.document_pages import DocumentPage
from vit_str.pages.write.glyphless_font import CHARACTER_WIDTH, add_font, encoded
from vit_str.pages.write.text_layer import SetWord, TextLayer

if TYPE_CHECKING:
    import pikepdf

_PDF = b"%PDF-"
_LOOKED_AT = 1024  # bytes, in which a PDF file begins
_DEEPEST = 50  # tree of pages or fields
_NARROWEST = 0.01  # scale of a space between words that touch


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file and what was read in it."""

    source: Path | str | bytes  # a PDF file, or one of pictures
    name: str
    pages: Sequence[DocumentPage]
    password: str | None = None


def write_searchable_pdf(files: Sequence[ReadFile], target: Path) -> list[str]:
    """Write one PDF file of all pages of some files; returns what its user should know.

    Pages of PDF files stay as they are, and pictures go in unchanged where PDF can hold them so.
    Pages that have text of their own get no other. A locked file stays locked, with its password.
    A file of pictures alone is PDF/A-1b, unless some are in CMYK or another way that it forbids.

    Raises:
        ValueError: pikepdf or img2pdf is not installed, or a locked file is to be joined to others.
    """
    try:
        import img2pdf  # noqa: F401 - before anything is done
        import pikepdf
    except ModuleNotFoundError as error:
        hint = install_hint("pdf")
        raise ValueError(f"writing PDF files needs {error.name}, run: {hint}") from None
    notes: list[str] = []
    with ExitStack() as opened:
        parts = [opened.enter_context(_opened(file)) for file in files]
        for file, part in zip(files, parts, strict=True):
            notes += _notes(file, part)
            _add_text(part, file.pages)
        first, *others = parts
        locked = [
            file.name
            for file, part in zip(files, parts, strict=True)
            if part.is_encrypted
        ]
        if others and locked:
            raise ValueError(
                f"{locked[0]} is locked, and would not be in a file with others; write "
                "it to a file of its own"
            )
        for other in others:
            first.pages.extend(other.pages)
        is_archival = not any(map(_is_pdf, files)) and archive.can_be_archived(first)
        modes = pikepdf.ObjectStreamMode
        if is_archival:
            archive.make_archival(first)
        with target.open("wb") as output:  # which a path would replace, and it is held
            first.save(
                output,
                encryption=bool(locked),
                min_version=archive.VERSION,
                object_stream_mode=modes.disable if is_archival else modes.generate,
            )
    return notes


def _is_pdf(file: ReadFile) -> bool:
    """Whether a file is a PDF file, and none of pictures."""
    if isinstance(file.source, bytes):
        return _PDF in file.source[:_LOOKED_AT]
    with open(file.source, "rb") as content:
        return _PDF in content.read(_LOOKED_AT)


def _opened(file: ReadFile) -> "pikepdf.Pdf":
    """A file as a PDF file."""
    import pikepdf

    if not _is_pdf(file):
        return pikepdf.open(BytesIO(_pdf_of_pictures(file.source)))
    source = BytesIO(file.source) if isinstance(file.source, bytes) else file.source
    return pikepdf.open(source, password=file.password or "")


def _pdf_of_pictures(source: Path | str | bytes) -> bytes:
    """A PDF file of the pictures in a file; those with transparency and the like as they look."""
    import img2pdf

    given = source if isinstance(source, bytes) else str(source)
    rotation = img2pdf.Rotation.ifvalid
    # Of many kinds: of its own, of Pillow, or ValueError
    with suppress(Exception):
        if not _is_transparent(source):
            made: bytes = img2pdf.convert(given, rotation=rotation)
            return made
    pictures = []
    for picture in load_pages(source):
        file = BytesIO()
        picture.save(file, "PNG")
        pictures.append(file.getvalue())
    drawn: bytes = img2pdf.convert(pictures)
    return drawn


def _is_transparent(source: Path | str | bytes) -> bool:
    """Whether the first picture of a file has transparency, which archives do not take."""
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source) as image:
        return image.has_transparency_data


def _notes(file: ReadFile, pdf: "pikepdf.Pdf") -> Iterator[str]:
    """Notes on what is not as the user may expect, a line each."""
    if _is_signed(pdf):
        yield (
            f"{file.name}: is signed, and the signature does not hold for the file with text; "
            "keep the signed one"
        )
    own = sum(page.page.has_own_text for page in file.pages)
    if own:
        yield f"{file.name}: pages that stay as they are, with the text that they have: {own:,}"


def _is_signed(pdf: "pikepdf.Pdf") -> bool:
    """Whether a file has a signature, by its permissions, the flags of its forms or a field."""
    form = pdf.Root.get("/AcroForm")
    if form is None:
        return "/Perms" in pdf.Root
    flags = int(form.get("/SigFlags", 0))
    return bool(flags & 1) or "/Perms" in pdf.Root or _has_signature(form, "/Fields")


def _has_signature(node: "pikepdf.Object", below: str, depth: int = 0) -> bool:
    """Whether one of the fields below a form or a field is signed."""
    return depth < _DEEPEST and any(
        (field.get("/FT") == "/Sig" and "/V" in field)
        or _has_signature(field, "/Kids", depth + 1)
        for field in node.get(below, ())
    )


def _add_text(pdf: "pikepdf.Pdf", pages: Sequence[DocumentPage]) -> None:
    """Set the words of pages behind what they show."""
    wanted = [
        page
        for page in pages
        if page.words and not page.page.has_own_text and page.number <= len(pdf.pages)
    ]
    if not wanted:
        return
    font = add_font(pdf)
    for page in wanted:
        on = pdf.pages[page.number - 1]
        name = on.add_resource(font, _font_type())
        content = _content(page.page, str(name).encode(), _matrix(on, page.page))
        on.contents_add(b"q\n", prepend=True)
        on.contents_add(b"\nQ\n" + content)


def _font_type() -> "pikepdf.Name":
    from pikepdf import Name

    return Name.Font


def _content(page: Page, font: bytes, matrix: Sequence[float]) -> bytes:
    """Operators that set the words of a page: a text object for every line."""
    cm = b" ".join(b"%.6f" % value for value in matrix)
    lines = [b"q %s cm" % cm]
    for line in TextLayer(page).set_words():
        lines.append(b"BT 3 Tr %s %.2f Tf" % (font, line[0].size))
        for word, following in pairwise(chain(line, [None])):
            assert word is not None
            lines.append(_operators(word, following, page.height))
        lines.append(b"ET")
    return b"\n".join([*lines, b"Q"])


def _operators(word: SetWord, following: SetWord | None, height: int) -> bytes:
    """A word, and a space as wide as the white before the following one."""
    natural = CHARACTER_WIDTH * word.size
    scale = word.width / (natural * max(1, len(word.text)))
    x, y = word.start
    along, down = word.direction
    place = (along, -down, down, along, x, height - y)
    tm = b" ".join(b"%.3f" % value for value in place)
    text = b"%s Tm %.2f Tz %s Tj" % (tm, 100 * scale, encoded(word.text))
    if following is None:
        return text
    moved = following.start[0] - x, following.start[1] - y
    white = moved[0] * along + moved[1] * down - word.width
    scale = max(_NARROWEST, white / natural)
    return text + b" %.2f Tz %s Tj" % (100 * scale, encoded(" "))


def _matrix(on: "pikepdf.Page", page: Page) -> tuple[float, ...]:
    """From the pixels of the upright picture, counted from below, to the units of its page."""
    left, bottom, right, top = map(float, on.cropbox)
    width, height = abs(right - left), abs(top - bottom)
    left, bottom = min(left, right), min(bottom, top)
    quarters = round(_rotation(on.obj) / 90) % 4  # to the right
    shown = (height, width) if quarters % 2 else (width, height)
    across, up = shown[0] / page.width, shown[1] / page.height
    if quarters == 1:
        return 0, across, -up, 0, left + width, bottom
    if quarters == 2:
        return -across, 0, 0, -up, left + width, bottom + height
    if quarters == 3:
        return 0, -across, up, 0, left, bottom + height
    return across, 0, 0, up, left, bottom


def _rotation(node: "pikepdf.Object") -> int:
    """Degrees by which a page is shown turned to the right, which it may have from its parents."""
    for _ in range(_DEEPEST):
        if "/Rotate" in node:
            return int(node["/Rotate"])
        if "/Parent" not in node:
            break
        node = node["/Parent"]
    return 0
