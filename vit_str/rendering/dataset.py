"""Rendered words as a data set."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from tqdm import tqdm

from vit_str import console
from vit_str.datasets import WRITERS, LabeledWord, Layout
from vit_str.synthesis.renderer import RenderedBatch, Renderer

BATCH = 64
"""Words drawn together. Part of what a seed means: word 100 is the 37th of the second batch."""

_ENCODERS = 4  # threads
# The highest compression of PNG takes as long as the drawing and saves a twentieth of the space.
_ENCODINGS: dict[str, dict[str, Any]] = {
    ".png": {"format": "PNG", "compress_level": 1},
    ".jpg": {"format": "JPEG", "quality": 95},
}


def write_dataset(
    renderer: Renderer, path: Path, name: str, layout: Layout, count: int, seed: int
) -> None:
    """Write a data set in the format of a name; its files are ``.png`` or ``.jpg``."""
    with (
        WRITERS[name](path, layout) as writer,
        tqdm(total=count, unit="word", disable=None) as bar,
    ):
        try:
            for words in _batches(layout, renderer, count, seed):
                writer.add(words)
                bar.update(len(words))
        except KeyboardInterrupt:
            first = layout.start + writer.done
            console.warn(
                f"stopped after {writer.done:,} of {count:,} words; --start {first} --count "
                f"{count - writer.done} writes the others to another --out"
            )
            raise


def _batches(
    layout: Layout, renderer: Renderer, count: int, seed: int
) -> Iterator[list[LabeledWord]]:
    """The words from batches of the stream that all runs share."""
    first = layout.start
    end = first + count
    encode = partial(_encode, **_ENCODINGS[layout.suffix])
    with ThreadPoolExecutor(_ENCODERS) as pool:
        for index in range(first // BATCH, -(-end // BATCH)):
            batch = renderer.batch(BATCH, seed, index)
            chosen = slice(max(0, first - index * BATCH), min(BATCH, end - index * BATCH))
            images, labels = zip(*labeled_images(renderer, batch)[chosen], strict=True)
            words = zip(pool.map(encode, images), labels, _boxes(batch)[chosen], strict=True)
            yield [
                LabeledWord(image, label, tuple(sides[: len(label)]))
                for image, label, sides in words
            ]


def labeled_images(renderer: Renderer, batch: RenderedBatch) -> list[tuple[Image.Image, str]]:
    """The pictures of a batch with what they say."""
    pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()
    labels = [renderer.charset.decode(ids) for ids in batch.labels.tolist()]
    return [(Image.fromarray(image), label) for image, label in zip(pixels, labels, strict=True)]


def _encode(image: Image.Image, **encoding: Any) -> bytes:
    file = BytesIO()
    image.save(file, **encoding)
    return file.getvalue()


def _boxes(batch: RenderedBatch) -> list[list[tuple[float, ...]]]:
    rounded = batch.boxes.cpu().double().mul(100).round().div(100).tolist()
    return [[tuple(sides) for sides in word] for word in rounded]
