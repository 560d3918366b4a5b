"""What the lines of a page are."""

from dataclasses import replace

import pytest

from vit_str.pages.arrange.structure import Heading, Item, Paragraph, Running, parts_of
from vit_str.pages.page import Page, Word
from vit_str.pages.write.markdown import markdown

Line = tuple[Word, ...]


def line(
    text: str,
    left: float,
    top: float,
    height: float = 10,
    weight: float = 0.0,
    size: float = 0.0,
) -> Line:
    """Words as wide as their letters."""
    found = []
    for each in text.split():
        right = left + 0.5 * height * len(each)
        corners = (
            (left, top),
            (right, top),
            (right, top + height),
            (left, top + height),
        )
        found.append(
            Word(each, 1.0, corners, size=size or height, weight=weight or height)
        )
        left = right + 0.4 * height
    return tuple(found)


def page(*blocks: tuple[Line, ...], height: int = 600) -> Page:
    return Page(500, height, blocks)


def texts(found: Page) -> list[tuple[str, str]]:
    """Names of parts, and how they begin."""
    (parts,) = parts_of([found])
    named = []
    for part in parts:
        assert isinstance(part, Heading | Paragraph | Item | Running)
        words = [word.text for row in part.rows for word in row.words]
        name = type(part).__name__ + (
            str(part.level) if isinstance(part, Heading) else ""
        )
        named.append((name, " ".join(words)))
    return named


TEXT = (
    line("The museum opens at nine and closes late in the evening on all", 10, 100),
    line("days of the week but Monday.", 10, 114),
)


def test_headings_have_the_levels_of_their_sizes():
    found = page(
        (line("Museums", 10, 20, 20),),
        (line("When they open", 10, 70, 13),),
        TEXT,
        (line("Prices", 10, 150, 13.5),),
        (
            line(
                "Three euros for everybody who comes in the morning, five for", 10, 170
            ),
        ),
    )
    assert [name for name, _ in texts(found)] == [
        "Heading1", "Heading2", "Paragraph", "Heading2", "Paragraph"
    ]  # fmt: skip


@pytest.mark.parametrize(("strokes", "levels"), [(16, [1, 2, 2]), (13, [1, 2, 3])])
def test_headings_with_the_same_strokes_are_of_one_level(strokes, levels):
    """Sizes of short headings are measured less well than the width of strokes."""
    found = page(
        (line("Museums", 10, 20, 26),),
        (line("When they open", 10, 70, 16),),
        TEXT,
        (line("What they cost", 10, 150, 14, weight=strokes),),
        (
            line(
                "Three euros for everybody who comes in the morning, five for", 10, 170
            ),
        ),
    )
    names = [name for name, _ in texts(found) if name != "Paragraph"]
    assert names == [f"Heading{level}" for level in levels]


def test_the_last_line_of_a_paragraph_may_have_few_letters():
    """Their size is hard to tell."""
    text = line(
        "The reading room was closed for repairs, from March until May", 10, 100
    )
    assert texts(page((text, line("1931.", 10, 114, size=7.6)))) == [
        (
            "Paragraph",
            "The reading room was closed for repairs, from March until May 1931.",
        )
    ]


def test_a_heading_may_have_two_lines_and_be_only_bold():
    found = page(
        (
            line("Why the tables were wrong for", 10, 20, 16),
            line("forty years", 10, 38, 16),
        ),
        TEXT,
        (line("Remarks", 10, 150, weight=15),),
        (line("None.", 10, 170),),
    )
    assert texts(found)[0] == ("Heading1", "Why the tables were wrong for forty years")
    assert texts(found)[2:] == [("Heading2", "Remarks"), ("Paragraph", "None.")]


def test_high_boxes_are_no_headings_where_strokes_are_thin():
    """What detectors draw around a line varies more than its type."""
    high = line("Birte Holm", 10, 150, 13, weight=10, size=12)
    assert texts(page(TEXT, (high,)))[-1] == ("Paragraph", "Birte Holm")


