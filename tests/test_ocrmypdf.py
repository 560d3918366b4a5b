"""Searchable PDF files: the real OCRmyPDF with this package as its engine."""

import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image, ImageDraw, ImageFont

pytest.importorskip("ocrmypdf")
pytest.importorskip("cv2")

import pluggy
import pypdfium2
from ocrmypdf import pluginspec
from ocrmypdf.exceptions import BadArgsError

from vit_str import ocrmypdf as plugin
from vit_str.characters.charset import charset_of

LINES = "Museum station", "opens every day", "Coffee and tea"
DPI = 150
Box = tuple[float, float, float, float]


def drawn_page(font: Path) -> tuple[Image.Image, dict[str, Box]]:
    """A page, and where its words are, in points."""
    letters = ImageFont.truetype(str(font), 48)
    page = Image.new("RGB", (900, 500), "white")
    pen = ImageDraw.Draw(page)
    places = {}
    for number, line in enumerate(LINES):
        x, y = 100.0, 80 + 120 * number
        for word in line.split():
            pen.text((x, y), word, "black", letters)
            left, top, right, bottom = pen.textbbox((x, y), word, letters)
            places[word] = tuple(72 / DPI * side for side in (left, top, right, bottom))
            x += letters.getlength(f"{word} ")
    return page, places


def text_page(path: Path) -> None:
    content = b"BT /F 24 Tf 50 100 Td (Written before) Tj ET"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F " + font + b" >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    path.write_bytes(
        b"%PDF-1.4\n" + body + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n"
    )


def words_in(path: Path, page: int) -> dict[str, Box]:
    command = ["pdftotext", "-bbox", "-f", str(page), "-l", str(page), str(path), "-"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pattern = r'<word xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.+?)</word>'
    return {each[4]: tuple(map(float, each[:4])) for each in re.findall(pattern, found)}


def overlap_along(one: Box, other: Box) -> float:
    """Intersection over union of the columns of two boxes; rows depend on fonts."""
    inside = min(one[2], other[2]) - max(one[0], other[0])
    return inside / (max(one[2], other[2]) - min(one[0], other[0]))


needs_programs = pytest.mark.skipif(
    not all(map(shutil.which, ("tesseract", "pdftotext", "gs"))),
    reason="needs the programs that OCRmyPDF needs, and pdftotext",
)


def searchable(source: Path, *options: str) -> Path:
    """A searchable file, which OCRmyPDF makes with this package."""
    target = source.with_name("out.pdf")
    command = [sys.executable, "-m", "ocrmypdf", "--plugin", "vit_str.ocrmypdf"]
    command += [*options, str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def check_places(found: dict[str, Box], places: dict[str, Box], page: int) -> None:
    """Words are copied, and lie where they were drawn."""
    assert set(found) == set(places), page
    for word, place in places.items():
        assert overlap_along(found[word], place) > 0.8, (page, word)
        middle = (place[1] + place[3]) / 2
        assert found[word][1] < middle < found[word][3], (page, word)


@needs_programs
def test_a_searchable_file(tmp_path, matplotlib_fonts):
    """An upright page, one that is turned, and one that has text already."""
    page, places = drawn_page(matplotlib_fonts / "DejaVuSans.ttf")
    turned = page.transpose(Image.Transpose.ROTATE_270)
    page.save(
        tmp_path / "seen.pdf", save_all=True, append_images=[turned], resolution=DPI
    )
    text_page(tmp_path / "text.pdf")
    document = pypdfium2.PdfDocument.new()
    for name in ("seen.pdf", "text.pdf"):
        document.import_pages(pypdfium2.PdfDocument(tmp_path / name))
    document.save(tmp_path / "scan.pdf")
    made = searchable(tmp_path / "scan.pdf", "--skip-text", "--rotate-pages")
    for number in (1, 2):
        check_places(words_in(made, number), places, number)
    assert set(words_in(made, 3)) == {"Written", "before"}


@needs_programs
def test_a_photograph_is_turned_as_its_exif_data_says(tmp_path, matplotlib_fonts):
    """Its pixels lie on their side; the words are upright, where the upright picture has them."""
    page, places = drawn_page(matplotlib_fonts / "DejaVuSans.ttf")
    orientation = Image.Exif()
    orientation[0x0112] = 6  # to be turned by a quarter to the right
    photograph = tmp_path / "photograph.jpg"
    page.transpose(Image.Transpose.ROTATE_90).save(
        photograph, exif=orientation, quality=95, dpi=(DPI, DPI)
    )
    check_places(words_in(searchable(photograph), 1), places, 1)


def options_of(**values: object) -> SimpleNamespace:
    defaults = {"ocr_engine": "auto", "languages": ["eng"], "pdf_renderer": "auto"}
    return SimpleNamespace(**{**defaults, **values})


def test_it_is_used_where_it_is_asked_for():
    manager = pluggy.PluginManager("ocrmypdf")
    manager.add_hookspecs(pluginspec)
    manager.register(plugin.installed, "vit-str")
    assert manager.hook.get_ocr_engine(options=options_of()) is None
    asked = manager.hook.get_ocr_engine(options=options_of(ocr_engine="vit-str"))
    assert isinstance(asked, plugin.VitStrEngine)
    manager.register(plugin)  # named with --plugin too
    assert manager.hook.get_ocr_engine(options=options_of()) is not None
    assert (
        manager.hook.get_ocr_engine(options=options_of(ocr_engine="tesseract")) is None
    )
    parser = ArgumentParser()
    parser.add_argument("--ocr-engine", choices=["auto", "tesseract"])
    manager.hook.add_options(parser=parser)
    found = parser.parse_args(
        ["--ocr-engine", "vit-str", "--vit-str-model", "x.safetensors"]
    )
    assert (found.ocr_engine, found.vit_str_model) == ("vit-str", "x.safetensors")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"vit_str_model": "huge"}, "no model 'huge'"),
        ({"languages": ["rus", "eng"]}, "needs weights that read Cyrillic"),
        ({"pdf_renderer": "sandwich"}, "leave out --pdf-renderer sandwich"),
    ],
)
def test_what_there_is_not_is_refused(wrong, reason, latin_alone):
    with pytest.raises(BadArgsError, match=reason):
        plugin.check_options(options_of(**wrong))


