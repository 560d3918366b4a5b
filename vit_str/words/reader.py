"""Images -> text: ``vit_str.load().read("word.png").text``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from vit_str.decoding.effort import FAST
from vit_str.decoding.hypotheses import Candidates
from vit_str.decoding.look_alikes import LookAlikes
from vit_str.decoding.prior import WordPrior, prior_of
from vit_str.decoding.readings import Reading, Readings, reading_of
from vit_str.decoding.search import Search
from vit_str.engines.engine import open_engine, torch_engine
from vit_str.engines.opened_once import OpenedOnce
from vit_str.images.image_decoding import DecodedImage, Source, decode
from vit_str.images.refusals import UnreadableImage
from vit_str.scripts.evidence import is_unread
from vit_str.scripts.one_script import reading_in_one_script
from vit_str.scripts.other_scripts import OtherScripts
from vit_str.scripts.registry import check_same_images, choose_weights
from vit_str.words.batch_readers import batch_reader
from vit_str.words.batch_reading import BatchReader, SecondLook
from vit_str.words.description import ReaderDescription
from vit_str.words.long_lines import read_with_parts
from vit_str.words.streaming import read_sources, read_stream
from vit_str.words.writable_texts import WritableTexts

if TYPE_CHECKING:
    import torch
    from jaxtyping import UInt8
    from typing_extensions import TypeIs

    from vit_str.engines.interface import Engine, Model
    from vit_str.images.preprocessing import Preprocessing
    from vit_str.scripts.script_detector import ScriptDetector
    from vit_str.torch_runtime.weights_file import WeightsFile

    Pixels = UInt8[np.ndarray, "batch channel height width"]

Opened = TypeVar("Opened")

_MOST_DECODERS = 4  # threads that decode images, if nobody says how many
_ONE_IMAGE = (str, bytes, bytearray, memoryview)  # which are sequences too


def load(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    effort: str | None = None,
    backend: str = "auto",
    search: Search | None = None,
    threads: int | None = None,
) -> Reader:
    """A reader with the weights of the package (``tiny``), of a file, or of an exported folder.

    Those of the package are the ones that read the language of the search, and larger ones for
    what these doubt, see ``vit_str.scripts.registry.choose_weights``.

    Args:
        name_or_path: see ``vit_str.engines.weights_contents.resolve``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the fastest that is there.
        effort: ``fast`` reads no image a second time, and decodes in parallel if the model can;
            ``careful`` reads doubtful images again if the model asks for it, and decodes step by
            step; None reads as the model was saved.
        backend: ``onnx``, ``torch``, or ``auto`` for what is faster, see ``open_engine``.
        search: which readings to look for; None for the most probable.
        threads: that compute on a CPU; None for ``OMP_NUM_THREADS``, or one per CPU that may be
            used. With torch they are those of the whole process.

    Raises:
        ValueError: no such weights, device or backend, no weights for a language, a file that
            cannot be used, effort from a model that reads in one way only, a search that is not for
            this model, or threads below 1.
    """

    def open_reader(path: str | Path, **others: Any) -> Reader:
        engine = open_engine(path, device, backend, threads)
        return Reader(engine, effort=effort, search=search, **others)

    reader = choose_weights(name_or_path, search).open(open_reader)
    reader.reopen = partial(
        load,
        name_or_path,
        device,
        effort=effort,
        backend=backend,
        search=search,
        threads=threads,
    )
    return reader


class Reader:
    """Reads images with one model.

    Several threads may use one reader. One of `load` can be pickled, as joblib and processes that
    are spawned do: the other process opens the same weights.

    Attributes:
        reopen: opens the same reader again; None if it was made or changed by hand.
        engine: what computes; another reader may use it too.
        charset: the characters that it reads.
        preprocessing: what images go through first.
        provenance: where the weights come from.
        image_size: height and width of the images that the model sees, in pixels.
        maximum_length: most characters of a text.
        has_boxes: whether it can say where characters are.
        is_constrained: whether it reads only what a lexicon, pattern or alphabet allows.
        reads_lines: whether it reads lines of any width, not words.
        language: of the search, which letters that look alike follow.
        effort: how much work a reading may take, see ``load``.

    Args:
        model: an engine; or weights, which are copied and run in torch.
        device: of the weights, see ``load``.
        dtype: number format of the weights; None for bfloat16 or float16 where the device computes
            in it, else float32.
        effort: see ``load``.
        search: see ``load``.
        others: open readers of other scripts, for images whose text is no word of the languages of
            this one; each is called at the first of them.
        detector: tells in which images the other readers may know the letters; None to ask them
            about every text that is no word.
        second: opens a reader of larger weights, for images whose text this one doubts; called at
            the first of them. Without it, this one looks at them again itself.
    """

    def __init__(
        self,
        model: Engine | WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
        *,
        effort: str | None = None,
        search: Search | None = None,
        others: Sequence[Callable[[], Reader]] = (),
        detector: ScriptDetector | None = None,
        second: Callable[[], Reader] | None = None,
    ) -> None:
        if hasattr(model, "recognizer") and not hasattr(model, "encode"):
            model = torch_engine(model, device, dtype)
        self.engine: Engine = model  # type: ignore[assignment]
        self._model: Model = self.engine.model
        interface = self._model.interface
        self.charset = self._model.charset
        self.preprocessing = self._model.preprocessing
        self.provenance = self._model.provenance
        self.reads_lines = self.preprocessing.width_step > 0
        self.image_size = interface.image_size
        self.maximum_length = interface.maximum_length
        self.has_boxes = interface.has_boxes
        search = search or Search()
        self.is_constrained = search.is_constrained
        self.language = search.language
        self.effort = effort
        self._writable = WritableTexts(
            self.charset, None if self.reads_lines else self.maximum_length
        )
        self.reopen: Callable[[], Reader] | None = None
        self._others = tuple(map(OpenedOnce, others))
        self._batches = batch_reader(self.engine, self.encode, search, effort)
        if self._asks_images:
            self._batches = replace(self._batches, detector=detector)
        if second is not None:
            self._batches = replace(self._batches, second=self._second_look(second))

    def __copy__(self) -> Reader:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied.reopen = None  # what is copied is changed then
        return copied

    def __reduce__(self) -> tuple[Callable[[], Reader], tuple[()]]:
        return reopening(self.reopen, "vit_str.load"), ()

    def _second_look(self, open_reader: Callable[[], Reader]) -> SecondLook:
        """A second look at doubtful images, by a reader that is opened at the first of them."""

        def open_batches(first: Preprocessing = self.preprocessing) -> BatchReader:
            reader = open_reader()
            check_same_images(first, reader.preprocessing)
            return reader._batches

        return SecondLook(OpenedOnce(open_batches))

    @overload
    def read(  # type: ignore[overload-overlap]  # a str, a sequence too, is one image
        self, source: Source, batch_size: int = 32, *, boxes: bool = False
    ) -> Reading: ...

    @overload
    def read(
        self,
        source: Sequence[Source],
        batch_size: int = 32,
        *,
        boxes: bool = False,
    ) -> Readings: ...

    def read(
        self,
        source: Source | Sequence[Source],
        batch_size: int = 32,
        *,
        boxes: bool = False,
    ) -> Reading | Readings:
        """Read one image, or a sequence of images into a list of readings in the same order.

        Args:
            source: an image, or a list or other sequence of images.
            batch_size: images that the model reads at once.
            boxes: find out where every character is too, with one more pass of the decoder.

        Returns:
            Text, confidence (0 to 1), and characters, whose boxes are in pixels of the image; of
            several images a list, which ``to_frame`` makes a table of pandas.

        Raises:
            UnreadableImage: for the first image that cannot be read; ``stream`` skips it instead.
            ValueError: an array that is no image, a batch size below 1, or boxes from a model
                whose decoder has no cross-attention.
        """
        if isinstance(source, Iterator) and not hasattr(source, "read"):
            raise ValueError(
                "read takes an image or a list of images; give others to stream"
            )
        if not _are_images(source):
            decoded = decode(source, self.preprocessing)
            read = partial(self.read_decoded, boxes=boxes)
            return read_sources(read, [(source, decoded)])[0]
        readings = Readings()
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
            workers: threads that decode images ahead of the model; None for as many as compute,
                up to 4.
            boxes: see ``read``.

        Raises:
            ValueError: an array that is no image, a batch size or workers below 1, or boxes from
                a model that does not say where characters are.
        """
        if boxes:
            self.require_boxes()  # before anything is read
        if batch_size < 1 or (workers is not None and workers < 1):
            raise ValueError(
                f"batch_size and workers must be 1 or more, found {batch_size} and "
                f"{workers}"
            )
        if workers is None:
            workers = min(_MOST_DECODERS, self.engine.threads)
        read = partial(self.read_decoded, boxes=boxes)
        return read_stream(read, sources, self.preprocessing, batch_size, workers)

    def verify(
        self,
        images: Sequence[Source],
        texts: Sequence[Sequence[str]],
        batch_size: int = 32,
    ) -> list[list[Reading]]:
        """How probable given texts are for each of some images, as readings of these texts.

        The probabilities are exact, in one call of the decoder for a batch. The pixels alone
        decide: no image is read again, and the frequency of words does not count.

        Args:
            images: to look at.
            texts: for each image, the texts that it may say; characters that only look like those
                of the charset are taken for them, see ``Charset.fold``.
            batch_size: images that the model looks at once.

        Returns:
            For each image, a reading of each text with its confidence, 0 to 1.

        Raises:
            UnreadableImage: for the first image that cannot be read.
            ValueError: for a text that the model cannot write: with characters that the charset
                lacks, or as long as ``maximum_length``.
        """
        labels = [list(map(self._writable.label, those)) for those in texts]
        found: list[list[Reading]] = []
        for start in range(0, len(images), batch_size):
            decoded = [
                decode(image, self.preprocessing)
                for image in images[start : start + batch_size]
            ]
            judged = self._batches.verify(decoded, labels[start : start + batch_size])
            for hypotheses in judged:
                candidates = (Candidates([each]) for each in hypotheses)
                found.append([reading_of(each, self.charset) for each in candidates])
        return found

    def can_write(self, text: str) -> bool:
        """Whether it is a text that the model may write, see `verify`."""
        return text in self._writable

    def describe(self) -> ReaderDescription:
        """Model, backend and device of this reader."""
        return ReaderDescription.of(self.engine, self._model.temperature)

    def with_temperature(self, temperature: float) -> Reader:
        """The same reader with another temperature, which computes with the same engine.

        Larger weights for what it doubts keep their own.

        Args:
            temperature: divides scores before they become probabilities.

        Raises:
            ValueError: a temperature that is not above 0.
        """
        reader = copy.copy(self)
        reader._model = self._model.with_temperature(temperature)
        reader._batches = self._batches.with_temperature(temperature)
        return reader

    def summing_look_alikes(self) -> Reader:
        """The same reader, which judges dashes, zeros and quotation marks by their kind.

        Which sign of its kind each is follows from what stands around it. It is so for models of
        CTC without a search; others stay as they are.
        """
        reader = copy.copy(self)
        look_alikes = LookAlikes(self.charset)
        reader._batches = self._batches.with_decoding(look_alikes=look_alikes)
        return reader

    def without_augmentation(self) -> Reader:
        """The same reader, for print: no augmented images, no larger weights; with the same engine.

        The frequency of words still decides between the texts that an image leaves.
        """
        reader = self.with_rereading(rounds=())
        reader._batches = replace(reader._batches, second=None)
        return reader

    def with_rereading(self, **changes: Any) -> Reader:
        """The same reader, which reads doubtful images again in another way; with the same engine.

        Args:
            changes: attributes of ``vit_str.decoding.effort.RereadingOptions`` by name.

        Raises:
            TypeError: there is no such attribute.
        """
        reader = copy.copy(self)
        reader._batches = self._batches.with_rereading(**changes)
        return reader

    def at_one_look(self) -> Reader:
        """The same reader, which reads no image again; with the same engine."""
        reader = copy.copy(self)
        reader._batches = self._batches.at_one_look()
        return reader

    def open_others(self) -> None:
        """Open the other readers now, if there are any, that are else opened at the first doubt."""
        for open_other in self._others:
            open_other()
        self._batches.open_second()

    def require_boxes(self, attention: bool = False) -> None:
        """Refuse boxes, or attention, from a model that does not say where characters are.

        Raises:
            ValueError: for a model without cross-attention, or one of CTC for attention.
        """
        interface = self._model.interface
        if not (interface.has_cross_attention if attention else interface.has_boxes):
            raise ValueError(
                f"{interface.decoder} has no cross-attention, which tells where a "
                f"character is: no {'attention' if attention else 'boxes'}, use a "
                "model with a Transformer decoder"
            )

    def pixels(self, source: Source) -> UInt8[np.ndarray, "channel height width"]:
        """One image as the model gets it, before normalization."""
        return decode(source, self.preprocessing).pixels

    def encode(self, pixels: Pixels) -> Any:
        """The encoder's output for images of the size of the model, as the engine keeps it."""
        return self.engine.encode(self.preprocessing.normalize_array(pixels))

    def read_pixels(self, pixels: Pixels, *, boxes: bool = False) -> list[Reading]:
        """Read images that are on the size of the model already, for example rendered ones."""
        _, _, height, width = pixels.shape
        window = (0, 0, width, height)
        size = (height, width)
        images = [DecodedImage(image, size, window) for image in np.asarray(pixels)]
        return self.read_decoded(images, boxes=boxes)

    def read_decoded(
        self,
        images: Sequence[DecodedImage],
        *,
        boxes: bool = False,
        attention: bool = False,
    ) -> list[Reading]:
        """Read images of `decode` together.

        A tall image was turned by a quarter. Its line may as well run the other way: it is read
        upside down too, and what was read more surely is kept. Doubtful images are read again, or
        by larger weights if there are such.
        """
        if boxes or attention:
            self.require_boxes(attention)
        can_join = self.has_boxes and not self.is_constrained
        if can_join and any(image.parts for image in images):
            read = partial(self._read_whole, attention=attention)
            readings = read_with_parts(read, images, boxes)
        else:
            readings = self._read_whole(images, boxes=boxes, attention=attention)
        if not self.is_constrained:  # only some texts may be read
            spelled = partial(
                reading_in_one_script, charset=self.charset, language=self.language
            )
            readings = list(map(spelled, readings))
        readings = self._with_other_scripts(images, readings, boxes, attention)
        return list(map(self._without_unread, readings))

    def _without_unread(self, reading: Reading) -> Reading:
        """A reading; without its text if that is in a script that no reader here knows."""
        is_asked_for = self.is_constrained or self.language is not None
        if is_asked_for or not is_unread(reading, self.known_words):
            return reading
        return replace(reading, text="", characters=(), alternatives=())

    def _with_other_scripts(
        self,
        images: Sequence[DecodedImage],
        readings: list[Reading],
        boxes: bool,
        attention: bool,
    ) -> list[Reading]:
        """Readings; those of readers of other scripts where images are of these."""
        if not self._others:
            return readings
        scripts = OtherScripts(self, self._others, boxes, attention)
        if self.language:
            return scripts.of_languages(images, readings, self.language)
        return scripts.where_seen(images, readings) if self._asks_images else readings

    @property
    def _asks_images(self) -> bool:
        """Whether images tell which reader is meant: nobody says, and they may be read twice."""
        return not self.language and self.effort != FAST

    @cached_property
    def known_words(self) -> WordPrior | None:
        """The words of the languages that the weights were trained on; None without lists."""
        return prior_of(None, self.provenance.get("language"))

    def _read_whole(
        self, images: Sequence[DecodedImage], *, boxes: bool, attention: bool
    ) -> list[Reading]:
        """Read images of `decode`, each as a whole."""
        return self._batches.read(images, boxes, attention)


def reopening(reopen: Callable[[], Opened] | None, name: str) -> Callable[[], Opened]:
    """The state of a reader in a pickle.

    Args:
        reopen: opens the same reader again.
        name: of what opens readers that can be pickled.

    Raises:
        TypeError: nothing does.
    """
    if reopen is None:
        raise TypeError(f"only readers of {name} can be pickled, as it returns them")
    return reopen


def _are_images(source: Source | Sequence[Source]) -> TypeIs[Sequence[Source]]:
    """Whether it is a sequence of images, not one."""
    return isinstance(source, Sequence) and not isinstance(source, _ONE_IMAGE)