@pytest.mark.parametrize(
    ("confidence", "part"), [(0.98, "Heading1"), (0.9, "Paragraph")]
)
def test_handwriting_is_large_but_no_heading(confidence, part):
    """Told from print by the confidence of its characters."""
    words = line("Jonathan Kremer", 10, 150, 16)
    read = tuple(
        replace(word, confidence=confidence ** len(word.text)) for word in words
    )
    assert texts(page(TEXT, (read,)))[-1] == (part, "Jonathan Kremer")


def test_large_words_in_columns_are_no_heading():
    cells = (
        *line("Probe", 10, 150, 14),
        *line("Nitrat", 120, 150, 14),
        *line("Befund", 300, 150, 14),
    )
    assert texts(page(TEXT, (cells,)))[-1] == ("Paragraph", "Probe Nitrat Befund")
    numbered = (*line("2.", 10, 150, 14), *line("Dates of the fair", 60, 150, 14))
    assert texts(page(TEXT, (numbered,)))[-1] == ("Heading1", "2. Dates of the fair")


def test_running_text_is_apart_and_left_out_of_markdown():
    found = page(
        (line("Harbour Studies", 10, 10), line("Volume 7", 400, 10)),
        TEXT,
        (line("12", 250, 580),),
    )
    assert [name for name, _ in texts(found)] == [
        "Running",
        "Running",
        "Paragraph",
        "Running",
    ]
    assert "Volume" not in markdown([found]) and "12" not in markdown([found])
    assert "Volume" in found.text


def test_the_first_line_of_a_receipt_is_no_running_head():
    lines = tuple(
        line("THE CORNER BAKERY in town", 10, 4 + 14 * number) for number in range(8)
    )
    assert [name for name, _ in texts(page(lines, height=130))] == ["Paragraph"]


@pytest.mark.parametrize(
    "text", ["Figure 1. The quay.", "Abb. 2: Der Trog.", "Table 3 Loans"]
)
def test_captions_are_paragraphs_of_their_own(text):
    lines = (*TEXT[:1], line(text, 10, 114), *TEXT[1:])
    assert ("Paragraph", text) in texts(page(lines))


@pytest.mark.parametrize(
    ("end", "start", "paragraphs"),
    [
        ("and nobody moved its old", "stone lion to the school.", 1),
        ("and nobody moved its lid.", "A stone lion came later.", 2),
        # There was room for the next word
        ("and nobody", "stone lion to the school.", 2),
    ],
)
def test_a_sentence_goes_on_in_the_next_column(end, start, paragraphs):
    left = (line("The well was at the gate", 10, 100), line(end, 10, 114))
    right = (line(start, 260, 100), line("Since then it is dry.", 260, 114))
    found = texts(page(left, right))
    assert [name for name, _ in found] == ["Paragraph"] * paragraphs


def block(texts: list[str], left: float = 10, top: float = 200) -> tuple[Line, ...]:
    """Lines below each other."""
    return tuple(line(text, left, top + 14 * n) for n, text in enumerate(texts))


ADDRESS = ["Dr. Jutta Petersen", "Lindenallee 3 b", "24106 Kiel"]


def test_lines_that_somebody_ended_stay_lines_of_one_paragraph():
    found = page(TEXT, block(ADDRESS), block(["Dear Dr. Petersen,"], top=270))
    assert [text for _, text in texts(found)[1:]] == [
        " ".join(ADDRESS),
        "Dear Dr. Petersen,",
    ]
    written = markdown([found])
    lines = "  \n".join(ADDRESS)
    assert f"\n\n{lines}\n\nDear Dr. Petersen,\n" in written


