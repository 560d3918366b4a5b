"""Does a model do on this machine what it did where it was made? Golden images tell."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle, islice

import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from vit_str.devices import fastest_dtype
from vit_str.models.step_scores import step_scores
from vit_str.reading import Reader, Source
from vit_str.weights import WeightsFile
from vit_str.weights.golden import MOST_BYTES, MOST_IMAGES, Golden, Steps

_CPU_FLOAT32 = 0.0002
TOLERANCES = {torch.float32: 0.02, torch.float16: 0.05, torch.bfloat16: 0.4}
"""Largest difference of a score from the stored one that rounding explains, by number format.

Scores are logits of about -10 to 20. Those of the bundled model differ by 0.00001 between CPU
instruction sets in float32, by 0.007 in float16, and by 0.05 in bfloat16, which keeps 8 bits.
On a CPU float32 is held to 0.0002, which a change of any one tensor by 1 % exceeds. A graphics card
may multiply in TF32, which keeps 11 bits: its limit is reckoned from that, not measured.
"""
_STEPS = 10  # of a text, whose differences add up in its confidence
_SPEED_BATCHES = (1, 32)


@dataclass(frozen=True, slots=True)
class Difference:
    """How a reading of the golden images differs from what the file says.

    Attributes:
        texts: (text of the file, text read now) of the images that are read otherwise.
        close: of those, the ones that were a close call: rounding explains them.
        score: largest difference of a score, at the steps of the texts of the file.
        confidence: largest difference of the confidence of an image that is read as it was.
        allowed: largest difference of a score that rounding explains.
    """

    texts: tuple[tuple[str, str], ...]
    close: int
    score: float
    confidence: float
    allowed: float

    @property
    def is_explained(self) -> bool:
        """Whether rounding explains all of it."""
        return (
            len(self.texts) == self.close
            and self.score <= self.allowed
            and self.confidence <= _STEPS * self.allowed
        )


def make_golden(file: WeightsFile, images: Sequence[Source]) -> Golden:
    """Read images on the CPU in float32 and keep what was read.

    They are kept on the size of the model.

    Args:
        file: the model with the weights as its file stores them.
        images: 1 to 16.

    Raises:
        UnreadableImage: one of the images cannot be read.
        ValueError: too many images, or a model without scores for every step.
    """
    reader = Reader(file, "cpu", torch.float32)
    stored = tuple(_png(reader.pixels(image)) for image in images)
    readings = [reader.read(image) for image in stored]
    texts = tuple(reading.text for reading in readings)
    return Golden(
        images=stored,
        texts=texts,
        confidences=tuple(reading.confidence for reading in readings),
        scores=two_best_scores(reader, stored, texts) if stored else (),
    )


def fitting(images: Iterable[UInt8[Tensor, "3 height width"]]) -> list[bytes]:
    """As many images, from the first on, as a weights file takes; for `make_golden`.

    Args:
        images: on the size of the model, for example those that training validates on.

    Returns:
        PNG files.
    """
    kept: list[bytes] = []
    for image in islice(images, MOST_IMAGES):
        png = _png(image.cpu())
        if sum(map(len, kept)) + len(png) > MOST_BYTES:
            break
        kept.append(png)
    return kept


def two_best_scores(
    reader: Reader, images: Iterable[Source], texts: Sequence[str]
) -> tuple[Steps, ...]:
    """The two highest scores at every step of writing ``texts``, whatever the reader would write.

    Raises:
        UnreadableImage: one of the images cannot be read.
        ValueError: a text that the model cannot write, or a model without scores for every step.
    """
    features = reader.features(torch.stack([reader.pixels(image) for image in images]))
    labels = reader.charset.encode_batch(texts).to(reader.device)
    with torch.inference_mode():
        steps = step_scores(reader.recognizer.decoder, features, labels)
    best = steps.scores.topk(2).values
    return tuple(_steps(best[steps.words == word]) for word in range(len(texts)))


def difference(reader: Reader, golden: Golden) -> Difference:
    """Read the golden images again and compare.

    Raises:
        UnreadableImage: one of the golden images cannot be read.
        ValueError: the model cannot write one of their texts.
    """
    readings = reader.read(list(golden.images))
    allowed = tolerance(reader.device, reader.dtype)
    alike = [reading.text == text for reading, text in zip(readings, golden.texts, strict=True)]
    confidences = [
        abs(reading.confidence - confidence)
        for reading, confidence, same in zip(readings, golden.confidences, alike, strict=True)
        if same
    ]
    other = [index for index, same in enumerate(alike) if not same]
    scores = two_best_scores(reader, golden.images, golden.texts)
    return Difference(
        texts=tuple((golden.texts[index], readings[index].text) for index in other),
        close=sum(golden.margin(index) < 2 * allowed for index in other),
        score=max(map(_largest, scores, golden.scores)),
        confidence=max(confidences, default=0.0),
        allowed=allowed,
    )


def tolerance(device: torch.device, dtype: torch.dtype) -> float:
    """Largest difference of a score that rounding explains, see ``TOLERANCES``."""
    exact = device.type == "cpu" and dtype == torch.float32
    return _CPU_FLOAT32 if exact else TOLERANCES[dtype]


def precisions(device: torch.device) -> tuple[torch.dtype, ...]:
    """Number formats to check on a device: float32, and the one that reading takes there."""
    fastest = fastest_dtype(device)
    return (torch.float32,) if fastest == torch.float32 else (torch.float32, fastest)


def images_per_second(
    reader: Reader, images: Sequence[Source] = (), seconds: float = 0.5
) -> dict[int, float]:
    """How fast a reader is from pixels to texts: images at once -> images per second.

    Args:
        reader: what reads.
        images: what it reads, over and over; an image of noise if there are none.
        seconds: to measure for, after one batch to warm up.

    Raises:
        UnreadableImage: one of the images cannot be read.
    """
    height, width = reader.preprocessing.height, reader.preprocessing.width
    noise = torch.Generator().manual_seed(0)
    some = [reader.pixels(image) for image in images] or [
        torch.randint(256, (3, height, width), dtype=torch.uint8, generator=noise)
    ]
    speeds = {}
    for size in _SPEED_BATCHES:
        count = -(-max(size, len(some)) // size)  # batches until every image was read
        pixels = torch.stack([*islice(cycle(some), count * size)])
        pixels = pixels.reshape(count, size, 3, height, width)
        reader.read_pixels(pixels[0])
        start, batches = time.perf_counter(), 0
        while batches < count or time.perf_counter() - start < seconds:
            reader.read_pixels(pixels[batches % count])
            batches += 1
        speeds[size] = size * batches / (time.perf_counter() - start)
    return speeds


def _png(pixels: UInt8[Tensor, "3 height width"]) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(file, "PNG", optimize=True)
    return file.getvalue()


def _steps(best: Float[Tensor, "step 2"]) -> Steps:
    return tuple((float(first), float(second)) for first, second in best.tolist())


def _largest(found: Steps, expected: Steps) -> float:
    """Largest difference of two lists of scores; infinite if there is not one for each."""
    if len(found) != len(expected):
        return float("inf")
    pairs = zip(found, expected, strict=True)
    # A score that is no number differs too: nan compares as nothing, hence not max alone.
    differences = [abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True)]
    return max((d if d == d else float("inf") for d in differences), default=0.0)
