"""What the page in the browser shares with Python: numbers, alphabets, signs, languages.

    python data/make_web_numbers.py

writes `vit_str/web/shared.js`. Python has them, with their units and where they come from; run this
after one has changed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from vit_str.characters import alphabets
from vit_str.decoding.effort import RereadingOptions
from vit_str.decoding.prior import languages

FILE = Path(__file__).parents[1] / "vit_str" / "web" / "shared.js"
_HEAD = (
    "// What Python and the page share: `python data/make_web_numbers.py` writes it.\n"
)
NUMBERS = {
    "boxes": ("vit_str.decoding.boxes", "HEIGHT NARROWEST WIDEST"),
    "margins": (
        "vit_str.images.image_decoding",
        "NARROW FLAT LOWEST EMPTY INK MARGIN_ALONG MARGIN_ACROSS FLATTEST CUTS",
    ),
    "prior": (
        "vit_str.decoding.prior",
        "STEPS WEIGHT UNKNOWN NO_WORD SIGNS JOINED SHORTEST OTHERS GREEK",
    ),
    "oneScript": (
        "vit_str.scripts.one_script",
        "WORDS_OF_ONE_LETTER LETTER_THREE",
    ),
    "lookAlikes": (
        "vit_str.decoding.look_alikes",
        "DASHES ZEROS ROUND QUOTES BEFORE_A_SIGN RARE NEVER TINY JOINED OF_ZEROS",
    ),
    "directions": (
        "vit_str.pages.read.directions",
        "PAGES LONG TALL FLAT SHORT HIGH ACROSS MOST_TURNED REACH MOST_TOLD TOLD_BEFORE ROUNDS "
        "NOTHING NO_TEXT EMPTY NARROWEST",
    ),
    "detection": (
        "vit_str.pages.find.detection",
        "SHORT LONG LONGEST STEP WIDEST WITH_MARGINS",
    ),
    "elisions": ("vit_str.pages.read.elisions", "LETTER"),
    "geometry": ("vit_str.pages.find.geometry", "MOST_PIXELS"),
    "ink": (
        "vit_str.pages.find.ink",
        "FULL SHADES INKED MOST_TRIMMED BAND FULLEST CAPITALS",
    ),
    "layout": (
        "vit_str.pages.arrange.layout",
        "COLUMN_GAP ROW_GAP FIRST_GAP TEXT_WIDTH EDGE_GAP MOST_FIRST MOST_FIRST_ROWS "
        "MOST_IN_ROWS HEAD_GAP ADDRESS_GAP LINES_OF_ADDRESS MOST_ABOVE PITCH SAME_START "
        "ADDRESS_WIDTH SET_RIGHT GAP_BELOW_RIGHT UNEVEN LEAST_BESIDE SAME_ROW MOST_ACROSS",
    ),
    "choice": ("vit_str.pages.arrange.choice", "FEWEST"),
    "linePieces": ("vit_str.pages.arrange.pieces", "SAME_LINE OVERLAP LIKE"),
    "leveling": ("vit_str.pages.arrange.leveling", "GAP GAP_OF_TURNED MOST_SHAPES"),
    "features": (
        "vit_str.pages.arrange.features",
        "KINDS BUCKETS NGRAMS NO_RULE WAVES CHARACTERS FIRST LAST BULLETS MONEY NEAR WORDS LEAST",
    ),
    "scores": ("vit_str.pages.arrange.scores", "CELLS RUNNING NOTHING"),
    "likelihood": ("vit_str.pages.arrange.likelihood", "ROLES_OF PAIRS_OF_PIECE"),
    "decoding": (
        "vit_str.pages.arrange.decoding",
        "LEAST_OF_CELL FEWEST_CELLS ROUNDS DOUBTFUL MOST_TRIED LEAST_GAIN COST_OF_RUNNING "
        "NEAR",
    ),
    "blocks": ("vit_str.pages.arrange.blocks", "TABLE SAME_LINE BEFORE"),
    "items": ("vit_str.pages.arrange.tables", "MARK"),
    "doubts": ("vit_str.pages.read.doubtful_words", "DOUBTFUL HEADSTART"),
    "print": ("vit_str.pages.read.lines", "PRINT LONG_S"),
    "pages": ("vit_str.pages.reader", "FLAT CROP_HEIGHT SPECK"),
    "confidences": ("vit_str.pages.read.sure_words", "MINIMUM_CONFIDENCE SENTENCE"),
    "sample": ("vit_str.pages.read.turned_lines", "SAMPLE"),
    "pieces": ("vit_str.pages.read.pieces", "MARGIN BESIDE ABOVE MOST_BESIDE"),
    "quotes": ("vit_str.pages.read.quotes", "MOST_WORDS DOUBLE SINGLE"),
    "grounds": (
        "vit_str.pages.find.grounds",
        "LONGEST_SIDE WINDOW EVEN OTHER SMALLEST FULL SHADES SHEET MOST",
    ),
    "rules": (
        "vit_str.pages.find.rules",
        "LONGEST_SIDE SHORTEST FEWEST_PIXELS RUN SHORTEST_RUN THICKEST THICKEST_PIXELS WINDOW "
        "DARKER STEEPEST TOUCHES",
    ),
}
"""By the name in JavaScript: a module, and names there without the leading underscore."""


def shared() -> dict[str, Any]:
    """All that is shared, by the name that JavaScript exports."""
    return {
        **{name: _of_module(*entry) for name, entry in NUMBERS.items()},
        "scripts": {
            "LOOK_ALIKES": dict(alphabets._LOOK_ALIKES),
            "SIMILAR": dict(alphabets._SIMILAR),
            "ALPHABETS": dict(alphabets.ALPHABETS),
        },
        "rereading": _rereading(),
        "languages": [
            code
            for code in languages()
            if alphabets.script_of_language(code) == alphabets.LATIN
        ],
    }


def source() -> str:
    """The file: JSON behind each name."""
    exports = [f"export const {name} = {_text(c)};\n" for name, c in shared().items()]
    return "\n".join([_HEAD, *exports])


def _text(content: Any) -> str:
    """JSON, an entry on each line."""
    if not isinstance(content, Mapping):
        return json.dumps(content)
    entries = []
    for name, value in content.items():
        entries.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(entries) + "\n}"


def _of_module(module: str, names: str) -> dict[str, Any]:
    found = vars(import_module(module))
    values = {}
    for name in names.split():
        # A module's own number goes before one of that name which it imports
        values[name] = _plain(found[name if f"_{name}" not in found else f"_{name}"])
    return values


def _plain(value: Any) -> Any:
    """A value as JSON has it: a range as its ends, a translation in letters."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, range):
        return [value[0], value[-1]]
    if isinstance(value, re.Pattern):
        return value.pattern
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping) and all(isinstance(each, int) for each in value):
        is_translation = all(isinstance(each, int) for each in value.values())
        return {chr(k): chr(v) for k, v in value.items()} if is_translation else value
    return value


def _rereading() -> dict[str, Any]:
    options = RereadingOptions()
    rounds = [
        [each._asdict() for each in augmentations] for augmentations in options.rounds
    ]
    return {**asdict(options), "rounds": rounds}


if __name__ == "__main__":
    FILE.write_text(source(), encoding="utf-8")
