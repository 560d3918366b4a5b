"""Images that a reader of other scripts reads in place of the first one.

`vit_str.runtime.weights_choice` has the rules by which one of them is asked and believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vit_str.runtime.prior import WordPrior, prior_of
from vit_str.runtime.weights_choice import (
    check_same_images,
    has_own_letters,
    is_of_other_script,
    is_surer,
    may_be_of_other_script,
)

if TYPE_CHECKING:
    from vit_str.runtime.charset import Charset
    from vit_str.runtime.image_decoding import DecodedImage
    from vit_str.runtime.preprocessing import Preprocessing
    from vit_str.runtime.readings import Reading


class ScriptReader(Protocol):
    """What is asked of a reader here, see `vit_str.runtime.reader.Reader`."""

    charset: Charset
    preprocessing: Preprocessing

    @property
    def known_words(self) -> WordPrior | None:
        """The words of its languages; None without lists."""

    def at_one_look(self) -> ScriptReader:
        """The same reader, which reads no image again."""

    def read_decoded(
        self,
        images: Sequence[DecodedImage],
        *,
        boxes: bool = False,
        attention: bool = False,
    ) -> list[Reading]:
        """Read images together."""


@dataclass(frozen=True, slots=True)
class OtherScripts:
    """A reader of other scripts beside a first one.

    Attributes:
        first: the reader whose readings are looked at.
        open_other: opens the other one; returns the same at each call.
        boxes: whether to find out where every character is.
        attention: whether to find out where the decoder looks.
    """

    first: ScriptReader
    open_other: Callable[[], ScriptReader]
    boxes: bool = False
    attention: bool = False

    def of_languages(
        self,
        images: Sequence[DecodedImage],
        readings: Sequence[Reading],
        language: str,
    ) -> list[Reading]:
        """Each reading, or that of the other reader if it is surer, or believed.

        Args:
            images: that were read.
            readings: of the first reader.
            language: codes of languages of several scripts, so that every image may be of each.
        """
        known = self.first.charset
        words = prior_of(language, None)
        surest = []
        for own, other in zip(readings, self._read(images), strict=True):
            is_believed = is_of_other_script(own, other, known, words, words)
            is_other = is_believed or is_surer([own], [other], known)
            surest.append(other if is_other else own)
        return surest

    def where_seen(
        self, images: Sequence[DecodedImage], readings: Sequence[Reading]
    ) -> list[Reading]:
        """The readings; those of the other reader of images that show its scripts.

        It looks once at what may be of them, and reads again what it is sure of.

        Args:
            images: that were read.
            readings: of the first reader.
        """
        found = list(readings)
        words = self.first.known_words
        places = [
            place
            for place, reading in enumerate(found)
            if may_be_of_other_script(reading, words)
        ]
        places = self._believed(images, found, places)
        if not places:
            return found
        again = self._read([images[place] for place in places])
        for place, reading in zip(places, again, strict=True):
            if has_own_letters([reading], self.first.charset):
                found[place] = reading
        return found

    def _believed(
        self,
        images: Sequence[DecodedImage],
        readings: Sequence[Reading],
        places: Sequence[int],
    ) -> list[int]:
        """The places of images of which the other reader is sure at one look."""
        if not places:
            return []
        other = self._other()
        seen = other.at_one_look().read_decoded([images[place] for place in places])
        return [
            place
            for place, look in zip(places, seen, strict=True)
            if is_of_other_script(
                own=readings[place],
                other=look,
                known=self.first.charset,
                own_words=self.first.known_words,
                other_words=other.known_words,
            )
        ]

    def _read(self, images: Sequence[DecodedImage]) -> list[Reading]:
        """Readings of the other reader."""
        return self._other().read_decoded(
            images, boxes=self.boxes, attention=self.attention
        )

    def _other(self) -> ScriptReader:
        """The other reader.

        Raises:
            ValueError: it sees images in another size than the first one.
        """
        other = self.open_other()
        check_same_images(self.first.preprocessing, other.preprocessing)
        return other
