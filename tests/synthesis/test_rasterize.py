from importlib.util import find_spec
from pathlib import Path

import pytest

from vit_str.runtime.charset import CHARSETS
from vit_str.synthesis.rasterize import RasterFont, expected, rasterize


@pytest.fixture(scope="module")
def font() -> RasterFont:
    """DejaVu Sans, which comes with matplotlib and has nearly all of Latin."""
    origin = find_spec("matplotlib").origin
    path = Path(origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf"
    return rasterize(str(path), CHARSETS["latin"])


def test_curly_quotes_are_drawn_although_fonts_name_them_as_straight_ones_are(font):
    for quote in "‘’‚“”„'\"`":
        assert font.drawn[CHARSETS["latin"].index(quote)], quote


def test_capitals_with_two_marks_fit_into_the_line(font):
    starts = font.widths.cumsum() - font.widths
    for letter in "ẮẲẴỔỖẪẨỂǗǙǛỞ":
        place = CHARSETS["latin"].index(letter)
        assert font.drawn[place], letter
        columns = font.columns[starts[place] : starts[place] + font.widths[place]]
        assert columns[:, 0].max() < 128, f"{letter} is cut off at the top"


def test_nearly_all_of_latin_is_drawn(font):
    missing = {c for c, drawn in zip(CHARSETS["latin"], font.drawn, strict=True) if not drawn}
    assert len(missing) < 5


def test_fonts_of_european_letters_need_no_vietnamese_and_no_signs():
    characters = "aéŐạ€한Ж"
    kept = [
        c for c, is_expected in zip(characters, expected(characters), strict=True) if is_expected
    ]
    assert kept == [*"aéŐ한Ж"]
