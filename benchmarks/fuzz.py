"""Damaged images, weights files and data sets through the public functions: does anything break?

Every case is made from a seed, and run in a child process with a limit on memory and time. Reported
are other errors than those that are promised, what libraries print, crashes, files that take more
than 1 GB or 5 s. The exit code says whether there are any.

    python benchmarks/fuzz.py --images 20000 --weights 2000 --data 1500
    python benchmarks/fuzz.py --images 1 --first 1234      one case again, with its traceback
"""

import argparse
import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import tarfile
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, features

MOST_MEMORY, MOST_SECONDS = 1 << 30, 5.0
_LIMIT, _CHUNK = 8 << 30, 100  # bytes of address space, and cases of a child process
_EXTREMES = (0, 1, 2, 127, 128, 255, 65_535, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, (1 << 64) - 1)
_ODD_VALUES = (
    *(
        None,
        True,
        -1,
        0,
        1,
        1.5,
        5000,
        10**6,
        10**30,
        1e308,
        float("nan"),
        "",
        "\x1b[31m\n",
        "tiny",
    ),
    *([], [0, 0], [50_000, 50_000], {}, [[2, 2]] * 9, {"class": "VisionTransformer"}, "x" * 10**6),
)


def image_seeds() -> list[bytes]:
    """Small pictures in every format and mode that Pillow writes."""
    pixels = np.random.default_rng(0).integers(0, 256, (24, 60, 4), dtype=np.uint8)
    picture, seeds = Image.fromarray(pixels), []
    formats = ["JPEG", "PNG", "TIFF", "BMP", "GIF", "PPM", "TGA", "ICO", "PCX", "SGI", "DDS", "QOI"]
    formats += [name for name in ("WEBP", "AVIF") if features.check(name.lower())]
    formats += ["JPEG2000"] if features.check("jpg_2000") else []
    options: dict[str, list[dict[str, Any]]] = {
        "JPEG": [{}, {"progressive": True}],
        "TIFF": [{}, *({"compression": c} for c in ("tiff_lzw", "jpeg", "tiff_deflate", "group4"))],
    }
    for name in formats:
        for mode in ("1", "L", "P", "RGB", "RGBA", "CMYK", "I;16", "F"):
            for option in options.get(name, [{}]):
                file = io.BytesIO()
                with contextlib.suppress(OSError, ValueError, KeyError):
                    picture.convert("L" if mode == "I;16" else mode).convert(mode).save(
                        file, name, **option
                    )
                    seeds.append(file.getvalue())
    return seeds


