"""From drawn pages and scenes to pictures with true maps, the same for the same seed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vit_str.datasets.picture_records import PictureRecord, PictureShard
from vit_str.seeds import split_mix
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.pages.families.slips import SLIPS
from vit_str.synthesis.paper import aged, poorly_printed
from vit_str.synthesis.places import Places, corners_of, upright_strips
from vit_str.synthesis.scenes import SceneDrawer
from vit_str.training.find.lone_marks import with_lone_marks
from vit_str.training.find.noise import Noise, laid, seen, worn
from vit_str.training.find.rewritten import with_codes
from vit_str.training.find.separators import with_ruling, with_separators
from vit_str.training.find.truth import true_maps

_LEAST_LEFT = 0.4  # of the height of letters that an edge leaves of a word, along it
_MOST_CUT = 0.25  # of the same that it may take off above or below


class Example(NamedTuple):
    """A picture and what is right for it."""

    image: UInt8[np.ndarray, "row column 3"]
    maps: Float[np.ndarray, "map cell_row cell_column"]
    weight: Float[np.ndarray, "cell_row cell_column"]


class Batch(NamedTuple):
    """Pictures of one size."""

    images: UInt8[Tensor, "batch 3 row column"]
    maps: Float[Tensor, "batch map cell_row cell_column"]
    weight: Float[Tensor, "batch cell_row cell_column"]
    source: str

    @property
    def size(self) -> int:
        """How many pictures."""
        return len(self.images)


class Examples:
    """Makes examples.

    Args:
        pages: parts of drawn pages.
        scenes: draws scenes; None for none.
        scene_share: of the examples.
        side: of pictures, in pixels.
        noise: how pictures are worn; what is drawn is seen in many ways.
        atlas: of lone marks; None for none.
    """

    def __init__(
        self,
        pages: Sequence[PictureShard],
        scenes: SceneDrawer | None,
        scene_share: float,
        side: int,
        noise: Noise,
        atlas: GlyphAtlas | None = None,
    ) -> None:
        self._pages = pages
        self._ends = np.cumsum([len(shard) for shard in pages])
        families = [family for shard in pages for family in shard.families]
        self._slips = np.flatnonzero([family in SLIPS for family in families])
        self._scenes = scenes
        self._scene_share = scene_share if scenes else 0.0
        self._side = side
        self._noise = noise
        self._atlas = atlas

    def make(self, *numbers: int) -> Example:
        """The example of some numbers, such as a seed and a place in a stream."""
        random = np.random.default_rng(numbers)
        if random.random() < self._scene_share:
            assert self._scenes is not None
            image, places = self._scenes.draw(_seed(numbers))
            image, places = seen(random, image, places, self._side, self._noise)
        else:
            record = self._page(self._chosen(random))
            image, places = self._page_seen(random, record)
        image = worn(random, image, self._noise)
        return Example(image, *true_maps(places, image.shape[:2]))

    def _page_seen(
        self, random: np.random.Generator, record: PictureRecord
    ) -> tuple[UInt8[np.ndarray, "row column 3"], Places]:
        """A page as it was printed, kept and laid down."""
        noise = self._noise
        times = noise.slip_times if record.family in SLIPS else 1.0
        image = np.asarray(record.image.convert("RGB"))
        places = places_of(record)
        atlas = self._atlas
        if atlas is not None and random.random() < noise.rewritten_share:
            image, places = with_codes(random, image, places, atlas)
        if atlas is not None and random.random() < noise.lone_mark_share * times:
            image, places = with_lone_marks(random, image, places, atlas)
        if random.random() < noise.separated_share * times:
            image, places = with_separators(random, image, places)
        if random.random() < noise.ruled_share:
            image, places = with_ruling(random, image, places)
        is_aged = random.random() < noise.aged_share * times
        is_printed = random.random() < noise.printed_share * times
        if is_aged or is_printed:
            pixels = image.astype(np.float32)
            if is_printed:
                height = float(np.median(record.sizes)) if len(record.sizes) else 16.0
                pixels = poorly_printed(random, pixels, height)
            if is_aged:
                pixels = aged(random, pixels)
            image = pixels.astype(np.uint8)
        is_laid = random.random() < noise.laid_share * times
        view = laid if is_laid else seen
        return view(random, image, places, self._side, noise)

    def _chosen(self, random: np.random.Generator) -> int:
        """The number of a page."""
        if len(self._slips) and random.random() < self._noise.slip_share:
            return int(random.choice(self._slips))
        return int(random.integers(self._ends[-1]))

    def _page(self, number: int) -> PictureRecord:
        shard = int(np.searchsorted(self._ends, number, side="right"))
        start = int(self._ends[shard - 1]) if shard else 0
        return self._pages[shard][number - start]


def _seed(numbers: Sequence[int]) -> int:
    seed = 0
    for number in numbers:
        seed = split_mix(seed ^ number)
    return seed >> 2


def places_of(record: PictureRecord) -> Places:
    """The places in the picture of a page, words cut where the picture ends."""
    width, height = record.image.size
    edge = np.array([width, height, width, height], np.float32)
    boxes = record.boxes.clip(0, edge)
    is_upright = record.turns % 180 == 0
    lengths = boxes[:, 2:] - boxes[:, :2]
    before = record.boxes[:, 2:] - record.boxes[:, :2]
    along = np.where(is_upright, lengths[:, 0], lengths[:, 1])
    lost = np.where(is_upright, (before - lengths)[:, 1], (before - lengths)[:, 0])
    was_cut = (lengths < before - 0.5).any(1)
    is_clear = ~was_cut | (
        (along > _LEAST_LEFT * record.sizes) & (lost < _MOST_CUT * record.sizes)
    )
    # The middle across stays: strips are around it
    across = np.where(is_upright[:, None], [[0, 1, 0, 1]], [[1, 0, 1, 0]]) > 0
    boxes = np.where(across, record.boxes, boxes)
    rules = record.rules[:, :4].reshape(-1, 2, 2)
    return Places(
        strips=upright_strips(boxes, record.sizes, record.turns)[is_clear],
        lines=record.lines[is_clear],
        rules=rules.clip(0, (width, height)),
        rule_widths=record.rules[:, 4],
        checks=corners_of(record.checks[:, :4]),
        is_ticked=record.checks[:, 4] > 0,
        pictures=corners_of(record.pictures.clip(0, edge)),
        unclear=corners_of(record.boxes[~is_clear]),
    )


def batch_of(examples: Sequence[Example], source: str = "") -> Batch:
    """Examples together."""
    images = np.stack([example.image for example in examples])
    return Batch(
        images=torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(),
        maps=torch.from_numpy(np.stack([example.maps for example in examples])),
        weight=torch.from_numpy(np.stack([example.weight for example in examples])),
        source=source,
    )
