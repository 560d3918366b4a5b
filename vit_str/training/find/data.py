"""Parts of drawn pages and scenes, batch by batch, each seen in another way."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import cv2
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from vit_str.characters.charset import CHARSETS, Charset, charset_of
from vit_str.datasets.picture_records import (
    PictureShard,
    picture_shards_of,
    read_picture_shard,
)
from vit_str.pages.find.maps import MAPS
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.kit import Kit
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.materials import InstalledMaterials, Materials
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.scenes import SceneDrawer, Scenery
from vit_str.training.find.examples import Batch, Examples, batch_of
from vit_str.training.find.noise import Noise
from vit_str.training.networks import FixedBatches, NetworkData

_VALIDATION_SEED = 1 << 20
_SCENES = "scenes"


class ExampleBatches(IterableDataset[Batch]):
    """Batches without an end: each is decided by the seed and its number.

    Args:
        examples: makes them.
        size: of a batch.
        seed: of the stream.
        first: number of the first batch.
        stride: to the next one: the number of devices.
    """

    def __init__(
        self, examples: Examples, size: int, seed: int, first: int = 0, stride: int = 1
    ) -> None:
        self.examples = examples
        self.size = size
        self.seed = seed
        self.first = first
        self.stride = stride

    def __iter__(self) -> Iterator[Batch]:
        # Each process would start as many threads as there are processors
        cv2.setNumThreads(1)
        worker = get_worker_info()
        start, step = (worker.id, worker.num_workers) if worker else (0, 1)
        number = self.first + start * self.stride
        while True:
            yield self.batch(number)
            number += step * self.stride

    def batch(self, number: int, source: str = "") -> Batch:
        """The batch of a number."""
        made = [self.examples.make(self.seed, number, k) for k in range(self.size)]
        return batch_of(made, source)


class DrawnPictures(NetworkData):
    """Pictures of drawn pages and scenes to train on, and others to look how well that goes.

    Args:
        folders: of parts of pages, see ``vit-str render --pages --find``; empty: those of the kit.
        validation: folders of others, such as of families that are held out.
        kit: a file of ``vit-str kit`` to take fonts, lists of words, photographs and pages from,
            in place of those of this machine.
        batch_size: pictures in a step, on each device.
        side: of pictures, in pixels, a multiple of 32.
        scene_share: of scenes among them.
        scenery: what scenes are like.
        noise: how pictures are seen.
        charset: characters of scenes, by name or themselves; lines of several words need the
            space.
        language: of their words, as for `RenderedWords`.
        fonts: folders of fonts instead of the system's.
        pictures: folders of photographs to use as grounds of scenes.
        validation_batches: of each source.
        seed: of all that is random.
        workers: processes that prepare batches.

    Raises:
        ValueError: there are no pages or fonts.
    """

    def __init__(
        self,
        folders: list[Path],
        validation: list[Path] | None = None,
        kit: Path | None = None,
        batch_size: int = 8,
        side: int = 512,
        scene_share: float = 0.4,
        scenery: Scenery | None = None,
        noise: Noise | None = None,
        charset: str = "european",
        language: str = "en",
        fonts: list[Path] | None = None,
        pictures: list[Path] | None = None,
        validation_batches: int = 8,
        seed: int = 1,
        workers: int = 0,
    ) -> None:
        super().__init__(folders, validation, seed, workers)
        if side % 32:
            raise ValueError(f"side: expected a multiple of 32, found {side}")
        self.batch_size = batch_size
        self.side = side
        self.scene_share = scene_share
        self.scenery = scenery
        self.noise = noise or Noise()
        self.charset: Charset = (
            charset_of(charset) if charset in CHARSETS else Charset(charset)
        )
        self.language = language
        self.validation_batches = validation_batches
        self.kit = Kit(kit) if kit else None
        self.materials: Materials = self.kit or InstalledMaterials(fonts, pictures)
        self._atlas: GlyphAtlas | None = None
        self._lexicon: Lexicon | None = None
        self._pages: list[PictureShard] = []

    @property
    def provenance(self) -> str:
        """The training data, for the weights file."""
        return super().provenance or "pages of the kit"

    @property
    def names(self) -> Sequence[str]:
        """Of the maps."""
        return MAPS

    def prepare_data(self) -> None:
        """Build atlas and lists of words once, in one process."""
        self.materials.atlas(self.charset)
        self._own_lexicon()

    def setup(self, stage: str) -> None:
        """Load pages, atlas and lists of words."""
        self._pages = [
            read_picture_shard(path)
            for folder in self.folders
            for path in picture_shards_of(folder)
        ]
        if not self.folders and self.kit is not None:
            files = self.kit.page_files
            self._pages = [PictureShard(file, str(self.kit.path)) for file in files]
        if not self._pages:
            raise ValueError(
                "no pages to train on; draw some: vit-str render --pages 2000 --find --out pages"
            )
        self._atlas = self.materials.atlas(self.charset)
        self._lexicon = self._own_lexicon()

    def _own_lexicon(self) -> Lexicon:
        lists = self.materials.word_lists
        return Lexicon(self.charset, self.language, word_lists=lists)

    def _examples(
        self, pages: Sequence[PictureShard], scene_share: float, *, held_out: bool
    ) -> Examples:
        assert self._atlas is not None and self._lexicon is not None
        atlas = self._atlas.held_out() if held_out else self._atlas.training()
        renderer = Renderer(atlas, self._lexicon, pictures=self.materials.pictures)
        scenes = SceneDrawer(renderer, self.scenery) if scene_share else None
        return Examples(pages, scenes, scene_share, self.side, self.noise, atlas)

    def train_dataloader(self) -> DataLoader[Batch]:
        """The stream from where the run stands, this device's share of it."""
        trainer = self.trainer
        assert trainer is not None
        seen = self.examples_seen // self.batch_size
        batches = ExampleBatches(
            self._examples(self._pages, self.scene_share, held_out=False),
            self.batch_size,
            self.seed,
            first=seen * trainer.world_size + trainer.global_rank,
            stride=trainer.world_size,
        )
        return self.endless(batches)

    def val_dataloader(self) -> list[DataLoader[Batch]]:
        """The pages of each folder, and scenes in fonts that training never sees."""
        sets = []
        for folder in self.validation:
            shards = [read_picture_shard(path) for path in picture_shards_of(folder)]
            sets.append((self._examples(shards, 0.0, held_out=True), folder.name))
        if self.scene_share:
            scenes = self._examples(self._pages, 1.0, held_out=True)
            sets.append((scenes, _SCENES))
        return [self._fixed(examples, source) for examples, source in sets]

    def _fixed(self, examples: Examples, source: str) -> DataLoader[Batch]:
        stream = ExampleBatches(examples, self.batch_size, self.seed + _VALIDATION_SEED)
        make = partial(stream.batch, source=source)
        batches = FixedBatches(make, self.validation_batches)
        return DataLoader(batches, batch_size=None, num_workers=self.workers)
