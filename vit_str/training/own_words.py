"""Labeled crops of one's own as data of training, with rendered words among them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import LightningDataModule
from lightning.pytorch.utilities import rank_zero_info

from vit_str.charset import PRINTABLE_ASCII, Charset
from vit_str.datasets import IndexedSource, LabeledWord, Mixture, Rules, SkipReport, open_words
from vit_str.datasets.augmentation import Augmentation
from vit_str.datasets.source import Skipped
from vit_str.images import TALL, Preprocessing
from vit_str.seeds import shuffled
from vit_str.training.crops import (
    Crops,
    HeldOut,
    Numbers,
    digest,
    held_out_places,
)
from vit_str.training.data import Batches, LabeledPixels, RenderedWords
from vit_str.training.loader import OwnStream, default_workers
from vit_str.training.unusable import UnusableWords

_VALIDATION_BATCH = 64
_LOOKED_AT = 1000


class OwnWords(LightningDataModule):
    """Crops of words with labels, from files of any format, and a share of rendered words.

    The stream is numbered over all devices: which images a batch holds, and how they are changed,
    depends on the seed and its number only. So it goes on exactly where a run was cut, with other
    devices too, and is the same for every number of workers. Words that cannot be used are left
    out, counted and listed in ``skipped.tsv`` beside the logs.

    Args:
        sources: data sets to train on, in any format that can be read in any order.
        shares: how often words of each source are taken; by default every word equally often.
        validation: data sets to judge on. Their words are not trained on, wherever they are.
        validation_share: without ``validation``, the share of the sources to hold out for it. Which
            images these are is decided by their bytes: always the same, whatever the seed.
        validation_limit: most words of each set to judge on, spread evenly; all if None.
        augment: ``none``, ``light``, ``strong``, or a policy of your own as a YAML file.
        rendered_share: from 0 to below 1, how much of what is trained on is rendered text.
        rendered_limit: number of rendered words to judge on.
        easy_images: images of the run over which rendered words go from easy to hard.
        batch_size: words in a step, on each device, rendered ones included.
        seed: of the stream.
        workers: processes that load words for each device; by default half of the processors, at
            most 8.
        charset: the characters to read; linked to the model's.
        image_size: height and width, linked to the encoder's.
        grid: rows and columns of tokens, linked to the encoder's.
        maximum_length: most characters in a word; linked to the decoder's.
        rendered: all else that `RenderedWords` takes: fonts, texts, ingredients and so on.

    Raises:
        ValueError: a source or policy cannot be used, or no word of a source.
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
        rendered_limit: int = 512,
        easy_images: int = 0,
        batch_size: int = 64,
        seed: int = 1,
        workers: int | None = None,
        charset: str = PRINTABLE_ASCII,
        image_size: tuple[int, int] = (32, 128),
        grid: tuple[int, int] = (4, 16),
        maximum_length: int = 25,
        **rendered: Any,
    ) -> None:
        super().__init__()
        _check(rendered_share, validation_share, batch_size, workers)
        self.batch_size, self.seed, self.workers = batch_size, seed, workers
        self.charset, self.grid = Charset(charset), grid
        self.rendered_share, self.validation_limit = rendered_share, validation_limit
        self.preprocessing = Preprocessing(*image_size, turn_above=TALL)
        self.augmentation = Augmentation(augment, seed)
        self.rules = Rules(self.charset, maximum_length)
        self.mixture = Mixture([_indexed(source) for source in sources], shares, seed)
        self.rendered: RenderedWords | None = None
        if rendered_share or rendered_limit:
            self.rendered = RenderedWords(
                batch_size=batch_size,
                seed=seed,
                charset=charset,
                image_size=image_size,
                grid=grid,
                maximum_length=maximum_length,
                easy_images=easy_images,
                rendered_limit=rendered_limit,
                real=None,
                real_limit=None,
                **rendered,
            )
        self.easy_images, self.rendered_limit = easy_images, rendered_limit
        self.held_out, self._judged = self._hold_out(validation, validation_share)
        for source in self.mixture.sources:
            _check_usable(source, self.rules, self.held_out)
        self._unusable: UnusableWords | None = None

    def _hold_out(
        self, validation: list[str] | None, share: float
    ) -> tuple[HeldOut, list[tuple[IndexedSource, list[int]]]]:
        """What is not trained on, and the places of the words to judge on in every set."""
        limit = self.validation_limit
        if validation is None:
            held_out, judged = HeldOut(share), []
            for source in self.mixture.sources if share else []:
                length = len(source)
                order = (shuffled(place, length, 0) for place in range(length))
                judged.append((source, held_out_places(source, held_out, order, limit)))
            if share and not any(places for _, places in judged):
                raise ValueError(
                    f"validation_share {share:g} holds out none of the words: "
                    "raise it, set it to 0 to judge on none, or give sets to judge on (validation)"
                )
            return held_out, judged
        judged = []
        for path in validation:
            source = _indexed(path)
            step = max(1, len(source) // (limit or len(source) or 1))
            judged.append((source, list(range(0, len(source), step))[:limit]))
        words = (source[place] for source, places in judged for place in places)
        digests = {digest(word.image) for word in words if isinstance(word, LabeledWord)}
        return HeldOut(0, frozenset(digests)), judged

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
        self._unusable = UnusableWords(sources, folder, self.trainer.global_rank)
        parts = [
            f"{source.path} ({len(source):,} words, {share:.0%})"
            for source, share in zip(sources, self.mixture.shares, strict=True)
        ]
        rank_zero_info(
            f"own words from {', '.join(parts)}; {self.rendered_share:.0%} of the images are "
            f"rendered; judged on {sum(len(places) for _, places in self._judged):,} crops"
        )

    def train_dataloader(self) -> OwnStream:
        """The stream from where the run stands, this device's share of it."""
        assert self.trainer is not None and self._unusable is not None
        seen: int = self.trainer.lightning_module.images_seen  # type: ignore[assignment]
        world, rank = self.trainer.world_size, self.trainer.global_rank
        size = self.batch_size
        renderer = None
        if self.rendered and self.rendered_share:
            renderer = self.rendered.train_dataloader().renderer
        return OwnStream(
            self.crops,
            Numbers(seen + rank * size, world * size, size, self.rendered_share),
            self.charset,
            self.trainer.strategy.root_device,
            default_workers(world) if self.workers is None else self.workers,
            self.grid[0] * self.grid[1],
            self._unusable.add,
            renderer,
            self.seed,
            self.easy_images,
        )

    @property
    def crops(self) -> Crops:
        """The stream of crops, without those that are rendered."""
        return Crops(self.mixture, self.rules, self.held_out, self.augmentation, self.preprocessing)

    def val_dataloader(self) -> list[Batches]:
        """Rendered words in fonts that training never sees, then crops that it never sees."""
        sets = self.rendered.val_dataloader() if self.rendered and self.rendered_limit else []
        names: list[str] = ["rendered"]
        for source, places in self._judged:
            name = source.path.resolve().stem
            names.append(name if name not in names else f"{name}_{len(names)}")
            batches = self._pixels(names[-1], source, places)
            sets += [Batches(batches)] if batches else []
        return sets

    def _pixels(self, name: str, source: IndexedSource, places: list[int]) -> list[LabeledPixels]:
        """Words as they are read, those that the charset cannot write included: they are missed."""
        rules = Rules()
        images, labels = [], []
        for place in places:
            word = source[place]
            image = word if isinstance(word, Skipped) else rules.decode(word)
            if isinstance(word, Skipped) or isinstance(image, Skipped):
                continue  # `vit-str data inspect` lists them
            images.append(self.preprocessing.pixels(image))
            labels.append(word.label)
        return [
            LabeledPixels(
                name,
                torch.stack(images[start : start + _VALIDATION_BATCH]),
                labels[start : start + _VALIDATION_BATCH],
            )
            for start in range(0, len(images), _VALIDATION_BATCH)
        ]

    def teardown(self, stage: str) -> None:
        """Say what was left out."""
        if self._unusable:
            self._unusable.close()


def _check(rendered_share: float, held_out: float, batch_size: int, workers: int | None) -> None:
    if not 0 <= rendered_share < 1:
        raise ValueError(
            f"rendered_share must be from 0 to below 1, found {rendered_share:g}; "
            "for rendered words alone use vit_str.training.RenderedWords"
        )
    if not 0 <= held_out < 1:
        raise ValueError(f"validation_share must be from 0 to below 1, found {held_out:g}")
    if batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more, found {batch_size}")
    if workers is not None and workers < 0:
        raise ValueError(f"workers must be 0 or more, found {workers}")


def _indexed(path: str) -> IndexedSource:
    source = open_words(path)
    if not isinstance(source, IndexedSource):
        raise ValueError(
            f"{path} can only be read from one end to the other: convert it first with "
            f"vit-str data convert {path} words.lmdb"
        )
    return source


def _check_usable(source: IndexedSource, rules: Rules, held_out: HeldOut) -> None:
    """Refuse a source at once from which a run would wait for words without end."""
    report = SkipReport()
    looked_at: Sequence[int] = range(min(len(source), _LOOKED_AT))
    for place in looked_at:
        word = source[place]
        if isinstance(word, LabeledWord) and word.image in held_out:
            continue
        found = word if isinstance(word, Skipped) else rules.decode(word)
        if not isinstance(found, Skipped):
            return
        report.add(found)
    first = report.first or "all are held out for validation"
    raise ValueError(
        f"{source.path}: none of the first {len(looked_at):,} words can be trained on; {first}"
    )
