"""Text layers: sizes and places of lines, and what is copied from them."""

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from vit_str.pages.page import Page, Word
from vit_str.pages.write.text_layer import TextLayer


def line(slope=0.0, top=0.0, size=10.0, height=20.0):
    """Three words on a slope; ``height`` is what a detector has drawn around them."""
    return tuple(
        Word(
            text="nose",
            confidence=1.0,
            polygon=tuple((x, top + y + slope * x) for x, y in corners),
            size=size,
        )
        for left in (0, 100, 200)
        for corners in [
            ((left, 0), (left + 80, 0), (left + 80, height), (left, height))
        ]
    )


def placed(title):
    """Left, top, right and bottom; slope and offset of the baseline."""
    numbers = list(
        map(float, title.replace("bbox ", "").replace("; baseline", "").split())
    )
    return numbers[:4], numbers[4:]


def test_lines_of_about_a_size_are_set_in_one_size():
    lines = (
        line(),
        line(top=40, size=10.8, height=24),
        line(top=90, size=16, height=32),
    )
    _, found = boxes_of(Page(300, 200, (lines,)))
    boxes = [box for _, box, _ in found]
    heights = [bottom - top for _, top, _, bottom in boxes]
    assert heights[0] == heights[1] < heights[2]


def test_a_page_that_is_tilted_a_little_is_set_level():
    """Where the lines cross the middle of the page, so that all keep their distance."""
    lines = (line(-0.03), line(-0.03, top=40))
    _, ((_, first, baseline), (_, second, _)) = boxes_of(Page(280, 200, (lines,)))
    assert baseline[0] == 0
    assert first[3] + baseline[1] == pytest.approx(20 - 0.03 * 140, abs=1)
    assert second[3] - first[3] == 40


def test_a_page_that_is_tilted_more_keeps_its_slopes():
    lines = (line(0.2), line(0.2, top=40))
    _, ((_, _, (slope, _)), _) = boxes_of(Page(280, 200, (lines,)))
    assert slope == pytest.approx(0.2, abs=0.001)


def test_pages_without_words_and_turned_lines_are_as_ever():
    assert TextLayer(Page(10, 10, ()))
    corners = ((20, 0), (20, 80), (0, 80), (0, 0))
    turned = (Word("nose", 1.0, corners),)
    assert "textangle" in TextLayer(Page(30, 90, ((turned,),))).title(turned)


PITCH = 27.0  # pixels between the lines of a paragraph
SIZE = 11.0  # of their small letters
LEFT, RIGHT = (100.0, 560.0), (600.0, 1060.0)  # sides of two columns


def set_line(text, sides, y, size=SIZE):
    """Words of about equal widths on a baseline, with some white between them."""
    left, right = sides
    words = text.split()
    step = (right - left + size) / len(words)
    return tuple(
        Word(
            word,
            1.0,
            ((x, y - 2 * size), (end, y - 2 * size), (end, y), (x, y)),
            size=size,
        )
        for number, word in enumerate(words)
        for x, end in [(left + number * step, left + (number + 1) * step - size)]
    )


def column(name, sides, places):
    """Lines whose words tell their column and number."""
    return tuple(
        set_line(" ".join(f"{name}{number}" for _ in range(6)), sides, y)
        for number, y in enumerate(places)
    )


def article():
    """A title, a column with a picture in it, one with headings, and a number between them."""
    first = [300 + n * PITCH for n in range(8)] + [900 + n * PITCH for n in range(6)]
    second = [300 + n * PITCH for n in range(6)] + [540 + n * PITCH for n in range(19)]
    heading = set_line("news", (600, 760), 496, size=15)
    left = column("a", LEFT, first)
    right = column("b", RIGHT, second)
    return Page(
        1160,
        1400,
        (
            (set_line("a title above both of the columns", (100, 1060), 240, size=18),),
            left,
            (*right[:6], heading, *right[6:]),
            (set_line("12", (572, 588), 1350),),
        ),
    )


def boxes_of(page):
    """A layer, and box and baseline of each of its lines."""
    layer = TextLayer(page)
    lines = list(chain.from_iterable(layer.page.blocks))
    return layer, [(line, *placed(layer.title(line))) for line in lines]


def size_of(box, offsets):
    """Of the font in which OCRmyPDF sets a line."""
    _, top, _, bottom = box
    return bottom - top + offsets[1]


def test_a_column_has_one_size_that_joins_its_parts():
    """Paragraphs and headings, but for what a picture parts; not the title above it."""
    _, found = boxes_of(article())
    title, *lines, number = [size_of(box, offsets) for _, box, offsets in found]
    assert set(lines) == {lines[0]}
    largest_distance = 540 - 496  # below the heading
    assert 1.5 * lines[0] > largest_distance
    assert lines[0] < 2 * PITCH
    for other in (title, number):
        assert abs(other / lines[0] - 1) > 0.05