def test_languages_are_those_of_tesseract():
    codes = plugin.VitStrEngine.languages(options_of())
    assert {"eng", "deu", "fra", "nor", "en", "none"} <= codes
    assert {"rus", "ukr", "bel", "bul", "srp", "mkd", "kaz", "ell", "kor"} <= codes
    assert "jpn" not in codes


def test_a_language_has_its_weights(both_scripts):
    for languages, charset in ((["rus", "eng"], "cyrillic-greek"), (["deu"], "latin")):
        options = options_of(languages=languages, vit_str_model=str(both_scripts))
        plugin.check_options(options)
        reader = plugin._reader(options)
        assert reader.reader.charset == reader.lines.charset == charset_of(charset)
        assert not reader.others
    both = plugin._reader(
        options_of(languages=["rus", "deu"], vit_str_model=str(both_scripts))
    )
    (open_other,) = both.others
    assert open_other().lines.charset == charset_of("cyrillic-greek")


def test_a_page_that_cannot_be_read_is_left_as_it_is(tmp_path):
    Image.new("RGB", (40, 30), "white").save(tmp_path / "empty.png")
    paths = [tmp_path / name for name in ("empty.png", "page.hocr", "page.txt")]
    engine = plugin.VitStrEngine()
    engine.generate_hocr(*paths, options_of())
    assert 'class="ocrx_word"' not in paths[1].read_text()
    assert engine.get_orientation(paths[0], options_of()).confidence == 0
    assert engine.get_deskew(paths[0], options_of()) == 0


def test_a_page_that_is_too_large_stops_no_other(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("vit_str.images.refusals.MAX_PIXELS", 1000)
    Image.new("RGB", (40, 30), "white").save(tmp_path / "large.png")
    paths = [tmp_path / name for name in ("large.png", "page.hocr", "page.txt")]
    engine = plugin.VitStrEngine()
    assert engine.get_deskew(paths[0], options_of()) == 0
    assert engine.get_orientation(paths[0], options_of()).confidence == 0
    engine.generate_hocr(*paths, options_of())
    assert "bbox 0 0 40 30" in paths[1].read_text()
    assert "no text" in caplog.text
