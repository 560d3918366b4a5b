"""Labeled crops of one's own as data of training, with rendered text among them."""

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import LightningDataModule

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.datasets import LabeledWord, Mixture, Rules, WordSource, open_words
from vit_str.datasets.augmentation import Augmentation
from vit_str.datasets.source import Skipped
from vit_str.images.preprocessing import TALL, Preprocessing
from vit_str.seeds import shuffled
from vit_str.torch_runtime.ranges import WORDS, Images, Labels
from vit_str.training.console import report
from vit_str.training.crops import Crops, CropSampler, HeldOut, digest
from vit_str.training.data import Batches, RenderedLines, RenderedWords
from vit_str.training.loader import OwnStream, SkippedWords
from vit_str.training.workers import check_workers, default_workers

_LOOKED_AT = 1000  # words
_RENDERED_LIMIT = 512  # words to validate on

Chosen = tuple[WordSource, list[int]]
"""A data set, and the indices of some of its words."""


class OwnWords(LightningDataModule):
    """Crops of words with labels, from files of any format, and a share of rendered words.

    For a model of lines they are lines; narrower ones of a batch are continued to the right with
    their last column.

    The stream is numbered over all devices: which images a batch holds, and how they are augmented,
    depends on the seed and its number only. So it resumes exactly where a run was cut, with other
    devices too, and is the same for every number of workers. Words that cannot be used are skipped,
    counted and listed in ``skipped.tsv`` beside the logs.

    Args:
        sources: data sets to train on, in any format of `vit_str.datasets`.
        shares: how often words of each source are taken; by default every word equally often.
        validation: data sets to validate on. Their words are not trained on, wherever they are.
        validation_share: without ``validation``, the share of the sources to hold out for it. Which
            images these are is decided by their bytes: always the same, whatever the seed.
        validation_limit: most words of each set to validate on, spread evenly; all if None.
        augment: ``none``, ``light``, ``strong``, or ``module.function`` of your own.
        rendered_share: from 0 to below 1, how much of what is trained on is rendered text.
        rendered_limit: number of rendered words to validate on; by default 512, or none if
            ``rendered_share`` is 0. With both 0 no font is needed or drawn.
        easy_images: images of the run over which rendered words go from easy to hard.
        batch_size: words in a step, on each device, rendered ones included.
        seed: of the stream.
        workers: processes that load words for each device; by default half of the processors, at
            most 8.
        charset: the characters to read; linked to the model's.
        image_size: height and width, linked to the encoder's.
        grid: rows and columns of tokens, linked to the encoder's.
        maximum_length: most characters in a word; linked to the decoder's.
        width_step: of lines, linked to the encoder's; 0 for words.
        rendered: all else that `RenderedWords` takes: fonts, texts, ingredients and so on.
    """

    def __init__(
        self,
        sources: list[str],
        shares: list[float] | None = None,
        validation: list[str] | None = None,
        validation_share: float = 0.1,
        validation_limit: int | None = 500,
        augment: str = "light",
        rendered_share: float = 0.0,
        rendered_limit: int | None = None,
        easy_images: int = 0,
        batch_size: int = 64,
        seed: int = 1,
        workers: int | None = None,
        charset: str = PRINTABLE_ASCII,
        image_size: tuple[int, int] = (32, 128),
        grid: tuple[int, int] = (4, 16),
        maximum_length: int = 25,
        width_step: int = 0,
        **rendered: Any,
    ) -> None:
        super().__init__()
        _check(rendered_share, validation_share, batch_size, workers)
        if rendered_limit is None:
            rendered_limit = _RENDERED_LIMIT if rendered_share else 0
        self.batch_size = batch_size
        self.seed = seed
        self.workers = workers
        self.charset = Charset(charset)
        self.grid = grid
        self.rendered_share = rendered_share
        self.validation_limit = validation_limit
        self.preprocessing = _preprocessing(image_size, width_step)
        augmentation = Augmentation(augment, seed)
        self.mixture = Mixture([open_words(source) for source in sources], shares, seed)
        self.rendered: RenderedWords | None = None
        if rendered_share or rendered_limit:
            shared: dict[str, Any] = {
                "batch_size": batch_size,
                "seed": seed,
                "charset": charset,
                "image_size": image_size,
                "grid": grid,
                "maximum_length": maximum_length,
                "easy_images": easy_images,
                "rendered_limit": rendered_limit,
            }
            # Called by their names: the command line finds their options so.
            if width_step:
                self.rendered = RenderedLines(
                    real=None, real_limit=None, **shared, **rendered
                )
            else:
                self.rendered = RenderedWords(
                    real=None, real_limit=None, **shared, **rendered
                )
        self.rendered_limit = rendered_limit
        held_out, self._validated = self._hold_out(validation, validation_share)
        self.crops = self._crops(augmentation, held_out, maximum_length)
        self._skipped: SkippedWords | None = None

    def _crops(
        self, augmentation: Augmentation, held_out: HeldOut, longest: int
    ) -> Crops:
        """The crops to train on, of sources that all have some."""
        rules = Rules(self.charset, longest)
        for source in self.mixture.sources:
            _check_usable(source, rules, held_out)
        return Crops(
            mixture=self.mixture,
            rules=rules,
            held_out=held_out,
            augmentation=augmentation,
            preprocessing=self.preprocessing,
        )

    def _hold_out(
        self,
        validation: list[str] | None,
        share: float,
    ) -> tuple[HeldOut, list[Chosen]]:
        """The words held out of training, and those to validate on in every set."""
        if validation is None:
            return self._hold_out_share(share)
        return self._hold_out_sets(validation)

    def _hold_out_share(self, share: float) -> tuple[HeldOut, list[Chosen]]:
        """A share of all sources is not trained on; up to a limit of it to validate on."""
        held_out = HeldOut(share)
        if not share:
            return held_out, []
        sets = []
        for source in self.mixture.sources:
            length = len(source)
            order = (shuffled(index, length, 0) for index in range(length))
            indices = islice(held_out.indices(source, order), self.validation_limit)
            sets.append((source, list(indices)))
        if not any(indices for _, indices in sets):
            raise ValueError(
                f"validation_share {share:g} holds out none of the words: "
                "raise it, set it to 0 to validate on none, or give sets (validation)"
            )
        return held_out, sets

    def _hold_out_sets(self, validation: list[str]) -> tuple[HeldOut, list[Chosen]]:
        """The words of some sets are not trained on, wherever they are."""
        limit = self.validation_limit
        sets = []
        digests = set()
        for path in validation:
            source = open_words(path)
            step = max(1, len(source) // (limit or len(source) or 1))
            indices = list(range(0, len(source), step))[:limit]
            sets.append((source, indices))
            for index in indices:
                word = source[index]
                if isinstance(word, LabeledWord):
                    digests.add(digest(word.image))
        return HeldOut(0, frozenset(digests)), sets

    @property
    def provenance(self) -> str:
        """Where the images of a run come from, for its weights files."""
        names = ", ".join(source.path.name for source in self.mixture.sources)
        return f"own crops: {names}; {self.rendered_share:.0%} rendered"

    def prepare_data(self) -> None:
        """Build the atlas of fonts once, in one process."""
        if self.rendered:
            self.rendered.prepare_data()

    def setup(self, stage: str) -> None:
        """Make ready to render, and say what there is."""
        assert self.trainer is not None
        if self.rendered:
            self.rendered.trainer = self.trainer
            self.rendered.setup(stage)
        folder = Path(self.trainer.log_dir or self.trainer.default_root_dir)
        sources = self.mixture.sources
        self._skipped = SkippedWords(folder, self.trainer.global_rank)
        parts = [
            f"{source.path} ({len(source):,} words, {share:.0%})"
            for source, share in zip(sources, self.mixture.shares, strict=True)
        ]
        validated = sum(len(indices) for _, indices in self._validated)
        report(
            f"own words from {', '.join(parts)}; {self.rendered_share:.0%} of the "
            f"images are rendered; validated on {validated:,} crops"
        )

    def train_dataloader(self) -> OwnStream:
        """The stream from where the run stands, this device's share of it."""
        assert self.trainer is not None and self._skipped is not None
        seen: int = self.trainer.lightning_module.count.images_seen  # type: ignore
        world = self.trainer.world_size
        rank = self.trainer.global_rank
        size = self.batch_size
        sampler = CropSampler(
            start=seen + rank * size,
            stride=world * size,
            batch_size=size,
            rendered_share=self.rendered_share,
        )
        rendered = None
        if self.rendered and self.rendered_share:
            rendered = self.rendered.train_dataloader()
        return OwnStream(
            crops=self.crops,
            sampler=sampler,
            charset=self.charset,
            device=self.trainer.strategy.root_device,
            workers=default_workers(world) if self.workers is None else self.workers,
            token_count=self.grid[0] * self.grid[1],
            on_skip=self._skipped.add,
            rendered=rendered,
        )

    def words_for_ranges(
        self, device: torch.device | str
    ) -> Iterator[tuple[Images, Labels]]:
        """Batches of the words that would come next, with the ids of their texts."""
        count = math.ceil(WORDS / self.batch_size)
        for batch in islice(self.train_dataloader(), count):
            yield batch.images.to(device), batch.labels.to(device)

    def val_dataloader(self) -> list[Batches]:
        """Rendered words in fonts that training never sees, then crops that it never sees."""
        sets: list[Batches] = []
        if self.rendered and self.rendered_limit:
            sets += self.rendered.val_dataloader()
        names = ["rendered"]
        for source, indices in self._validated:
            name = source.path.resolve().stem
            if name in names:
                name = f"{name}_{len(names)}"
            names.append(name)
            batches = self._batches(name, source, indices)
            if len(batches):
                sets.append(batches)
        return sets

    def _batches(self, name: str, source: WordSource, indices: list[int]) -> Batches:
        """Words as they are read, those that the charset cannot write included: they are missed."""
        rules = Rules()
        images = []
        labels = []
        for index in indices:
            word = source[index]
            image = word if isinstance(word, Skipped) else rules.decode(word)
            if isinstance(word, Skipped) or isinstance(image, Skipped):
                continue  # `vit-str data inspect` lists them
            images.append(self.preprocessing.pixels(image))
            labels.append(word.label)
        return Batches.of(name, images, labels)

    def teardown(self, stage: str) -> None:
        """Say what was skipped."""
        if self._skipped:
            self._skipped.close()


def _preprocessing(image_size: tuple[int, int], width_step: int) -> Preprocessing:
    """Preprocessing of lines, which are never turned, or of words."""
    turn_above = None if width_step else TALL
    return Preprocessing(*image_size, turn_above=turn_above, width_step=width_step)


def _check(
    rendered_share: float,
    held_out: float,
    batch_size: int,
    workers: int | None,
) -> None:
    if not 0 <= rendered_share < 1:
        raise ValueError(
            f"rendered_share must be from 0 to below 1, found {rendered_share:g}; "
            "for rendered words alone use vit_str.training.RenderedWords"
        )
    if not 0 <= held_out < 1:
        raise ValueError(
            f"validation_share must be from 0 to below 1, found {held_out:g}"
        )
    if batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more, found {batch_size}")
    check_workers(workers or 0)


def _check_usable(source: WordSource, rules: Rules, held_out: HeldOut) -> None:
    """Refuse a source at once from which a run would wait for words without end."""
    first: Skipped | None = None
    looked_at = min(len(source), _LOOKED_AT)
    for index in range(looked_at):
        word = source[index]
        if isinstance(word, LabeledWord) and word.image in held_out:
            continue
        image = word if isinstance(word, Skipped) else rules.decode(word)
        if not isinstance(image, Skipped):
            return
        first = first or image
    raise ValueError(
        f"{source.path}: none of the first {looked_at:,} words can be trained on; "
        f"{first or 'all are held out for validation'}"
    )
