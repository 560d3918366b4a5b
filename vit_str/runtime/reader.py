"""Images -> text: ``vit_str.load().read("word.png").text``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from vit_str.runtime.boxes import Box, Frame, attention_maps, boxes_in, character_boxes, maps_in
from vit_str.runtime.constraints import Constraint, constraint_of
from vit_str.runtime.ctc import column_boxes
from vit_str.runtime.engine import Engine, open_engine, torch_engine
from vit_str.runtime.image_decoding import DecodedImage, Source, decode, decode_batches
from vit_str.runtime.images import UnreadableImage, source_name
from vit_str.runtime.long_lines import read_with_parts
from vit_str.runtime.prior import BEAMS, MARGIN, prior_of
from vit_str.runtime.search import (
    BeamResult,
    Hypothesis,
    Search,
    decode_texts,
    decoding_options,
    padded,
)
from vit_str.runtime.test_time_augmentation import (
    DOUBTFUL_AFTER_PRIOR,
    DOUBTFUL_AFTER_VIEWS,
    ROUNDS_OF_VIEWS,
    merge_views,
    other_views,
)

if TYPE_CHECKING:
    import torch
    from jaxtyping import UInt8

    from vit_str.runtime.test_time_augmentation import TextPrior
    from vit_str.torch_runtime.weights_file import WeightsFile

_Located = Sequence[tuple[Any, ...]]  # a box and perhaps a map, for each character
_REREAD_TOGETHER = 4  # doubtful images: three views of ten beams each are 120 rows
_NOTHING = Hypothesis((), (), 0.0, 0.0)  # of what is allowed


@dataclass(frozen=True, slots=True)
class Character:
    """One character that was read.

    Attributes:
        character: the character.
        confidence: probability that the model gives it after those before it, 0 to 1.
        box: about where it is, from where the model looked; None if that was not asked for.
        attention: where the decoder looked while it wrote this, as shares of 1 in rows and columns
            that cover the image, turned upright; None if that was not asked for.
    """

    character: str
    confidence: float
    box: Box | None = None
    attention: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What an image says.

    Attributes:
        text: the characters together; empty if the model sees no text.
        confidence: probability of the whole text: of every character and of the end after them,
            among what is allowed. 0 if nothing that is allowed could be written.
        characters: one by one.
        path: the file of the image; None if it came from memory.
        free: what is read if every text is allowed; None if every text is.
        alternatives: the next most probable readings, if they were asked for.
        prior: what the frequency of its words added to the logarithm of the probability of the
            text; 0 where the image left no doubt, or without a language.
    """

    text: str
    confidence: float
    characters: tuple[Character, ...]
    path: str | None = None
    free: Reading | None = None
    alternatives: tuple[Reading, ...] = ()
    prior: float = 0.0

    def with_minimum_confidence(self, least: float | None) -> Reading:
        """This reading, with empty text if its confidence is below ``least``."""
        doubtful = least is not None and self.confidence < least
        return replace(self, text="", characters=()) if doubtful else self


def load(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    effort: str | None = None,
    backend: str = "auto",
    search: Search | None = None,
) -> Reader:
    """A reader with the weights of the package (``tiny``), of a file, or of an exported folder.

    Args:
        name_or_path: see ``vit_str.runtime.weights_contents.resolve``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the fastest that is there.
        effort: ``fast`` reads no image a second time, and decodes in parallel if the model can;
            ``careful`` reads doubtful images again if the model asks for it, and decodes step by
            step; None reads as the model was saved.
        backend: ``onnx``, ``torch``, or ``auto`` for what is faster, see ``open_engine``.
        search: which readings to look for; None for the most probable.

    Raises:
        ValueError: no such weights, device or backend, a file that cannot be used, effort from a
            model that reads in one way only, or a search that is not for this model.
    """
    return Reader(open_engine(name_or_path, device, backend), effort=effort, search=search)


