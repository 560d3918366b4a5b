"""Fit the temperature that makes the confidence of a word the share of such words that is right.

A model is surer or less sure than it should be of words unlike those it learned from. One number
that all scores are divided by (Guo et al. 2017, section 4.2) corrects most of that and changes no
text. Here it is fitted to what users see, the confidence of the whole word, rather than to single
symbols: the likelihood of the words being right or wrong as they are. Unlike the calibration error,
which bins words, likelihood is smooth and rewards confidences that tell right from wrong.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int64

from vit_str.evaluation.calibration import calibrate
from vit_str.evaluation.statistics import Interval, percentile_interval, resamples
from vit_str.runtime import Reader, Source
from vit_str.runtime.image_decoding import DecodedImage, decode_batches
from vit_str.runtime.images import UnreadableImage

TEMPERATURES = np.geomspace(0.25, 8, 141)
"""What is tried: 2.5 % apart, which is finer than words can tell."""

LEAST_WORDS = 50
_SUREST = -1e-12  # a wrong word that is surer costs 28 nats, not infinitely many

LogConfidences = Float[np.ndarray, "word temperature"]


class Graded(NamedTuple):
    """What was read, and the logarithm of its confidence at each of ``TEMPERATURES``."""

    text: str
    log_confidences: Float[np.ndarray, " temperature"]


@dataclass(frozen=True, slots=True)
class GradedWords:
    """Words that were read, and how surely.

    Attributes:
        log_confidences: of each, at each of ``TEMPERATURES``.
        right: which of them are read right.
    """

    log_confidences: LogConfidences
    right: Bool[np.ndarray, " word"]

    def __len__(self) -> int:
        return len(self.right)

    def select(self, places: Int64[np.ndarray, " place"]) -> "GradedWords":
        """Some of the words."""
        return GradedWords(self.log_confidences[places], self.right[places])

    @classmethod
    def together(cls, parts: Sequence["GradedWords"]) -> "GradedWords":
        """All words as one set."""
        return cls(
            np.concatenate([part.log_confidences for part in parts]),
            np.concatenate([part.right for part in parts]),
        )

    def judge(self, temperature: float) -> dict[str, Any]:
        """How good their confidences are at a temperature, as plain values.

        Mean ``confidence``, calibration ``error`` and its ``interval`` as of `calibrate`, and
        ``loss``: the mean negative log-likelihood of being right or wrong, in nats.
        """
        sure = at(self.log_confidences, temperature)
        found = calibrate(np.exp(sure), self.right)
        return {
            "confidence": found.confidence,
            "error": found.error,
            "interval": list(found.interval),
            "loss": float(_losses(sure[:, None], self.right).mean()),
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted temperature.

    Attributes:
        temperature: the most likely of those that were tried.
        interval: its 95 % interval, from drawing words with replacement.
        n: words it was fitted to.
    """

    temperature: float
    interval: Interval
    n: int

    @property
    def is_at_edge(self) -> bool:
        """Whether none that was tried is large or small enough."""
        return self.temperature in (TEMPERATURES[0], TEMPERATURES[-1])


def fit(words: GradedWords) -> Fit:
    """The temperature under which right and wrong words are most likely.

    Args:
        words: what to fit to.

    Raises:
        ValueError: too few words, or all right or all wrong: no confidence is wrong then.
    """
    right = words.right
    if len(words) < LEAST_WORDS or right.all() or not right.any():
        raise ValueError(
            f"a temperature needs {LEAST_WORDS} words or more, some read right and some wrong, "
            f"found {len(words)} to fit to (half of them all, unless --test names others) with "
            f"{int(right.sum())} right; give more words, or harder ones"
        )
    losses = _losses(words.log_confidences, right)
    n = len(words)
    sums = [np.bincount(drawn, minlength=n) @ losses for drawn in resamples(n)]
    interval = percentile_interval(TEMPERATURES[np.argmin(sums, 1)])
    return Fit(float(TEMPERATURES[losses.sum(0).argmin()]), interval, n)


def at(log_confidences: LogConfidences, temperature: float) -> Float[np.ndarray, " word"]:
    """Logarithms of the confidences at any temperature; beyond those that were tried, at the last.

    Between two of them they are nearly straight.
    """
    place = np.interp(np.log(temperature), np.log(TEMPERATURES), np.arange(len(TEMPERATURES)))
    before = min(int(place), len(TEMPERATURES) - 2)
    share = place - before
    return (1 - share) * log_confidences[:, before] + share * log_confidences[:, before + 1]


def grade(
    reader: Reader,
    images: Sequence[Source],
    batch_size: int = 32,
    advance: Callable[[], object] = lambda: None,
) -> Iterator[Graded | UnreadableImage]:
    """Read images once and say how sure the reader would be of each at every temperature.

    Args:
        reader: what reads; its own temperature plays no part.
        images: what cannot be read is handed out in its place.
        batch_size: images read at once.
        advance: called after every image, to show progress.

    Raises:
        ValueError: a model without scores for every step.
    """
    for batch in decode_batches(images, reader.preprocessing, batch_size, None):
        decoded = [image for _, image in batch if isinstance(image, DecodedImage)]
        graded = iter(_grade(reader, decoded) if decoded else ())
        for _, image in batch:
            yield next(graded) if isinstance(image, DecodedImage) else image
            advance()


def _losses(
    log_confidences: LogConfidences, right: Bool[np.ndarray, " word"]
) -> Float[np.ndarray, "word temperature"]:
    """Negative log-likelihood of each word being right or wrong."""
    sure = np.minimum(log_confidences, _SUREST)
    return -np.where(right[:, None], sure, np.log(-np.expm1(sure)))


def _grade(reader: Reader, images: Sequence[DecodedImage]) -> list[Graded]:
    """Grade readings of images; as when reading, those that were turned are read both ways up."""
    turned = [i for i, (_, size) in enumerate(images) if reader.preprocessing.turns(*size)]
    pixels = np.stack([pixels for pixels, _ in images])
    pixels = np.concatenate([pixels, pixels[turned][:, :, ::-1, ::-1]])
    graded = _grade_pixels(reader, pixels)
    own = int(np.abs(np.log(TEMPERATURES)).argmin())  # of temperature 1
    for place, other in zip(turned, graded[len(images) :], strict=True):
        surer = (graded[place], other)
        graded[place] = max(surer, key=lambda each: float(each.log_confidences[own]))
    return graded[: len(images)]


def _grade_pixels(reader: Reader, pixels: np.ndarray) -> list[Graded]:
    texts = [reading.text for reading in reader.read_pixels(pixels)]
    graded = []
    for text, steps in zip(texts, reader.scores(pixels, texts), strict=True):
        symbols = [*reader.charset.encode(text), len(reader.charset)][: len(steps)]
        graded.append(Graded(text, log_confidences(steps.astype(np.float64), symbols)))
    return graded


def log_confidences(
    scores: Float[np.ndarray, "step symbol"], symbols: Sequence[int]
) -> Float[np.ndarray, " temperature"]:
    """Logarithm of the probability of all symbols together, at each of ``TEMPERATURES``.

    In float64: the words that matter most are nearly certain.
    """
    scaled = scores / TEMPERATURES[:, None, None]
    shifted = scaled - scaled.max(2, keepdims=True)
    chosen = shifted[:, np.arange(len(symbols)), symbols]
    total: np.ndarray = (chosen - np.log(np.exp(shifted).sum(2))).sum(1)
    return total
