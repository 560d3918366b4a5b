import math

import pytest

from vit_str.console import aligned
from vit_str.evaluation.statistics import percent
from vit_str.reports.tables import code, piped, plain


def test_percent():
    assert percent(0.5, (0.25, 1.0)) == "50.0 [25.0, 100.0]"
    assert percent(math.nan, (0, 1)) == "-"


def test_aligned():
    assert aligned([("set", "n"), ("a", "100"), ("long", "")]) == [
        "set     n",
        "a     100",
        "long",
    ]


def test_piped():
    rows = [("set", "kind", "n"), ("a", "b", "1")]
    assert piped(rows) == [
        "| set | kind | n |",
        "| --- | ---: | ---: |",
        "| a | b | 1 |",
    ]
    assert piped(rows, text_columns=2)[1] == "| --- | --- | ---: |"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("_x_ *y* <b>", r"\_x\_ \*y\* \<b\>"),
        ("two\nlines", r"two\\nlines"),
        ("한글", "한글"),
        ("1 [2, 3]", "1 [2, 3]"),
        ("[a](b)", r"[a\](b)"),
    ],
)
def test_plain_text_in_markdown(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "(nothing)"),
        ("a", "`a`"),
        ("a|b", r"`a\|b`"),
        ("`", "`` ` ``"),
        ("a``b", "```a``b```"),
        (" ", "` `"),
        (" a", "`  a `"),
        ("x\n", r"`x\n`"),
    ],
)
def test_letters_in_markdown(text, shown):
    assert code(text) == shown
