"""Data of training: an endless rendered stream of words or lines, and some to validate on."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count, groupby
from pathlib import Path
from typing import Any

import torch
from jaxtyping import UInt8
from lightning.pytorch import LightningDataModule
from torch import Tensor

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.datasets.folder import FolderReader
from vit_str.images.loading import load_image
from vit_str.images.preprocessing import TALL, Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.kit import Kit
from vit_str.synthesis.lexicon import WEIGHTS, Lexicon
from vit_str.synthesis.line_texts import LineTexts, book_style
from vit_str.synthesis.materials import InstalledMaterials, Materials
from vit_str.synthesis.old_print import OldPrint
from vit_str.synthesis.own_texts import OwnStrings, OwnTexts, Texts
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.torch_runtime.ranges import Images, Labels, batches_of
from vit_str.training.ahead import AHEAD, made_ahead
from vit_str.training.workers import check_workers, loaded_batches

VALIDATION_SEED_OFFSET = 1 << 20
"""From the seed of what is trained on to that of rendered words to validate on."""
_VALIDATION_BATCH = 64  # words
_READ_TOGETHER = 512  # words, on a GPU
_LONGEST_WORD = 25  # characters, of the words of a line
_WORDS_TOGETHER = 32_768
"""Drawn at once on a GPU: eight chunks, so that their words are of similar length."""
_MOST_TOGETHER = 32  # batches


@dataclass(frozen=True, slots=True)
class LabeledPixels:
    """Images with their texts, from one source."""

    source: str
    images: UInt8[Tensor, "batch 3 height width"]
    labels: list[str]

    def to(self, device: torch.device | str) -> "LabeledPixels":
        """The same words on another device."""
        return replace(self, images=self.images.to(device))


class Batches(list[LabeledPixels]):
    """A loader over batches that are in memory; a mere list would be several loaders."""

    @classmethod
    def of(cls, source: str, images: list[Tensor], labels: list[str]) -> "Batches":
        """Batches of the validation from one source, of images of one width each."""
        order = sorted(range(len(images)), key=lambda index: images[index].shape[-1])
        batches = []
        for _, group in groupby(order, lambda index: images[index].shape[-1]):
            indices = list(group)
            for start in range(0, len(indices), _VALIDATION_BATCH):
                chosen = indices[start : start + _VALIDATION_BATCH]
                batch = LabeledPixels(
                    source=source,
                    images=torch.stack([images[index] for index in chosen]),
                    labels=[labels[index] for index in chosen],
                )
                batches.append(batch)
        return cls(batches)

    def joined(self, most: int) -> "Batches":
        """The same words in fewer batches, of up to so many: where neighbors are of one width."""
        groups: list[list[LabeledPixels]] = []
        for batch in self:
            group = groups[-1] if groups else []
            images = sum(len(each.labels) for each in (*group, batch))
            if group and images <= most and _are_alike(group[0], batch):
                group.append(batch)
            else:
                groups.append([batch])
        return Batches(map(_as_one, groups))


def _are_alike(one: LabeledPixels, other: LabeledPixels) -> bool:
    is_as_wide = one.images.shape[-1] == other.images.shape[-1]
    return is_as_wide and one.source == other.source


def _as_one(batches: list[LabeledPixels]) -> LabeledPixels:
    images = torch.cat([batch.images for batch in batches])
    labels = list(chain.from_iterable(batch.labels for batch in batches))
    return replace(batches[0], images=images, labels=labels)


@dataclass(frozen=True, slots=True)
class RenderedStream:
    """One device's share of an endless stream; every iteration starts at the same batch.

    ``stream[number]`` is the batch of a number, counted from the first, where the renderer draws.
    """

    renderer: Renderer | TextLineRenderer  # what draws: on the CPU if workers do
    device: torch.device  # that trains
    batch_size: int  # words in a batch
    seed: int  # of the stream
    first: int  # number of the first batch
    stride: int  # distance between batches, the number of devices
    images: int  # seen before the first batch, by this and all other devices
    easy_images: int  # images over which words go from easy to hard
    together: int = 1  # batches drawn at once
    workers: int = 0  # processes that draw, each a batch at a time

    def __iter__(self) -> Iterator[RenderedBatch]:
        # While a group is drawn, the one before it must last.
        ahead = max(AHEAD, self.together)
        return made_ahead(self._batches(), self.device, ahead)

    def _batches(self) -> Iterator[RenderedBatch]:
        renderer = self.renderer
        if self.workers:
            return self._moved()
        if self.together > 1 and isinstance(renderer, Renderer):
            return self._groups(renderer)
        return map(self.__getitem__, count())

    def __getitem__(self, number: int) -> RenderedBatch:
        index = self.first + number * self.stride
        difficulty = self.difficulty(self._seen(number))
        return self.renderer.batch(self.batch_size, self.seed, index, difficulty)

    def _moved(self) -> Iterator[RenderedBatch]:
        """Drawn by processes on the CPU, copied to the device."""
        pinned = self.device.type == "cuda"
        drawn = loaded_batches(self, count(), self.workers, pinned)
        return (batch.to(self.device, non_blocking=True) for batch in drawn)

    def _groups(self, renderer: Renderer) -> Iterator[RenderedBatch]:
        """The same texts, drawn in groups that are the same wherever the stream begins.

        The group in which it begins is drawn once more.
        """
        place, remainder = divmod(self.first, self.stride)
        for group in count(place // self.together):
            places = range(group * self.together, (group + 1) * self.together)
            indices = [each * self.stride + remainder for each in places]
            difficulty = self.difficulty(self._seen(places[0] - place))
            drawn = renderer.batches(self.batch_size, self.seed, indices, difficulty)
            yield from drawn[max(0, place - places[0]) :]

    def _seen(self, number: int) -> int:
        """Images of the run up to the end of a batch, counted from the first."""
        seen = self.images + (number * self.stride + 1) * self.batch_size
        return max(0, seen)

    def difficulty(self, seen: int) -> float:
        """The difficulty of a batch once so many images of the run have been seen."""
        return min(1.0, seen / self.easy_images) if self.easy_images else 1.0


def drawn_together(batch_size: int, device: torch.device) -> int:
    """Batches of words that are drawn at once on a device: on a CPU each by itself."""
    if device.type == "cpu":
        return 1
    return max(1, min(_MOST_TOGETHER, _WORDS_TOGETHER // batch_size))


class RenderedWords(LightningDataModule):
    """Words rendered on the training device; held-out fonts and real crops to validate on.

    Args:
        batch_size: words in a step, on each device.
        seed: of the stream.
        charset: the characters to write; linked to the model's.
        image_size: height and width, linked to the encoder's.
        grid: rows and columns of tokens, linked to the encoder's.
        language: of the words: codes that wordfreq knows, with weights, as in ``en*8+de+fr``.
        words: a word list or text of your own instead.
        texts: patterns and files of your own, whose texts are drawn instead of all others.
        text: share of every type of text, by name as in `Lexicon`; what is not named keeps its own.
        maximum_length: most characters in a word; linked to the decoder's.
        fonts: folders of fonts instead of the system's.
        ingredients: strengths of the effects.
        pictures: folders of photographs to use as backgrounds.
        kit: a file of ``vit-str kit`` to take fonts, lists of words and pictures from, in place of
            those of this machine.
        easy_images: number of images over which words go from easy to hard.
        workers: processes that draw on the CPU for each device, so that a GPU only trains; with 0
            the device that trains draws. Meant for lines, which a GPU draws slowly.
        real: folders of labelled crops to validate on, each with a ``labels.tsv``.
        real_limit: most crops of each folder to validate on, spread evenly; all if None.
        rendered_limit: number of rendered words to validate on.

    Raises:
        ValueError: there are no fonts, or the kit is none for this configuration.
    """

    provenance = "text rendered by vit-str"

    def __init__(
        self,
        batch_size: int = 64,
        seed: int = 1,
        charset: str = PRINTABLE_ASCII,
        image_size: tuple[int, int] = (32, 128),
        grid: tuple[int, int] = (4, 16),
        language: str = "en",
        words: Path | None = None,
        texts: OwnTexts | None = None,
        text: dict[str, float] | None = None,
        maximum_length: int = 25,
        fonts: list[Path] | None = None,
        ingredients: Ingredients | None = None,
        pictures: list[Path] | None = None,
        kit: Path | None = None,
        easy_images: int = 200_000,
        workers: int = 0,
        real: list[Path] | None = None,
        real_limit: int | None = 500,
        rendered_limit: int = 512,
    ) -> None:
        super().__init__()
        check_workers(workers)
        self.workers = workers
        self.batch_size = batch_size
        self.seed = seed
        self.charset = Charset(charset)
        self.language = None if words else language
        self.image_size = image_size
        self.grid = grid
        self.materials: Materials = (
            Kit(kit) if kit else InstalledMaterials(fonts, pictures)
        )
        self.lexicon = lexicon = Lexicon(
            self.charset,
            language,
            words,
            weights=dict(WEIGHTS) | (text or {}),
            maximum_length=maximum_length,
            word_lists=self.materials.word_lists,
        )
        self.strings: Texts = lexicon
        if texts is not None:
            self.strings = OwnStrings(texts, self.charset, maximum_length, lexicon)
        self.ingredients = ingredients
        self.easy_images = easy_images
        self.pictures = self.materials.pictures
        self.real = [FolderReader(folder) for folder in real or []]
        self.real_limit = real_limit
        self.rendered_limit = rendered_limit
        self._preprocessing = Preprocessing(*image_size, turn_above=TALL)
        self._validation_batch = _VALIDATION_BATCH
        self._atlas: GlyphAtlas | None = None
        self._start = (0, 0)

    def prepare_data(self) -> None:
        """Build the atlas once, in one process."""
        self.materials.atlas(self.charset)

    def setup(self, stage: str) -> None:
        """Load the atlas."""
        self._atlas = self.materials.atlas(self.charset)

    def _renderer(self, atlas: GlyphAtlas) -> Renderer | TextLineRenderer:
        return Renderer(
            atlas,
            self.strings,
            image_size=self.image_size,
            grid=self.grid,
            ingredients=self.ingredients,
            pictures=self.pictures,
        )

    def training_renderer(
        self,
        device: torch.device | str,
    ) -> Renderer | TextLineRenderer:
        """The renderer of the words to train on, on a device; after `setup`."""
        assert self._atlas is not None
        return self._renderer(self._atlas.training().to(device))

    def words_for_ranges(
        self, device: torch.device | str
    ) -> Iterator[tuple[Images, Labels]]:
        """Batches of words as in training, with the ids of their texts, see `measure_ranges`."""
        return batches_of(self.training_renderer(device))

    def train_dataloader(self) -> RenderedStream:
        """The stream from where the run stands, this device's share of it."""
        assert self.trainer is not None
        device = self.trainer.strategy.root_device
        drawing_device = torch.device("cpu") if self.workers else device
        renderer = self.training_renderer(drawing_device)
        rank = self.trainer.global_rank
        images, batches = self._position()
        self._start = (images, batches)
        return RenderedStream(
            renderer=renderer,
            device=device,
            batch_size=self.batch_size,
            seed=self.seed,
            first=batches + rank,
            stride=self.trainer.world_size,
            images=images + rank * self.batch_size,
            easy_images=self.easy_images,
            together=drawn_together(self.batch_size, drawing_device),
            workers=self.workers,
        )

    def _position(self) -> tuple[int, int]:
        """Images seen and batches of the stream used up, when the batch size may have changed.

        A number of the stream stands for a batch of any size, so it is never used twice.
        """
        assert self.trainer is not None
        seen, used = self._start
        images: int = self.trainer.lightning_module.count.images_seen  # type: ignore
        new = math.ceil((images - seen) / self.batch_size)
        least = math.ceil(images / self.batch_size)
        return images, max(used + new, least)

    def state_dict(self) -> dict[str, Any]:
        """The position in the stream, for runs that resume with batches of another size."""
        images, batches = self._position()
        return {"images": images, "batches": batches}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume where the earlier sessions ended."""
        self._start = state_dict["images"], state_dict["batches"]

    def val_dataloader(self) -> list[Batches]:
        """Rendered words in fonts that training never sees, then every folder of real crops."""
        sets = [self._rendered(), *map(self._crops, self.real)]
        trainer = self.trainer
        if trainer is None or trainer.strategy.root_device.type == "cpu":
            return sets
        return [batches.joined(_READ_TOGETHER) for batches in sets]

    def _rendered(self) -> Batches:
        assert self._atlas is not None
        renderer = self._renderer(self._atlas.held_out())
        seed = self.seed + VALIDATION_SEED_OFFSET
        batches = []
        for index in range(math.ceil(self.rendered_limit / self._validation_batch)):
            batch = renderer.batch(self._validation_batch, seed, index)
            labels = [self.charset.decode(row) for row in batch.labels.tolist()]
            batches.append(LabeledPixels("rendered", batch.images, labels))
        return Batches(batches)

    def _crops(self, folder: FolderReader) -> Batches:
        files = folder.files()
        limit = self.real_limit or len(files.paths) or 1
        step = max(1, len(files.paths) // limit)
        images = []
        labels = []
        words = list(zip(files.paths, files.labels, strict=True))
        for path, label in words[::step][:limit]:
            with suppress(UnreadableImage):  # `vit-str evaluate` reports them
                images.append(self._preprocessing.pixels(load_image(path)))
                labels.append(label)
        return Batches.of(folder.name, images, labels)


class RenderedLines(RenderedWords):
    """Rendered lines of print and of signs; held-out fonts and real lines to validate on.

    Args:
        batch_size: lines in a step, on each device.
        charset: the characters to write, the space among them; linked to the model's.
        language: of the words, as for `RenderedWords`.
        image_size: the height, and the largest width; linked to the encoder's.
        grid: columns of features of the widest line; linked to the encoder's.
        maximum_length: linked to the decoder's; lines are as long as their width allows.
        width_step: linked to the encoder's.
        words: a word list or text of your own instead.
        old_print: how much is print of before 1900, Fraktur above all; none if None.
        others: all else that `RenderedWords` takes.
    """

    def __init__(
        self,
        batch_size: int = 32,
        charset: str = PRINTABLE_ASCII,
        language: str = "en",
        image_size: tuple[int, int] = (32, 1600),
        grid: tuple[int, int] = (1, 800),
        maximum_length: int = 250,
        width_step: int = 32,
        words: Path | None = None,
        old_print: OldPrint | None = None,
        **others: Any,
    ) -> None:
        super().__init__(
            batch_size=batch_size,
            charset=charset,
            language=language,
            image_size=image_size,
            grid=grid,
            maximum_length=_LONGEST_WORD,
            words=words,
            **others,
        )
        if others.get("texts") is not None:
            raise ValueError(
                "patterns and texts alone are drawn as words, not as lines; give lines "
                "a list of words (data.init_args.words)"
            )
        self._preprocessing = Preprocessing(*image_size, width_step=width_step)
        self._validation_batch = batch_size
        word_lists = self.materials.word_lists
        self.texts = LineTexts(
            self.charset, self.lexicon, language, words, word_lists=word_lists
        )
        self.old_share = old_print.share if old_print else 0.0
        self.old_texts = self._old_texts(old_print.language) if old_print else None

    def _old_texts(self, language: str) -> LineTexts:
        word_lists = self.materials.word_lists
        return LineTexts(
            self.charset,
            self.lexicon,
            language,
            style=book_style(),
            word_lists=word_lists,
        )

    def _renderer(self, atlas: GlyphAtlas) -> TextLineRenderer:
        height, widest = self.image_size
        stride = widest // self.grid[1]
        return TextLineRenderer(
            atlas,
            self.texts,
            height=height,
            widest=widest,
            stride=stride,
            pictures=self.pictures,
            old_texts=self.old_texts,
            old_share=self.old_share,
        )
