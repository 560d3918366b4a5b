"""The characters that a model reads and writes, and nothing else: no start, end or blank symbols.

Those belong to the decoders, so that every decoder shares one charset.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from vit_str.characters.alphabets import ALPHABETS, script_of
from vit_str.files import read_text

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor

PRINTABLE_ASCII = "".join(chr(code) for code in range(33, 127))
_FEWEST_LETTERS = 10  # of a script that a charset writes words in
PADDING = -1
"""Fills a batch of labels after the end of each."""


def _european() -> str:
    """Space, printable ASCII, and the letters and signs of all Latin alphabets of Europe."""
    latin_1 = "".join(filter(str.isalpha, map(chr, range(0xC0, 0x100))))
    central = "ĄąĆćĘęŁłŃńŚśŹźŻżČčĎďĚěŇňŘřŤťŮůĹĺĽľŔŕŐőŰű"
    # Romanian with commas as today and with cedillas as before
    balkan = "ĂăȘșȚțŞşŢţĞğİıĐđ"
    baltic = "ĀāĒēĢģĪīĶķĻļŅņŪūĖėĮįŲų"
    others = "ĦħĠġĊċŴŵŶŷ"  # Maltese and Welsh
    signs = "ŒœŠšŸŽž" + "¡¿«»£€§°¥"
    return PRINTABLE_ASCII + " " + latin_1 + signs + central + balkan + baltic + others


def _latin() -> str:
    """Everything of ``european``, in its order, then marks of print and all other letters."""
    punctuation = "–—‘’‚“”„†‡•…‰′″‹›·¶"
    currency = "¢₫₩₴₺₹₽₦₱₼"
    typography = "©®™№ªºµ¹²³⁴⁵⁶⁷⁸⁹⁰½¼¾⅓⅔⅛⅜⅝⅞"
    mathematics = "×÷±≤≥≈≠∞√"
    shapes = "→←↑↓■□▪●○★☆✓✗▶▲▼"
    tones = "\u0300\u0301\u0303\u0309\u0323"
    vietnamese = "".join(_with_marks("AĂÂEÊIOÔƠUƯY", tones)) + "ƠơƯư"
    old_print = "ſẞ"
    europe = "ĈĉĜĝĤĥĴĵŜŝŬŭẀẁẂẃẄẅŊŋŦŧƏə"  # Esperanto, Welsh, Sami, Azerbaijani
    africa = "ṢṣṄṅḾḿǸǹƁɓƊɗƘƙƳƴƝɲƐɛƆɔǪǫ"  # Yoruba, Igbo, Hausa, Fula, Bambara, Akan
    # Pinyin, and long and short ones of Latin and Japanese
    vowels = "ŌōĔĕĬĭŎŏǍǎǏǐǑǒǓǔǕǖǗǘǙǚǛǜ"
    transliteration = "ḌḍḤḥḶḷṂṃṆṇṚṛṬṭẒẓǦǧ"  # of Sanskrit and Arabic, and Berber
    marks = punctuation + currency + typography + mathematics + shapes
    letters = vietnamese + old_print + europe + africa + vowels + transliteration
    later = "☑☒Ω₪₡♪"
    return "".join(dict.fromkeys(_european() + marks + letters + later))


def _with_marks(letters: str, marks: str) -> Iterable[str]:
    """Each letter with each mark, a capital and a small one."""
    for letter in letters:
        for mark in marks:
            capital = unicodedata.normalize("NFC", letter + mark)
            yield capital + capital.lower()


def _cyrillic_greek() -> str:
    """Space, printable ASCII, Cyrillic and monotonic Greek letters, and the signs beside them."""
    signs = "№«»„“”‘’–—…•§·" + "€£¥₽₴₸" + "°±×÷≤≥≈" + "©®™" + "²³½" + "′″→"
    small = "".join(dict.fromkeys("".join(ALPHABETS.values())))
    capitals = "".join(letter.upper() for letter in small if len(letter.upper()) == 1)
    return "".join(dict.fromkeys(PRINTABLE_ASCII + " " + capitals + small + signs))


def _korean() -> str:
    """ASCII, Hangul, space, and the signs and Chinese characters of Korean print."""
    punctuation = "·“”‘’…–—•※「」『』〈〉《》【】〔〕§′″"
    currency = "₩€£¥¢"
    shapes = "★☆■□▪●○◎◆◇▲△▼▽▶◀→←↑↓⇒♥♡♪♬☎☞✓☑"
    circled = "".join(map(chr, range(0x2460, 0x2474)))  # 1 to 20
    roman = "".join(map(chr, range(0x2160, 0x216A)))  # 1 to 10
    units = "㎡㎥㎏㎎㎝㎜㎞㎖㏄ℓ℃㈜"
    mathematics = "°±×÷½¼¾²³¹≤≥≠≒∞√µαβγΩ" + "©®™é"
    marks = punctuation + currency + shapes + circled + roman + units + mathematics
    jamo = "".join(map(chr, range(0x3131, 0x3164)))  # 51 letters alone
    # In use, though KS X 1001 lacks them: of dishes, brands, sounds, new words and slips
    syllables = (
        "깄꺠꺳껒꽌귬낰넼늗닁됀됍됬됭떄똠뗴뜌띡럄뢔멬믜밨뱡벜뵜뵬뷁븨뺴샾섁슌쌋쌰쎔쑝쓔"
        "앋앜얔얬옝왰욷웤웻읰잌졋즤쨰쩃쩄쫒쯰찟찦캌콬쿸큣킼텤팤펲픤핡핰햏헠헿홐휏힣"
    )
    # As headlines, menus and forms have them among Hangul
    chinese = "大中小特上下男女美日韓北南東西新前故無與野株年月"
    return PRINTABLE_ASCII + _hangul() + " " + marks + jamo + syllables + chinese


def _hangul() -> str:
    """The 2,350 syllables of KS X 1001, in its order: 25 rows of 94."""
    cells = product(range(0xB0, 0xC9), range(0xA1, 0xFF))
    return b"".join(map(bytes, cells)).decode("euc_kr")


CHARSETS: Mapping[str, str] = MappingProxyType(
    {
        "digits": "0123456789",
        "ascii": PRINTABLE_ASCII,
        "european": _european(),
        "latin": _latin(),
        "cyrillic-greek": _cyrillic_greek(),
        "korean": _korean(),
    }
)
"""Charsets by name. ``european`` writes all languages of Europe with Latin letters, and spaces;
``latin`` begins with it, and has Vietnamese, the other Latin alphabets in wide use and the marks of
print; ``cyrillic-greek`` has ASCII, the letters of the languages in `ALPHABETS` and signs;
``korean`` has ASCII, the syllables of KS X 1001 and others in use, letters of Hangul alone, spaces
and the signs of Korean print."""


def _full_width() -> dict[str, str]:
    """Signs, letters and digits as wide as a syllable, and what they are in ASCII."""
    return {chr(ord(character) + 0xFEE0): character for character in PRINTABLE_ASCII}


def _single_jamo() -> dict[str, str]:
    """Letters of Hangul that Unicode has to be joined, and the same ones alone."""
    return {
        chr(code): alone
        for code in (
            *range(0x1100, 0x1113),
            *range(0x1161, 0x1176),
            *range(0x11A8, 0x11C3),
        )
        if (alone := _jamo_alone(chr(code)))
    }


def _jamo_alone(joined: str) -> str | None:
    """The letter of Hangul that stands alone for one that Unicode has to be joined."""
    name = unicodedata.name(joined).split()[-1]
    try:
        return unicodedata.lookup(f"HANGUL LETTER {name}")
    except KeyError:
        return None


TWINS: Mapping[str, str] = MappingProxyType(
    {
        **_full_width(),
        **_single_jamo(),
        **dict.fromkeys("\u00ad\u2010\u2011\u2043", "-"),  # hyphens
        **dict.fromkeys("\u2012\u2212", "–"),  # figure dash, minus
        "\u2015": "—",  # horizontal bar
        **dict.fromkeys("\u02bb\u02bd\u02bf\u201b", "‘"),  # okina, ain
        **dict.fromkeys("\u02bc\u02be", "’"),  # letters that look like apostrophes
        **dict.fromkeys("\u00b4\u02b9", "′"),
        **dict.fromkeys("\u02ba\u3003", "″"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        # Korean and Japanese dots in the middle follow the others
        **dict.fromkeys("\u0387\u2027\u2219\u22c5\u318d\u119e\u30fb\uff65", "·"),
        **dict.fromkeys("\u301c\u223c", "~"),
        "\uffe6": "₩",
        "\u2500": "—",
        "\u2502": "|",
        "\u2981": "•",
        "\u25e6": "○",
        "\u2764": "♥",
        "\u27e8": "〈",
        "\u27e9": "〉",
        "\u00ab": "《",
        "\u00bb": "》",
        **dict.fromkeys("\u2044\u2215", "/"),
        **dict.fromkeys("\u25a2\u25fb\u2610", "□"),
        **dict.fromkeys("\u25fc\u2b1b", "■"),
        **dict.fromkeys("\u26ab\u2b24", "●"),
        **dict.fromkeys("\u25ef\u26aa", "○"),
        **dict.fromkeys("\u25b8\u25ba", "▶"),
        "\u2714": "✓",
        "\u2718": "✗",
        "\u00ba": "°",  # where there is no sign of ordinal numbers
        "\u03bc": "µ",  # Greek mu
        "\u00b5": "\u03bc",  # where there are Greek letters
        "\u2126": "Ω",
        "\u2206": "Δ",
        "\u037e": ";",  # Greek question mark
        "\u01dd": "ə",
        "\u018e": "Ə",
        "\u0189": "Đ",
        "\u212b": "Å",
    }
)
"""Characters that print shows as others, and these others; see `Charset.fold`."""


class Charset:
    """An ordered set of characters; the place of a character is its id.

    Raises:
        ValueError: a character comes twice.
    """

    def __init__(self, characters: str = PRINTABLE_ASCII) -> None:
        repeated = sorted(c for c, count in Counter(characters).items() if count > 1)
        if not characters or repeated:
            found = f"{''.join(repeated)!r} repeated" if repeated else "none"
            raise ValueError(f"a charset needs every character once, found {found}")
        self.characters = characters
        self._ids = {character: id_ for id_, character in enumerate(characters)}
        # By code point; the last entry stands for all beyond.
        codes = np.array(list(map(ord, characters)))
        self._table = np.full(codes.max() + 2, PADDING)
        self._table[codes] = np.arange(len(characters))

    def __len__(self) -> int:
        return len(self.characters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Charset) and self.characters == other.characters

    def __hash__(self) -> int:
        return hash(self.characters)

    def __repr__(self) -> str:
        return f"Charset({self.characters!r})"

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of its letters, but not of a few signs, such as Ω among Latin letters."""
        counts = Counter(filter(None, map(script_of, self.characters)))
        fewest = min(_FEWEST_LETTERS, max(counts.values(), default=0))
        return frozenset(each for each, count in counts.items() if count >= fewest)

    def unknown(self, label: str) -> str:
        """The characters of ``label`` that this set lacks, in order of appearance."""
        return "".join(character for character in label if character not in self._ids)

    def fold(self, text: str) -> str:
        """The text with `TWINS` in place of the characters that only these stand for here."""
        return "".join(map(self._fold_character, text))

    def _fold_character(self, character: str) -> str:
        twin = TWINS.get(character, "")
        if character not in self._ids and twin in self._ids:
            return twin
        return character

    def encode(self, label: str) -> list[int]:
        """Ids of the characters of ``label``.

        Raises:
            ValueError: for a label with characters that the charset lacks; they are named.
        """
        try:
            return [self._ids[character] for character in label]
        except KeyError:
            raise ValueError(
                f"label {label!r} holds {self.unknown(label)!r}, which the charset of "
                f"{len(self)} characters lacks; drop the label or extend the charset"
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """Text of ``ids``, up to the first padding."""
        characters = []
        for id_ in ids:
            if id_ == PADDING:
                break
            characters.append(self.characters[id_])
        return "".join(characters)

    def encode_batch(self, labels: Sequence[str]) -> Int64[Tensor, "batch position"]:
        """As ``encode_array``, in torch."""
        import torch

        return torch.from_numpy(self.encode_array(labels))

    def encode_array(
        self, labels: Sequence[str]
    ) -> Int64[np.ndarray, "batch position"]:
        """Ids of several labels, padded with ``PADDING`` to the longest."""
        lengths = np.array([len(label) for label in labels], dtype=np.int64)
        text = "".join(labels).encode("utf-32-le", "surrogatepass")
        ids = self._table[np.minimum(np.frombuffer(text, "<u4"), len(self._table) - 1)]
        if (ids == PADDING).any():
            for label in labels:
                self.encode(label)  # raises for the first that cannot be written
        longest = int(lengths.max()) if len(labels) else 0
        padded = np.full((len(labels), longest), PADDING)
        padded[np.arange(longest) < lengths[:, None]] = ids
        return padded


def charset_of(text: str) -> Charset:
    """The charset that a user asks for.

    Args:
        text: a name of ``CHARSETS``; several names joined by ``+``; a text file, of which every
            character counts but the line breaks, the space too; or the characters themselves.

    Raises:
        ValueError: a file that is missing, not UTF-8 or empty, a character given twice, a name
            that is joined to characters, or what looks like a name that is not known: four letters
            or more, not in alphabetical order.
    """
    names = text.split("+")
    if all(name in CHARSETS for name in names):
        return Charset(
            "".join(dict.fromkeys("".join(CHARSETS[name] for name in names)))
        )
    if os.path.isfile(text) or text.endswith(".txt"):
        return _charset_in(Path(text))
    from difflib import get_close_matches  # for what is typed wrong

    for name in names:
        alike = get_close_matches(name.lower(), CHARSETS, cutoff=0.7)
        if name not in CHARSETS and (alike or _looks_like_name(name)):
            guess = f", did you mean {alike[0]}?" if alike else "."
            raise ValueError(
                f"no charset {name!r}{guess} Known are {', '.join(CHARSETS)}; if these "
                "are the characters themselves, sort them or put them into a .txt file"
            )
    joined = [name for name in names if name in CHARSETS]
    if joined:
        raise ValueError(
            f"charset {text!r} joins a name to characters, and only names are joined; "
            "write all characters into a file and give that: from vit_str.characters.charset "
            f"import CHARSETS; open('my.txt', 'w').write(CHARSETS[{joined[0]!r}] + 'more')"
        )
    return Charset(_visible(text))


def _looks_like_name(text: str) -> bool:
    """Whether it is letters as in a word; those of a charset are in alphabetical order."""
    letters = text.replace("-", "").replace("_", "")
    if len(letters) <= 3 or not (letters.isascii() and letters.isalpha()):
        return False
    return sorted(text) != [*text]


def _charset_in(path: Path) -> Charset:
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise ValueError(f"charset file {path}: no such file; check the path") from None
    except OSError as error:
        raise ValueError(
            f"charset file {path}: cannot be read ({error.strerror})"
        ) from None
    except UnicodeDecodeError:
        raise ValueError(
            f"charset file {path}: not UTF-8 text; save it as UTF-8"
        ) from None
    characters = "".join(dict.fromkeys("".join(text.splitlines())))
    if not characters:
        raise ValueError(f"charset file {path}: expected characters, found none")
    return Charset(_visible(characters))


def _visible(characters: str) -> str:
    """The characters, if a label can hold all: no control characters, line ends or surrogates."""
    unwritable = {"Cc", "Cs", "Cn", "Zl", "Zp"}
    hidden = sorted({c for c in characters if unicodedata.category(c) in unwritable})
    if hidden:
        shown = ", ".join(f"U+{ord(character):04X}" for character in hidden[:5])
        raise ValueError(
            f"a charset has characters that can be seen, found {shown}: leave out"
        )
    return characters
