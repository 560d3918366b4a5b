"""What is said of texts that are right, and of texts with errors."""

import json

import numpy as np
import pytest

import vit_str
from vit_str.pages.reader import PageReader
from vit_str.pages.write.previews import data_url
from vit_str.reading.checking.checked import Checked
from vit_str.reading.checking.checker import PageChecker
from vit_str.reading.checking.html import html_of
from vit_str.reading.checking.texts import parse_text

TEXT = (
    "The annual report of the company was recieved on 14.03.2021 and shows a profit of "
    "12,580.50 in all regions; we thank our members for “trust” and patience."
)


def check(checker: PageChecker, page: object, text: str) -> Checked:
    return checker.check(page, parse_text(text))


def verdicts(checked: Checked) -> dict[str, str]:
    """Of the words that are not confirmed."""
    return {w.text: w.verdict for w in checked.words if w.verdict != "confirmed"}


@pytest.fixture(scope="module")
def right(checker, page) -> Checked:
    return check(checker, page, TEXT)


def test_a_right_text_is_confirmed_word_by_word(right):
    assert verdicts(right) == {}
    assert right.missing == []
    assert right.is_right
    assert right.expected_errors < 1
    assert min(word.probability for word in right.words) > 0.5


def test_words_know_where_they_are_on_the_page(right, reader, page):
    boxes = {word.text: word.box for word in reader.read(page).words}
    is_ink = np.asarray(page.convert("L")) < 128
    for word in right.words:
        if word.text in boxes and TEXT.split().count(word.text) == 1:
            left, top, right_side, bottom = map(round, boxes[word.text])
            inside = is_ink[top - 3 : bottom + 3, left:right_side]
            rows = np.flatnonzero(inside.any(1)) + top - 3
            assert word.box is not None
            assert word.box[::2] == pytest.approx(boxes[word.text][::2], abs=0.01)
            assert word.box[1::2] == pytest.approx((rows[0], rows[-1] + 1), abs=1.5)
    (cut,) = (word for word in right.words if word.text == "members")
    assert len(cut.boxes) == 2
    assert cut.boxes[0].bottom < cut.boxes[1].bottom
    assert cut.differs_in_typography


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("12,580.50", "12,560.50", "12,580.50"),
        ("14.03.2021", "14.08.2021", "14.03.2021"),
        ("company", "cornpany", "company"),
        ("profit", "prof1t", "profit"),
        ("report", "reports", "report"),
        ("annual", "animal", "annual"),
        ("patience.", "silence.", "patience."),
        ("recieved", "received", "recieved"),
    ],
)
def test_what_is_altered_is_contradicted(checker, page, old, new, found):
    checked = check(checker, page, TEXT.replace(old, new))
    assert verdicts(checked) == {new: "contradicted"}
    (word,) = (word for word in checked.words if word.text == new)
    assert word.found == found
    assert word.likelihood is not None
    assert word.found_likelihood is not None
    assert word.likelihood < word.found_likelihood
    assert not checked.is_right
    assert checked.corrected() == TEXT


def test_a_misspelling_that_is_printed_is_right(checker, page, right):
    (word,) = (word for word in right.words if word.text == "recieved")
    assert word.verdict == "confirmed"


def test_typography_counts_as_right(checker, page):
    text = TEXT.replace("“trust”", '"trust"').replace("profit", "proﬁt")
    checked = check(checker, page, text)
    assert verdicts(checked) == {}
    differing = [w.text for w in checked.words if w.differs_in_typography]
    assert differing == ["proﬁt", "members", '"trust"']


def test_what_is_invented_is_absent_and_what_is_left_out_is_missing(checker, page):
    invented = "Nobody expected such wonderful numbers."
    text = TEXT.replace(" in all regions;", "").replace("was", f"{invented} was")
    checked = check(checker, page, text)
    assert [word.text for word in checked.missing] == ["in", "all", "regions;"]
    assert {word.after for word in checked.missing} == {21}
    assert verdicts(checked) == dict.fromkeys(invented.split(), "absent")
    assert [row["text"] for row in checked.rows()][21:24] == ["in", "all", "regions;"]


def test_order_and_format_do_not_matter(checker, page):
    words = TEXT.split()
    moved = f"# {' '.join(words[12:])}\n\n| {' '.join(words[:12])} |\n|---|\n"
    checked = checker.check(page, parse_text(moved, "markdown"))
    assert verdicts(checked) == {}
    assert checked.text[checked.words[0].start :].startswith(words[12])


def test_letters_that_no_reader_knows_are_not_confirmed(checker, page):
    checked = check(checker, page, TEXT.replace("annual", "年度報告"))
    assert set(verdicts(checked)) == {"年度報告"}


def test_words_longer_than_readers_of_words_write(draw, reader):
    long = "Donaudampfschifffahrtsgesellschaft"
    lines = ["Our journey with the", f"{long} is over."]
    picture, detector = draw(lines)
    own = PageChecker(
        PageReader(reader.reader, detector, reader.lines, minimum_confidence=0.0)
    )
    assert check(own, picture, " ".join(lines)).is_right
    wrong = " ".join(lines).replace("schiff", "schilf")
    (verdict,) = verdicts(check(own, picture, wrong)).values()
    assert verdict == "contradicted"


def test_the_function_takes_what_pages_come_as(reader, page, tmp_path):
    page.save(tmp_path / "page.png")
    (tmp_path / "text.md").write_text(f"**{TEXT}**", "utf-8")
    for source in (page, np.asarray(page), (tmp_path / "page.png").read_bytes()):
        assert vit_str.check(source, TEXT, reader=reader).is_right
    path = tmp_path / "page.png"
    assert vit_str.check(path, tmp_path / "text.md", reader=reader).is_right
    with pytest.raises(ValueError, match="no words"):
        vit_str.check(path, " ", reader=reader)
    with pytest.raises(ValueError, match="language"):
        vit_str.check(path, TEXT, reader=reader, language="de")


def test_rows_are_plain_and_in_order(right):
    rows = right.rows()
    assert [row["text"] for row in rows] == TEXT.split()
    json.dumps([*rows, right.summary()])
    frame = right.to_frame()
    assert list(frame["verdict"]) == ["confirmed"] * len(rows)
    low, high = right.interval
    assert low <= right.expected_errors <= high


def test_a_page_of_html_holds_everything_and_obeys_nothing(checker, page):
    text = TEXT.replace("annual", "<script>alert(1)</script>")
    checked = checker.check(page, parse_text(text, "text"))
    shown = html_of(checked, {1: data_url(page)}, "a<b>.png")
    assert "<script>alert" not in shown
    assert "a&lt;b&gt;.png" in shown
    assert shown.count("<rect ") >= len(checked.words) - 2
    assert "http" not in shown.replace("http-equiv", "")
