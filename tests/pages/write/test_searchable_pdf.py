"""Words behind pictures and pages, where PDFium finds them again."""

import shutil
import subprocess
import sys
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_pages import HEIGHT, WIDTH, line, page_of

from vit_str.pages.page import Page, Word
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.write.document_pages import document_pages
from vit_str.pages.write.searchable_pdf import ReadFile, write_searchable_pdf
from vit_str.pages.write.text_layer import TextLayer

pikepdf = pytest.importorskip("pikepdf")
pytest.importorskip("img2pdf")
pytest.importorskip("pypdfium2")

TEXT = ("Open daily from ten", "Coffee and größer Ω €", "Museum")


@pytest.fixture
def page():
    return page_of([line(text, 60, 80 + 120 * n) for n, text in enumerate(TEXT)])


def picture(kind: str = "PNG", **options) -> bytes:
    file = BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT), "white").save(file, kind, **options)
    return file.getvalue()


def pdf(rotation: int = 0, **encryption) -> bytes:
    """A page whose picture has the proportions of the page that was read, upright."""
    made = pikepdf.new()
    size = (HEIGHT, WIDTH) if rotation % 180 else (WIDTH, HEIGHT)
    made.add_blank_page(page_size=(0.5 * size[0] + 40, 0.5 * size[1] + 60))
    made.pages[0].cropbox = [10, 20, 10 + 0.5 * size[0], 20 + 0.5 * size[1]]
    made.pages[0].Rotate = rotation
    made.pages[0].contents_add(b"q 0.5 0 0 0.5 7 9 cm")  # left open
    file = BytesIO()
    made.save(file, **encryption)
    return file.getvalue()


def written(page, source, tmp_path, **options):
    target = tmp_path / "searchable.pdf"
    notes = write_searchable_pdf([ReadFile(source, "scan", [page], **options)], target)
    return target, notes


def found(path, **options) -> dict[str, np.ndarray]:
    """Words and their boxes, as shares of the picture."""
    (drawn,) = pictures_in(str(path), PageOptions(text_layer=True, **options))
    return {
        text: np.array(box) / [*drawn.size, *drawn.size]
        for text, box, *_ in chain.from_iterable(drawn.info["lines"])
    }


def assert_in_place(page, path, **options):
    words = found(path, **options)
    assert list(words) == " ".join(TEXT).split()
    for word in page.words:
        shares = np.array(word.box) / [WIDTH, HEIGHT, WIDTH, HEIGHT]
        np.testing.assert_allclose(words[word.text][::2], shares[::2], atol=0.006)
        top, bottom = words[word.text][1::2]
        assert top < (shares[1] + shares[3]) / 2 < bottom
        assert bottom - top < 0.06


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_words_are_where_they_are_shown(page, rotation, tmp_path):
    path, notes = written(page, pdf(rotation), tmp_path)
    assert notes == []
    assert_in_place(page, path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_pictures_of_all_kinds(page, kind, tmp_path):
    path, _ = written(page, picture(kind), tmp_path)
    assert_in_place(page, path)


def test_a_photograph_goes_in_unchanged_and_is_shown_upright(page, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter to the right
    file = BytesIO()
    Image.new("RGB", (HEIGHT, WIDTH), "white").save(file, "JPEG", exif=exif)
    path, _ = written(page, file.getvalue(), tmp_path)
    assert_in_place(page, path)
    with pikepdf.open(path) as made:
        (image,) = made.pages[0].Resources.XObject.values()
        assert image.read_raw_bytes() == file.getvalue()


def test_transparency_is_laid_on_white(page, tmp_path):
    file = BytesIO()
    Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0)).save(file, "PNG")
    path, _ = written(page, file.getvalue(), tmp_path)
    assert_in_place(page, path)


def test_pages_that_have_text_stay_as_they_are(page, tmp_path):
    path, _ = written(page, pdf(), tmp_path)
    own = Page(WIDTH, HEIGHT, page.page.blocks, has_own_text=True)
    (left,) = document_pages("scan", {1: own})
    again = tmp_path / "again.pdf"
    notes = write_searchable_pdf([ReadFile(path, "scan", [left])], again)
    assert notes == [
        "scan: pages that stay as they are, with the text that they have: 1"
    ]
    assert_in_place(page, again)


