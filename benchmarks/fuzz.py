"""Damaged images, pages, weights, data sets and patterns through the public functions: what breaks?

--scans and --frames are files that are sound, small, and would take hours to decode, --parts such
that would take gigabytes; --names are files whose names would do something to a terminal, or are as
long as names may be; --lists are lists of words; --marks are what a detector of lines may mark in
stripes, dots and noise; --detectors are lines of detectors of one's own; --tables are cells that go
into spreadsheets; --layers are the weights of the package with some layers of one number, and
odd ranges; --databases are LMDB with changed bytes, or after a copy that went wrong.

Every case is made from a seed and run in a child process with limits. Reported are errors other
than those that are promised, what libraries print, crashes, and more than 1 GB or 5 s for a file;
the exit code is 1 if there are any. One case again: --images 1 --first 1234.
"""

import argparse
import csv
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from multiprocessing import Process
from pathlib import Path
from typing import Any

import numpy as np
from hostile_files import (
    gif_of_frames,
    jp2_of_parts,
    jpeg_of_scans,
    jpeg_of_segments,
    png_of_chunks,
    tiff_of_strips,
    tiff_of_tile,
)
from openpyxl import load_workbook
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import full_like

import vit_str
from vit_str.characters.charset import Charset, charset_of
from vit_str.console import one_line
from vit_str.datasets import READERS, LabeledWord, Rules, Skipped, open_words
from vit_str.datasets.lmdb import LmdbWriter
from vit_str.datasets.source import Layout
from vit_str.decoding.constraints import Pattern
from vit_str.decoding.prior import prior_of
from vit_str.decoding.readings import error_row, json_line
from vit_str.engines.weights_contents import BUNDLED
from vit_str.files import write_atomically
from vit_str.images.image_decoding import DecodedImage, decode, decode_batches
from vit_str.images.limited_process import ProcessLimits
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.pages.find.detection import find_lines
from vit_str.pages.find.flattening import Middle, bend_of
from vit_str.pages.find.text_boxes import text_boxes
from vit_str.pages.page import Page, Word
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.write.document_pages import Block, DocumentPage, Table
from vit_str.pages.write.hocr import hocr
from vit_str.pages.write.results import ENDINGS, PageFolder
from vit_str.pages.write.spreadsheets import tables_as_csv, write_workbook
from vit_str.synthesis.word_lists import count_words
from vit_str.torch_runtime.weights_file import save_weights

# At most for a case; cases of a child process
_MEMORY = 1 << 30
_SECONDS = 5.0
_CHUNK = 100
_APART = ProcessLimits(seconds=5)  # of the process that draws and decodes
_SECONDS_APART = 120.0  # on the clock, at most, for a file that is read in that process
_EXTREMES = (
    0,
    1,
    127,
    128,
    255,
    65_535,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    (1 << 64) - 1,
)
_NUMBERS = (-1, 0, 1, 1.5, 5000, 10**6, 10**30, 1e308, float("nan"))
_OTHERS = (
    None,
    True,
    "",
    "\x1b[31m\n",
    "tiny",
    [],
    [0, 0],
    [50_000, 50_000],
    {},
    "x" * 10**6,
)
_LABELS = {
    "labels.tsv": b"a.png\tone\n\xe9.png\ttwo\n",
    "labels.csv": b'path,text\na.png,"o,ne"\n',
}
_LABELS["labels.jsonl"] = b'{"path": "a.png", "text": "one", "boxes": [[0, 0, 1, 1]]}\n'
_NAMED = [
    "a",
    "=",
    "é",
    "한",
    "\udcff",
    "\u200d",
    "\u202e",
    "\u2066",
    "\u2028",
    "\x9b",
    "\x1b[2J",
]
_NAMED += ["\n", "\r", "\t", "\x7f", "\x85", 100 * "n", 80 * "é", 60 * "한"]
_LONGEST_NAME = 255  # bytes
_LMDB_PAGE = 4096  # bytes
_LMDB_HEAD = 200  # bytes at the start of a page with its header and places of nodes
_LMDB_KIND = 10  # byte of a page
_LMDB_TREE = (1, 2, 8)  # kinds of pages of the tree, and of those that lead to it
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
Run = Callable[[random.Random], object]


