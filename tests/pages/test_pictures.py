"""Pages of TIFF, GIF and PDF files, also of files that were made to do harm."""

import struct
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import gif_of_frames, jpeg_of_scans, pdf_of_image, pdf_of_strokes

from vit_str.images import loading
from vit_str.images.headers import LARGE
from vit_str.images.limited_process import ProcessLimits
from vit_str.images.loading import load_image
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.read.own_text import page_of_text

PDF = """%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R>>endobj
4 0 obj<</Length {length}>>stream
{content}
endstream endobj
trailer<</Root 1 0 R>>
"""
WritePdf = Callable[..., str]


@pytest.fixture
def write_pdf(tmp_path) -> WritePdf:
    pytest.importorskip("pypdfium2")

    def write(box: str = "0 0 612 792", content: str = "0 0 100 100 re f") -> str:
        path = tmp_path / "page.pdf"
        path.write_text(PDF.format(box=box, content=content, length=len(content)))
        return str(path)

    return write


def reason(path: str, **options: Any) -> str:
    (error,) = pictures_in(path, **options)
    assert isinstance(error, UnreadableImage) and "\n" not in error.reason
    return error.reason


@pytest.mark.parametrize(
    ("box", "size"), [("0 0 144 72", (400, 200)), ("0 0 14400 14400", (4000, 4000))]
)
def test_pdf_pages_are_drawn_as_large_as_is_useful(box, size, write_pdf):
    (picture,) = pictures_in(write_pdf(box, "0 0 72 72 re f"))
    assert isinstance(picture, Image.Image)
    assert (picture.size, picture.mode) == (size, "RGB")
    assert picture.getextrema() == 3 * ((0, 255),)


@pytest.mark.parametrize(
    ("resolution", "size"),
    [
        (50, (900, 600)),
        (200, (900, 60)),
        (600, (6000, 4000)),
        (2400, (900, 600)),
        (20_000, (900, 60)),
    ],
)
def test_pdf_pages_show_all_of_their_images(resolution, size, tmp_path):
    """Whatever resolution the file claims for them."""
    pytest.importorskip("pypdfium2")
    path = tmp_path / "page.pdf"
    Image.new("L", size, "white").save(path, "PDF", resolution=resolution)
    (picture,) = pictures_in(str(path))
    assert isinstance(picture, Image.Image)
    pixels = picture.width * picture.height
    assert 0.98 * min(size[0] * size[1], 16_000_000) <= pixels < 17_000_000
    if resolution <= 2400:
        assert picture.width / picture.height == pytest.approx(size[0] / size[1], 0.05)
    (asked,) = pictures_in(str(path), PageOptions(resolution=min(resolution, 200)))
    assert isinstance(asked, Image.Image) and asked.width <= picture.width


def test_pdf_pages_show_all_of_images_in_strips(write_pdf):
    strip = "BI /W 500 /H 50 /CS /G /BPC 1 /F /AHx ID " + "A5" * 63 * 50 + "> EI"
    content = "\n".join(f"q 24 0 0 2.4 0 {2.4 * n} cm {strip} Q" for n in range(10))
    (picture,) = pictures_in(write_pdf("0 0 24 24", content))
    assert isinstance(picture, Image.Image)
    assert picture.size == (500, 500)


def test_pdf_pages_that_take_too_long_or_too_much_are_one_line(write_pdf, tmp_path):
    strokes = tmp_path / "strokes.pdf"
    strokes.write_bytes(pdf_of_strokes())
    text = "page 1 takes over 1 seconds to draw; it and those after it are left out"
    assert text in reason(str(strokes), limits=ProcessLimits(1))
    only_clock = ProcessLimits(5, patience=0.01)
    assert "page 1 takes over 5 seconds to draw" in reason(
        str(strokes), limits=only_clock
    )
    path = write_pdf("0 0 14400 14400")
    assert "page 1 " in reason(path, limits=ProcessLimits(memory=100 << 20))


