"""Images on the size of the model -> readings: encode, write, choose the way up, reread, locate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vit_str.decoding.boxes import Frame, locate_characters
from vit_str.decoding.readings import Reading, reading_of
from vit_str.engines.labels import padded

if TYPE_CHECKING:
    from jaxtyping import UInt8

    from vit_str.decoding.boxes import Place
    from vit_str.decoding.effort import RereadingOptions
    from vit_str.decoding.hypotheses import Candidates, Hypothesis
    from vit_str.decoding.rereading import Rereader
    from vit_str.decoding.text_decoding import TextDecoder
    from vit_str.engines.interface import Engine
    from vit_str.images.image_decoding import DecodedImage
    from vit_str.scripts.script_detector import ScriptDetector

    Pixels = UInt8[np.ndarray, "batch channel height width"]


class Rows(NamedTuple):
    """Images of one width as a model gets them, and how each stands in its picture."""

    pixels: Pixels
    frames: list[Frame]

    def select(self, rows: Sequence[int]) -> Rows:
        """Some of them."""
        return Rows(self.pixels[list(rows)], [self.frames[row] for row in rows])


class Wanted(NamedTuple):
    """Findings that are wanted of every image besides its text.

    Attributes:
        boxes: where every character is.
        attention: where the decoder looked.
    """

    boxes: bool = False
    attention: bool = False


@dataclass(frozen=True, slots=True)
class SecondLook:
    """Larger weights, which read what others doubt.

    A look of a larger network tells more than further looks of a smaller one. Its readings stand
    for themselves, with its own confidences, characters and boxes.

    Attributes:
        open_batches: opens what reads with them; called at the first doubt, and returns the same at
            each call.
    """

    open_batches: Callable[[], BatchReader]

    def read(
        self, rows: Rows, options: RereadingOptions, wanted: Wanted
    ) -> list[Reading]:
        """Readings of images that another model doubts.

        Args:
            rows: the images.
            options: of the reader that doubts.
            wanted: what else to find out.
        """
        batches = self.open_batches()
        rereader = batches.rereader.for_doubts_of(options)
        return replace(batches, rereader=rereader).read_rows(rows, wanted)


@dataclass(frozen=True, slots=True)
class BatchReader:
    """Reads images together.

    Attributes:
        engine: of the model.
        encode: images to what the decoder reads.
        decoder: makes texts of that.
        rereader: reads doubtful images again.
        detector: tells whether images are of other scripts; None if nobody asks.
        second: reads what would be in the last round of augmented images, in place of that; None if
            there are no such weights.
    """

    engine: Engine
    encode: Callable[[Pixels], Any]
    decoder: TextDecoder
    rereader: Rereader
    detector: ScriptDetector | None = None
    second: SecondLook | None = None

    def with_temperature(self, temperature: float) -> BatchReader:
        """The same with another temperature, which a `SecondLook` has of its own."""
        return self.with_decoding(temperature=temperature)

    def with_decoding(self, **changes: Any) -> BatchReader:
        """The same with other `DecodingOptions`, which a `SecondLook` has of its own."""
        decoder = self.decoder.with_options(**changes)
        rereader = replace(self.rereader, decoder=decoder)
        return replace(self, decoder=decoder, rereader=rereader)

    def with_rereading(self, **changes: Any) -> BatchReader:
        """The same with other `RereadingOptions`."""
        options = replace(self.rereader.options, **changes)
        return replace(self, rereader=replace(self.rereader, options=options))

    def at_one_look(self) -> BatchReader:
        """The same, which reads no image again."""
        options = replace(self.rereader.options, doubtful=0.0)
        return replace(self, rereader=replace(self.rereader, options=options))

    def open_second(self) -> None:
        """Open the `SecondLook` now, if there is one and anything is read again."""
        if self.second is not None and self.rereader.options.doubtful:
            self.second.open_batches()

    def read(
        self,
        images: Sequence[DecodedImage],
        boxes: bool = False,
        attention: bool = False,
    ) -> list[Reading]:
        """Readings in the order of the images; those of one width go through the model together.

        Args:
            images: on the size of the model.
            boxes: find out where every character is too.
            attention: find out where the decoder looked too.
        """
        wanted = Wanted(boxes, attention)
        order = sorted(range(len(images)), key=lambda index: _width(images[index]))
        readings: dict[int, Reading] = {}
        for _, group in groupby(order, lambda index: _width(images[index])):
            indices = list(group)
            alike = [images[index] for index in indices]
            read = self._read_alike(alike, wanted)
            readings.update(zip(indices, read, strict=True))
        return [readings[index] for index in range(len(images))]

    def _read_alike(
        self, images: Sequence[DecodedImage], wanted: Wanted
    ) -> list[Reading]:
        """Readings of images of one width."""
        pixels = np.stack([image.pixels for image in images])
        frames = [self._frame(image) for image in images]
        turned = [index for index, frame in enumerate(frames) if frame.turned]
        if turned:  # their lines may as well run the other way
            pixels = np.concatenate([pixels, pixels[turned][:, :, ::-1, ::-1]])
            frames += [frames[index]._replace(upside_down=True) for index in turned]
        rows = Rows(pixels, frames)
        encoded = self.encode(pixels)
        candidates = self.decoder.decode(encoded, len(pixels))
        kept = _surer_way_up(candidates, turned, len(images))
        readings = self._reread(rows, encoded, candidates, kept, wanted)
        return self._with_scripts(readings, encoded, kept)

    def verify(
        self,
        images: Sequence[DecodedImage],
        labels: Sequence[Sequence[Sequence[int]]],
    ) -> list[list[Hypothesis]]:
        """How probable some texts are for each image, as ids; see `TextDecoder.given`.

        Args:
            images: on the size of the model; as tall ones were turned, they are looked at.
            labels: the texts of each image.
        """
        order = sorted(range(len(images)), key=lambda index: _width(images[index]))
        found: list[list[Hypothesis]] = [[] for _ in images]
        for _, group in groupby(order, lambda index: _width(images[index])):
            indices = list(group)
            encoded = self.encode(np.stack([images[index].pixels for index in indices]))
            owners = [row for row, i in enumerate(indices) for _ in labels[i]]
            texts = [text for i in indices for text in labels[i]]
            if not texts:
                continue
            several = self.engine.select(encoded, owners)
            judged = self.decoder.given(several, padded(texts))
            for row, hypothesis in zip(owners, judged, strict=True):
                found[indices[row]].append(hypothesis)
        return found

    def read_rows(self, rows: Rows, wanted: Wanted) -> list[Reading]:
        """Readings of images that stand as they are to be read."""
        encoded = self.encode(rows.pixels)
        count = len(rows.pixels)
        candidates = self.decoder.decode(encoded, count)
        return self._reread(rows, encoded, candidates, range(count), wanted)

    def _reread(
        self,
        rows: Rows,
        encoded: Any,
        candidates: Sequence[Candidates],
        kept: Sequence[int],
        wanted: Wanted,
    ) -> list[Reading]:
        """Readings of the rows that count, of which the doubtful ones are read again."""
        if self.second is None:
            candidates = self.rereader.reread(rows.pixels, encoded, candidates, kept)
            return self._readings(rows, encoded, candidates, kept, wanted)
        reread = self.rereader.reread_before_last
        found, unsure = reread(rows.pixels, encoded, candidates, kept)
        sure = [row for row in kept if row not in unsure]
        own = self._readings(rows, encoded, found, sure, wanted)
        readings = dict(zip(sure, own, strict=True))
        if unsure:
            options = self.rereader.options
            again = self.second.read(rows.select(unsure), options, wanted)
            readings.update(zip(unsure, again, strict=True))
        return [readings[row] for row in kept]

    def _readings(
        self,
        rows: Rows,
        encoded: Any,
        candidates: Sequence[Candidates],
        kept: Sequence[int],
        wanted: Wanted,
    ) -> list[Reading]:
        """Findings of some rows, with what else is wanted."""
        charset = self.engine.model.charset
        places: Sequence[Sequence[Place] | None] = [None] * len(kept)
        if kept and (wanted.boxes or wanted.attention):
            height, width = rows.pixels.shape[2:]
            if len(kept) < len(candidates):
                encoded = self.engine.select(encoded, kept)
            places = locate_characters(
                self.engine,
                encoded,
                padded([candidates[row].best.ids for row in kept]),
                [rows.frames[row] for row in kept],
                (height, width),
                wanted.attention,
            )
        return [
            reading_of(candidates[row], charset, places[place])
            for place, row in enumerate(kept)
        ]

    def _with_scripts(
        self, readings: list[Reading], encoded: Any, kept: Sequence[int]
    ) -> list[Reading]:
        """Readings that say how probable another script is, if something tells."""
        if self.detector is None:
            return readings
        probabilities = self.detector.probabilities(self.engine.scores(encoded))
        told = []
        for reading, index in zip(readings, kept, strict=True):
            of_each = probabilities[index].tolist()
            of_others = tuple(of_each[: self.detector.readers])
            unread = of_each[self.detector.readers :]
            told.append(
                replace(
                    reading,
                    other_script=sum(of_each),
                    of_others=of_others,
                    unread_script=sum(unread) if unread else None,
                )
            )
        return told

    def _frame(self, image: DecodedImage) -> Frame:
        left, top, right, bottom = image.window
        height = bottom - top
        width = right - left
        turned = self.engine.model.preprocessing.turns(height, width)
        return Frame(height, width, turned, False, left, top, image.size)


def _width(image: DecodedImage) -> int:
    """The width of the image as the model gets it, in pixels."""
    return image.pixels.shape[2]


def _surer_way_up(
    candidates: Sequence[Candidates],
    turned: Sequence[int],
    count: int,
) -> list[int]:
    """The row that counts for each image: its own, or that of the same image upside down.

    Args:
        candidates: what was read of the images, and behind them of those that were turned.
        turned: which images were turned.
        count: number of images.
    """
    kept = list(range(count))
    for upside_down, index in enumerate(turned, start=count):
        own = candidates[index].best.probability
        if candidates[upside_down].best.probability > own:
            kept[index] = upside_down
    return kept
