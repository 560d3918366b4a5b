"""``vit-str render --out``: a data set, and going on with one that was cut."""

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from tqdm import tqdm

from vit_str import console
from vit_str.commands.render.material import BATCH, layout_of, material_of, record_of
from vit_str.datasets import DatasetWriter, LabeledWord, Record, writer_of
from vit_str.synthesis.renderer import RenderedBatch, Renderer

_COUNT = 160
_ENCODERS = 4
# The highest compression of PNG takes as long as the drawing and saves a twentieth of the space.
_ENCODINGS: dict[str, dict[str, Any]] = {
    "png": {"format": "PNG", "compress_level": 1},
    "jpg": {"format": "JPEG", "quality": 95},
}
# What the record calls things that are no options, and how options are said to differ that are
# known by a digest only.
_OTHERWISE = {
    "words": "other --words",
    "fonts": "other fonts",
    "pictures": "other --pictures",
    "drawing": "another version of vit-str, of torch or of the word list",
}


def run(options: argparse.Namespace) -> int:
    """Write the data set, or what of it is not there yet."""
    options.count = options.count or _COUNT
    kind, path = writer_of(options.format), options.out
    record_path = kind.record_path(path)
    old = Record.load(record_path) if record_path.exists() else None
    in_the_way = None if old else kind.in_the_way(path)
    if in_the_way:
        raise ValueError(
            f"{in_the_way} is there and was not made by vit-str render; give a new name as --out"
        )
    material = material_of(options)
    record = record_of(options, material)
    if old:
        _refuse_others(old, record, options)
    if old is None or old.count != record.count:
        record.save(record_path)
    writer = kind(path, layout_of(options))
    try:
        with writer:
            _fill(writer, material.renderer, options)
    except KeyboardInterrupt:
        done = f"{writer.done:,} of {options.count:,} words"
        return console.fail(f"interrupted after {done}; the same command goes on", 130)
    return 0


def _refuse_others(old: Record, new: Record, options: argparse.Namespace) -> None:
    differences = old.differences(new)
    if "words" in differences:
        differences.pop("language", None)
    if len(differences) > 1:  # which is why the drawing differs
        differences.pop("drawing", None)
    if differences:
        said = [
            _OTHERWISE.get(name, f"--{name} {_say(before)}, not {_say(now)}")
            for name, (before, now) in differences.items()
        ]
        raise ValueError(
            f"{options.out} was begun with {'; '.join(said)}: give the same arguments "
            "to go on, or another --out"
        )


def _say(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={strength:g}" for name, strength in value.items()) or "all at 1"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _fill(writer: DatasetWriter, renderer: Renderer, options: argparse.Namespace) -> None:
    count, path = options.count, options.out
    if writer.done > count:
        raise ValueError(f"{path} holds {writer.done:,} words, more than --count {count:,}")
    if writer.done == count:
        console.complain(f"{path}: all {count:,} words are there already")
    elif writer.done:
        console.complain(f"{path}: going on after {writer.done:,} words")
    with tqdm(total=count, initial=writer.done, unit="word", disable=None) as bar:
        for words in _batches(renderer, options, writer.done):
            writer.add(words)
            bar.update(len(words))


def _batches(
    renderer: Renderer, options: argparse.Namespace, done: int
) -> Iterator[list[LabeledWord]]:
    """The words that are not there yet, from batches of the stream that all runs share."""
    first, end = options.start + done, options.start + options.count
    encode = partial(_encode, **_ENCODINGS[options.image_format])
    with ThreadPoolExecutor(_ENCODERS) as pool:
        for index in range(first // BATCH, -(-end // BATCH)):
            batch = renderer.batch(BATCH, options.seed, index)
            chosen = slice(max(0, first - index * BATCH), min(BATCH, end - index * BATCH))
            pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()[chosen]
            images = list(pool.map(encode, pixels))
            labels, boxes = _labels(renderer, batch), _boxes(batch)
            words = zip(images, labels[chosen], boxes[chosen], strict=True)
            yield [
                LabeledWord(image, label, tuple(sides[: len(label)]))
                for image, label, sides in words
            ]


def _encode(pixels: UInt8[np.ndarray, "height width 3"], **encoding: Any) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, **encoding)
    return file.getvalue()


def _labels(renderer: Renderer, batch: RenderedBatch) -> list[str]:
    return [renderer.charset.decode(ids) for ids in batch.labels.tolist()]


def _boxes(batch: RenderedBatch) -> list[list[tuple[float, ...]]]:
    rounded = batch.boxes.cpu().double().mul(100).round().div(100).tolist()
    return [[tuple(sides) for sides in word] for word in rounded]
