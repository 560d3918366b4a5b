"""The texts that a model may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.characters.charset import Charset


@dataclass(frozen=True, slots=True)
class WritableTexts:
    """Texts of the characters of a model, which are not too long for it.

    Attributes:
        charset: its characters; what only looks like one of them is taken for it, see
            `Charset.fold`.
        too_long: the number of characters from which on it writes no text; None if it reads lines
            of any length.
    """

    charset: Charset
    too_long: int | None

    def __contains__(self, text: str) -> bool:
        fits = self.too_long is None or len(text) < self.too_long
        return fits and not self.charset.unknown(self.charset.fold(text))

    def label(self, text: str) -> list[int]:
        """The ids of one of the texts.

        Raises:
            ValueError: it is none.
        """
        if self.too_long is not None and len(text) >= self.too_long:
            raise ValueError(
                f"{text!r} is no text of this model, which writes fewer than "
                f"{self.too_long} characters; use weights of lines"
            )
        return self.charset.encode(self.charset.fold(text))