def mutate(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Bytes with one to eight things changed."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        near = draw.random() < 0.5  # headers are at the start
        place = draw.randrange(min(len(changed), 200) if near else len(changed)) if changed else 0
        end = place + draw.choice((1, 2, 4, 8, 100, 1000))
        what = draw.randrange(6)
        if what == 0:
            changed[place : place + 1] = draw.randbytes(1)
        elif what == 1:
            size, order = draw.choice((1, 2, 4, 8)), draw.choice(("little", "big"))
            number = draw.choice(_EXTREMES) % (1 << 8 * size)
            changed[place : place + size] = number.to_bytes(size, order)
        elif what == 2:
            del changed[place:end]
        elif what == 3:
            changed[place:place] = changed[place:end] * draw.choice((1, 2, 50))
        elif what == 4:
            del changed[place if draw.random() < 0.3 else len(changed) :]
        else:
            other = draw.choice(others)
            start = draw.randrange(len(other))
            changed[place:place] = other[start : start + end - place]
    return bytes(changed)


def images(_: Path) -> Callable[[random.Random], object]:
    """What decodes a damaged image."""
    from vit_str.images import Preprocessing, UnreadableImage
    from vit_str.reading.decoding import decode

    seeds = image_seeds()

    def run(draw: random.Random) -> object:
        try:
            decode(mutate(draw.choice(seeds), seeds, draw), Preprocessing())
        except UnreadableImage as error:
            return _one_line(str(error))
        return None

    return run


def weights(folder: Path) -> Callable[[random.Random], object]:
    """What loads a damaged weights file, and reads with it if that is possible."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    import vit_str
    from vit_str.charset import Charset
    from vit_str.images import Preprocessing
    from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
    from vit_str.weights import save_weights

    torch.set_num_threads(1)
    good, bad = folder / "good.safetensors", folder / "bad.safetensors"
    encoder = VisionTransformer(dim=16, depth=1, heads=2, patch_size=(8, 16))
    recognizer = Recognizer(encoder, TransformerDecoder(94, 16, 1, 2, 6))
    save_weights(good, recognizer, Charset(), Preprocessing(), {"by": "fuzz"})
    data, tensors = good.read_bytes(), load_file(good)
    with safe_open(good, "pt") as file:
        metadata = file.metadata()
    del metadata["sha256"]

    def run(draw: random.Random) -> object:
        if draw.random() < 0.3:
            bad.write_bytes(mutate(data, [data], draw))
        else:
            save_file(tensors, bad, {**metadata, **_odd_metadata(metadata, draw)})
        try:
            reading = vit_str.load(bad, "cpu").read(np.zeros((32, 128), np.uint8))
        except ValueError as error:
            return _one_line(str(error))
        return None if 0 <= reading.confidence <= 1 else f"read {reading} with damaged weights"

    return run


def _odd_metadata(metadata: dict[str, str], draw: random.Random) -> dict[str, str]:
    name = draw.choice(["model", "model", "model", *metadata])
    if name not in ("model", "preprocessing", "provenance") or draw.random() < 0.2:
        odd = json.dumps(draw.choice(_ODD_VALUES))
        return {name: draw.choice([odd, "[" * 10**5, metadata[name] * 2])}
    values = place = json.loads(metadata[name])
    while True:
        key = draw.choice([*place] + (["more"] if draw.random() < 0.1 else []))
        if not (isinstance(place.get(key), dict) and draw.random() < 0.9):
            break
        place = place[key]
    place[key] = draw.choice(_ODD_VALUES)
    return {name: json.dumps(values)}


def data(folder: Path) -> Callable[[random.Random], object]:
    """What goes through a damaged data set."""
    from vit_str.datasets import FORMATS, Rules, Skipped, open_words

    pictures = [seed for seed in image_seeds() if seed[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0")][:4]
    labels = ["a.png\tone\n\xe9.png\ttwo\n", 'file_name,label\na.png,"o,ne"\n']
    labels.append('{"file_name": "a.png", "text": "one", "boxes": [[0, 0, 1, 1]]}\n')
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in (("a.png", pictures[0]), ("a.txt", b"one"), ("b.jpg", pictures[-1])):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    lmdb_file = _lmdb(folder / "lmdb", pictures[0])

    def run(draw: random.Random) -> object:
        path = Path(tempfile.mkdtemp(dir=folder))
        kind = draw.choice(("labels.tsv", "labels.csv", "labels.jsonl", "a.tar", "data.mdb"))
        (path / "a.png").write_bytes(mutate(draw.choice(pictures), pictures, draw))
        seed = {"a.tar": archive.getvalue(), "data.mdb": lmdb_file}.get(kind)
        text = [label.encode("latin-1") for label in labels]
        (path / kind).write_bytes(mutate(seed or draw.choice(text), [seed] if seed else text, draw))
        try:
            source = open_words(
                path / kind if kind == "a.tar" else path, draw.choice((None, *FORMATS))
            )
            for word in source:
                decoded = word if isinstance(word, Skipped) else Rules().decode(word)
                if isinstance(decoded, Skipped) and not isinstance(decoded.detail, str):
                    return f"no reason for {decoded}"
        except (ValueError, OSError) as error:  # of one line by the command
            return _one_line(" ".join(str(error).split()))
        return None

    return run


def _lmdb(path: Path, picture: bytes) -> bytes:
    import lmdb

    with lmdb.open(str(path), map_size=1 << 20) as environment, environment.begin(write=True) as t:
        t.put(b"num-samples", b"2")
        for number in (b"000000001", b"000000002"):
            t.put(b"image-" + number, picture)
            t.put(b"label-" + number, b"one")
    return (path / "data.mdb").read_bytes()[: 1 << 16]


def _one_line(message: str) -> object:
    return None if message and "\n" not in message and len(message) < 2000 else f"said {message!r}"


def case(run: Callable[[random.Random], object], draw: random.Random, errors: Path) -> str | None:
    """What is wrong with one case, None if nothing."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before, began = _memory("VmRSS"), time.process_time()
    try:
        found = run(draw)
    except Exception:
        return traceback.format_exc()
    seconds, memory = time.process_time() - began, _memory("VmHWM") - before
    printed = errors.read_bytes()
    os.truncate(errors, 0)
    if printed:
        return f"printed {printed[:500]!r}"
    if seconds > MOST_SECONDS or memory > MOST_MEMORY:
        return f"took {seconds:.1f} s and {memory >> 20} MB"
    return None if found is None else str(found)


def _memory(name: str) -> int:
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith(name))) << 10
    return 0


def child(target: Any, numbers: range, seed: int, results: Path) -> None:
    """Run some cases; write a line for each, before and after it."""
    resource.setrlimit(resource.RLIMIT_AS, (_LIMIT, _LIMIT))
    with tempfile.TemporaryDirectory() as folder, results.open("w", buffering=1) as file:
        run, errors = target(Path(folder)), Path(folder, "errors")
        os.dup2(os.open(errors, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)
        for number in numbers:
            file.write(json.dumps([number, "crashed"]) + "\n")
            signal.alarm(int(20 * MOST_SECONDS))
            draw = random.Random(f"{seed} {target.__name__} {number}")
            file.write(json.dumps([number, case(run, draw, errors)]) + "\n")


def main() -> int:
    """Run as many cases of each kind as asked for; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    targets = (images, weights, data)
    for target in targets:
        parser.add_argument(f"--{target.__name__}", type=int, default=0, metavar="N")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    options, wrong = parser.parse_args(), Counter[str]()
    for target in targets:
        count, began = getattr(options, target.__name__), time.monotonic()
        number, end = options.first, options.first + count
        while number < end:
            with tempfile.NamedTemporaryFile() as file:
                results = Path(file.name)
                if not (pid := os.fork()):
                    child(target, range(number, min(end, number + _CHUNK)), options.seed, results)
                    os._exit(0)
                os.waitpid(pid, 0)
                last = dict(json.loads(line) for line in results.read_text().splitlines())
            for place, problem in last.items():
                if problem is not None:
                    wrong[target.__name__] += 1
                    print(f"{target.__name__} {place}: {problem}", flush=True)
            number = max(last, default=number) + 1
        if count:
            seconds = time.monotonic() - began
            print(
                f"{target.__name__}: {count} cases, {wrong[target.__name__]} wrong, {seconds:.0f} s"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