def test_a_locked_file_stays_locked(page, tmp_path):
    locked = pdf(encryption=pikepdf.Encryption(user="secret", owner="owner"))
    path, _ = written(page, locked, tmp_path, password="secret")  # noqa: S106
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(path)
    assert_in_place(page, path, password="secret")  # noqa: S106
    both = [ReadFile(locked, "locked", [page], "secret"), ReadFile(pdf(), "b", [page])]
    with pytest.raises(ValueError, match="locked is locked, and would not be in a"):
        write_searchable_pdf(both, tmp_path / "both.pdf")


def signed(fields: list, **form) -> bytes:
    """A PDF file with a form."""
    with pikepdf.open(BytesIO(pdf())) as made:
        made.Root.AcroForm = pikepdf.Dictionary(Fields=fields, **form)
        file = BytesIO()
        made.save(file)
    return file.getvalue()


def test_a_signature_that_does_not_hold_is_told(page, tmp_path):
    field = pikepdf.Dictionary(FT=pikepdf.Name.Sig, V=pikepdf.Dictionary())
    within = pikepdf.Dictionary(Kids=[field])
    for content in (signed([], SigFlags=3), signed([field]), signed([within])):
        _, notes = written(page, content, tmp_path)
        (note,) = notes
        assert "is signed, and the signature does not hold" in note
    empty = pikepdf.Dictionary(FT=pikepdf.Name.Sig)
    assert written(page, signed([empty]), tmp_path)[1] == []


def test_several_files_make_one(page, tmp_path):
    files = [ReadFile(pdf(), "a", [page]), ReadFile(picture(), "b", [page])]
    path = tmp_path / "both.pdf"
    write_searchable_pdf(files, path)
    drawn = list(pictures_in(str(path), PageOptions(text_layer=True)))
    texts = [[w[0] for w in chain.from_iterable(d.info["lines"])] for d in drawn]
    assert texts == [" ".join(TEXT).split()] * 2


def test_all_pages_stay_and_those_read_have_text(page, tmp_path):
    made = pikepdf.new()
    for _ in range(3):
        made.add_blank_page(page_size=(500, 400))
    made.save(tmp_path / "blank.pdf")
    (second,) = document_pages("scan", {2: page.page})
    path, _ = written(second, tmp_path / "blank.pdf", tmp_path)
    drawn = list(pictures_in(str(path), PageOptions(text_layer=True)))
    assert [bool(each.info["lines"]) for each in drawn] == [False, True, False]


