"""Rendered words as a data set; one that was stopped goes on where it was."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from vit_str import console
from vit_str.datasets import WRITERS, LabeledWord, Layout
from vit_str.datasets.unfinished import Unfinished
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
    renderer: Renderer,
    path: Path,
    name: str,
    layout: Layout,
    count: int,
    seed: int,
    made_with: Mapping[str, Any],
) -> None:
    """Write a data set in the format of a name, or what of it is not there yet.

    Args:
        renderer: draws the words.
        path: of the data set.
        name: of its format.
        layout: how it stores words, in files that end in ``.png`` or ``.jpg``.
        count: number of words.
        seed: of the words.
        made_with: all that decides what the words are and how they look, as values of JSON.
    """
    writer = WRITERS[name]
    decisive = {
        **made_with,
        "drawing (of fonts, words and libraries)": _fingerprint(renderer, seed),
    }
    with (
        Unfinished.beside(path, writer, decisive) as note,
        note.writer(writer, path, layout) as target,
    ):
        note.fill(target, _batches(layout, renderer, target.done, count, seed))


def _fingerprint(renderer: Renderer, seed: int) -> str | None:
    """A hash of the first words: other fonts, texts or libraries draw others.

    Only on a CPU, where the same numbers come out in every run.
    """
    if renderer.device.type != "cpu":
        return None
    batch = renderer.batch(BATCH, seed, 0)
    pixels = batch.images.numpy().tobytes()
    return blake2b(pixels + batch.labels.numpy().tobytes(), digest_size=8).hexdigest()


def _batches(
    layout: Layout, renderer: Renderer, done: int, count: int, seed: int
) -> Iterator[list[LabeledWord]]:
    """The words that are not there yet, from batches of the stream that all runs share."""
    first = layout.start + done
    end = layout.start + count
    encode = partial(_encode, **_ENCODINGS[layout.suffix])
    with (
        ThreadPoolExecutor(_ENCODERS) as pool,
        console.Progress(count, alone=True, unit="word", done=done) as progress,
    ):
        for index in range(first // BATCH, -(-end // BATCH)):
            batch = renderer.batch(BATCH, seed, index)
            before = index * BATCH
            chosen = slice(max(0, first - before), min(BATCH, end - before))
            images, labels = zip(*labeled_images(renderer, batch)[chosen], strict=True)
            files = pool.map(encode, images)
            words = zip(files, labels, _boxes(batch)[chosen], strict=True)
            yield [
                LabeledWord(image, label, tuple(sides[: len(label)]))
                for image, label, sides in words
            ]
            progress.advance(len(labels))


def labeled_images(
    renderer: Renderer, batch: RenderedBatch
) -> list[tuple[Image.Image, str]]:
    """The pictures of a batch with what they say."""
    pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()
    images = map(Image.fromarray, pixels)
    labels = map(renderer.charset.decode, batch.labels.tolist())
    return list(zip(images, labels, strict=True))


def _encode(image: Image.Image, **encoding: Any) -> bytes:
    file = BytesIO()
    image.save(file, **encoding)
    return file.getvalue()


def _boxes(batch: RenderedBatch) -> list[list[tuple[float, ...]]]:
    rounded = batch.boxes.cpu().double().mul(100).round().div(100).tolist()
    return [[tuple(sides) for sides in word] for word in rounded]
