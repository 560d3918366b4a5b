"""Images -> text: ``vit_str.load().read("word.png").text``."""

import copy
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from PIL import Image
from torch import Tensor

from vit_str.devices import choose_device, fastest_dtype
from vit_str.images import BinaryFile, UnreadableImage, load_sized_image, source_name
from vit_str.models.character_boxes import locate_characters, looking_blocks
from vit_str.readings import Box, Character, Reading
from vit_str.weights import WeightsFile, load_weights, resolve

__all__ = ["Box", "Character", "Reader", "Reading", "Source", "default_workers", "load"]

Source = Path | str | bytes | BinaryFile | Image.Image | np.ndarray
"""One image: a path, the bytes of a file, an open file, a Pillow image, or pixels in uint8 as
(height, width) gray or (height, width, 3) RGB."""


class Sized(NamedTuple):
    """An image as the model gets it, and the height and width that it had, upright."""

    pixels: UInt8[Tensor, "channel height width"]
    size: tuple[int, int]


class Frame(NamedTuple):
    """The image that boxes refer to, upright, and whether the model saw it upside down."""

    height: int
    width: int
    upside_down: bool = False


Outcome = Sized | UnreadableImage


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
    weights = load_weights(resolve(name_or_path))
    if care is not None:
        weights.recognizer.decoder.take_care(care)
    return Reader(weights, chosen)


