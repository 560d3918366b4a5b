"""Which images to look at: those of a folder, or words rendered with all that is known of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vit_str.charset import PRINTABLE_ASCII, Charset
from vit_str.evaluation import LabeledImages
from vit_str.images import SUFFIXES, Preprocessing, UnreadableImage, load_image, one_line

RENDERED = "rendered"
_RENDERED_BATCH = 64  # part of what a seed means


@dataclass(frozen=True, slots=True)
class Batch:
    """A few images of the size that a model reads.

    Attributes:
        pixels: the images.
        labels: what they say; None if nobody knows.
        boxes: left, top, right, bottom of every character in pixels, zeros after the label; None
            for photographs, of which nobody knows.
        names: file names, or numbers of rendered words.
    """

    pixels: UInt8[Tensor, "batch 3 height width"]
    labels: list[str] | None
    boxes: Float[Tensor, "batch position side"] | None
    names: list[str]

    def __len__(self) -> int:
        return len(self.pixels)


class Material:
    """Images that can be gone through as often as one likes, always the same.

    Attributes:
        description: what they are, for captions.
        count: how many there are at most.
        skipped: a line for each that could not be read when they were last gone through.
    """

    description: str
    count: int
    skipped: list[str]

    def batches(self, size: int = 32) -> Iterator[Batch]:
        """All images, ``size`` at a time."""
        raise NotImplementedError


def load_material(
    data: str,
    count: int,
    preprocessing: Preprocessing,
    charset: Charset | None = None,
    seed: int = 1,
    fonts: list[Path] | None = None,
) -> Material:
    """Images for a model.

    Args:
        data: ``rendered``, or a folder of images, with or without ``labels.tsv``.
        count: most images; those of a folder are taken evenly spread.
        preprocessing: of the model.
        charset: of rendered words.
        seed: of rendered words.
        fonts: folders of fonts to render with instead of the system's.

    Raises:
        ValueError: no such folder, no images in it, no fonts to render with, or a count below 1.
    """
    if count < 1:
        raise ValueError(f"--count must be 1 or more, found {count}")
    if data == RENDERED:
        charset = charset or Charset(PRINTABLE_ASCII)
        return RenderedMaterial(count, preprocessing, charset, seed, fonts)
    return FolderMaterial(Path(data), count, preprocessing)


class FolderMaterial(Material):
    """Images of a folder, and what they say if it holds ``labels.tsv``."""

    def __init__(self, folder: Path, count: int, preprocessing: Preprocessing) -> None:
        if not folder.is_dir():
            raise ValueError(f"{folder}: no such folder; give one with images, or {RENDERED!r}")
        paths, labels = _files(folder)
        if not paths:
            raise ValueError(f"{folder}: no images in it; give a folder with images")
        count = min(count, len(paths))
        chosen = [place * len(paths) // count for place in range(count)]
        self._paths = [paths[place] for place in chosen]
        self._labels = labels and [labels[place] for place in chosen]
        self._preprocessing = preprocessing
        self.count = count
        self.description = f"{count:,} images of {one_line(folder.resolve().name)}"
        self.skipped = []

    def batches(self, size: int = 32) -> Iterator[Batch]:
        self.skipped = []
        for start in range(0, self.count, size):
            places = list(range(start, min(start + size, self.count)))
            pixels = {place: self._pixels(self._paths[place]) for place in places}
            kept = {place: image for place, image in pixels.items() if image is not None}
            if kept:
                labels = self._labels and [self._labels[place] for place in kept]
                names = [self._paths[place].name for place in kept]
                yield Batch(torch.stack(list(kept.values())), labels or None, None, names)

    def _pixels(self, path: Path) -> Tensor | None:
        try:
            return self._preprocessing.pixels(load_image(path))
        except UnreadableImage as error:
            self.skipped.append(str(error))
            return None


class RenderedMaterial(Material):
    """Words in fonts that training never sees, with the box of every character."""

    def __init__(
        self,
        count: int,
        preprocessing: Preprocessing,
        charset: Charset,
        seed: int,
        fonts: list[Path] | None,
    ) -> None:
        from vit_str.synthesis.glyphs import GlyphAtlas
        from vit_str.synthesis.lexicon import Lexicon
        from vit_str.synthesis.renderer import Renderer

        atlas = GlyphAtlas.load_or_build(charset, fonts).held_out()
        size = preprocessing.height, preprocessing.width
        self._renderer = Renderer(atlas, Lexicon(charset), size)
        self.count, self._seed, self._charset = count, seed, charset
        self.description = f"{count:,} rendered words in held-out fonts (seed {seed})"
        self.skipped = []

    def batches(self, size: int = 32) -> Iterator[Batch]:
        left: Batch | None = None
        for batch in self._whole_batches():
            left = batch if left is None else _joined(left, batch)
            while len(left) > size:
                yield _part(left, 0, size)
                left = _part(left, size, len(left))
        if left is not None:
            yield left

    def _whole_batches(self) -> Iterator[Batch]:
        for index in range(-(-self.count // _RENDERED_BATCH)):
            start = index * _RENDERED_BATCH
            rendered = self._renderer.batch(_RENDERED_BATCH, self._seed, index)
            whole = Batch(
                rendered.images,
                [self._charset.decode(ids) for ids in rendered.labels.tolist()],
                rendered.boxes,
                [f"rendered {start + place:06d}" for place in range(_RENDERED_BATCH)],
            )
            yield _part(whole, 0, min(_RENDERED_BATCH, self.count - start))


def _files(folder: Path) -> tuple[list[Path], list[str] | None]:
    if (folder / "labels.tsv").is_file():
        images = LabeledImages(folder)
        return images.paths, images.labels
    found = (path for path in folder.rglob("*") if not path.name.startswith("."))
    return sorted(path for path in found if path.suffix.lower() in SUFFIXES), None


def _part(batch: Batch, start: int, end: int) -> Batch:
    return Batch(
        batch.pixels[start:end],
        batch.labels and batch.labels[start:end],
        None if batch.boxes is None else batch.boxes[start:end],
        batch.names[start:end],
    )


def _joined(first: Batch, second: Batch) -> Batch:
    """Both, boxes widened to the longer label."""
    assert first.labels is not None and second.labels is not None
    assert first.boxes is not None and second.boxes is not None
    width = max(first.boxes.shape[1], second.boxes.shape[1])
    boxes = [
        torch.nn.functional.pad(boxes, (0, 0, 0, width - boxes.shape[1]))
        for boxes in (first.boxes, second.boxes)
    ]
    return replace(
        first,
        pixels=torch.cat([first.pixels, second.pixels]),
        labels=first.labels + second.labels,
        boxes=torch.cat(boxes),
        names=first.names + second.names,
    )
