"""Rendered words as a data set."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from tqdm import tqdm

from vit_str import console
from vit_str.datasets import LabeledWord, Layout, writer_of
from vit_str.rendering.material import BATCH, Look, renderer_of
from vit_str.synthesis.renderer import RenderedBatch, Renderer

_ENCODERS = 4  # threads
# The highest compression of PNG takes as long as the drawing and saves a twentieth of the space.
_ENCODINGS: dict[str, dict[str, Any]] = {
    ".png": {"format": "PNG", "compress_level": 1},
    ".jpg": {"format": "JPEG", "quality": 95},
}


def write_dataset(look: Look, path: Path, name: str, layout: Layout, count: int, seed: int) -> None:
    """Write a data set.

    Raises:
        ValueError: fonts, words or pictures cannot be used, or something is at the target.
        OSError: it cannot be written.
    """
    writer_class = writer_of(name)
    writer_class.refuse_existing(path)  # at once, not after fonts are drawn
    renderer = renderer_of(look)
    with (
        writer_class(path, layout) as writer,
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
            pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()[chosen]
            images = list(pool.map(encode, pixels))
            labels = [renderer.charset.decode(ids) for ids in batch.labels.tolist()]
            words = zip(images, labels[chosen], _boxes(batch)[chosen], strict=True)
            yield [
                LabeledWord(image, label, tuple(sides[: len(label)]))
                for image, label, sides in words
            ]


def _encode(pixels: UInt8[np.ndarray, "height width 3"], **encoding: Any) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, **encoding)
    return file.getvalue()


def _boxes(batch: RenderedBatch) -> list[list[tuple[float, ...]]]:
    rounded = batch.boxes.cpu().double().mul(100).round().div(100).tolist()
    return [[tuple(sides) for sides in word] for word in rounded]