def turned_by(lines, slope):
    """Lines and the corners of their words, a little to the left."""
    return tuple(
        tuple(
            replace(
                word,
                polygon=tuple((x + slope * y, y - slope * x) for x, y in word.polygon),
            )
            for word in line
        )
        for line in lines
    )


@pytest.mark.parametrize("slope", [0, 0.0043])
def test_justified_lines_of_a_column_keep_its_size(slope):
    """White between their words is none between cells."""

    def with_wide_spaces(line):
        narrow = []
        for word in line[:-1]:
            first, (right, top), _, fourth = word.polygon
            right -= 0.4 * (right - first[0])
            corners = first, (right, top), (right, fourth[1]), fourth
            narrow.append(Word(word.text, 1.0, corners, size=word.size))
        return (*narrow, replace(line[-1], text="gap"))  # not all stands on the line

    page = article()
    title, left, right, number = page.blocks
    spread = tuple(map(with_wide_spaces, left))
    blocks = title, turned_by(spread, slope), turned_by(right, slope), number
    _, found = boxes_of(Page(page.width, page.height, blocks))
    assert len({size_of(*each[1:]) for each in found[1:-1]}) == 1


def test_a_name_above_the_second_column_is_in_none():
    """It is read before the first one."""
    places = [300 + n * PITCH for n in range(8)]
    name = set_line("a name", (940, 1060), 300 - PITCH, size=10)
    blocks = (name,), column("a", LEFT, places), column("b", RIGHT, places)
    _, ((_, box, offsets), *lines) = boxes_of(Page(1160, 1400, blocks))
    (size,) = {size_of(*each[1:]) for each in lines}
    assert abs(size_of(box, offsets) / size - 1) > 0.05


def test_lines_in_one_column_keep_the_size_of_their_letters():
    page = Page(1160, 1400, (column("a", (100, 1060), [300, 327, 354, 420, 447]),))
    _, found = boxes_of(page)
    assert {size_of(box, offsets) for _, box, offsets in found} == {round(1.8 * SIZE)}


def test_a_font_is_never_so_large_that_columns_become_one():
    near = 580.0, 1040.0
    places = [300 + 40 * n for n in range(8)]
    blocks = column("a", LEFT, places), column("b", near, places)
    _, found = boxes_of(Page(1160, 1400, blocks))
    assert all(size_of(box, offsets) <= 20 for _, box, offsets in found)


def test_columns_of_a_tilted_page_are_as_far_apart_as_the_boxes_around_them():
    def tilted(name, sides, places):
        moved = [tuple(side + 0.03 * (y - 300) for side in sides) for y in places]
        lines = zip(moved, column(name, sides, places), strict=True)
        return tuple(
            tuple(
                Word(
                    word.text,
                    1.0,
                    tuple(
                        (x + ends[0] - sides[0], y - 0.03 * (x - sides[0]))
                        for x, y in word.polygon
                    ),
                    size=SIZE,
                )
                for word in line
            )
            for ends, line in lines
        )

    places = [300 + n * 1.3 * PITCH for n in range(20)]
    blocks = tilted("a", LEFT, places), tilted("b", RIGHT, places)
    _, found = boxes_of(Page(1160, 1400, blocks))
    apart = min(box[0] for line, box, _ in found if line[0].text[0] == "b") - max(
        box[2] for line, box, _ in found if line[0].text[0] == "a"
    )
    assert 0 < apart < RIGHT[0] - LEFT[1]
    assert all(size_of(box, offsets) <= max(apart, 20) for _, box, offsets in found)


@pytest.mark.parametrize("lines", [6, 20])
def test_a_number_below_the_white_between_columns_reaches_them(lines):
    """The right one only if nothing of the left one is below it."""
    places = [300 + n * PITCH for n in range(6)]
    left = column("a", LEFT, [300 + n * PITCH for n in range(lines)])
    blocks = left, column("b", RIGHT, places), (set_line("12", (572, 588), 1350),)
    layer, _ = boxes_of(Page(1160, 1400, blocks))
    ((number,),) = layer.page.blocks[-1]
    assert number.text == "12"
    assert number.box.left < LEFT[1]
    assert (number.box.right > RIGHT[0]) == (lines == 6)


