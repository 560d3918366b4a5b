"""The characters that a model reads and writes, and nothing else: no start, end or blank symbols.

Those belong to the decoders, so that every decoder shares one charset.
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

PRINTABLE_ASCII = "".join(chr(code) for code in range(33, 127))
PADDING = -1
"""Fills a batch of labels after the end of each."""


class Charset:
    """An ordered set of characters; the place of a character is its id.

    Args:
        characters: every character once, in order.

    Raises:
        ValueError: the set is empty or holds a character twice.
    """

    def __init__(self, characters: str = PRINTABLE_ASCII) -> None:
        repeated = sorted({c for c in characters if characters.count(c) > 1})
        if not characters or repeated:
            found = f"{''.join(repeated)!r} repeated" if repeated else "none"
            raise ValueError(f"a charset needs every character once, found {found}")
        self.characters = characters
        self._ids = {character: id_ for id_, character in enumerate(characters)}
        # By code point; the last entry stands for all beyond.
        codes = torch.tensor(list(map(ord, characters)))
        self._table = torch.full((int(codes.max()) + 2,), PADDING)
        self._table[codes] = torch.arange(len(characters))

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
        """Ids of the characters of ``label``.

        Raises:
            ValueError: the label holds characters outside the set.
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
        """Ids of several labels, padded with ``PADDING`` to the longest.

        Raises:
            ValueError: a label holds characters outside the set.
        """
        lengths = torch.tensor([len(label) for label in labels], dtype=torch.int64)
        text = bytearray("".join(labels).encode("utf-32-le", "surrogatepass"))
        codes = torch.frombuffer(text, dtype=torch.int32) if text else torch.empty(0)
        ids = self._table[codes.long().clamp(max=len(self._table) - 1)]
        if (ids == PADDING).any():
            for label in labels:
                self.encode(label)  # raises for the first that cannot be written
        longest = int(lengths.max()) if len(labels) else 0
        padded = torch.full((len(labels), longest), PADDING)
        return padded.masked_scatter_(torch.arange(longest) < lengths[:, None], ids)
