"""Rendered words as a data set; one that was stopped resumes."""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor
from tqdm import tqdm

import vit_str
from vit_str import console
from vit_str.datasets import DatasetWriter, LabeledWord, Layout, writer_of
from vit_str.datasets.record import begin_or_resume, differences, shown
from vit_str.files import exclusive
from vit_str.rendering.material import BATCH, Look, renderer_of
from vit_str.runtime.charset import charset_of
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.torch_runtime.devices import choose_device

_PROBES = 1000
_LATE = ("fonts", "pictures", "drawing")  # what is known only when all fonts are drawn
_ENCODERS = 4  # threads
# The highest compression of PNG takes as long as the drawing and saves a twentieth of the space.
_ENCODINGS: dict[str, dict[str, Any]] = {
    ".png": {"format": "PNG", "compress_level": 1},
    ".jpg": {"format": "JPEG", "quality": 95},
}
# How to describe a difference in what is known by a digest only, or is no option.
_DIFFERENCES = {
    "words": "other --words",
    "fonts": "other fonts",
    "pictures": "other --pictures",
    "drawing": "another version of vit-str, of torch or of the word list",
}


def write_dataset(look: Look, path: Path, name: str, layout: Layout, count: int, seed: int) -> None:
    """Write a data set, or what of it is not there yet.

    Args:
        look: what to draw.
        path: of the data set.
        name: of its format, see ``writer_of``.
        layout: how it stores words; ``.png`` or ``.jpg`` files.
        count: number of words.
        seed: same seed, same words.

    Raises:
        ValueError: fonts, words or pictures cannot be used, the target holds something else, or
            another process writes there.
        OSError: it cannot be written.
    """
    writer_class = writer_of(name)
    record_path = writer_class.record_path(path)
    foreign = None if record_path.exists() else writer_class.in_the_way(path)
    if foreign:
        raise ValueError(
            f"{foreign} is there and was not made by vit-str render; give a new name as --out"
        )
    asked: dict[str, Any] = {
        "seed": seed,
        "start": layout.start,
        "format": name,
        "image-format": layout.suffix[1:],
        "boxes": layout.boxes,
        "shard-size": layout.shard_size if "%" in path.name else None,
        **_words_and_looks(look),
    }
    if record_path.exists():  # at once, not after fonts are drawn
        _refuse_others(differences(record_path, asked, ignored=_LATE), path)
    renderer = renderer_of(look)
    made_with = {**asked, **_drawn_with(renderer, seed)}
    record_path.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(record_path.with_name(f".{record_path.name}.lock")):
        made_by = f"vit-str {vit_str.__version__}"
        _refuse_others(begin_or_resume(record_path, made_with, count, made_by), path)
        with writer_class(path, layout) as writer:
            try:
                _fill(writer, renderer, count, seed)
            except KeyboardInterrupt:
                console.warn(
                    f"stopped after {writer.done:,} of {count:,} words; the same command resumes"
                )
                raise


def _words_and_looks(look: Look) -> dict[str, Any]:
    """What the options say about words and pictures, so that no others are mixed in."""
    words = look.words
    return {
        "words": _digest([words.read_bytes()]) if words and words.is_file() else None,
        "language": None if look.words else look.language,
        "charset": charset_of(look.charset).characters,
        "fonts": None,
        "held-out": look.held_out,
        "pictures": None,
        "height": look.size[0],
        "width": look.size[1],
        "difficulty": look.difficulty,
        "ingredients": {name: s for name, s in sorted(look.strengths.items()) if s != 1},
        "device": choose_device(look.device).type,
    }


def _drawn_with(renderer: Renderer, seed: int) -> dict[str, Any]:
    """Fonts, pictures and the way to draw: what is known when all of it is loaded.

    The drawing changes when this program, a library or the language's words do. It is compared only
    on the CPU, where the same numbers come out in every run.
    """
    atlas = renderer.atlas
    tensors = [atlas.columns, atlas.starts, atlas.widths, atlas.bearings, atlas.advances]
    tensors.append(atlas.is_correct)
    drawing = None
    if renderer.device.type == "cpu":
        labels = "\n".join(renderer.lexicon.sample(_PROBES, seed))
        drawing = _digest([labels.encode(), _bytes(renderer.batch(BATCH, seed, 0).images)])
    return {
        "fonts": _digest(["\n".join(atlas.names).encode(), *map(_bytes, tensors)]),
        "pictures": None if renderer.pictures is None else _digest([_bytes(renderer.pictures)]),
        "drawing": drawing,
    }


def _bytes(tensor: Tensor | None) -> bytes:
    return b"" if tensor is None else tensor.cpu().numpy().tobytes()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _refuse_others(found: dict[str, tuple[Any, Any]], path: Path) -> None:
    if "words" in found:
        found.pop("language", None)
    if len(found) > 1:  # which is why the drawing differs
        found.pop("drawing", None)
    if found:
        described = [
            _DIFFERENCES.get(name, f"--{name} {shown(before)}, not {shown(now)}")
            for name, (before, now) in found.items()
        ]
        raise ValueError(
            f"{path} was begun with {'; '.join(described)}: give the same arguments to resume, or "
            "another --out"
        )


def _fill(writer: DatasetWriter, renderer: Renderer, count: int, seed: int) -> None:
    path = writer.path
    if writer.done > count:
        raise ValueError(f"{path} holds {writer.done:,} words, more than --count {count:,}")
    if writer.done == count:
        console.warn(f"{path}: all {count:,} words are there already")
    elif writer.done:
        console.warn(f"{path}: resuming after {writer.done:,} words")
    with tqdm(total=count, initial=writer.done, unit="word", disable=None) as bar:
        for words in _batches(writer, renderer, count, seed):
            writer.add(words)
            bar.update(len(words))


def _batches(
    writer: DatasetWriter, renderer: Renderer, count: int, seed: int
) -> Iterator[list[LabeledWord]]:
    """The words that are not there yet, from batches of the stream that all runs share."""
    start = writer.layout.start
    first, end = start + writer.done, start + count
    encode = partial(_encode, **_ENCODINGS[writer.layout.suffix])
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