def encoded(formats: str) -> list[bytes]:
    """A small picture in every format and mode that Pillow writes."""
    pixels = np.random.default_rng(0).integers(0, 256, (24, 60, 3), dtype=np.uint8)
    files = []
    for name in formats.split():
        for mode in ("1", "L", "P", "RGB", "RGBA", "CMYK", "I", "F"):
            picture = Image.fromarray(pixels).convert(mode)
            for options in ({}, {"compression": "tiff_lzw"}, {"progressive": True}):
                file = io.BytesIO()
                with suppress(OSError, ValueError, KeyError):
                    picture.save(file, name, **options)
                    files.append(file.getvalue())
    return list(dict.fromkeys(files))


def mutated(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Bytes with one to eight things changed, near the start more often."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        place = draw.randrange(min(len(changed), draw.choice((200, 1 << 30))) + 1)
        size = draw.choice((1, 2, 4, 8, 100, 1000))
        other = draw.choice(others)
        old = changed[place : place + size]
        start = draw.randrange(len(other))
        number = (draw.choice(_EXTREMES) % (1 << 8 * size)).to_bytes(size)
        new = (
            draw.randbytes(1),
            number,
            number[::-1],
            b"",
            old * 50,
            other[start:][:size] + old,
        )
        changed[place : place + size] = draw.choice(new)
    return bytes(
        changed[: draw.randrange(len(changed) + 1)] if draw.random() < 0.1 else changed
    )


def images(_: Path) -> Run:
    """What decodes a damaged image."""
    seeds = encoded(
        "JPEG PNG TIFF BMP GIF PPM TGA ICO PCX SGI DDS QOI WEBP AVIF JPEG2000"
    )
    return lambda draw: decode(
        mutated(draw.choice(seeds), seeds, draw), Preprocessing()
    )


def scans(folder: Path) -> Run:
    """What decodes progressive JPEGs of many scans, as words and as pages."""
    path = folder / "scans.jpg"

    def run(draw: random.Random) -> None:
        side = draw.choice((100, 1400, 6284, 7070))
        path.write_bytes(
            jpeg_of_scans((side, side), draw.choice((11, 100, 101, 95_000)))
        )
        read_apart(path, "1-", draw)

    return run


def frames(folder: Path) -> Run:
    """What composes the frames of a GIF with a screen that is much larger than they are."""
    path = folder / "frames.gif"

    def run(draw: random.Random) -> None:
        side = draw.choice((50, 1400, 7000))
        count = draw.choice((2, 50, 5000))
        path.write_bytes(gif_of_frames(side, count))
        read_apart(path, str(draw.choice((1, 2, 40, 1000))), draw)

    return run


def parts(folder: Path) -> Run:
    """What decodes JPEG 2000 in tiny parts, TIFF of one huge tile, and headers without an end."""
    path = folder / "parts.image"
    files = [jp2_of_parts(side) for side in (60, 1400)]
    files += [tiff_of_tile(100, side) for side in (112, 40_000)]
    for count in (100, 2_000_000):
        files += [jpeg_of_segments(count), png_of_chunks(count)]
        files += [tiff_of_strips(count), tiff_of_strips(count, big=True)]

    def run(draw: random.Random) -> None:
        path.write_bytes(draw.choice(files))
        read_apart(path, "1-", draw)

    return run


def names(folder: Path) -> Run:
    """What becomes of names that are long, or hold control characters or what turns text around.

    A terminal gets none of these characters, and the results of a page can be written.
    """
    picture = encoded("PNG")[0]

    def run(draw: random.Random) -> None:
        name = "".join(draw.choices(_NAMED, k=draw.choice((1, 5, 50))))
        name = os.fsdecode(os.fsencode(name)[: _LONGEST_NAME - len(".png")])
        path = folder / f"{name}.png"
        path.write_bytes(draw.choice((picture, picture[:50])))
        write_results(folder, path)
        line = one_line(str(path))
        for source in (path, path.with_suffix(".none")):
            ((_, found),) = next(decode_batches([source], Preprocessing(), 1, 1))
            line += str(found) if isinstance(found, UnreadableImage) else ""
        record = json_line(error_row(str(path), ""))
        assert not _HARMFUL.search(line + record), ascii(line)
        assert json.loads(record)["path"] == str(path)

    return run


def write_results(folder: Path, path: Path) -> None:
    """Write what ``read --page --out`` does, for a file and another of the same name."""
    sources = [str(path), str(folder / "other" / path.name)]
    suffix = ENDINGS["hocr"]
    results = PageFolder(Path(tempfile.mkdtemp(dir=folder)), suffix, {})
    for source in sources:
        with write_atomically(results.target(source)) as temporary:
            temporary.write_text(hocr(source, {1: Page(60, 24, ())}), encoding="utf-8")
        results.note(results.state(source), 1, 0)
    again = PageFolder(results.path, suffix, {})
    assert [again.is_done(source) for source in sources] == [True, True]
    assert len([*results.path.glob(f"*{suffix}")]) == len(sources)


def lists(folder: Path) -> Run:
    """What lists of words, characters and labels take: files without end, impossible counts."""
    endless = folder / "endless.txt"
    endless.symlink_to("/dev/zero")
    waiting = folder / "waiting.txt"
    os.mkfifo(waiting)
    sparse = folder / "sparse.txt"
    with sparse.open("wb") as file:
        file.truncate(1 << 30)
    labels = folder / "labels.tsv"
    with labels.open("wb") as file:
        file.write(b"a.png\tone\n")
        file.truncate(1 << 30)
    list_of_words = folder / "words.txt"

    def run(draw: random.Random) -> None:
        digits = draw.choice((1, 16, 400, 4000, 5000))
        count = draw.choice(("", "-", "0.", "nan")) + "9" * digits
        lines = [f"word\t{count}", "\t1", "a\tb\tc", "\x00", "e\u0301\t2"]
        text = "\n".join(draw.sample(lines, k=draw.randint(1, len(lines))))
        list_of_words.write_text(text, encoding="utf-8")
        path = draw.choice((endless, waiting, sparse, list_of_words))
        with suppress(ValueError):
            prior_of(str(path), None)
        with suppress(ValueError):
            count_words(path)
        with suppress(ValueError):
            charset_of(str(path))
        if draw.random() < 0.1:  # a gigabyte takes a while
            assert [type(word) for word in open_words(labels)] == 2 * [Skipped]

    return run


def read_apart(path: Path, numbers: str, draw: random.Random) -> None:
    """Read a file as the commands do, which takes no longer than the limits allow."""
    began = time.monotonic()
    if draw.random() < 0.5:
        batches = decode_batches([path], Preprocessing(), 1, 1)
        for _, found in chain.from_iterable(batches):
            check_decoded(found)
    else:
        for found in pictures_in(str(path), PageOptions.of(numbers), _APART):
            check_decoded(found)
    seconds = time.monotonic() - began
    if seconds > _SECONDS_APART:
        raise RuntimeError(f"took {seconds:.1f} s")


def check_decoded(found: object) -> None:
    """A picture, or a line that says what is wrong."""
    if isinstance(found, UnreadableImage):
        assert "\n" not in str(found)
    else:
        assert isinstance(found, Image.Image | DecodedImage)


def pages(folder: Path) -> Run:
    """What draws the pages of a damaged PDF or TIFF file."""
    seeds = []
    picture = Image.new("RGB", (300, 200), "white")
    for name in ("PDF", "TIFF", "GIF"):
        file = io.BytesIO()
        picture.save(file, name, save_all=True, append_images=[picture])
        seeds.append(file.getvalue())
    path = folder / "page.pdf"

    def run(draw: random.Random) -> None:
        path.write_bytes(mutated(draw.choice(seeds), seeds, draw))
        for page in pictures_in(str(path), limits=_APART):
            check_decoded(page)

    return run


def marks(_: Path) -> Run:
    """What makes lines of pixels that a detector has marked as text, in odd ways and thousands."""
    sides = (32, 96, 736, 2016)

    def run(draw: random.Random) -> None:
        chance = np.random.default_rng(draw.randrange(1 << 32))
        height, width = draw.choice(sides), draw.choice(sides)
        fine = draw.choice((1, 4, 8, 16))  # pixels of a mark
        size = height // fine, width // fine
        kinds = (
            chance.random(size),
            chance.random(size) > 0.5,
            np.indices(size).sum(0) % 2,
            np.indices(size).max(0) % 2,
            np.full(size, draw.choice((0, 0.2, 1, 1e30, np.inf, np.nan))),
            chance.choice((0, 1, np.inf, np.nan), size),
        )
        odd = np.kron(draw.choice(kinds), np.ones((fine, fine)))
        boxes, middles = text_boxes(odd.astype(np.float32))
        for corners in boxes:
            assert ((corners >= 0) & (corners < odd.shape[::-1])).all()
        odd_places = chance.choice((0, 1, 20, 90), (9, 24, 2)).cumsum(1)
        heights = (0.0, -1.0, np.nan, np.inf, 99 * draw.random())
        odd_lines = (Middle(each, draw.choice(heights)) for each in odd_places)
        lines = [*middles, *odd_lines]
        for some in (middles, lines):
            bend = bend_of(some)
            if bend is not None:
                flat = bend.flattened(Image.new("RGB", (width, height)))
                assert max(flat.size) < 3 * max(sides)

    return run


class _GivenLines:
    """A detector that finds what it is given."""

    def __init__(self, found: np.ndarray, middles: list[Middle]) -> None:
        self._found = found
        self._middles = middles

    def lines(self, image: Image.Image) -> list[np.ndarray]:
        return list(self._found)

    def lines_and_middles(
        self, image: Image.Image
    ) -> tuple[list[np.ndarray], list[Middle]]:
        return self.lines(image), self._middles


def detectors(_: Path) -> Run:
    """What a detector of one's own may find: corners that are no numbers, or in one place."""
    numbers = (0, 0, 1, 20, 90, 1e9, -5, np.nan, np.inf)

    def run(draw: random.Random) -> None:
        chance = np.random.default_rng(draw.randrange(1 << 32))
        known = numbers[: draw.choice((4, 5, 7, 9))]
        found = chance.choice(known, (draw.choice((0, 1, 40)), 4, 2))
        points = chance.choice(known, (9, 24, 2)).cumsum(1)
        middles = [Middle(each, draw.choice(known)) for each in points]
        detector = _GivenLines(found, middles)
        _, lines, _ = find_lines(detector, Image.new("RGB", (96, 64)))
        assert np.isfinite(lines).all()
        assert all(np.ptp(line, 0).any() for line in lines)

    return run


def tables(folder: Path) -> Run:
    """What cells become in spreadsheets: texts and numbers, never formulas."""
    texts = (
        "",
        "=cmd()",
        "+1",
        "-1,5",
        "@a",
        "1.234,50",
        "12 %",
        "\x07",
        "\ud7ff",
        "007",
    )

    def run(draw: random.Random) -> None:
        columns = draw.choice((1, 2, 20))
        rows = [
            tuple(
                (_word(draw.choice(texts) + draw.choice(("", "\t", "x" * 40_000))),)
                for _ in range(columns)
            )
            for _ in range(draw.choice((0, 1, 50)))
        ]
        page = DocumentPage(1, Page(9, 9, ()), "a.png")
        page.__dict__["blocks"] = [
            Block("table", n, (), "", table=Table(tuple(rows)))
            for n in range(draw.choice((1, 3)))
        ]
        path = folder / "tables.xlsx"
        write_workbook([page], path)
        sheets = load_workbook(path).worksheets
        assert len({sheet.title for sheet in sheets}) == len(page.tables)
        kinds = {cell.data_type for sheet in sheets for row in sheet for cell in row}
        assert "f" not in kinds
        cells = chain.from_iterable(csv.reader(io.StringIO(tables_as_csv([page]))))
        assert not any(cell.startswith(("=", "@", "\t")) for cell in cells)

    return run


def _word(text: str) -> Word:
    return Word(text, 1.0, ((0, 0), (9, 0), (9, 9), (0, 9)))


def patterns(_: Path) -> Run:
    """What matches a random regular expression."""
    parts = [
        "a",
        ".",
        "[a-c]",
        "(",
        ")",
        "|",
        "*",
        "+",
        "?",
        "\\1",
    ]

    def run(draw: random.Random) -> None:
        pattern = "".join(draw.choices(parts, k=draw.choice((3, 10, 30, 300))))
        Pattern(pattern, Charset("abc"), "abc").allowed("a" * 25)

    return run


def weights(folder: Path) -> Run:
    """What loads a damaged weights file, and reads with it if that is possible."""
    good = folder / "good.safetensors"
    bad = folder / "bad.safetensors"
    model = Recognizer(VisionTransformer(16, 1, 2), TransformerDecoder(94, 16, 1, 2, 6))
    save_weights(good, model, Charset(), Preprocessing(), {"by": "fuzz"})
    whole = good.read_bytes()
    tensors = load_file(good)
    with safe_open(good, "pt") as file:
        metadata = {
            name: text for name, text in file.metadata().items() if name != "sha256"
        }

    def run(draw: random.Random) -> None:
        if draw.random() < 0.3:
            bad.write_bytes(mutated(whole, [whole], draw))
        else:
            name = draw.choice(["model", "model", "model", *metadata])
            save_file(tensors, bad, {**metadata, name: _odd(metadata[name], draw)})
        assert 0 <= vit_str.load(bad, "cpu").read(np.zeros((32, 128))).confidence <= 1

    return run


def layers(folder: Path) -> Run:
    """What reads in 8 bits with layers of one value, and with odd ranges or none."""
    bad = folder / "bad.safetensors"
    tensors = load_file(BUNDLED / "tiny.safetensors")
    with safe_open(BUNDLED / "tiny.safetensors", "pt") as file:
        metadata = {
            name: text for name, text in file.metadata().items() if name != "sha256"
        }
    ranges = json.loads(metadata["ranges"])
    extremes = (0.0, 1e-38, 1e-6, 1.0, 1e6, 1e38, float("inf"), float("nan"))

    def run(draw: random.Random) -> None:
        odd = dict(ranges)
        for name in draw.sample(sorted(ranges), draw.choice((0, 1, 5))):
            odd[name] = [draw.choice((-1, 1)) * draw.choice(extremes) for _ in "ab"]
        told = {"ranges": json.dumps(odd)} if draw.random() < 0.7 else {"ranges": "{}"}
        changed = dict(tensors)
        for name in draw.sample(sorted(tensors), draw.choice((0, 1, 5))):
            changed[name] = full_like(tensors[name].float(), draw.choice(extremes))
        save_file(changed, bad, metadata | told)
        assert 0 <= vit_str.load(bad, "cpu").read(np.zeros((32, 128))).confidence <= 1

    return run


def _odd(text: str, draw: random.Random) -> str:
    """JSON with an odd value somewhere, or all of it odd."""
    odd = draw.choice((draw.choice(_NUMBERS), draw.choice(_OTHERS)))
    if not text.startswith("{") or draw.random() < 0.2:
        return draw.choice((json.dumps(odd), "[" * 10**5, text * 2))
    values = json.loads(text)
    place = values
    key = draw.choice(list(place))
    while isinstance(place[key], dict) and draw.random() < 0.9:
        place = place[key]
        key = draw.choice(list(place))
    place[draw.choice((key, key, key, "more"))] = odd
    return json.dumps(values)


def databases(folder: Path) -> Run:
    """What reads an LMDB with other bytes, or with blocks of zeros, noise or other blocks."""
    draw = random.Random(0)
    with LmdbWriter(folder / "whole", Layout()) as writer:
        for number in range(200):
            image = draw.randbytes(draw.choice((100, 3000, 9000)))
            writer.add([LabeledWord(image, f"word {number}")])
    whole = (folder / "whole" / "data.mdb").read_bytes()
    pages = range(0, len(whole), _LMDB_PAGE)
    tree = [page for page in pages if whole[page + _LMDB_KIND] in _LMDB_TREE]

    def run(draw: random.Random) -> None:
        path = Path(tempfile.mkdtemp(dir=folder))
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 8))):
            size = draw.choice((1, 2, 8, 512, 4096, 65_536))
            place, other = (
                size * draw.randrange(len(whole) // size + 1) for _ in range(2)
            )
            if size < _LMDB_HEAD:  # most numbers are near the start of a page
                place = draw.choice(tree) + draw.randrange(_LMDB_HEAD)
            kinds = (bytes(size), draw.randbytes(size), whole[other : other + size])
            damaged[place : place + size] = draw.choice(kinds)
        end = draw.choice((len(whole), len(whole), draw.randrange(len(whole))))
        (path / "data.mdb").write_bytes(damaged[:end])
        for word in open_words(path):
            assert isinstance(word, Skipped | LabeledWord)

    return run


def data(folder: Path) -> Run:
    """What goes through a damaged data set, but an LMDB, which `databases` damages."""
    pictures = encoded("JPEG PNG")
    with tarfile.open(folder / "a.tar", mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in {
            "a.png": pictures[-1],
            "a.txt": b"one",
            "\xe9.jpg": b"x",
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    seeds = _LABELS | {"a.tar": (folder / "a.tar").read_bytes()}

    def run(draw: random.Random) -> None:
        path = Path(tempfile.mkdtemp(dir=folder))
        name = draw.choice([*seeds])
        (path / "a.png").write_bytes(mutated(draw.choice(pictures), pictures, draw))
        (path / name).write_bytes(mutated(seeds[name], [*seeds.values()], draw))
        path = path / name if name == "a.tar" else path
        for word in open_words(path, draw.choice((None, None, *READERS))):
            if not isinstance(word, Skipped):
                Rules().decode(word)

    return run


def problem(run: Run, draw: random.Random, printed: Path) -> str | None:
    """What is wrong with one case, None if nothing."""
    Path("/proc/self/clear_refs").write_text("5")  # Linux forgets the peak
    before = _size("VmRSS")
    began = time.process_time()
    found = None
    try:
        run(draw)
    except Exception as error:  # the commands print these two in one line
        if not isinstance(error, ValueError | OSError) or not str(error).strip():
            found = traceback.format_exc()
    seconds = time.process_time() - began
    memory = _size("VmHWM") - before
    if seconds > _SECONDS or memory > _MEMORY:
        found = f"took {seconds:.1f} s and {memory >> 20} MB, {found}"
    text = printed.read_bytes()[:500]
    os.truncate(printed, 0)
    return f"printed {text!r}" if text else found


def _size(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) << 10


_TARGETS = (
    images,
    scans,
    frames,
    parts,
    names,
    lists,
    pages,
    marks,
    detectors,
    tables,
    patterns,
    weights,
    layers,
    data,
    databases,
)


def child(target: Any, numbers: range, seed: int, results: Path) -> None:
    """Run some cases; write a line for each, before and after it."""
    with suppress(ValueError):  # of a lower limit, which stays
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    with (
        tempfile.TemporaryDirectory() as folder,
        results.open("w", buffering=1) as file,
    ):
        run = target(Path(folder))
        printed = Path(folder, "printed")
        output = os.open(printed, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for stream in (1, 2):  # to which also linear algebra writes
            os.dup2(output, stream)
        for number in numbers:
            signal.alarm(int(2 * _SECONDS_APART))
            file.write(json.dumps([number, "crashed, or took too long"]) + "\n")
            draw = random.Random(f"{seed} {target.__name__} {number}")
            file.write(json.dumps([number, problem(run, draw, printed)]) + "\n")


def main() -> int:
    """Run as many cases of each type as asked for; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    for name in (*(target.__name__ for target in _TARGETS), "first", "seed"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N")
    options = parser.parse_args()
    wrong = 0
    results = Path(tempfile.mkdtemp(), "results")
    for target in _TARGETS:
        number = options.first
        end = options.first + getattr(options, target.__name__)
        while number < end:
            chunk = range(number, end)[:_CHUNK]
            process = Process(target=child, args=(target, chunk, options.seed, results))
            process.start()
            process.join()
            found = dict(map(json.loads, results.read_text().splitlines()))
            number = max(found) + 1
            for case, reason in found.items():
                wrong += reason is not None
                print(
                    f"{target.__name__} {case}: {reason}\n" if reason else "",
                    end="",
                    flush=True,
                )
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
