"""Printed numbers -> numbers, by the decimal sign of their page."""

import pytest

from vit_str.pages.read.printed_numbers import Number, decimal_sign, number_in


@pytest.mark.parametrize(
    ("texts", "sign"),
    [
        (["1.234,50", "7"], ","),
        (["1,234.50", "7"], "."),
        (["7,25", "3"], ","),
        (["12,345,678"], "."),
        (["0,125"], ","),
        (["1,234"], None),  # a thousand, or a little more than one
        (["1,234", "5,678", "9,012"], "."),
        (["1.234", "5.678", "9.012"], ","),
        (["3,5", "3.5"], None),
        (["page", "12", ""], None),
        (["1,234", "5,678", "9,012", "7,5"], ","),
    ],
)
def test_a_page_tells_its_decimal_sign(texts, sign):
    assert decimal_sign(texts) == sign


@pytest.mark.parametrize(
    ("text", "sign", "number"),
    [
        ("1.234,50", ",", Number(1234.5, 2, True)),
        ("1,234.50", ".", Number(1234.5, 2, True)),
        ("12", None, Number(12.0, 0, False)),
        ("0", None, Number(0.0, 0, False)),
        ("-2,5", ",", Number(-2.5, 1, False)),
        ("−2.50", ".", Number(-2.5, 2, False)),
        ("– 3", None, Number(-3.0, 0, False)),
        ("12 345,6", ",", Number(12345.6, 1, True)),
        ("1'234.50", ".", Number(1234.5, 2, True)),
        ("21,75 €", ",", Number(21.75, 2, False, "", "€")),
        ("$-1,000.00", ".", Number(-1000.0, 2, True, "$")),
        ("CHF 12.50", ".", Number(12.5, 2, False, "CHF")),
        ("12,5 %", ",", Number(0.125, 1, False, "", "%")),
        ("1,234", ".", Number(1234.0, 0, True)),
        ("4006381333931", None, Number(4006381333931.0, 0, False)),
    ],
)
def test_numbers(text, sign, number):
    assert number_in(text, sign) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "007",  # a code
        "01067",  # of a town
        "12.05.2024",
        "12:30",
        "0171 2345678",
        "1,234",  # where nothing tells
        "12,34",
        "1 2345",
        "2023 2024",
        "=1+1",
        "+cmd",
        "1234567890123456",  # of which a spreadsheet keeps 15
        "A 12",
        "12 m",
        "$5 €",
        "--5",
        "١٢",
    ],
)
def test_all_else_is_text(text):
    assert number_in(text, None) is None


def test_the_other_sign_is_no_decimal_sign():
    assert number_in("7.25", ",") is None
    assert number_in("1,234.5", ",") is None
    assert number_in("1.234", ",") == Number(1234.0, 0, True)
