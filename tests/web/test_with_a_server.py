"""The page of ``vit-str serve`` in Chromium, with a stub that answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.pages.write.previews import data_url
from vit_str.reading.checking.checked import (
    Checked,
    CheckedWord,
    MissingWord,
    PageSize,
)
from vit_str.reading.checking.html import html_of

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect  # waits for what it expects, as `assert` does not
SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "images"
DROP = """async ([name, bytes]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(bytes)], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
}"""
EXIT = {
    "path": "word-06.jpg",
    "text": "Exit",
    "confidence": 0.97,
    "alternatives": [{"text": "EXit", "confidence": 0.02}],
    "characters": [
        {
            "character": character,
            "confidence": confidence,
            "box": [32.0 * i, 4.0, 32.0 * i + 30, 28.0],
            "attention": [[0.5 if i == j else 0.1 for j in range(4)]],
        }
        for i, (character, confidence) in enumerate(
            zip("Exit", (0.99, 0.9, 0.6, 0.3), strict=True)
        )
    ],
}


def word(text: str, left: float, line: int) -> dict[str, Any]:
    corners = [[left, 40 * line], [left + 60, 40 * line + 2], [left + 60, 40 * line + 30],
               [left, 40 * line + 28]]  # fmt: skip
    return {
        "text": text,
        "confidence": 0.9,
        "polygon": corners,
        "block": 0,
        "line": line,
        "characters": [],
    }


PAGE = {
    "path": "page",
    "width": 128,
    "height": 96,
    "text": "WAY OUT\nExit",
    "words": [word("WAY", 0, 0), word("OUT", 65, 0), word("Exit", 5, 1)],
    "error": None,
}


SUM = {"row": 1, "column": 0, "rows": 1, "columns": 2}
TABLE = {
    "path": "page",
    "width": 240,
    "height": 200,
    "text": "Bill\nItem Price Now Nuts, bolts -7.50 =A1\nThanks",
    "words": [
        word(text, left, line)
        for text, left, line in [
            ("Bill", 0, 0), ("Item", 0, 1), ("Price", 70, 1), ("Now", 140, 1),
            ("Nuts,", 0, 2), ("bolts", 70, 2), ("-7.50", 140, 2), ("=A1", 140, 3),
            ("Thanks", 0, 4),
        ]
    ],
    "structure": [
        {"role": "heading", "words": [0]},
        {
            "role": "table",
            "words": [1, 2, 3, 4, 5, 6, 7],
            "rows": [["Item", "Price", "Now"], ["Nuts, bolts", "", "-7.50"], ["", "", "=A1"]],
            "spans": [SUM],
        },
        {"role": "paragraph", "words": [8]},
    ],
    "csv": "Item,Price\n",
    "xlsx": "data:application/zip;base64,UEsFBg==",
    "error": None,
}  # fmt: skip
CHECKED = Checked(
    "Nuts cost 750 each",
    [
        CheckedWord("Nuts", 0, 4, "confirmed", 0.99, 1, (Box(0, 0, 30, 10),)),
        CheckedWord("cost", 5, 9, "absent", 0.01),
        CheckedWord(
            "750", 10, 13, "contradicted", 0.02, 1, (Box(40, 0, 60, 10),), "7.50"
        ),
        CheckedWord("each", 14, 18, "doubtful", 0.5, 1, (Box(70, 0, 99, 10),)),
    ],
    [MissingWord("today", 0.97, 1, Box(0, 50, 30, 60), after=4)],
    [PageSize(1, 128, 96)],
)


def drop(page: Any, path: Path) -> Any:
    page.evaluate(DROP, [path.name, list(path.read_bytes())])
    card = page.locator(".card").first
    page.locator(".card:first-child[aria-busy=false]").wait_for()
    return card


@pytest.fixture
def page(browser, stub) -> Any:
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(stub[0])
    page.locator("#live", has_text="Ready").wait_for(state="attached")
    yield page
    page.close()
    assert not wrong


def test_a_word_and_its_text_light_each_other_up(page, stub):
    _, answers = stub
    answers.append((200, {}, {"readings": [EXIT]}))
    card = drop(page, SAMPLES / "word-06.jpg")
    assert answers.asked == ["/v1/read?n_best=3&language=&boxes=1&attention=1"]
    characters, shapes = card.locator(".text button"), card.locator("polygon")
    assert "".join(characters.all_inner_texts()) == "Exit"
    levels = [each.get_attribute("data-level") for each in characters.all()]
    assert levels == ["sure", "likely", "doubtful", "guess"]
    expect(card.locator(".alternatives")).to_contain_text("EXit")
    characters.nth(1).hover()
    card.locator("polygon.lit").wait_for()
    assert shapes.nth(1).get_attribute("class") == "lit"
    expect(card.locator("canvas")).to_be_visible()  # where the decoder looked
    expect(card.locator(".readout")).to_contain_text("90.0 %")
    shapes.nth(2).hover(force=True)
    assert characters.nth(2).get_attribute("class") == "lit"
    page.mouse.move(0, 0)
    characters.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(card.locator(".readout")).to_contain_text("“t” 30.0 %")
    card.get_by_text("Copy text").click()
    card.get_by_text("Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == "Exit"
    card.get_by_text("Copy JSON").click()
    copied = json.loads(page.evaluate("() => navigator.clipboard.readText()"))
    assert copied["characters"][0]["box"] == EXIT["characters"][0]["box"]
    assert "attention" not in copied["characters"][0]


def test_a_whole_picture_and_a_closer_look(page, stub):
    _, answers = stub
    page.select_option("#kind", "page")
    answers.append((200, {}, PAGE))
    card = drop(page, SAMPLES / "word-06.jpg")
    assert card.locator(".text p").all_inner_texts() == ["WAY OUT", "Exit"]
    card.locator("polygon").nth(2).hover(force=True)
    expect(card.locator(".text button.lit")).to_have_text("Exit")
    answers.append((200, {}, {"readings": [EXIT]}))
    card.get_by_text("Look closer").click()
    page.locator(".card", has_text="Exit in word-06.jpg").locator("canvas").wait_for(
        state="attached"
    )
    page.locator(".card[aria-busy=false]").nth(1).wait_for()
    assert answers.asked == [
        "/v1/page?language=&structure=1&tables=1",
        "/v1/read?n_best=3&language=&boxes=1&attention=1",
    ]


def test_pages_of_a_pdf_file_are_drawn_by_the_server(page, stub, tmp_path):
    _, answers = stub
    shown = {"picture": data_url(Image.new("RGB", (128, 96), "white")), "pages": 2}
    answers += [(200, {}, {**PAGE, **shown, "page": number}) for number in (1, 2)]
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    page.select_option("#kind", "page")
    card = drop(page, tmp_path / "a.pdf")
    assert card.locator("img").evaluate("(image) => image.naturalWidth") == 128
    expect(card.locator("img")).to_be_visible()
    expect(card.get_by_text("Previous page")).to_be_hidden()
    card.get_by_text("Next page").click()
    card.locator(".readout", has_text="3 words, page 2 of 2").wait_for()
    expect(card.get_by_text("Previous page")).to_be_visible()
    expect(card.get_by_text("Next page")).to_be_hidden()
    assert answers.asked == [
        "/v1/page?language=&structure=1&tables=1&picture=1",
        "/v1/page?language=&structure=1&tables=1&page=2&picture=1",
    ]
    card.get_by_text("Copy JSON").click()
    card.get_by_text("Copied").wait_for()
    assert "picture" not in json.loads(
        page.evaluate("() => navigator.clipboard.readText()")
    )


def test_a_table_is_shown_as_one_copied_and_saved(page, stub, tmp_path):
    _, answers = stub
    page.select_option("#kind", "page")
    answers.append((200, {}, TABLE))
    card = drop(page, SAMPLES / "word-06.jpg")
    rows = [
        [(cell.inner_text().split(), cell.get_attribute("colspan")) for cell in row]
        for row in (each.locator("th, td").all() for each in card.locator("tr").all())
    ]
    assert rows == [
        [(["Item"], "1"), (["Price"], "1"), (["Now"], "1")],
        [(["Nuts,", "bolts"], "2"), (["-7.50"], "1")],
        [([], "1"), ([], "1"), (["=A1"], "1")],
    ]
    assert card.locator(".text p").all_inner_texts() == ["Bill", "Thanks"]
    card.locator("polygon").nth(5).hover(force=True)  # in the order of the page
    expect(card.locator("td button.lit")).to_have_text("bolts")
    card.get_by_text("Copy table").click()
    card.get_by_text("Copied").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == "Item\tPrice\tNow\nNuts, bolts\t\t-7.50\n\t\t'=A1"
    saved = {}
    for button in ("Save tables as CSV", "Save tables for Excel"):
        with page.expect_download() as download:
            card.get_by_text(button).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.name] = path.read_bytes()
    assert saved["word-06.csv"].decode("utf-8-sig") == TABLE["csv"]
    assert saved["word-06.xlsx"] == b"PK\5\6"


def test_pages_without_tables_offer_no_spreadsheets(page, stub):
    _, answers = stub
    page.select_option("#kind", "page")
    answers.append((200, {}, PAGE))
    card = drop(page, SAMPLES / "word-06.jpg")
    expect(card.get_by_text("Copy text")).to_be_visible()
    expect(card.get_by_text("Save tables").first).to_be_hidden()
    expect(card.locator("table")).to_have_count(0)


def doubts(page: Any) -> list[str]:
    """What is said of each doubt that n leads to, then of those that p leads back to."""
    said = []
    for key in "nnnnnpp":
        page.keyboard.press(key)
        said.append(page.locator("output").inner_text().split(",")[0])
    return said


DOUBTS = ["absent", "contradicted", "doubtful", "missing: today"]


def test_a_text_is_checked_in_the_page_and_saved_as_the_file(
    page, stub, browser, tmp_path
):
    _, answers = stub
    page.select_option("#kind", "page")
    html = html_of(CHECKED, {1: data_url(Image.new("RGB", (128, 96)))}, "a.jpg")
    answers += [
        (200, {}, PAGE),
        (422, {}, {"error": "the text has no words"}),
        (200, {}, {"html": html}),
    ]
    card = drop(page, SAMPLES / "word-06.jpg")
    card.get_by_text("Check a text").click()
    card.locator("textarea").fill("-")
    card.get_by_text("Check it").click()
    expect(card.locator(".check [role=alert]")).to_contain_text(
        "The text has no words."
    )
    text = {"name": "a.md", "mimeType": "text/markdown", "buffer": b"Nuts cost 750"}
    card.locator(".check input").set_input_files(text)
    page.wait_for_function("() => document.querySelector('.check textarea').value[4]")
    assert card.locator("textarea").input_value() == "Nuts cost 750"
    card.get_by_text("Check it").click()
    page.locator("#check-dialog[open]").wait_for()
    assert answers.asked[1:] == ["/v1/check?html=1&language=&page=1"] * 2
    assert page.locator("#check-dialog figure").bounding_box()["height"] > 50
    assert doubts(page) == [*DOUBTS, "absent", "missing: today", "doubtful"]
    page.locator("rect.contradicted").click(force=True)
    expect(page.locator(".word.lit")).to_have_text("750")
    expect(page.locator("output")).to_contain_text("the page says 7.50")
    with page.expect_download() as download:
        page.get_by_text("Save as a file").click()
    assert download.value.suggested_filename == "word-06.jpg.checked.html"
    page.locator("#check-dialog [data-do=close]").click()
    expect(page.locator("#check-dialog")).to_be_hidden()
    page.keyboard.press("n")  # nothing is left to go to
    download.value.save_as(tmp_path / "checked.html")
    file = browser.new_page()
    file.goto((tmp_path / "checked.html").as_uri())
    assert doubts(file) == [*DOUBTS, "absent", "missing: today", "doubtful"]
    colors = {
        verdict: file.locator(f".word.{verdict}").first.evaluate(
            "(word) => getComputedStyle(word).textDecorationColor"
        )
        for verdict in ("confirmed", "doubtful", "contradicted")
    }
    assert len({*colors.values()}) == 3
    file.close()


def test_what_goes_wrong_is_said_in_words(page, stub):
    _, answers = stub
    busy = (503, {"Retry-After": "2"}, {"error": "queue full"})
    answers.append(busy)
    card = drop(page, SAMPLES / "word-06.jpg")
    expect(card.locator(".problem")).to_contain_text("more to do than it can take")
    expect(card.locator(".problem")).to_contain_text("Try again in 2 seconds")
    answers.append((200, {}, {"readings": [EXIT]}))
    card.get_by_text("Try again", exact=True).click()
    card.get_by_text("Copy text").wait_for()
    for answer, words in [
        ((413, {}, {"error": "too large"}), "larger than the server takes"),
        (
            (200, {}, {"readings": [{"path": "a", "text": None, "error": "damaged"}]}),
            "Damaged.",
        ),
        ((504, {}, {}), "took too long"),
    ]:
        answers.append(answer)
        card = drop(page, SAMPLES / "word-06.jpg")
        expect(card.locator(".problem")).to_contain_text(words)
    answers.key = "secret"
    drop(page, SAMPLES / "word-06.jpg")
    answers += [(200, {}, {"readings": [EXIT]})] * 9
    page.fill("#key", "secret")
    page.keyboard.press("Enter")
    page.locator(".card").first.get_by_text("Copy text").wait_for()


def test_a_sample_and_the_camera(page, stub):
    _, answers = stub
    answers += [(200, {}, {"readings": [EXIT]})] * 2
    page.get_by_alt_text("Sample Exit").click()
    page.locator(".card", has_text="word-06.jpg").get_by_text("Copy text").wait_for()
    page.select_option("#kind", "word")
    page.click("#camera")
    page.locator("video").wait_for()
    page.wait_for_timeout(300)
    page.click("#shoot")
    page.locator(".card", has_text="camera picture").get_by_text("Copy text").wait_for()
    expect(page.locator("#camera-dialog")).to_be_hidden()