class Reader:
    """Reads images with one model.

    Several threads may use one reader.

    Attributes:
        charset: the characters that it reads.
        preprocessing: what images go through first.
        provenance: where the weights come from.
        image_size: height and width of the images that the model sees, in pixels.
        maximum_length: most characters of a text.
        has_boxes: whether it can say where characters are.
        is_constrained: whether it reads only what a lexicon, pattern or alphabet allows.
        reads_lines: whether it reads lines of any width, not words.

    Args:
        model: an engine; or weights, which are copied and run in torch.
        device: of the weights, see ``load``.
        dtype: number format of the weights; None for bfloat16 or float16 where the device computes
            in it, else float32.
        effort: see ``load``.
        search: see ``load``.
    """

    def __init__(
        self,
        model: Engine | WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
        *,
        effort: str | None = None,
        search: Search | None = None,
    ) -> None:
        if hasattr(model, "recognizer") and not hasattr(model, "encode"):
            model = torch_engine(model, device, dtype)
        self.engine: Engine = model  # type: ignore[assignment]
        self._model = self.engine.model
        self._interface = self.engine.model.interface
        self.charset = self._model.charset
        self.preprocessing = self._model.preprocessing
        self.provenance = self._model.provenance
        self.reads_lines = self.preprocessing.width_step > 0
        self.image_size = self._interface.image_size
        self.maximum_length = self._interface.maximum_length
        ctc = self._interface.loop == "ctc"  # whose columns say where characters are
        self.has_boxes = ctc or self._interface.has_cross_attention
        self._search = search = search or Search()
        self._decoding = decoding_options(self.engine, effort)
        self.is_constrained = search.is_constrained
        self._constraint: Constraint | None = None
        if self.is_constrained:
            self._constraint = constraint_of(
                self.charset, self.maximum_length, search.lexicon, search.pattern, search.alphabet
            )
        elif search.language:
            _ = self._prior  # refuses what is no language
        self._reread_below = 0.0 if effort == "fast" else self.preprocessing.reread_below

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
                a model that does not say where characters are.
        """
        if boxes:
            self.require_boxes()  # before anything is read
        if batch_size < 1 or (workers is not None and workers < 1):
            raise ValueError(
                f"batch_size and workers must be 1 or more, found {batch_size} and {workers}"
            )
        return self._stream(sources, batch_size, workers, boxes)

    def _stream(
        self, sources: Iterable[Source], batch_size: int, workers: int | None, boxes: bool
    ) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
        with closing(decode_batches(sources, self.preprocessing, batch_size, workers)) as batches:
            for batch in batches:
                decoded = [(s, image) for s, image in batch if isinstance(image, DecodedImage)]
                readings = iter(self._read_decoded(decoded, boxes) if decoded else ())
                for source, image in batch:
                    yield source, next(readings) if isinstance(image, DecodedImage) else image

    def require_boxes(self, attention: bool = False) -> None:
        """Refuse boxes, or attention, from a model that does not say where characters are."""
        if not (self._interface.has_cross_attention if attention else self.has_boxes):
            raise ValueError(
                f"{self._interface.decoder} has no cross-attention, which tells where a character "
                f"is: no {'attention' if attention else 'boxes'}, use a model with a Transformer "
                "decoder"
            )

    def pixels(self, source: Source) -> UInt8[np.ndarray, "channel height width"]:
        """One image as the model gets it, before normalization."""
        return decode(source, self.preprocessing).pixels

    def encode(self, pixels: UInt8[np.ndarray, "batch channel height width"]) -> Any:
        """What the encoder makes of images on the size of the model, as the engine keeps it."""
        return self.engine.encode(self.preprocessing.normalize_array(pixels))

    def read_pixels(
        self, pixels: UInt8[np.ndarray, "batch channel height width"], *, boxes: bool = False
    ) -> list[Reading]:
        """Read images that are on the size of the model already, for example rendered ones."""
        _, _, height, width = pixels.shape
        window = (0, 0, width, height)
        images = [DecodedImage(image, (height, width), window) for image in np.asarray(pixels)]
        return self.read_decoded(images, boxes=boxes)

    def read_decoded(
        self, images: Sequence[DecodedImage], *, boxes: bool = False, attention: bool = False
    ) -> list[Reading]:
        """Read images of `decode` together.

        A tall image was turned by a quarter. Its line may as well run the other way: it is read
        upside down too, and what was read more surely is kept. Doubtful images are read again.
        """
        if boxes or attention:
            self.require_boxes(attention)
        if any(image.parts for image in images) and self.has_boxes and not self.is_constrained:
            read = partial(self._read_seen_at_once, attention=attention)
            return read_with_parts(read, images, boxes)
        return self._read_seen_at_once(images, boxes=boxes, attention=attention)

    def _read_seen_at_once(
        self, images: Sequence[DecodedImage], *, boxes: bool, attention: bool
    ) -> list[Reading]:
        """Read images of `decode`, each as a whole."""
        widths = {image.pixels.shape[2] for image in images}
        if len(widths) > 1:
            return self._by_width(images, boxes=boxes, attention=attention)
        pixels = np.stack([image.pixels for image in images])
        frames = [self._frame(image) for image in images]
        turned = [index for index, frame in enumerate(frames) if frame.turned]
        if turned:
            pixels = np.concatenate([pixels, pixels[turned][:, :, ::-1, ::-1]])
            frames += [frames[index]._replace(upside_down=True) for index in turned]
        encoded = self.encode(pixels)
        found = self._decode(encoded, len(pixels))
        kept = list(range(len(images)))
        for index, other in zip(turned, range(len(images), len(pixels)), strict=True):
            if _first(found[other]).probability > _first(found[index]).probability:
                kept[index] = other
        self._read_again(pixels, encoded, found, kept)
        located: Iterator[_Located | None] = repeat(None)
        if boxes or attention:
            located = self._locate(encoded, found, frames, pixels.shape[2:], attention)
        readings = [self._reading(*pair) for pair in zip(found, located, strict=False)]
        return [readings[index] for index in kept]

    def _frame(self, image: DecodedImage) -> Frame:
        left, top, right, bottom = image.window
        height, width = bottom - top, right - left
        turned = self.preprocessing.turns(height, width)
        return Frame(height, width, turned, False, left, top, image.size)

    def _by_width(self, images: Sequence[DecodedImage], **asked: bool) -> list[Reading]:
        """Images of one width after the other."""
        order = sorted(range(len(images)), key=lambda index: images[index].pixels.shape[2])
        readings: dict[int, Reading] = {}
        for _, group in groupby(order, lambda index: images[index].pixels.shape[2]):
            indices = list(group)
            read = self._read_seen_at_once([images[index] for index in indices], **asked)
            readings.update(zip(indices, read, strict=True))
        return [readings[index] for index in range(len(images))]

    def _read_decoded(
        self, batch: Sequence[tuple[Source, DecodedImage]], boxes: bool
    ) -> list[Reading]:
        readings = self.read_decoded([image for _, image in batch], boxes=boxes)
        return [
            replace(reading, path=source_name(source))
            if isinstance(source, str | os.PathLike)
            else reading
            for (source, _), reading in zip(batch, readings, strict=True)
        ]

    def _read_again(
        self,
        pixels: UInt8[np.ndarray, "batch channel height width"],
        encoded: Any,
        found: list[BeamResult],
        rows: Sequence[int],
    ) -> None:
        """Replace what was found in the doubtful ones of these rows.

        With a prior over words, the image gives several texts, between which the prior decides.
        Where that leaves doubts, or is not what the image says first, other views are read too.
        """
        doubtful = _below(self._reread_below, found, rows)
        for start in range(0, len(doubtful), _REREAD_TOGETHER):
            self._read_group_again(
                pixels, encoded, found, doubtful[start : start + _REREAD_TOGETHER]
            )

    def _read_group_again(
        self,
        pixels: UInt8[np.ndarray, "batch channel height width"],
        encoded: Any,
        found: list[BeamResult],
        doubtful: Sequence[int],
    ) -> None:
        decode = self._decode
        n_best = self._search.n_best
        seen = {row: [found[row]] for row in doubtful}
        if self._prior:
            decode = self._decode_for_prior
            written = decode(self.engine.select(encoded, doubtful), len(doubtful))
            contradicted = set()
            for row, texts in zip(doubtful, written, strict=True):
                before = _first(found[row])
                seen[row] = [texts]
                found[row] = merge_views([texts], n_best, self._prior)
                if _first(found[row]).ids != before.ids:
                    contradicted.add(row)
            unsure = contradicted.union(_below(DOUBTFUL_AFTER_PRIOR, found, doubtful))
            doubtful = sorted(unsure)
        for views in ROUNDS_OF_VIEWS:
            if not doubtful:
                return
            images = other_views(pixels[doubtful], views)
            written = decode(self.encode(images), len(images))
            for number, row in enumerate(doubtful):
                seen[row] += written[number :: len(doubtful)]
                found[row] = merge_views(seen[row], n_best, self._prior)
            doubtful = _below(DOUBTFUL_AFTER_VIEWS, found, doubtful)

    @cached_property
    def _prior(self) -> TextPrior | None:
        """What speaks for texts before the image is seen; only doubtful images ask for it."""
        if self.is_constrained:
            return None
        words = prior_of(self._search.language, self.provenance.get("language"))
        if words is None:
            return None
        decode = self.charset.decode
        return lambda hypotheses: words.log_weights([decode(text.ids) for text in hypotheses])

    def _decode(self, encoded: Any, count: int) -> list[BeamResult]:
        """The readings of ``count`` encoded images."""
        texts = self._hypotheses(encoded, count, self._search.width, self._constraint)
        chosen = [hypotheses[: self._search.n_best] for hypotheses in texts]
        if self._constraint is None:
            return [BeamResult(hypotheses, None) for hypotheses in chosen]
        free = self._hypotheses(encoded, count, 1, None)
        return [BeamResult(*pair) for pair in zip(chosen, (f[0] for f in free), strict=True)]

    def _decode_for_prior(self, encoded: Any, count: int) -> list[BeamResult]:
        """All texts between which the prior may have to decide."""
        width = max(self._search.width, BEAMS)
        texts = self._hypotheses(encoded, count, width, None, MARGIN)
        return [BeamResult(hypotheses, None) for hypotheses in texts]

    def _hypotheses(
        self,
        encoded: Any,
        count: int,
        width: int,
        constraint: Constraint | None,
        margin: float = math.inf,
    ) -> list[list[Hypothesis]]:
        # The temperature may be another one by now: calibrating tries several.
        options = replace(self._decoding, temperature=self.engine.model.temperature)
        return decode_texts(self.engine, encoded, count, options, width, constraint, margin)

    def _locate(
        self,
        encoded: Any,
        found: Sequence[BeamResult],
        frames: Sequence[Frame],
        size: tuple[int, int],
        attention: bool,
    ) -> Iterator[_Located]:
        """Boxes of the first hypotheses, and maps of attention if they are asked for."""
        interface = self._interface
        labels = padded([_first(result).ids for result in found])
        if interface.loop == "ctc":
            sides = column_boxes(self.engine.scores(encoded), labels, size)
            return ([(box,) for box in boxes] for boxes in boxes_in(frames, sides, size))
        seen = self.engine.attention(encoded, labels)
        maps = attention_maps(seen, interface.grid, interface.special_tokens)
        sides = character_boxes(maps, labels >= 0, size)
        located = boxes_in(frames, sides, size)
        if not attention:
            return ([(box,) for box in boxes] for boxes in located)
        over = zip(located, maps_in(frames, maps), strict=True)
        return (list(zip(boxes, seen, strict=False)) for boxes, seen in over)

    def _reading(self, found: BeamResult, located: _Located | None) -> Reading:
        best = self._one(_first(found), located)
        if found.free:
            best = replace(best, free=self._one(found.free))
        others = tuple(map(self._one, found.hypotheses[1:]))
        return replace(best, alternatives=others) if others else best

    def _one(self, hypothesis: Hypothesis, located: _Located | None = None) -> Reading:
        text = self.charset.decode(hypothesis.ids)
        characters = zip(text, hypothesis.confidences, located or repeat(()), strict=False)
        return Reading(
            text,
            hypothesis.confidence,
            tuple(Character(c, p, *where) for c, p, where in characters),
            prior=hypothesis.prior,
        )


def _first(found: BeamResult) -> Hypothesis:
    return found.hypotheses[0] if found.hypotheses else _NOTHING


def _below(limit: float, found: Sequence[BeamResult], rows: Sequence[int]) -> list[int]:
    """The rows whose first hypothesis is less probable."""
    return [row for row in rows if _first(found[row]).probability < limit]
