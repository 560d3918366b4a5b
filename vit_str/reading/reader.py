"""Images -> text: ``vit_str.load().read("word.png").text``."""

import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, overload

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vit_str.devices import choose_device, fastest_dtype
from vit_str.images import UnreadableImage, source_name
from vit_str.models import Decoder
from vit_str.models.character_boxes import locate_characters, looking_blocks
from vit_str.reading.boxes import Frame, boxes_in
from vit_str.reading.decoding import DecodedImage, Source, decode, decode_batches, default_workers
from vit_str.reading.readings import Box, Character, Reading
from vit_str.weights import WeightsFile, load_weights, resolve

__all__ = ["Box", "Character", "Reader", "Reading", "load"]


def load(
    name_or_path: str | Path = "tiny", device: str = "auto", *, care: str | None = None
) -> "Reader":
    """A reader with the weights of the package (``tiny``) or of a ``.safetensors`` file.

    Args:
        name_or_path: see ``vit_str.weights.resolve``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the fastest that is there.
        care: ``fast`` or ``careful``, for a model that can read both ways; None for the way it was
            saved with.

    Raises:
        ValueError: no such weights or device, a file that cannot be used, or care from a model
            that reads in one way only.
    """
    chosen = choose_device(device)
    return Reader(load_weights(resolve(name_or_path)), chosen, care=care)