@pytest.mark.parametrize(
    ("last", "is_line"), [("24106 Kiel", True), ("Kiel-Holtenau", False)]
)
def test_digits_do_not_tell_the_size_of_a_line(last, is_line):
    """Few letters are left of an address whose last line seems to be smaller."""
    lines = (*block(ADDRESS[:2]), line(last, 10, 228, size=8))
    found = [text for _, text in texts(page(TEXT, lines))[1:]]
    address = " ".join(ADDRESS[:2])
    assert found == ([f"{address} {last}"] if is_line else [address, last])


def test_the_longest_line_of_an_address_is_ended_too():
    """Though the next word would not have fitted behind it, as on receipts."""
    slip = ["THE BAKERY", "7 Station Road, Elmsworth", "Tel. 01632", "Till 2"]
    assert markdown([page(block(slip))]) == "  \n".join(slip) + "\n"


def test_short_paragraphs_beside_long_ones_are_paragraphs():
    first = [
        "The museum opens at nine and closes late in the evening on all",
        "days of the week but Monday.",
        "It costs three euros.",
        "The museum has two entrances, one of which is at the side of",
        "the harbour.",
    ]
    found = texts(page(block(first)))
    assert [len(text.split()) for _, text in found] == [19, 4, 15]


@pytest.mark.parametrize("text", ["# 5", "---", "==="])
def test_no_line_is_taken_for_a_mark_of_markdown(text):
    above, *lines = block(["Dr. Jutta Petersen", text])
    assert f"\\{text}" in markdown([page(TEXT, (above, *lines))])


def test_lines_that_are_set_to_the_right_were_ended_too():
    sender = ["Frau Hélène Kerdoncuff", "22, quai de la Douane", "29200 Brest"]
    lines = tuple(
        line(text, 400 - line(text, 0, 0)[-1].box.right, 200 + 14 * number)
        for number, text in enumerate(sender)
    )
    assert "  \n".join(sender) in markdown([page((*TEXT, *lines))])


def test_items_of_lists_may_have_several_lines():
    lines = (
        line("• A quiet room with twelve desks, which the friends of the", 10, 200),
        line("library have paid for.", 22, 214),
        line("2) New shelves.", 10, 228),
    )
    assert texts(page(TEXT, lines))[1:] == [
        (
            "Item",
            "A quiet room with twelve desks, which the friends of the library have paid for.",
        ),
        ("Item", "New shelves."),
    ]


def test_lists_within_items_are_indented():
    lines = (
        line("1. Plots that are not worked are given notice.", 10, 200),
        line("2. Half plots are offered in this order:", 10, 214),
        line("• people who have waited,", 26, 228),
        line("• schools.", 26, 242),
        line("3. The list is put on the board.", 10, 256),
    )
    beside = line("• Another column begins with a list.", 300, 150)
    written = markdown([page(TEXT, lines, (beside,))])
    marks = [each[:6] for each in written.splitlines() if "." in each[-1:]]
    assert marks[1:] == ["1. Plo", "    - ", "3. The", "- Anot"]
    assert "\n2. Half plots are offered in this order:\n    - people who" in written


def test_a_bold_line_with_a_number_is_a_heading_and_with_a_bullet_an_item():
    lines = line("3. Bonfires", 10, 150, weight=15), line("None were seen.", 10, 170)
    assert texts(page(TEXT, lines))[1][0] == "Heading1"
    lines = line("• Bonfires", 10, 150, weight=15), line("None were seen.", 10, 170)
    assert texts(page(TEXT, lines))[1][0] == "Item"


def test_headings_that_look_alike_are_of_one_level_be_they_large_or_only_bold():
    """Some of one look are measured just large enough to be headings by their size."""
    found = page(
        (line("Minutes of the committee", 10, 20, 15, weight=21, size=15),),
        (line("2. Waiting list", 10, 60, size=12.4, weight=16.6),),
        TEXT,
        (line("3. Bonfires", 10, 150, size=11.3, weight=17.9),),
    )
    names = [name for name, _ in texts(found) if name != "Paragraph"]
    assert names == ["Heading1", "Heading2", "Heading2"]


