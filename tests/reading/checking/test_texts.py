"""Texts of all formats to the words that a page shows."""

import json
import time

import pytest

from vit_str.reading.checking.texts import format_of_text, parse_text

MARKDOWN = """---
primary_language: en
---
# Annual *report*

Sales **grew** by 5 % to [12,5 million](https://example.org/a_b), see `net_profit`
and snake_case; R&amp;D costs H<sub>2</sub>O \\* 3

| Year | Amount |
|:-----|-------:|
| 2024 | 1,20   |

![a chart](chart.png)
- first item
* [x] done
1. one
---
"""
SHOWN = (
    "Annual report Sales grew by 5 % to 12,5 million, see net_profit and snake_case; "
    "R&D costs H2O * 3 Year Amount 2024 1,20 first item done 1. one"
)


def words(text: str, format_: str | None = None) -> list[str]:
    return [word.text for word in parse_text(text, format_).words]


def test_marks_of_markdown_are_no_words():
    assert format_of_text(MARKDOWN) == "markdown"
    assert " ".join(words(MARKDOWN)) == SHOWN


def test_marks_are_words_in_plain_text():
    assert words("5 * 3 * 2 # 1", "text") == ["5", "*", "3", "*", "2", "#", "1"]
    assert format_of_text("Price: 5 * 3 | x") == "text"


def test_tags_part_words_only_where_browsers_do():
    page = (
        "<!doctype html><html><head><title>No</title><style>p{}</style></head><body>"
        "<p class='a b'>Fif<b>te</b>en&nbsp;men &lt;all&gt;<br>on</p><!-- no -->"
        "<table><tr><td>1</td><td>2</td></tr></table><script>no()</script></body></html>"
    )
    assert format_of_text(page) == "html"
    assert words(page) == ["Fifteen", "men", "<all>", "on", "1", "2"]


def test_a_comment_without_an_end_hides_the_rest_as_in_browsers():
    given = parse_text("<p>one <!-- two --> three <!-- four <!-- five", "html")
    assert [word.text for word in given.words] == ["one", "three"]


def test_words_know_their_places():
    text = "A **bo**ld &amp; <i>sl</i>anted\nword"
    given = parse_text(text, "markdown")
    places = [given.text[word.start : word.end] for word in given.words]
    assert places == ["A", "bo**ld", "&amp;", "sl</i>anted", "word"]
    assert [word.text for word in given.words] == ["A", "bold", "&", "slanted", "word"]


def test_hocr_of_the_package_and_of_tesseract():
    line = "<span class='ocrx_word' title='bbox 1 2 3 4'>{}</span>"
    page = f"<html><body><div class='ocr_page'>{line.format('a')}{line.format('b&gt;')}"
    assert format_of_text(page) == "hocr"
    assert words(page) == ["a", "b>"]


def test_json_lines_of_words_pages_and_answers():
    page = {"path": "x", "text": "no", "words": [{"text": "a"}, {"text": "b"}]}
    rows = [page, {"text": "c d"}, {"natural_text": "e"}, {"pages": [page]}]
    text = "\n".join(map(json.dumps, rows))
    assert format_of_text(text) == "jsonl"
    assert words(text) == ["a", "b", "c", "d", "e", "a", "b"]
    assert words(json.dumps(rows)) == ["a", "b", "c", "d", "e", "a", "b"]


@pytest.mark.parametrize(
    ("text", "format_", "reason"),
    [
        ("", None, "no words"),
        ("# \n---\n", "markdown", "no words"),
        ("a\0b", None, "zero bytes"),
        ("[1, 2]", "jsonl", "no texts"),
        ("{", "jsonl", "no texts"),
        ("a", "docx", "known are text"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(text, format_, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        parse_text(text, format_)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "format_", "begin"),
    [
        ("one two\nthree", "text", [True, False, True]),
        (
            "| a | b c |\n|---|---|\n| d | e |",
            "markdown",
            [True, False, False, True, False],
        ),
        (
            "<table><tr><td>a</td>\n<td>b</td></tr>\n<tr><td>c</td></tr></table>\n<p>d<br>e",
            "html",
            [True, False, True, True, True],
        ),
        (
            "<span class='ocr_line'><span class='ocrx_word'>a</span>\n"
            "<span class='ocrx_word'>b</span></span><span class='ocr_line'>c</span>",
            "hocr",
            [True, False, True],
        ),
    ],
)
def test_words_know_whether_they_begin_a_line(text, format_, begin):
    assert parse_text(text, format_).begin_lines() == begin


@pytest.mark.parametrize(
    "part",
    ["\n", "-\n", "<!--", "[", "![", "**a", "_a", "`a", "<b", "&amp", "# ", "|-", "> "],
)
@pytest.mark.parametrize("format_", ["markdown", "html"])
def test_time_grows_with_the_length_of_a_text(part, format_):
    began = time.process_time()
    given = parse_text(f"word {part * 20_000} word", format_)
    assert len(given.begin_lines()) == len(given.words)
    assert time.process_time() - began < 5
