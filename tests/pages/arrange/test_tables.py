"""Tables by the white between their columns, and by their rules."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.decoding.boxes import Box
from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.layout import arranged
from vit_str.pages.arrange.tables import Grid, Row, Table, find_tables, is_mark
from vit_str.pages.find.rules import find_rules
from vit_str.pages.page import Word

HEIGHT = 10.0
LETTER = 6.0
SPACE = 4.0


def words(text: str, left: float, top: float, space: float = SPACE) -> list[Word]:
    """Words beside each other, from a place on."""
    found = []
    for each in text.split():
        right = left + LETTER * len(each)
        corners = (
            (left, top),
            (right, top),
            (right, top + HEIGHT),
            (left, top + HEIGHT),
        )
        found.append(Word(each, 1.0, corners))
        left = right + space
    return found


def row(top: float, *cells: tuple[str, float]) -> Row:
    """A row of texts and where they begin."""
    return Row.of([word for text, left in cells for word in words(text, left, top)])


def texts(table: Table) -> list[list[str]]:
    return [
        [" ".join(word.text for word in cell) for cell in each] for each in table.rows
    ]


def found_in(*rows: Row) -> list[tuple[range, list[list[str]]]]:
    return [(places, texts(table)) for places, table in find_tables(rows)]


def test_columns_are_where_all_rows_are_white():
    """Also where a cell is empty, numbers are set to the right, and rows are far apart."""
    rows = [
        row(0, ("Branch", 0), ("Books lent", 100), ("Films", 190)),
        row(40, ("Mill Lane", 0), ("9,345", 130), ("811", 202)),
        row(80, ("Harbour", 0), ("3,027", 130)),
    ]
    assert found_in(*rows) == [
        (
            range(3),
            [
                ["Branch", "Books lent", "Films"],
                ["Mill Lane", "9,345", "811"],
                ["Harbour", "3,027", ""],
            ],
        )
    ]


def test_text_near_numbers_is_a_column_where_it_begins_at_one_place():
    near = 160 + 0.55 * HEIGHT
    rows = [
        row(0, ("Branch", 0), ("Late", 136), ("Main cause", near)),
        row(14, ("Mill Lane", 0), ("7", 154), ("Coins", near)),
        row(28, ("Harbour", 0), ("12", 148), ("Traffic", near)),
    ]
    ((_, table),) = found_in(*rows)
    assert table[1:] == [["Mill Lane", "7", "Coins"], ["Harbour", "12", "Traffic"]]
    ragged = row(28, ("Harbour", 0), ("12", 148), ("Traffic", near + 4))
    ((_, table),) = found_in(*rows[:2], ragged)
    assert table[1:] == [["Mill Lane", "7 Coins"], ["Harbour", "12 Traffic"]]


def test_justified_text_is_no_table():
    random = np.random.default_rng(1)
    rows = []
    for number in range(30):
        lengths = random.integers(2, 9, 7)
        line = " ".join("x" * length for length in lengths)
        space = (275 - LETTER * lengths.sum()) / 6
        rows.append(Row.of(words(line, 0, 14 * number, space)))
    assert found_in(*rows) == []


def test_two_rows_are_a_table_only_with_wide_gaps():
    near, far = 60 + 0.9 * HEIGHT, 60 + 1.5 * HEIGHT
    for left, count in ((near, 0), (far, 1)):
        rows = [
            row(0, ("abcdefghij", 0), ("1", left)),
            row(14, ("klmnopqrst", 0), ("2", left)),
        ]
        assert len(found_in(*rows)) == count


def test_other_columns_farther_below_are_another_table():
    rows = [
        row(0, ("Date", 0), ("14 May", 120)),
        row(14, ("Due", 0), ("13 June", 120)),
        row(44, ("Item", 0), ("Description", 60), ("Price", 200)),
        row(58, ("A-1", 0), ("Plane", 60), ("64.50", 200)),
        row(72, ("A-2", 0), ("Clamps", 60), ("9.75", 206)),
    ]
    assert [places for places, _ in found_in(*rows)] == [range(2), range(2, 5)]


def test_lists_and_headings_are_no_rows():
    rows = [
        row(0, ("Prices", 0)),
        row(20, ("Child", 0), ("2.50", 100)),
        row(34, ("Adult", 0), ("5.00", 100)),
        row(48, ("Group", 0), ("9.00", 100)),
        row(70, ("1.", 0), ("Ask at the desk.", 30)),
        row(84, ("2.", 0), ("Pay.", 30)),
        row(98, ("3.", 0), ("Go in.", 30)),
    ]
    assert [places for places, _ in found_in(*rows)] == [range(1, 4)]


def test_a_menu_is_a_table_for_each_of_its_headings():
    """Headings are set in; what is said of a dish stays with it, also of the last one."""

    def dish(top: float, name: str, said: str, price: str) -> tuple[Row, Row]:
        return row(top, (name, 0), (price, 300)), row(top + 12, (said, 0))

    rows = [
        *dish(0, "Soup", "with brown bread", "5.80"),
        *dish(32, "Mackerel", "beetroot, cucumber", "7.40"),
        row(74, ("Sweet things", 120)),
        *dish(96, "Crumble", "with cream", "6.20"),
        *dish(128, "Tart", "with nuts", "6.60"),
    ]
    assert found_in(*rows) == [
        (
            range(4),
            [
                ["Soup", "5.80"],
                ["with brown bread", ""],
                ["Mackerel", "7.40"],
                ["beetroot, cucumber", ""],
            ],
        ),
        (
            range(5, 9),
            [
                ["Crumble", "6.20"],
                ["with cream", ""],
                ["Tart", "6.60"],
                ["with nuts", ""],
            ],
        ),
    ]


def test_a_line_below_a_table_is_no_row():
    """However near: rows without such lines are as near to each other."""
    rows = [
        row(14 * n, (name, 0), (price, 300))
        for n, (name, price) in enumerate([("Crumble", "6.20"), ("Tart", "6.60")] * 2)
    ]
    ((places, _),) = found_in(*rows, row(56, ("Service is not included", 0)))
    assert places == range(4)


def test_a_further_line_of_a_cell_is_joined_to_its_row():
    rows = [
        row(0, ("Source", 0), ("Ground", 100), ("Nitrates", 240)),
        row(24, ("Moulin", 0), ("Chalk under", 100), ("8.4", 240)),
        row(35, ("a wood", 100)),
        row(60, ("Combe", 0), ("Sand", 100), ("12.9", 240)),
    ]
    ((places, table),) = found_in(*rows)
    assert places == range(4)
    assert table[1] == ["Moulin", "Chalk under a wood", "8.4"]


@pytest.mark.parametrize("mark", ["-", "•", "1.", "12)", "(3)", "a)", "b.", "B)"])
def test_marks_of_items(mark):
    assert is_mark(mark)


@pytest.mark.parametrize("word", ["Dr.", "B.", "1934.", "no.", "1.5", "a"])
def test_no_marks_of_items(word):
    assert not is_mark(word)


def ruled(degrees: float = 0.0) -> Image.Image:
    """Three columns and three rows between rules, an underlined word and a frame around all."""
    image = Image.new("L", (1200, 1000), 235)
    draw = ImageDraw.Draw(image)
    draw.rectangle((40, 40, 1160, 960), outline=60, width=2)
    for x in (200, 400, 800, 1000):
        draw.line((x, 300, x, 600), fill=40, width=2)
    for y in (300, 360, 420, 600):
        draw.line((200, y, 1000, y), fill=40, width=2)
    draw.line((200, 200, 320, 200), fill=0, width=2)
    return image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=235)


@pytest.mark.parametrize("degrees", [0, 1.2, -1.2])
def test_rules_are_found_and_make_a_grid(degrees):
    rules = find_rules(ruled(degrees))
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = np.array([600, 500])
    level = [(np.array(rule) - middle) @ turn.T + middle for rule in rules]
    (grid,) = grids(level, 1200)
    assert np.abs(np.array(grid.columns) - [200, 400, 800, 1000]).max() < 5
    assert np.abs(np.array(grid.rows) - [300, 360, 420, 600]).max() < 5


def test_rules_of_a_small_picture_may_be_thick_and_tilted():
    """As of a part of a screen, which has more pixels for a rule than a page."""
    image = Image.new("L", (600, 300), "white")
    pen = ImageDraw.Draw(image)
    for place in (40, 120, 200):
        pen.line((50, place, 550, place), "black", 3)
        pen.line(
            (50 + 250 * (place - 40) // 80, 40, 50 + 250 * (place - 40) // 80, 200),
            "black",
            3,
        )
    rules = find_rules(image.rotate(1, Image.Resampling.BICUBIC, fillcolor="white"))
    (grid,) = grids(rules, 600)
    assert (len(grid.columns), len(grid.rows)) == (3, 3)


@pytest.mark.parametrize("degrees", [0, 1])
def test_letters_on_writing_lines_have_no_rules(degrees):
    """Where lines are near each other, letters nearly reach from one to the next."""
    image = Image.new("L", (1000, 400), "white")
    pen = ImageDraw.Draw(image)
    for line in range(60, 340, 20):
        pen.line((100, line, 900, line), "black", 2)
        for stroke in range(150 + line, 750, 37):
            pen.line((stroke, line - 14, stroke, line), "black", 2)
    rules = find_rules(
        image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor="white")
    )
    assert len(rules) == 14


def test_text_has_no_rules(tmp_path):
    image = Image.new("L", (600, 400), "white")
    draw = ImageDraw.Draw(image)
    for number in range(12):
        draw.text(
            (20, 30 * number),
            "Words that hold Tall LETTERS, and a few - dashes",
            fill="black",
        )
    assert find_rules(image) == ()
    assert find_rules(Image.new("L", (12, 9), "white")) == ()


def test_a_ruled_table_is_read_row_by_row_and_cell_by_cell():
    (grid,) = grids(find_rules(ruled()), 1200)
    cells = {
        ("Item", 210, 320), ("Description", 410, 320), ("Price", 810, 320),
        ("A-1", 210, 380), ("Plane", 410, 380), ("64.50", 900, 380),
        ("A-2", 210, 440), ("Set of six chisels", 410, 440), ("in a roll", 410, 520),
    }  # fmt: skip
    lines = [words(*cell) for cell in sorted(cells)] + [
        words("Above", 210, 100),
        words("Below", 210, 700),
    ]
    boxes = [[np.array(word.box, float) for word in line] for line in lines]
    line_boxes = [np.r_[np.min(b, 0)[:2], np.max(b, 0)[2:]] for b in boxes]
    blocks = arranged(lines, line_boxes, boxes, [grid])
    read = [
        [" ".join(word.text for word in line) for line in block] for block in blocks
    ]
    assert read == [
        ["Above"],
        [
            "Item Description Price",
            "A-1 Plane 64.50",
            "A-2 Set of six chisels in a roll",
        ],
        ["Below"],
    ]
    table = grid.table(
        [word for line in lines for word in line if 300 < word.box.top < 600]
    )
    assert texts(table)[2] == ["A-2", "Set of six chisels in a roll", ""]


def merged(degrees: float = 0.0) -> Image.Image:
    """Four columns and four rows; a heading covers two columns, another one two low rows."""
    image = Image.new("L", (1200, 1000), 235)
    draw = ImageDraw.Draw(image)
    columns, rows = (200, 400, 600, 800, 1000), (300, 330, 360, 420, 480)
    for y in rows:
        draw.line((400 if y == 330 else 200, y, 1000, y), fill=40, width=2)
    for x in columns:
        draw.line((x, 330 if x == 600 else 300, x, 480), fill=40, width=2)
    return image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=235)


@pytest.mark.parametrize("degrees", [0, 0.4])
def test_cells_that_no_rule_parts_are_one(degrees):
    (grid,) = grids(find_rules(merged(degrees)), 1200)
    assert grid.merged == (
        ((0, 0), (0, 1), (0, 1), (0, 3)),
        ((0, 0), (1, 1), (1, 2), (1, 3)),
        ((2, 0), (2, 1), (2, 2), (2, 3)),
        ((3, 0), (3, 1), (3, 2), (3, 3)),
    )


def test_a_merged_cell_has_its_words_in_the_first_of_its_places():
    (grid,) = grids(find_rules(merged()), 1200)
    inside = [
        *words("Line", 210, 325),  # in the middle of two rows
        *words("Passengers sold", 560, 308),  # in the middle of two columns
        *words("May", 410, 340),
        *words("June", 610, 340),
        *words("7 Night bus", 210, 400),
        *words("18", 410, 400),
        *words("26", 610, 400),
    ]
    assert texts(grid.table(inside)) == [
        ["Line", "Passengers sold", "", ""],
        ["", "May", "June", ""],
        ["7 Night bus", "18", "26", ""],
        ["", "", "", ""],
    ]


def test_cells_to_write_in_stay_and_what_is_too_narrow_for_it_does_not():
    """Double rules leave narrow columns, and merged cells may leave none of their own."""
    box = Box(0, 0, 400, 90)
    columns = 0, 200, 210, 300, 400
    one = ((0, 0), (0, 1), (0, 2), (0, 2)), ((1, 0), (1, 1), (1, 2), (1, 2))
    grid = Grid(box, columns, (0, 40, 80, 90), (*one, ((2, 0), (2, 1), (2, 2), (2, 2))))
    assert texts(grid.table(words("Age", 20, 10))) == [["Age", ""], ["", ""]]


def test_white_parts_a_merged_cell_into_columns():
    """As in tables that have rules between columns in their head only."""
    (grid,) = grids(find_rules(merged()), 1200)
    table = grid.table(
        [*words("Sold", 410, 308), *words("Left", 610, 308), *words("x", 210, 400)]
    )
    assert texts(table)[0] == ["", "Sold", "Left", ""]