def pdf_of(page, path: Path) -> None:
    """A file of the text layer of a page alone, in points that are pixels."""
    _, found = boxes_of(page)
    content = []
    for line, box, (slope, offset) in found:
        _, _, _, bottom = box
        size = size_of(box, (slope, offset))
        for word in line:
            width = word.box.right - word.box.left
            scale = 100 * width / (0.6 * size * len(word.text))
            x, y = word.box.left, page.height - bottom - offset
            content.append(
                f"BT /F {size:.1f} Tf {scale:.1f} Tz 1 0 0 1 {x:.1f} {y:.1f} Tm"
                f" ({word.text} ) Tj ET"
            )
    stream = "\n".join(content)
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}]"
        f" /Contents 4 0 R /Resources << /Font << /F {font} >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
    ]
    body = "".join(f"{n} 0 obj\n{each}\nendobj\n" for n, each in enumerate(objects, 1))
    path.write_text(f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n")


def copied(page, folder: Path) -> list[str]:
    """The words that ``pdftotext`` copies from the text layer of a page."""
    pdf_of(page, folder / "page.pdf")
    command = ["pdftotext", str(folder / "page.pdf"), "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


needs_pdftotext = pytest.mark.skipif(
    not shutil.which("pdftotext"), reason="needs pdftotext"
)


@needs_pdftotext
@pytest.mark.filterwarnings("ignore")
def test_columns_are_copied_one_after_the_other(tmp_path):
    found = copied(article(), tmp_path)
    order = list(
        dict.fromkeys(filter(re.compile(r"[ab]\d+|news|title|12").fullmatch, found))
    )
    left = [f"a{n}" for n in range(14)]
    right = [f"b{n}" for n in range(6)], [f"b{n}" for n in range(6, 25)]
    assert order == ["title", *left, *right[0], "news", *right[1], "12"]


COLUMNS = 100.0, 330.0, 440.0, 550.0  # where the cells of a table begin


def table_row(cells, y):
    """A row of cells, some of them empty."""
    words = []
    for text, left in zip(cells, COLUMNS, strict=True):
        right = left + 9.0 * len(text)
        words += set_line(text, (left, right), y) if text else ()
    return tuple(words)


def table(rows, pitch):
    """A page with a table, and a line above and below it."""
    lines = [table_row(cells, 300 + n * pitch) for n, cells in enumerate(rows)]
    above = set_line("all that there is to see on this page", (100, 700), 200)
    below = set_line(
        "and what there is to say of that", (100, 700), 400 + len(rows) * pitch
    )
    return Page(1160, 1400, ((above,), tuple(lines), (below,)))


def words_of(page):
    """All words in reading order."""
    return [word.text for word in page.words]


SPARSE = (
    ("stop", "6.10", "7.10", "8.10"),
    ("church square", "6.12", "7.12", "8.12"),
    ("old weir", "6.14", "", "8.14"),
    ("station", "6.23", "7.23", "8.23"),
    ("", "boat", "", "8.31"),
    ("lake", "6.40", "7.40", ""),
)


@needs_pdftotext
@pytest.mark.parametrize("pitch", [27.0, 45.0, 70.0])
def test_rows_with_empty_cells_are_copied_in_order(tmp_path, pitch):
    """However far rows are apart: also where programs see blocks of columns."""
    page = table(SPARSE, pitch)
    assert copied(page, tmp_path) == words_of(page)


@needs_pdftotext
def test_rows_that_lie_close_are_copied_in_order(tmp_path):
    """Also where the cells of some begin a little farther below than the others of their row."""
    rows = [row for row in SPARSE if all(row)] * 3
    page = table(rows, 19.0)
    above, close, below = page.blocks
    uneven = tuple(
        tuple(
            replace(word, polygon=tuple((x, y + (n + m) % 3) for x, y in word.polygon))
            for m, word in enumerate(line)
        )
        for n, line in enumerate(close)
    )
    page = replace(page, blocks=(above, uneven, below))
    assert copied(page, tmp_path) == words_of(page)


def test_words_beside_empty_cells_alone_are_set_wider():
    page = table(SPARSE, 45.0)
    words = TextLayer(page).page.words
    wider = {
        after.text
        for before, after in zip(page.words, words, strict=True)
        if after.box.right - after.box.left > before.box.right - before.box.left + 1
    }
    assert wider == {"weir", "6.14", "boat", "6.40", "7.40", "lake"}


def test_what_stands_below_a_column_does_not_make_its_last_line_a_row_of_a_table():
    last = set_line("end", RIGHT, 300), set_line("of it", (600, 700), 300 + PITCH)
    below = [set_line("a box", (102, 202), 400), set_line("its text", (112, 580), 427)]
    page = Page(1160, 1400, (last, *((line,) for line in below)))
    widths = [
        [word.box for word in each.words] for each in (page, TextLayer(page).page)
    ]
    assert widths[0] == widths[1]


@needs_pdftotext
def test_lines_of_a_cell_are_set_where_they_are(tmp_path):
    """Not on the first line of their row, where they would lie over each other."""
    long = ("nuts and bolts", "of steel"), ("oil", "for wood")
    rows = []
    for n, (first, second) in enumerate(long):
        y = 300 + 70 * n
        cells = set_line(first, (100, 240), y), set_line(second, (100, 180), y + PITCH)
        rows.append((*cells[0], *cells[1], *set_line(f"1{n}.50", (440, 490), y)))
    page = Page(1160, 1400, (tuple(rows),))
    assert copied(page, tmp_path) == words_of(page)
    _, found = boxes_of(page)
    baselines = {
        word.text: box[3] + offset for line, box, (_, offset) in found for word in line
    }
    assert baselines["steel"] - baselines["bolts"] == pytest.approx(PITCH, abs=1)
    assert baselines["10.50"] == baselines["bolts"]


@needs_pdftotext
def test_rows_with_empty_cells_and_cells_of_several_lines_are_copied_row_by_row(
    tmp_path,
):
    """What is below the first line of a row comes after it, and before the next row."""
    first = (
        ("8.15", "french", "", "history and"),
        ("9.10", "", "english", "music"),
        ("10.20", "sciences in", "", "sport"),
        ("11.15", "latin", "drawing", ""),
    )
    below = ("", "", "", "geography"), (), ("", "the yard", "", ""), ()
    lines = []
    for n, (upper, lower) in enumerate(zip(first, below, strict=True)):
        y = 300 + 90 * n
        under = table_row(lower, y + PITCH) if lower else ()
        in_cells = sorted(
            (*table_row(upper, y), *under),
            key=lambda word: (word.box.left, word.box.top),
        )
        lines.append(tuple(in_cells))
    above = set_line("all that there is to see on this page", (100, 700), 200)
    page = Page(1160, 1400, ((above,), tuple(lines)))
    found = copied(page, tmp_path)
    rows = (
        "8.15 french history and geography",
        "9.10 english music",
        "10.20 sciences in sport the yard",
        "11.15 latin drawing",
    )
    assert " ".join(found[9:]) == " ".join(rows)


@needs_pdftotext
def test_a_justified_line_with_wide_spaces_stays_whole(tmp_path):
    """Where the next line is short, its words at the right would come after that."""
    wide = set_line("those that have not been used", (100, 560), 300)
    wide = tuple(
        Word(
            word.text,
            1.0,
            tuple(
                (100 + 92 * n + x, y)
                for x, y in ((0, 278), (70, 278), (70, 300), (0, 300))
            ),
            size=SIZE,
        )
        for n, word in enumerate(wide)
    )
    last = set_line("return them at once", (100, 330), 300 + PITCH)
    page = Page(1160, 1400, ((wide, last),))
    assert copied(page, tmp_path) == words_of(page)


@needs_pdftotext
def test_bullets_are_copied_with_their_items(tmp_path):
    """However far they are from the text."""
    items = "at ten the hall", "at eight the council sits", "bicycles"
    lines = tuple(
        (
            *set_line("-", (100, 107), 300 + n * PITCH),
            *set_line(text, (135, 400), 300 + n * PITCH),
        )
        for n, text in enumerate(items)
    )
    page = Page(1160, 1400, (lines,))
    assert copied(page, tmp_path) == words_of(page)
    marks = [word for word in TextLayer(page).page.words if word.text == "-"]
    assert all(107 < mark.box.right < 135 for mark in marks)


@needs_pdftotext
def test_words_of_one_letter_keep_the_space_between_them(tmp_path):
    def pot(y):
        sides = (440, 450), (455, 465)
        letters = zip("P9", sides, strict=True)
        return tuple(set_line(letter, each, y)[0] for letter, each in letters)

    rows = tuple(
        (*set_line("lady mantle", (100, 240), y), *pot(y)) for y in (300, 345, 390)
    )
    page = Page(1160, 1400, (rows,))
    assert copied(page, tmp_path) == words_of(page)


def test_a_size_that_is_larger_than_its_box_tells_is_not_believed():
    """The letters of a short line, of which many are high, were taken for small ones."""
    lines = [set_line("all of it as it is", LEFT, 300 + 40 * n) for n in range(3)]
    high = set_line("lift it", (100, 180), 420, size=1.4 * SIZE)
    as_high = tuple(
        Word(
            word.text,
            1.0,
            tuple((x, max(y, 420 - 2 * SIZE)) for x, y in word.polygon),
            size=word.size,
        )
        for word in high
    )
    _, found = boxes_of(Page(1160, 1400, ((*lines, as_high),)))
    assert len({size_of(*each[1:]) for each in found}) == 1
