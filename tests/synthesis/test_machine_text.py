"""What machines show, told from what people write."""

import pytest

from vit_str.characters.charset import charset_of
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.machine_text import (
    is_count,
    is_passport_line,
    share_of_machines,
    without_unit,
)

READINGS = """
    12:45 12:59:07 23.5_°C -4.6_°C 0.845_kg 1013_hPa 004711 00231.5 E04 L23 Err --:-- ---
    EXP_12/2026 LOT_4711A BBE_04.05.27 L123_10:45 P<UTOERIKSSON<<ANNA<MARIA AB123456<7UTO
    7408122F1204159
"""


@pytest.mark.parametrize("text", [text.replace("_", " ") for text in READINGS.split()])
def test_readings_are_those_of_machines(text):
    assert share_of_machines(text) == 1.0


@pytest.mark.parametrize(
    "text",
    ["May", "www.dots.com", "-word", "a < b", "Erratum", "B2B", "<div>", "4th", "—"],
)
def test_words_are_not(text):
    assert share_of_machines(text) == 0.0


@pytest.mark.parametrize("text", ["2026", "0.845", "12.05.2026", "3:18 PM"])
def test_numbers_are_at_times(text):
    assert 0 < share_of_machines(text) < 1


def test_units_are_printed_beside_displays():
    assert without_unit("0.845 kg") == "0.845"
    assert without_unit("23.5°C") == "23.5"
    assert without_unit("12:45") == "12:45"
    assert without_unit("kg") == "kg"


def test_wheels_show_digits_and_passports_show_fillers():
    assert is_count("004711") and is_count("1234.5")
    assert not is_count("12:45") and not is_count("123")
    assert is_passport_line("<<ANNA<") and not is_passport_line("a<b")
    assert not is_passport_line("ANNA")


def test_most_of_what_instruments_show_is_recognized():
    """Or it would be drawn in the fonts of books."""
    drawn = Lexicon(charset_of("latin"), weights={"instruments": 1}).sample(2_000, 1)
    shares = list(map(share_of_machines, drawn))
    assert sum(shares) / len(shares) > 0.85
    assert min(shares) > 0