def sloping(slope_of) -> Page:
    """Lines that rise or fall by themselves, as in perspective."""
    lines = []
    for n in range(8):
        slope = slope_of(n)
        words = []
        for each in line("Wessex water bill for the month of March", 60, 60 + 80 * n):
            shift = slope * ((each.box.left + each.box.right) / 2 - WIDTH / 2)
            polygon = tuple((x, y + shift) for x, y in each.polygon)
            words.append(Word(each.text, 0.99, polygon, size=12.0))
        lines.append(tuple(words))
    return Page(WIDTH, HEIGHT, (tuple(lines),))


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="needs poppler")
@pytest.mark.parametrize(
    "slope_of",
    [lambda n: 0.02 * (n - 4), lambda n: 0.1, lambda n: -0.06],
    ids=["perspective", "tilted", "tilted the other way"],
)
def test_words_of_sloping_lines_are_copied_whole(slope_of, tmp_path):
    (page,) = document_pages("scan", {1: sloping(slope_of)})
    path, _ = written(page, picture(), tmp_path)
    command = ["pdftotext", str(path), "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert text.split().count("Wessex") == 8
    assert sorted(text.split()) == sorted(word.text for word in page.words)


SENTENCES = (
    "Wessex water bill for the month of March",
    "Please pay by transfer before the first",
    "of May.",
    "Goods remain ours until they are paid",
    "Tools may be returned within thirty days",
    "Write before you send us anything back",
    "Thanks",
    "Registered in England as company 5518",
)


def photographed(move, is_flattened=False) -> Page:
    """Sentences whose points are moved, as a camera sees paper that does not lie before it."""
    lines = tuple(line(text, 60, 60 + 42 * n) for n, text in enumerate(SENTENCES))
    moved = tuple(
        tuple(
            Word(word.text, 0.99, tuple(move(*point) for point in word.polygon), 12.0)
            for word in each
        )
        for each in lines
    )
    flat = Page(WIDTH, HEIGHT, (lines,)) if is_flattened else None
    return Page(WIDTH, HEIGHT, (moved,), flat=flat)


def from_the_side(x, y):
    """Farther away on the right, seen from a little above."""
    distance = 1 + 0.0002 * x + 0.0001 * y
    return x * 1.15 / distance, (y + 0.1 * x) * 1.1 / distance


def arched(x, y):
    return x, y + 30 * np.sin(np.pi * x / WIDTH)


def as_a_book(x, y):
    """Steeper at the gutter."""
    return x, y - 40 * np.exp((x - WIDTH) / 250)


def arched_more(x, y):
    return x, y + 100 * np.sin(np.pi * x / WIDTH)


def as_a_thick_book(x, y):
    return x, y - 120 * np.exp((x - WIDTH) / 250)


@pytest.mark.parametrize(
    ("move", "is_flattened"),
    [
        (from_the_side, False),
        (arched, False),
        (as_a_book, False),
        (arched_more, True),
        (as_a_thick_book, True),
    ],
)
def test_photographs_are_selected_in_order_and_searched(move, is_flattened, tmp_path):
    """By PDFium, which is the viewer of Chromium, and by poppler."""
    import pypdfium2

    (page,) = document_pages("scan", {1: photographed(move, is_flattened)})
    path, _ = written(page, picture(), tmp_path)
    with pypdfium2.PdfDocument(path) as document:
        text = document[0].get_textpage()
        assert text.get_text_range().split() == " ".join(SENTENCES).split()
        for sentence in SENTENCES:
            assert text.search(sentence, match_case=True).get_next() is not None
    if shutil.which("pdftotext"):
        command = ["pdftotext", str(path), "-"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.stdout.split() == " ".join(SENTENCES).split()


def test_words_of_a_bent_page_are_set_near_where_they_are_seen():
    page = photographed(arched_more, is_flattened=True)
    layer = TextLayer(page)
    for word, set_ in zip(page.words, layer.page.words, strict=True):
        assert abs(word.box.left - set_.box.left) < 1
        assert abs(word.box.bottom - set_.box.bottom) < 55  # of 100 that it is bent
    far = photographed(lambda x, y: (x, y + 900 * (x / WIDTH) ** 2), is_flattened=True)
    places = [word.polygon for word in TextLayer(far).page.words]
    assert places == [word.polygon for word in far.words]


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_turned_words_are_found(quarters, tmp_path):
    page = page_of([line("Open daily", 60, 80)]).page
    corners = [[np.array(word.polygon) for word in row] for row in page.blocks[0]]
    width, height = WIDTH, HEIGHT
    for _ in range(quarters):
        corners = [
            [np.stack([height - each[:, 1], each[:, 0]], 1) for each in row]
            for row in corners
        ]
        width, height = height, width
    lines = tuple(
        tuple(
            Word(word.text, 0.9, tuple(map(tuple, each.tolist())), size=12.0)
            for word, each in zip(row, of_row, strict=True)
        )
        for row, of_row in zip(page.blocks[0], corners, strict=True)
    )
    (turned,) = document_pages("scan", {1: Page(width, height, (lines,))})
    file = BytesIO()
    Image.new("RGB", (width, height), "white").save(file, "PNG")
    path, _ = written(turned, file.getvalue(), tmp_path)
    words = found(path)
    for word in turned.words:
        left, top, right, bottom = words[word.text] * [width, height, width, height]
        box = word.box
        assert left - 8 < (box.left + box.right) / 2 < right + 8
        assert top - 8 < (box.top + box.bottom) / 2 < bottom + 8


def test_what_is_missing_is_named(page, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "img2pdf", None)
    with pytest.raises(ValueError, match="writing PDF files needs img2pdf, run: "):
        written(page, picture(), tmp_path)
    assert list(tmp_path.iterdir()) == []