@pytest.mark.parametrize("coding", [b"JPXDecode", b"DCTDecode", b"NoSuchDecode"])
def test_images_that_pdfium_leaves_out_are_told(coding, tmp_path):
    pytest.importorskip("pypdfium2")
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_of_image(coding, 50 * b"garbage"))
    expected = (
        "page 1 cannot be drawn "
        "(its image is damaged, or of a kind that PDFium does not know)"
    )
    assert reason(str(path)) == expected
    path.write_bytes(pdf_of_image(coding, 50 * b"garbage", text=b"Hello"))
    (picture,) = pictures_in(str(path))
    assert isinstance(picture, Image.Image)
    assert picture.info["left_out"] == 1


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_plain_images_are_not_left_out(shade, tmp_path):
    pytest.importorskip("pypdfium2")
    path = tmp_path / "plain.pdf"
    path.write_bytes(
        pdf_of_image(b"ASCIIHexDecode", b"%02x" % shade * 3 * 600 * 700 + b">")
    )
    (picture,) = pictures_in(str(path))
    assert isinstance(picture, Image.Image)
    assert picture.info["left_out"] == 0


def test_large_pictures_and_pages_are_decoded_apart(tmp_path, monkeypatch):
    """The same as here, where nothing that takes long is decoded."""
    values = np.random.default_rng(0).integers(0, 256, (30, 50, 3), dtype=np.uint8)
    large = Image.fromarray(values).resize((2000, 1200))
    assert large.width * large.height > LARGE
    large.save(tmp_path / "large.png")
    expected = load_image(tmp_path / "large.png")
    small = Image.fromarray(values)
    small.save(
        tmp_path / "pages.tiff", save_all=True, append_images=[small.transpose(0)]
    )
    monkeypatch.setattr(loading, "upright_rgb", None)
    (found,) = pictures_in(str(tmp_path / "large.png"))
    assert isinstance(found, Image.Image) and found.tobytes() == expected.tobytes()
    first, second = pictures_in(str(tmp_path / "pages.tiff"))
    assert isinstance(first, Image.Image) and isinstance(second, Image.Image)
    assert first.tobytes() == second.transpose(0).tobytes() == small.tobytes()


def test_files_of_endless_scans_or_frames_are_one_line(tmp_path):
    scans, frames = tmp_path / "scans.jpg", tmp_path / "frames.gif"
    scans.write_bytes(jpeg_of_scans((7070, 7070), 95_000))
    frames.write_bytes(gif_of_frames(7000, 5000))
    assert "a JPEG of over 100 scans" in reason(str(scans))
    options = PageOptions.of("1000")
    assert "page 1000: the frames up to it" in reason(str(frames), options=options)
    began = time.monotonic()
    limits = ProcessLimits(1, patience=0.5)
    text = reason(str(frames), options=PageOptions.of("40"), limits=limits)
    assert text.startswith(
        "page 40 takes over 1 seconds to decode; it and those after it are left"
    )
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", ["download", "scan.png", "PAGE.PDF"])
def test_a_pdf_file_is_one_under_any_name(name, tmp_path):
    pytest.importorskip("pypdfium2")
    path = tmp_path / name
    Image.new("RGB", (72, 36), "white").save(path, "PDF", resolution=72)
    (page,) = pictures_in(str(path))
    assert isinstance(page, Image.Image)
    assert page.size == (200, 100)
    assert page.info["pages"] == 1


def test_pdf_pages_too_thin_for_text_are_named(write_pdf):
    assert "page 1 cannot be drawn (it measures 1 x 792 points)" in reason(
        write_pdf("0 0 1 792")
    )


@pytest.mark.parametrize("name", ["pages.tiff", "pages.gif", "pages.pdf"])
def test_pages_of_pictures(name, tmp_path):
    pytest.importorskip("pypdfium2")
    pages = [Image.new("RGB", (60, 40), color) for color in ("red", "green", "blue")]
    path = str(tmp_path / name)
    pages[0].save(path, save_all=True, append_images=pages[1:])
    assert len(list(pictures_in(path))) == 3
    first, last = pictures_in(path, PageOptions.of("1,3-9"))
    assert isinstance(first, Image.Image) and isinstance(last, Image.Image)
    assert (first.getpixel((9, 9))[0], last.getpixel((9, 9))[2]) > (200, 200)
    assert not list(pictures_in(path, PageOptions.of("4")))


