"""Images on the size of the model -> readings: encode, write, choose the way up, reread, locate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.runtime.boxes import Frame, locate_characters
from vit_str.runtime.labels import padded
from vit_str.runtime.readings import Reading, reading_of

if TYPE_CHECKING:
    from jaxtyping import UInt8

    from vit_str.runtime.boxes import Place
    from vit_str.runtime.hypotheses import Candidates
    from vit_str.runtime.image_decoding import DecodedImage
    from vit_str.runtime.interface import Engine
    from vit_str.runtime.rereading import Rereader
    from vit_str.runtime.script_detector import ScriptDetector
    from vit_str.runtime.text_decoding import TextDecoder

    Pixels = UInt8[np.ndarray, "batch channel height width"]


@dataclass(frozen=True, slots=True)
class BatchReader:
    """Reads images together.

    Attributes:
        engine: of the model.
        encode: images to what the decoder reads.
        decoder: makes texts of that.
        rereader: reads doubtful images again.
        detector: tells whether images are of other scripts; None if nobody asks.
    """

    engine: Engine
    encode: Callable[[Pixels], Any]
    decoder: TextDecoder
    rereader: Rereader
    detector: ScriptDetector | None = None

    def with_temperature(self, temperature: float) -> BatchReader:
        """The same with another temperature."""
        decoder = self.decoder.with_temperature(temperature)
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
        order = sorted(range(len(images)), key=lambda index: _width(images[index]))
        readings: dict[int, Reading] = {}
        for _, group in groupby(order, lambda index: _width(images[index])):
            indices = list(group)
            alike = [images[index] for index in indices]
            read = self._read_alike(alike, boxes, attention)
            readings.update(zip(indices, read, strict=True))
        return [readings[index] for index in range(len(images))]

    def _read_alike(
        self, images: Sequence[DecodedImage], boxes: bool, attention: bool
    ) -> list[Reading]:
        """Readings of images of one width."""
        pixels = np.stack([image.pixels for image in images])
        frames = [self._frame(image) for image in images]
        turned = [index for index, frame in enumerate(frames) if frame.turned]
        if turned:  # their lines may as well run the other way
            pixels = np.concatenate([pixels, pixels[turned][:, :, ::-1, ::-1]])
            frames += [frames[index]._replace(upside_down=True) for index in turned]
        encoded = self.encode(pixels)
        found = self.decoder.decode(encoded, len(pixels))
        kept = _surer_way_up(found, turned, len(images))
        found = self.rereader.reread(pixels, encoded, found, kept)
        charset = self.engine.model.charset
        places: Sequence[Sequence[Place] | None] = [None] * len(found)
        if boxes or attention:
            labels = padded([candidates.best.ids for candidates in found])
            size = (pixels.shape[2], pixels.shape[3])
            places = locate_characters(
                self.engine, encoded, labels, frames, size, attention
            )
        readings = [reading_of(found[index], charset, places[index]) for index in kept]
        return self._with_scripts(readings, encoded, kept)

    def _with_scripts(
        self, readings: list[Reading], encoded: Any, kept: Sequence[int]
    ) -> list[Reading]:
        """Readings that say how probable another script is, if something tells."""
        if self.detector is None:
            return readings
        found = self.detector.probabilities(self.engine.scores(encoded))
        told = []
        for reading, index in zip(readings, kept, strict=True):
            of_each = found[index].tolist()
            of_others = tuple(of_each[: self.detector.readers])
            told.append(
                replace(reading, other_script=sum(of_each), of_others=of_others)
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
    found: Sequence[Candidates],
    turned: Sequence[int],
    count: int,
) -> list[int]:
    """The row that counts for each image: its own, or that of the same image upside down.

    Args:
        found: what was read of the images, and behind them of those that were turned.
        turned: which images were turned.
        count: number of images.
    """
    kept = list(range(count))
    for upside_down, index in enumerate(turned, start=count):
        if found[upside_down].best.probability > found[index].best.probability:
            kept[index] = upside_down
    return kept