class Reader:
    """Reads images with one model, in the fastest number format of its device.

    Several threads may use one reader.

    Args:
        weights: a model with its charset and preprocessing; the model is copied.
        device: see ``load``.
        dtype: number format; None for bfloat16 or float16 where the device computes in it, else
            float32.
        care: see ``load``.

    Raises:
        ValueError: no such device, or care from a model that reads in one way only.
    """

    def __init__(
        self,
        weights: WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
        *,
        care: str | None = None,
    ) -> None:
        self._generate_options = _generate_options(weights, care)
        self.device = choose_device(device)
        self.dtype = dtype or fastest_dtype(self.device)
        self.charset = weights.charset
        self.preprocessing = weights.preprocessing
        self.provenance = weights.provenance
        # Converted once: autocast would convert the weights again at every step of the decoder.
        recognizer = copy.deepcopy(weights.recognizer)
        self.recognizer = recognizer.to(self.device, self.dtype).eval()

    @overload
    def read(self, source: Source, batch_size: int = 32, *, boxes: bool = False) -> Reading: ...

    @overload
    def read(
        self,
        source: list[Source] | tuple[Source, ...],
        batch_size: int = 32,
        *,
        boxes: bool = False,
    ) -> list[Reading]: ...

    def read(
        self,
        source: Source | list[Source] | tuple[Source, ...],
        batch_size: int = 32,
        *,
        boxes: bool = False,
    ) -> Reading | list[Reading]:
        """Read one image, or a list of images into a list of readings in the same order.

        Args:
            source: an image, or a list or tuple of images.
            batch_size: images that the model reads at once.
            boxes: find out where every character is too, with one more pass of the decoder.

        Raises:
            UnreadableImage: for the first image that cannot be read; ``stream`` skips it instead.
            ValueError: an array that is no image, a batch size below 1, or boxes from a model
                whose decoder has no cross-attention.
        """
        if isinstance(source, Iterator) and not hasattr(source, "read"):
            raise ValueError("read takes an image or a list of images; give others to stream")
        if not isinstance(source, list | tuple):
            return self._read_decoded([(source, decode(source, self.preprocessing))], boxes)[0]
        readings = []
        for _, reading in self.stream(source, batch_size, boxes=boxes):
            if isinstance(reading, UnreadableImage):
                raise reading
            readings.append(reading)
        return readings

    def stream(
        self,
        sources: Iterable[Source],
        batch_size: int = 32,
        workers: int | None = None,
        *,
        boxes: bool = False,
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        """Read any number of images, in order, in memory that does not grow with their number.

        Args:
            sources: images; what cannot be read is handed out as ``UnreadableImage``.
            batch_size: images that the model reads at once.
            workers: threads that decode images ahead of the model; None for one per CPU up to 4.
            boxes: see ``read``.

        Raises:
            ValueError: an array that is no image, a batch size or workers below 1, or boxes from
                a model whose decoder has no cross-attention.
        """
        if boxes:
            looking_blocks(self.recognizer.decoder)  # raises before anything is read
        workers = default_workers() if workers is None else workers
        if batch_size < 1 or workers < 1:
            raise ValueError(
                f"batch_size and workers must be 1 or more, found {batch_size} and {workers}"
            )
        return self._stream(sources, batch_size, workers, boxes)

    def _stream(
        self, sources: Iterable[Source], batch_size: int, workers: int, boxes: bool
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        with closing(decode_batches(sources, self.preprocessing, batch_size, workers)) as batches:
            for batch in batches:
                decoded = [(s, image) for s, image in batch if isinstance(image, DecodedImage)]
                readings = iter(self._read_decoded(decoded, boxes) if decoded else ())
                for source, image in batch:
                    yield source, next(readings) if isinstance(image, DecodedImage) else image

    def pixels(self, source: Source) -> UInt8[Tensor, "channel height width"]:
        """One image as the model gets it, before normalization.

        Raises:
            UnreadableImage: it cannot be read.
            ValueError: an array that is no image.
        """
        return decode(source, self.preprocessing).pixels

    def pixels_and_turn(self, source: Source) -> tuple[UInt8[Tensor, "channel height width"], bool]:
        """As ``pixels``, and whether a tall image was turned: it is to be read both ways up."""
        image = decode(source, self.preprocessing)
        return image.pixels, self.preprocessing.turns(*image.size)

    def features(
        self, pixels: UInt8[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """What the encoder makes of images on the size of the model."""
        with torch.inference_mode():
            images = self.preprocessing.normalize(pixels.to(self.device)).to(self.dtype)
            return self.recognizer.encode(images)

    def read_pixels(
        self, pixels: UInt8[Tensor, "batch channel height width"], *, boxes: bool = False
    ) -> list[Reading]:
        """Read images that are on the size of the model already, for example rendered ones."""
        return self._read_turned(
            pixels, [(pixels.shape[-2], pixels.shape[-1])] * len(pixels), boxes
        )

    def _read_decoded(
        self, batch: Sequence[tuple[Source, DecodedImage]], boxes: bool
    ) -> list[Reading]:
        pixels = torch.stack([image.pixels for _, image in batch])
        readings = self._read_turned(pixels, [image.size for _, image in batch], boxes)
        return [
            replace(reading, path=source_name(source))
            if isinstance(source, str | os.PathLike)
            else reading
            for (source, _), reading in zip(batch, readings, strict=True)
        ]

    def _read_turned(
        self,
        pixels: UInt8[Tensor, "batch channel height width"],
        sizes: Sequence[tuple[int, int]],
        boxes: bool,
    ) -> list[Reading]:
        """Read images that were of the given sizes, which boxes refer to.

        A tall image was turned by a quarter. Its line may as well run the other way: it is read
        upside down too, and what was read more surely is kept.
        """
        turned = [index for index, size in enumerate(sizes) if self.preprocessing.turns(*size)]
        frames = [Frame(*size, self.preprocessing.turns(*size)) for size in sizes]
        if turned:
            pixels = torch.cat([pixels, pixels[turned].rot90(2, (2, 3))])
            frames += [frames[index]._replace(upside_down=True) for index in turned]
        readings = self._read_frames(pixels, frames, boxes)
        for index, other in zip(turned, readings[len(sizes) :], strict=True):
            readings[index] = max(readings[index], other, key=attrgetter("confidence"))
        return readings[: len(sizes)]

    def _read_frames(
        self,
        pixels: UInt8[Tensor, "batch channel height width"],
        frames: Sequence[Frame],
        boxes: bool,
    ) -> list[Reading]:
        """Read each image as it is; boxes are in the frames."""
        encoder, decoder = self.recognizer.encoder, self.recognizer.decoder
        features = self.features(pixels)
        located: Iterable[list[Box] | None] = repeat(None)
        with torch.inference_mode():
            hypotheses = decoder.generate(features, **self._generate_options)
            words = hypotheses.word_confidences.float().tolist()
            rows = hypotheses.confidences.float().tolist()
            if boxes:
                found = locate_characters(encoder, decoder, features, hypotheses.labels)
                located = boxes_in(frames, found.cpu(), encoder.image_size)
        return [
            _reading(self.charset.decode(ids), confidences, word, sides)
            for ids, confidences, word, sides in zip(
                hypotheses.labels.tolist(), rows, words, located, strict=False
            )
        ]


def _generate_options(weights: WeightsFile, care: str | None) -> dict[str, Any]:
    """Arguments of the decoder's ``generate``; ValueError if it has no such care."""
    decoder: Decoder = weights.recognizer.decoder
    if care is None:
        return {"temperature": weights.temperature}
    if not decoder.care_levels:
        raise ValueError(
            f"{type(decoder).__name__} reads in one way only: leave care out, or take a model with "
            "a PermutedDecoder"
        )
    if care not in decoder.care_levels:
        raise ValueError(f"care must be {' or '.join(decoder.care_levels)}, found {care!r}")
    return {"temperature": weights.temperature, "care": care}


def _reading(text: str, confidences: list[float], word: float, boxes: list[Box] | None) -> Reading:
    characters = zip(text, confidences, boxes or repeat(None), strict=False)  # the text ends first
    return Reading(text, word, tuple(Character(*character) for character in characters))