@pytest.mark.parametrize(
    "compression", [None, "tiff_lzw", "tiff_adobe_deflate", "jpeg"]
)
@pytest.mark.parametrize("damaged", [{1}, {2}, {1, 3}])
def test_pages_behind_a_damaged_one_are_read(compression, damaged, tmp_path):
    values = np.random.default_rng(0).integers(0, 256, (3, 40, 60, 3), dtype=np.uint8)
    pages = [Image.fromarray(page) for page in values]
    path = tmp_path / "pages.tiff"
    options = {"compression": compression} if compression else {}
    pages[0].save(path, save_all=True, append_images=pages[1:], **options)
    data = bytearray(path.read_bytes())
    with Image.open(path) as image:
        for number in damaged:
            image.seek(number - 1)
            (offset, *_), (size, *_) = image.tag_v2[273], image.tag_v2[279]
            if (
                compression is None
            ):  # any bytes are pixels: they lie behind the end instead
                entry = data.index(
                    struct.pack("<HHI", 273, 4, 1) + struct.pack("<I", offset)
                )
                data[entry + 8 : entry + 12] = struct.pack("<I", 1 << 30)
            else:
                data[offset : offset + size] = size * b"\xff"
    path.write_bytes(data)
    found = list(pictures_in(str(path)))
    assert len(found) == 3
    for number, page in enumerate(found, 1):
        if number in damaged:
            assert isinstance(page, UnreadableImage)
            assert page.reason.startswith(f"page {number}: damaged or cut short")
        else:
            assert isinstance(page, Image.Image)
            assert page.size == (60, 40)


@pytest.mark.parametrize(
    ("text", "expected"), [("2", [2]), ("3-5,2", [2, 3, 4, 5]), ("1, 7-", [1, 7, 8, 9])]
)
def test_pages_are_chosen_by_number(text, expected):
    assert list(islice(PageOptions.of(text).numbers, 4)) == expected


@pytest.mark.parametrize("text", ["0", "5-3", "a", "1-2-3", "", "1,", "-3", "٣"])
def test_what_is_no_page_is_refused(text):
    with pytest.raises(ValueError, match="expected pages such as"):
        PageOptions.of(text)


TEXT = "BT /F 20 Tf 20 60 Td (Two words) Tj 0 -30 Td (below) Tj ET"


def with_text(path: str) -> str:
    """The page with a font."""
    font = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    content = Path(path).read_text().replace("/MediaBox", f"{font} /MediaBox")
    Path(path).write_text(content)
    return path


@pytest.mark.parametrize("turn", [0, 90])
def test_the_text_of_a_pdf_page_is_taken_on_request(turn, write_pdf):
    path = with_text(write_pdf("0 0 144 100", TEXT))
    Path(path).write_text(
        Path(path).read_text().replace("/MediaBox", f"/Rotate {turn} /MediaBox")
    )
    (picture,) = pictures_in(path, PageOptions(text_layer=True, resolution=144))
    assert isinstance(picture, Image.Image)
    page = page_of_text(picture)
    assert page is not None
    assert {word.text for word in page.words} == {"Two", "words", "below"}
    assert turn or page.text == "Two words\nbelow"
    ink = np.asarray(picture.convert("L")) < 128
    for word in page.words:
        left, top, right, bottom = (round(side) for side in word.box)
        assert ink[top:bottom, left:right].any(), word
        ink[top:bottom, left:right] = False
    assert not ink.any()
    (drawn,) = pictures_in(path)
    assert isinstance(drawn, Image.Image) and page_of_text(drawn) is None


def test_words_cut_at_the_end_of_a_line_and_bold_ones_are_told(write_pdf):
    content = """BT /F 12 Tf 14 TL 10 70 Td (a harbour mas-) Tj T* (ter) Tj ET
        BT /G 12 Tf 10 20 Td (Bold) Tj ET"""
    fonts = "/F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    bold = "/G << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>"
    path = with_text(write_pdf("0 0 144 100", content))
    Path(path).write_text(Path(path).read_text().replace(fonts, f"{fonts} {bold}"))
    (picture,) = pictures_in(path, PageOptions(text_layer=True))
    assert isinstance(picture, Image.Image)
    page = page_of_text(picture)
    assert page is not None
    assert page.text.split() == ["a", "harbour", "mas-", "ter", "Bold"]
    heights = [word.box.bottom - word.box.top for word in page.words]
    assert max(heights) < 1.5 * min(heights)
    assert page.words[-1].weight > 1.2 * page.words[0].weight > 0


