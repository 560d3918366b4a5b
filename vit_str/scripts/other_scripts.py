"""Images that readers of other scripts read in place of the first one.

`vit_str.scripts.registry` has the rules by which one of them is asked and believed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vit_str.decoding.prior import WordPrior, prior_of
from vit_str.scripts.evidence import (
    has_own_letters,
    is_likelier,
    is_of_other_script,
    is_surer,
    may_be_line_of_other_script,
    may_be_of_other_script,
    surest,
)
from vit_str.scripts.registry import check_same_images

if TYPE_CHECKING:
    from vit_str.characters.charset import Charset
    from vit_str.decoding.readings import Reading
    from vit_str.images.image_decoding import DecodedImage
    from vit_str.images.preprocessing import Preprocessing


class ScriptReader(Protocol):
    """The part of `vit_str.words.reader.Reader` that is used here."""

    charset: Charset
    preprocessing: Preprocessing
    reads_lines: bool

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
    """Readers of other scripts beside a first one.

    Attributes:
        first: the reader whose readings are looked at.
        open_others: opens each of the other ones; returns the same at each call.
        boxes: whether to find out where every character is.
        attention: whether to find out where the decoder looks.
    """

    first: ScriptReader
    open_others: Sequence[Callable[[], ScriptReader]]
    boxes: bool = False
    attention: bool = False

    def of_languages(
        self,
        images: Sequence[DecodedImage],
        readings: Sequence[Reading],
        language: str,
    ) -> list[Reading]:
        """Each reading, or that of the surest of the other readers that are surer, or believed.

        Args:
            images: that were read.
            readings: of the first reader.
            language: codes of languages of several scripts, so that every image may be of each.
        """
        known = self.first.charset
        words = prior_of(language, None)
        read = [self._read(place, images) for place in range(len(self.open_others))]
        chosen = []
        for own, *others in zip(readings, *read, strict=True):
            believed: list[list[Reading] | None] = []
            for other in others:
                is_believed = is_of_other_script(own, other, known, words, words)
                is_other = is_believed or is_surer([own], [other], known)
                believed.append([other] if is_other else None)
            place = surest([own], believed)
            chosen.append(own if place is None else others[place])
        return chosen

    def where_seen(
        self, images: Sequence[DecodedImage], readings: Sequence[Reading]
    ) -> list[Reading]:
        """The readings; those of another reader of images that show its scripts.

        It looks once at what may be of them, and reads again what it is sure of.

        Args:
            images: that were read.
            readings: of the first reader.
        """
        found = list(readings)
        numbers = range(len(self.open_others))
        looks = [self._believed(number, images, found) for number in numbers]
        for number, own_places in enumerate(self._places_of_each(looks, found)):
            if not own_places:
                continue
            again = self._read(number, [images[place] for place in own_places])
            for place, reading in zip(own_places, again, strict=True):
                if has_own_letters([reading], self.first.charset):
                    found[place] = reading
        return found

    def _places_of_each(
        self, looks: Sequence[Mapping[int, Reading]], readings: Sequence[Reading]
    ) -> list[list[int]]:
        """For each other reader the places of images that it is the surest of."""
        places: list[list[int]] = [[] for _ in looks]
        for place in sorted({place for look in looks for place in look}):
            others = [[look[place]] if place in look else None for look in looks]
            number = surest([readings[place]], others)
            if number is not None:
                places[number].append(place)
        return places

    def _believed(
        self,
        number: int,
        images: Sequence[DecodedImage],
        readings: Sequence[Reading],
    ) -> dict[int, Reading]:
        """Readings that another reader is sure of at one look, by the place of the image."""
        places = [
            place
            for place, reading in enumerate(readings)
            if self._may_be_of(number, reading)
        ]
        if not places:
            return {}
        other = self._other(number)
        seen = other.at_one_look().read_decoded([images[place] for place in places])
        return {
            place: look
            for place, look in zip(places, seen, strict=True)
            if self._is_believed(readings[place], look, other)
        }

    def _may_be_of(self, number: int, reading: Reading) -> bool:
        """Whether a reading may be of the scripts of another reader."""
        words = self.first.known_words
        if self.first.reads_lines:
            return may_be_line_of_other_script(reading, words)
        probabilities = reading.of_others
        probability = probabilities[number] if probabilities else None
        return may_be_of_other_script(reading, words, probability)

    def _is_believed(self, own: Reading, look: Reading, other: ScriptReader) -> bool:
        """Whether an image says what another reader sees in it at one look."""
        known = self.first.charset
        if self.first.reads_lines and is_likelier(own, look, known):
            return True
        own_words = self.first.known_words
        return is_of_other_script(own, look, known, own_words, other.known_words)

    def _read(self, number: int, images: Sequence[DecodedImage]) -> list[Reading]:
        """Readings of another reader."""
        return self._other(number).read_decoded(
            images, boxes=self.boxes, attention=self.attention
        )

    def _other(self, number: int) -> ScriptReader:
        """Another reader.

        Raises:
            ValueError: it sees images in another size than the first one.
        """
        other = self.open_others[number]()
        check_same_images(self.first.preprocessing, other.preprocessing)
        return other