class Reader:
    """Reads images with one model, in the fastest number format of its device.

    Args:
        weights: a model with its charset and preprocessing; the model is copied.
        device: see ``load``.
        dtype: number format; None for bfloat16 or float16 where the device computes in it, else
            float32.

    Raises:
        ValueError: no such device.
    """

    def __init__(
        self,
        weights: WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
    ) -> None:
        self.device = choose_device(device)
        self.dtype = dtype or fastest_dtype(self.device)
        self.charset = weights.charset
        self.preprocessing = weights.preprocessing
        self.provenance = weights.provenance
        # Converted once: autocast would convert the weights again at every step of the decoder.
        recognizer = copy.deepcopy(weights.recognizer)
        self.recognizer = recognizer.to(self.device, self.dtype).eval()
        self.recognizer.decoder.temperature = weights.temperature

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
            UnreadableImage: for the first image that cannot be read; ``stream`` goes on instead.
            ValueError: an array that is no image, a batch size below 1, or boxes from a model
                whose decoder has no cross-attention.
        """
        if not isinstance(source, list | tuple):
            return self._read_batch([source], [self._sized(source)], boxes)[0]
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
        return self._stream(iter(sources), batch_size, workers, boxes)

    def _stream(
        self, sources: Iterator[Source], batch_size: int, workers: int, boxes: bool
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        pool = ThreadPoolExecutor(workers, thread_name_prefix="decode")
        waiting: deque[tuple[Source, Future[Outcome]]] = deque()
        try:
            while True:
                ahead = 2 * batch_size + workers - len(waiting)
                waiting.extend((s, pool.submit(self._outcome, s)) for s in islice(sources, ahead))
                if not waiting:
                    return
                batch = [waiting.popleft() for _ in range(min(batch_size, len(waiting)))]
                outcomes = [(source, job.result()) for source, job in batch]
                yield from self._read_outcomes(outcomes, boxes)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def pixels(self, source: Source) -> UInt8[Tensor, "channel height width"]:
        """One image as the model gets it, before normalization.

        Raises:
            UnreadableImage: it cannot be read.
            ValueError: an array that is no image.
        """
        return self._sized(source).pixels

    def pixels_and_turn(self, source: Source) -> tuple[UInt8[Tensor, "channel height width"], bool]:
        """As ``pixels``, and whether a tall image was turned: it is to be read both ways up."""
        image = self._sized(source)
        return image.pixels, self.preprocessing.turns(*image.size)

    def read_pixels(
        self, pixels: UInt8[Tensor, "batch channel height width"], *, boxes: bool = False
    ) -> list[Reading]:
        """Read images that are on the size of the model already, for example rendered ones."""
        return self._read_pixels(
            pixels, [(pixels.shape[-2], pixels.shape[-1])] * len(pixels), boxes
        )

    def _read_pixels(
        self,
        pixels: UInt8[Tensor, "batch channel height width"],
        sizes: Sequence[tuple[int, int]],
        boxes: bool,
    ) -> list[Reading]:
        """Read images that were of the given sizes, which boxes refer to.

        A tall image was turned by a quarter. Its line may as well run the other way: it is read
        upside down too, and what was read more surely is kept.
        """
        turned = [place for place, size in enumerate(sizes) if self.preprocessing.turns(*size)]
        frames = [Frame(*size) for size in sizes]
        if turned:
            pixels = torch.cat([pixels, pixels[turned].rot90(2, (2, 3))])
            frames += [frames[place]._replace(upside_down=True) for place in turned]
        readings = self._read_frames(pixels, frames, boxes)
        for place, other in zip(turned, readings[len(sizes) :], strict=True):
            readings[place] = max(readings[place], other, key=attrgetter("confidence"))
        return readings[: len(sizes)]

    def _read_frames(
        self,
        pixels: UInt8[Tensor, "batch channel height width"],
        frames: Sequence[Frame],
        boxes: bool,
    ) -> list[Reading]:
        """Read each image as it is; boxes are in the frames."""
        with torch.inference_mode():
            images = self.preprocessing.normalize(pixels.to(self.device)).to(self.dtype)
            features = self.recognizer.encode(images)
            hypotheses = self.recognizer.decoder.generate(features)
            words = hypotheses.word_confidences.float().tolist()
            rows = hypotheses.confidences.float().tolist()
            places = self._places(features, hypotheses.labels, frames) if boxes else repeat(None)
        return [
            _reading(self.charset.decode(ids), confidences, word, place)
            for ids, confidences, word, place in zip(
                hypotheses.labels.tolist(), rows, words, places, strict=False
            )
        ]

    def _places(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
        frames: Sequence[Frame],
    ) -> list[list[Box]]:
        """Boxes of all characters, in pixels of the frames."""
        encoder, decoder = self.recognizer.encoder, self.recognizer.decoder
        boxes = locate_characters(encoder, decoder, features, labels).cpu()
        rows, columns = encoder.image_size
        shares = boxes / torch.tensor([columns, rows, columns, rows])
        return [
            [Box(*box) for box in self._in_frame(word, frame).tolist()]
            for word, frame in zip(shares, frames, strict=True)
        ]

    def _in_frame(
        self, boxes: Float[Tensor, "position side"], frame: Frame
    ) -> Float[Tensor, "position side"]:
        """Boxes in shares of what the model saw to pixels of the image as it was given."""
        left, top, right, bottom = boxes.unbind(-1)
        if frame.upside_down:
            left, top, right, bottom = 1 - right, 1 - bottom, 1 - left, 1 - top
        if self.preprocessing.turns(frame.height, frame.width):
            left, top, right, bottom = 1 - bottom, left, 1 - top, right
        height, width = frame.height, frame.width
        return torch.stack([left * width, top * height, right * width, bottom * height], -1)

    def _sized(self, source: Source) -> Sized:
        image = _from_array(source) if isinstance(source, np.ndarray) else source
        loaded, size = load_sized_image(image)
        return Sized(self.preprocessing.pixels(loaded), size)

    def _outcome(self, source: Source) -> Outcome:
        try:
            return self._sized(source)
        except UnreadableImage as error:
            return error

    def _read_outcomes(
        self, outcomes: list[tuple[Source, Outcome]], boxes: bool
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        """Read those that could be decoded in one batch, and put the others back between them."""
        decoded = [(source, image) for source, image in outcomes if isinstance(image, Sized)]
        sources, images = [source for source, _ in decoded], [image for _, image in decoded]
        readings = iter(self._read_batch(sources, images, boxes))
        for source, outcome in outcomes:
            yield source, next(readings) if isinstance(outcome, Sized) else outcome

    def _read_batch(self, sources: list[Source], images: list[Sized], boxes: bool) -> list[Reading]:
        if not images:
            return []
        pixels = torch.stack([image.pixels for image in images])
        readings = self._read_pixels(pixels, [image.size for image in images], boxes)
        return [
            replace(reading, path=_path(source))
            for source, reading in zip(sources, readings, strict=True)
        ]


def default_workers() -> int:
    """Threads that decode images: one per CPU, 4 at most."""
    available = getattr(os, "sched_getaffinity", None)  # what a container may use, on Linux
    return min(4, len(available(0)) if available else os.cpu_count() or 1)


def _from_array(array: np.ndarray) -> Image.Image:
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)):
        raise ValueError(
            "an image as an array is uint8 of (height, width) or (height, width, 3), found "
            f"{array.dtype} of {array.shape}; convert it first"
        )
    if not array.size:
        raise ValueError(f"an image without pixels, found an array of {array.shape}")
    return Image.fromarray(array)


def _reading(text: str, confidences: list[float], word: float, boxes: list[Box] | None) -> Reading:
    characters = zip(text, confidences, boxes or repeat(None), strict=False)  # the text ends first
    return Reading(text, word, tuple(Character(*character) for character in characters))


def _path(source: Source) -> str | None:
    return source_name(source) if isinstance(source, str | os.PathLike) else None