def test_fonts_of_office_programs_have_their_sizes_and_names(write_pdf):
    """Boxes are as high as the letters, and every font says that it is regular."""
    content = """BT /F 12 Tf 14 TL 10 90 Td (noses) Tj T* (Highly) Tj ET
        BT /F 1 Tf 18 0 0 18 10 40 Tm (large) Tj ET BT /G 12 Tf 10 20 Td (Bold) Tj ET
        BT /H 12 Tf 70 20 Td (slanted) Tj ET"""
    box = "/FontBBox [0 0 500 500] /Ascent 0 /Descent 0 /CapHeight 0 /ItalicAngle 0"
    fonts = " ".join(
        f"/{name} << /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Serif{kind} "
        f"/FontDescriptor << /Type /FontDescriptor /FontName /ABCDEF+Serif{kind} "
        f"/Flags {flags} /StemV {stem} {box} >> >>"
        for name, kind, flags, stem in (
            ("F", "", 4, 80),
            ("G", "-Bold", 4, 80),
            ("H", "", 68, 160),
        )
    )
    path = write_pdf("0 0 144 120", content)
    file = Path(path)
    resources = f"/Resources << /Font << {fonts} >> >> /MediaBox"
    file.write_text(file.read_text().replace("/MediaBox", resources))
    (picture,) = pictures_in(path, PageOptions(text_layer=True, resolution=144))
    assert isinstance(picture, Image.Image)
    page = page_of_text(picture)
    assert page is not None
    words = {word.text: word for word in page.words}
    sizes = [words[text].size for text in ("noses", "Highly", "large", "Bold")]
    assert sizes == pytest.approx([24, 24, 36, 24], rel=0.01)
    assert words["noses"].weight == words["Highly"].weight
    assert words["Bold"].weight == pytest.approx(1.75 * words["noses"].weight)
    # Browsers give the width of a slanted letter for that of its strokes
    assert words["slanted"].weight == words["noses"].weight


def test_a_locked_pdf_file_needs_its_password(write_pdf, tmp_path):
    pikepdf = pytest.importorskip("pikepdf")
    locked = str(tmp_path / "locked.pdf")
    with pikepdf.open(write_pdf()) as document:
        document.save(
            locked, encryption=pikepdf.Encryption(user="open sesame", owner="o")
        )
    assert reason(locked) == "locked, needs its --password"
    wrong = PageOptions(password="x")  # noqa: S106
    assert reason(locked, options=wrong) == "not the password of this PDF file"
    (picture,) = pictures_in(locked, PageOptions(password="open sesame"))  # noqa: S106
    assert isinstance(picture, Image.Image)


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_frames_of_animations_are_read_when_they_change(form, tmp_path):
    colors = ("white", "white", "black", "black", "black", "white")
    frames = [Image.new("RGB", (60, 40), color) for color in colors]
    for number, frame in enumerate(
        frames
    ):  # or writers would join those that are equal
        frame.putpixel((0, 0), (0, 0, 200) if number < 1 else (0, 0, 0))
    path = tmp_path / f"moving.{form.lower()}"
    options: dict[str, Any] = {"lossless": True} if form == "WEBP" else {}
    frames[0].save(
        path, form, save_all=True, append_images=frames[1:], duration=20, **options
    )
    with Image.open(path) as image:
        several = image.n_frames
    pages = list(pictures_in(str(path)))
    assert all(isinstance(page, Image.Image) for page in pages)
    assert len(pages) == 4 <= several
    middles = [page.getpixel((30, 20))[0] > 127 for page in pages]
    assert middles == [True, True, False, True]
    (second,) = pictures_in(str(path), PageOptions.of("2"))
    assert second.tobytes() == pages[1].tobytes()


def test_endless_animations_end(tmp_path, monkeypatch):
    """Frames that change nothing are one page; those that do are not read without end."""
    still = tmp_path / "still.gif"
    still.write_bytes(gif_of_frames(200, 5000))
    began = time.monotonic()
    (page,) = pictures_in(str(still))
    assert isinstance(page, Image.Image)
    assert time.monotonic() - began < 20
    moving = tmp_path / "moving.gif"
    frames = [Image.new("L", (30, 20), shade) for shade in range(80)]
    frames[0].save(moving, save_all=True, append_images=frames[1:], duration=20)
    *pages, error = pictures_in(str(moving))
    assert len(pages) == 50
    assert isinstance(error, UnreadableImage)
    assert error.reason.startswith("page 51: over 50 frames differ before it; name")
    assert len(list(pictures_in(str(moving), PageOptions.of("1-70")))) == 70
