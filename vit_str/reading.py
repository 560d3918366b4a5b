"""Images -> text: ``vit_str.load().read("word.png").text``."""

import copy
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.devices import choose_device, fastest_dtype
from vit_str.images import BinaryFile, UnreadableImage, load_image, source_name
from vit_str.weights import WeightsFile, load_weights, resolve

Source = Path | str | bytes | BinaryFile | Image.Image | np.ndarray
"""One image: a path, the bytes of a file, an open file, a Pillow image, or pixels in uint8 as
(height, width) gray or (height, width, 3) RGB."""

Outcome = UInt8[Tensor, "channel height width"] | UnreadableImage


@dataclass(frozen=True, slots=True)
class Character:
    """One character that was read.

    Attributes:
        character: the character.
        confidence: probability that the model gives it after those before it, 0 to 1.
    """

    character: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What an image says.

    Attributes:
        text: the characters together; empty if the model sees no text.
        confidence: probability of the whole text: of every character and of the end after them.
        characters: one by one.
        path: the file of the image; None if it came from memory.
    """

    text: str
    confidence: float
    characters: tuple[Character, ...]
    path: str | None = None


def load(name_or_path: str | Path = "tiny", device: str = "auto") -> "Reader":
    """A reader with the weights of the package (``tiny``) or of a ``.safetensors`` file.

    Args:
        name_or_path: see ``vit_str.weights.resolve``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the fastest that is there.

    Raises:
        ValueError: no such weights or device, or a file that cannot be used.
    """
    chosen = choose_device(device)
    return Reader(load_weights(resolve(name_or_path)), chosen)


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

    @overload
    def read(self, source: Source, batch_size: int = 32) -> Reading: ...

    @overload
    def read(
        self, source: list[Source] | tuple[Source, ...], batch_size: int = 32
    ) -> list[Reading]: ...

    def read(
        self, source: Source | list[Source] | tuple[Source, ...], batch_size: int = 32
    ) -> Reading | list[Reading]:
        """Read one image, or a list of images into a list of readings in the same order.

        Raises:
            UnreadableImage: for the first image that cannot be read; ``stream`` goes on instead.
            ValueError: an array that is no image, or a batch size below 1.
        """
        if not isinstance(source, list | tuple):
            return self._read_batch([source], [self.pixels(source)])[0]
        readings = []
        for _, reading in self.stream(source, batch_size):
            if isinstance(reading, UnreadableImage):
                raise reading
            readings.append(reading)
        return readings

    def stream(
        self, sources: Iterable[Source], batch_size: int = 32, workers: int | None = None
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        """Read any number of images, in order, in memory that does not grow with their number.

        Args:
            sources: images; what cannot be read is handed out as ``UnreadableImage``.
            batch_size: images that the model reads at once.
            workers: threads that decode images ahead of the model; None for one per CPU up to 4.

        Raises:
            ValueError: an array that is no image, or a batch size or workers below 1.
        """
        workers = default_workers() if workers is None else workers
        if batch_size < 1 or workers < 1:
            raise ValueError(
                f"batch_size and workers must be 1 or more, found {batch_size} and {workers}"
            )
        return self._stream(iter(sources), batch_size, workers)

    def _stream(
        self, sources: Iterator[Source], batch_size: int, workers: int
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
                yield from self._read_outcomes([(source, job.result()) for source, job in batch])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def pixels(self, source: Source) -> UInt8[Tensor, "channel height width"]:
        """One image as the model gets it, before normalization.

        Raises:
            UnreadableImage: it cannot be read.
            ValueError: an array that is no image.
        """
        image = _from_array(source) if isinstance(source, np.ndarray) else source
        return self.preprocessing.pixels(load_image(image))

    def read_pixels(self, pixels: UInt8[Tensor, "batch channel height width"]) -> list[Reading]:
        """Read images that are on the size of the model already, for example rendered ones."""
        with torch.inference_mode():
            images = self.preprocessing.normalize(pixels.to(self.device)).to(self.dtype)
            hypotheses = self.recognizer.generate(images)
            words = hypotheses.word_confidences.float().tolist()
            rows = hypotheses.confidences.float().tolist()
        return [
            _reading(self.charset.decode(ids), confidences, word)
            for ids, confidences, word in zip(hypotheses.labels.tolist(), rows, words, strict=True)
        ]

    def _outcome(self, source: Source) -> Outcome:
        try:
            return self.pixels(source)
        except UnreadableImage as error:
            return error

    def _read_outcomes(
        self, outcomes: list[tuple[Source, Outcome]]
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        """Read those that could be decoded in one batch, and put the others back between them."""
        decoded = [(source, pixels) for source, pixels in outcomes if isinstance(pixels, Tensor)]
        sources, pixels = [source for source, _ in decoded], [pixels for _, pixels in decoded]
        readings = iter(self._read_batch(sources, pixels))
        for source, outcome in outcomes:
            yield source, next(readings) if isinstance(outcome, Tensor) else outcome

    def _read_batch(
        self, sources: list[Source], pixels: list[UInt8[Tensor, "channel height width"]]
    ) -> list[Reading]:
        if not pixels:
            return []
        readings = self.read_pixels(torch.stack(pixels))
        return [
            Reading(reading.text, reading.confidence, reading.characters, _path(source))
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


def _reading(text: str, confidences: list[float], word: float) -> Reading:
    characters = zip(text, confidences, strict=False)  # confidences go on after the end
    return Reading(text, word, tuple(Character(*character) for character in characters))


def _path(source: Source) -> str | None:
    return source_name(source) if isinstance(source, str | os.PathLike) else None
