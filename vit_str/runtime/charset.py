"""The characters that a model reads and writes, and nothing else: no start, end or blank symbols.

Those belong to the decoders, so that every decoder shares one charset.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor

PRINTABLE_ASCII = "".join(chr(code) for code in range(33, 127))
PADDING = -1
"""Fills a batch of labels after the end of each."""


def _european() -> str:
    """Space, printable ASCII, and the letters and signs of all Latin alphabets of Europe."""
    latin_1 = "".join(filter(str.isalpha, map(chr, range(0xC0, 0x100))))
    central = "ĄąĆćĘęŁłŃńŚśŹźŻżČčĎďĚěŇňŘřŤťŮůĹĺĽľŔŕŐőŰű"
    balkan = "ĂăȘșȚțŞşŢţĞğİıĐđ"  # Romanian with commas as today and with cedillas as before
    baltic = "ĀāĒēĢģĪīĶķĻļŅņŪūĖėĮįŲų"
    others = "ĦħĠġĊċŴŵŶŷ"  # Maltese and Welsh
    signs = "ŒœŠšŸŽž" + "¡¿«»£€§°¥"
    return PRINTABLE_ASCII + " " + latin_1 + signs + central + balkan + baltic + others


def _hangul() -> str:
    """The 2,350 syllables of KS X 1001, in its order: 25 rows of 94."""
    cells = (bytes([row, cell]) for row in range(0xB0, 0xC9) for cell in range(0xA1, 0xFF))
    return b"".join(cells).decode("euc_kr")


CHARSETS: Mapping[str, str] = MappingProxyType(
    {
        "digits": "0123456789",
        "ascii": PRINTABLE_ASCII,
        "european": _european(),
        "korean": PRINTABLE_ASCII + _hangul(),
    }
)
"""Charsets by name. ``european`` writes all languages of Europe with Latin letters, and spaces;
``korean`` has the syllables of KS X 1001."""


class Charset:
    """An ordered set of characters; the place of a character is its id."""

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

    def unknown(self, label: str) -> str:
        """The characters of ``label`` that this set lacks, in order of appearance."""
        return "".join(character for character in label if character not in self._ids)

    def encode(self, label: str) -> list[int]:
        """Ids of the characters of ``label``."""
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

    def encode_array(self, labels: Sequence[str]) -> Int64[np.ndarray, "batch position"]:
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
        ValueError: a file that is missing, not UTF-8 or empty, a character given twice, or what
            looks like a misspelled name.
    """
    names = text.split("+")
    if all(name in CHARSETS for name in names):
        return Charset("".join(dict.fromkeys("".join(CHARSETS[name] for name in names))))
    if os.path.isfile(text) or text.endswith(".txt"):
        return _charset_in(Path(text))
    for name in names:
        alike = get_close_matches(name.lower(), CHARSETS, cutoff=0.7)
        if alike and name not in CHARSETS:
            raise ValueError(
                f"no charset {name!r}, did you mean {alike[0]}? Known are {', '.join(CHARSETS)}; "
                "if these are the characters themselves, put them into a .txt file"
            )
    return Charset(_visible(text))


def _charset_in(path: Path) -> Charset:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"charset file {path}: no such file; check the path") from None
    except OSError as error:
        raise ValueError(f"charset file {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"charset file {path}: not UTF-8 text; save it as UTF-8") from None
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
        raise ValueError(f"a charset has characters that can be seen, found {shown}: leave out")
    return characters