def test_a_short_section_is_not_of_the_level_of_the_title():
    """Though the capitals of its few letters make it seem nearly as large."""
    found = page(
        (line("The well at the upper gate and its lives", 10, 20, size=17, weight=22),),
        (line("Am Tor", 10, 60, size=16, weight=16.5),),
        TEXT,
        (line("In the school yard", 10, 150, size=13, weight=17),),
        (line("The well in the yard is dry since the year of the storm", 10, 170),),
    )
    names = [name for name, _ in texts(found) if name != "Paragraph"]
    assert names == ["Heading1", "Heading2", "Heading2"]


def test_pages_without_words_have_no_parts():
    assert parts_of([Page(10, 10, ()), page(TEXT)])[0] == []


def test_the_same_sizes_are_the_same_level_on_all_pages():
    first = page((line("Title", 10, 60, 24),), TEXT)
    second = page((line("Section", 10, 60, 15),), TEXT)
    levels = [
        part.level
        for parts in parts_of([first, second])
        for part in parts
        if isinstance(part, Heading)
    ]
    assert levels == [1, 2]


def test_type_that_is_not_known_is_told_by_heights():
    bare = tuple(
        replace(word, size=0.0, weight=0.0) for word in line("Museums", 10, 20, 20)
    )
    body = tuple(
        tuple(replace(word, size=0.0, weight=0.0) for word in each) for each in TEXT
    )
    assert [name for name, _ in texts(page((bare,), body))] == ["Heading1", "Paragraph"]


def test_a_heading_ends_a_table():
    def row(name: str, price: str, top: float) -> Line:
        return (*line(name, 10, top), *line(price, 200, top))

    first = (row("Soup", "7.50", 150), row("Salad", "8.00", 164))
    second = (row("Fish", "17.50", 210), row("Meat", "15.00", 224))
    heading = line("Mains", 10, 184, 14)
    (parts,) = parts_of([page(TEXT, (*first, heading, *second))])
    assert [type(part).__name__ for part in parts] == [
        "Paragraph",
        "Table",
        "Heading",
        "Table",
    ]


def test_lines_of_a_column_are_joined_below_a_wider_title():
    left = tuple(
        line("In the spring of 1871 the harbour", 10, 60 + 14 * n) for n in range(5)
    )
    right = tuple(
        line("She wrote to the printer and he", 260, 60 + 14 * n) for n in range(5)
    )
    title = line("Why the tables of the harbour were wrong for forty years", 10, 20, 16)
    assert [name for name, _ in texts(page((title,), left, right))] == [
        "Heading1", "Paragraph", "Paragraph"
    ]  # fmt: skip


CELLS = (10, 45, 80, 115)
"""Where cells of words of five letters begin, a height of a line after those before them."""


def cells(text: str, top: float, size: float = 10) -> Line:
    """A row of a table of four columns."""
    words = zip(text.split(), CELLS, strict=True)
    return tuple(line(word, left, top, 10, size, size)[0] for word, left in words)


ROWS = "Maple Small 12.50 1,000", "Beech Large 10.50 2,000", "Alder Small 11.50 3,000"


def test_the_head_of_a_table_is_no_heading_though_its_letters_seem_larger():
    head = cells("Kinds Sizes Price Count", 150, size=12)
    rows = (cells(each, 164 + 14 * n) for n, each in enumerate(ROWS))
    written = markdown([page(TEXT, (head, *rows))])
    assert "| Kinds | Sizes | Price | Count |\n|---|---|---|---|\n| Maple |" in written


def test_rows_of_a_tight_table_do_not_tell_how_far_apart_lines_are():
    rows = tuple(cells(each, 20 + 10 * n) for n, each in enumerate(2 * ROWS))
    below = (
        line("The museum opens at nine and closes late in the evening on all", 10, 140),
        line("Mondays but one.", 10, 154),
    )
    assert "evening on all Mondays but one." in markdown([page(rows, below)])
