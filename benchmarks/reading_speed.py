"""How fast words are read on one CPU thread, and how well, next to Tesseract and RapidOCR.

    python benchmarks/reading_speed.py [FILES_OR_FOLDER ...] [--limit 300] [--backends onnx-int8]

All readers read the same files, in interleaved rounds, on one and the same CPU. "file" is the
whole way from image files to text, "pixels" the model alone; memory is the peak of a process that
reads all of them. ``--exported`` takes folders of ``vit-str export``, such as one in int8. A folder
with ``labels.tsv`` gives word accuracy too (36 characters: letters without case, digits). A round
of 300 words takes about two minutes, of words that are hard to read seven; five sixths of that are
vit-str in other number formats, which ``--backends onnx-int8`` leaves out. Peers: ``apt-get install
tesseract-ocr``; ``pip install rapidocr onnxruntime``, perhaps in a virtual environment of its own
(``--rapidocr-python``).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import (
    REPOSITORY,
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    table,
    write_json,
)
from peers import Peer, RapidOCR, Tesseract, first_output

from vit_str.console import positive
from vit_str.datasets.folder import FolderReader
from vit_str.decoding.readings import Reading
from vit_str.decoding.search import Search
from vit_str.engines.weights_contents import resolve
from vit_str.evaluation.metrics import word_accuracy
from vit_str.images.image_decoding import decode
from vit_str.images.loading import load_image
from vit_str.images.refusals import UnreadableImage
from vit_str.torch_runtime.devices import fastest_dtype
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.words.options import find_inputs
from vit_str.words.reader import Reader, load

_TORCH = "torch"
_BACKENDS = "onnx-int8", "onnx", _TORCH
_BATCHES = 1, 32
_FIRST = 32  # words that a reader has read before it is timed
_RAPIDOCR_BATCHES = 1, 6  # 6 is its own choice

Round = tuple[float, list[str]]


@dataclass(frozen=True, slots=True)
class Words:
    """Files to read, and what they say if that is known."""

    files: list[str]
    labels: list[str] | None


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one reader."""

    reader: str
    images_per_second: list[float]
    word_accuracy_36: float | None


def main() -> None:
    """Measure, print, write."""
    parser = _parser()
    options = parser.parse_args()
    pin(1)
    try:
        words = find_words(options.paths, options.limit)
        model = resolve(options.model).resolve()
        backends = options.backends
        runs = dict(vit_str_runs(model, backends, options.exported, words.files))
    except ValueError as error:
        parser.error(str(error))
    print_machine()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        peers = _peers(words.files, Path(folder), options.rapidocr_python)
        for name, peer in peers.items():
            runs[name] = stack.enter_context(peer).read
        rows = [
            _row(name, rounds, words)
            for name, rounds in interleave(runs, options.rounds).items()
        ]
        commands = _commands(words.files[0], str(model), backends, peers)
        starts = interleave(commands, options.rounds)
    print(_readers_table(rows, words))
    print()
    print(_starts_table(starts))
    print()
    for backend in backends:
        if backend != _TORCH:
            print(_shares_table(load(model, "cpu", backend=backend), words.files))
            print()
    peaks = {name: _peak(name, str(model), words.files) for name in backends}
    print(
        table(
            [
                ["vit-str read", "peak memory, MB"],
                *([k, f"{v:.0f}"] for k, v in peaks.items()),
            ]
        )
    )
    results = {"words": len(words.files), "readers": [asdict(row) for row in rows]}
    results |= {"seconds_to_first_output": starts, "peak_mebibytes": peaks}
    write_json(options.json, results)


def _parser() -> argparse.ArgumentParser:
    samples = REPOSITORY / "data" / "samples"
    parser = described_parser(__doc__, rounds=5)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILES_OR_FOLDER",
        default=[str(samples)],
        help="images, or a folder with images and perhaps labels.tsv (data/samples)",
    )
    parser.add_argument(
        "--limit",
        type=positive,
        help="read so many of them, spread evenly",
    )
    parser.add_argument(
        "--model",
        default="tiny",
        help="name or .safetensors file (tiny)",
    )
    parser.add_argument(
        "--backends",
        nargs="+",
        choices=_BACKENDS,
        default=list(_BACKENDS),
        help="of vit-str, to measure (all of them)",
    )
    parser.add_argument(
        "--exported",
        nargs="*",
        default=[],
        metavar="FOLDER",
        help="of vit-str export, to read with",
    )
    parser.add_argument(
        "--rapidocr-python",
        default=sys.executable,
        metavar="PYTHON",
        help="interpreter of the virtual environment that holds rapidocr (this one)",
    )
    return parser


def find_words(paths: list[str], limit: int | None) -> Words:
    """The images that can be read, at most ``limit``.

    Raises:
        ValueError: there is none, or a ``labels.tsv`` cannot be understood.
    """
    pairs: list[tuple[str, str | None]]
    if len(paths) == 1 and (Path(paths[0]) / "labels.tsv").is_file():
        labeled = FolderReader(paths[0]).files()
        pairs = list(zip(map(str, labeled.paths), labeled.labels, strict=True))
    else:
        found = find_inputs(paths)
        for path, reason in found.problems:
            print(f"{path}: {reason}", file=sys.stderr)
        pairs = [(path, None) for path in found.paths]
    step = max(1, len(pairs) // limit) if limit else 1
    pairs = [
        (str(Path(file).resolve()), label) for file, label in pairs[::step][:limit]
    ]
    pairs = [pair for pair in pairs if _readable(pair[0])]
    if not pairs:
        raise ValueError(
            f"no image to read in {', '.join(paths)}; name files or a folder"
        )
    labels = [label for _, label in pairs if label is not None]
    return Words([file for file, _ in pairs], labels or None)


def _readable(file: str) -> bool:
    try:
        load_image(file)
    except UnreadableImage as error:
        print(f"left out: {error}", file=sys.stderr)
        return False
    return True


def vit_str_runs(
    model: Path, backends: list[str], exported: list[str], files: list[str]
) -> Iterator[tuple[str, Callable[[], Round]]]:
    """Every engine, number format, batch size and way; each has read some when it is given."""
    weights = load_weights(model)
    graphs = [backend for backend in backends if backend != _TORCH]
    readers = [("", load(model, "cpu", backend=backend)) for backend in graphs]
    if weights.preprocessing.reread_below:
        for backend in graphs:
            fast = load(model, "cpu", backend=backend, effort="fast")
            free = load(model, "cpu", backend=backend, search=Search(language="none"))
            readers += [(", effort fast", fast), (", language none", free)]
    readers += [("", load(Path(each))) for each in exported]
    if _TORCH in backends:
        dtypes = {torch.float32, fastest_dtype(torch.device("cpu"))}
        slowest_first = sorted(dtypes, key=lambda dtype: -dtype.itemsize)
        readers += [("", Reader(weights, "cpu", dtype)) for dtype in slowest_first]
    for effort, reader in readers:
        pixels = np.stack([reader.pixels(file) for file in files])
        ways: dict[str, tuple[Callable[..., list[str]], Any]] = {
            "file": (_read_files, files),
            "pixels": (_read_pixels, pixels),
        }
        for batch in _BATCHES:
            engine = f"{reader.engine.backend} {reader.engine.number_format}{effort}"
            for way, (read, images) in ways.items():
                name = f"vit-str, {engine}, batch {batch}, {way}"
                print(f"first words: {name}", file=sys.stderr)
                read(reader, images[:_FIRST], batch)
                yield name, partial(_timed, partial(read, reader, images, batch))


def _shares_table(reader: Reader, files: list[str]) -> str:
    """Where the milliseconds of a file go that is read alone; doubtful ones are read again."""
    seconds: defaultdict[str, float] = defaultdict(float)
    engine: Any = reader.engine

    def timed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = time.perf_counter()
            result = function(*arguments)
            seconds[name] += time.perf_counter() - started
            return result

        return call

    begin = engine.begin

    def begin_timed(encoded: Any) -> Any:
        steps = begin(encoded)
        steps.step = timed(steps.step, "steps")
        steps.keep = timed(steps.keep, "copies of beams")
        return steps

    engine.encode = timed(engine.encode, "encoder")
    engine.begin = begin_timed
    started = time.perf_counter()
    for file in files:
        reader.read_decoded([timed(decode, "image file")(file, reader.preprocessing)])
    total = time.perf_counter() - started
    rest = total - sum(seconds.values())
    rows = [
        [name, f"{1000 * value / len(files):.2f}"] for name, value in seconds.items()
    ]
    rows.append(
        ["search, augmentations and all else", f"{1000 * rest / len(files):.2f}"]
    )
    return table(
        [[f"{engine.backend} {engine.number_format}, one by one", "ms a file"], *rows]
    )


def _timed(read: Callable[[], list[str]]) -> Round:
    """Its seconds and texts."""
    started = time.perf_counter()
    texts = read()
    return time.perf_counter() - started, texts


def _read_files(reader: Reader, files: list[str], batch: int) -> list[str]:
    if batch == 1:
        return [reader.read(file).text for file in files]
    outcomes = (outcome for _, outcome in reader.stream(files, batch, workers=1))
    return [outcome.text for outcome in outcomes if isinstance(outcome, Reading)]


def _read_pixels(reader: Reader, pixels: np.ndarray, batch: int) -> list[str]:
    texts: list[str] = []
    for start in range(0, len(pixels), batch):
        readings = reader.read_pixels(pixels[start : start + batch])
        texts += [reading.text for reading in readings]
    return texts


def _peers(files: list[str], folder: Path, python: str) -> dict[str, Peer]:
    """Those that are installed; a line about each that is not."""
    listed = folder / "files.txt"
    listed.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
    peers: dict[str, Peer] = {}
    version = Tesseract.version()
    if version:
        peers[f"Tesseract {version}, file"] = Tesseract(listed)
    else:
        print("Tesseract is left out; to install it: apt-get install tesseract-ocr")
    version = RapidOCR.version(python)
    if version:
        for batch in _RAPIDOCR_BATCHES:
            name = f"RapidOCR {version} (recognizer), batch {batch}, file"
            peers[name] = RapidOCR(python, listed, batch)
    else:
        print(
            f"RapidOCR is left out; to install it: {python} -m pip install rapidocr "
            "onnxruntime"
        )
    return peers


def _row(name: str, rounds: list[Round], words: Words) -> Row:
    rates = [len(words.files) / seconds for seconds, _ in rounds]
    texts = rounds[-1][1]
    return Row(
        name, rates, word_accuracy(texts, words.labels) if words.labels else None
    )


def _commands(
    file: str,
    model: str,
    backends: list[str],
    peers: dict[str, Peer],
) -> dict[str, Callable[[], float]]:
    """Seconds from the start of a process to the first thing it says."""
    python = sys.executable
    read = [python, "-m", "vit_str", "read", file, "--model", model, "--backend"]
    lines = {
        f"vit-str read FILE --backend {backend}": [*read, backend]
        for backend in backends
    }
    lines |= {
        "vit-str --help": [python, "-m", "vit_str", "--help"],
        'python -c "import torch"': [
            python,
            "-c",
            "import torch; print(torch, flush=True)",
        ],
        'python -c ""': [python, "-c", "print(0, flush=True)"],
    }
    if any(isinstance(peer, Tesseract) for peer in peers.values()):
        lines["tesseract FILE"] = ["tesseract", file, "stdout", "--psm", "8"]
    return {name: partial(first_output, line) for name, line in lines.items()}


# The system's own count for a child holds what its parent had, so the process asks for itself.
_READ = """
import sys
from pathlib import Path
from vit_str.cli import main
main(sys.argv[1:])
status = Path("/proc/self/status").read_text()
print(int(status.partition("VmHWM:")[2].split()[0]) / 1e3, file=sys.stderr)
"""


def _peak(backend: str, model: str, files: list[str]) -> float:
    """Megabytes that ``vit-str read`` takes at most."""
    options = [
        "--model",
        model,
        "--backend",
        backend,
        "--device",
        "cpu",
        "--workers",
        "1",
    ]
    line = [sys.executable, "-c", _READ, "read", *files, *options]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return float(done.stderr.splitlines()[-1])


def _readers_table(rows: list[Row], words: Words) -> str:
    tesseract = [
        row.images_per_second for row in rows if row.reader.startswith("Tesseract")
    ]
    cells = [["reader", "images/s", "range", "x Tesseract", "word 36 %"]]
    for row in rows:
        rates = row.images_per_second
        accuracy = row.word_accuracy_36
        ratio = None
        if tesseract:
            ratio = statistics.median(rates) / statistics.median(tesseract[0])
        cells.append(
            [
                row.reader,
                *median_and_range(rates),
                "-" if ratio is None else f"{ratio:.2f}",
                "-" if accuracy is None else f"{100 * accuracy:.1f}",
            ]
        )
    return f"{len(words.files)} words, one CPU thread, median of the rounds\n{table(cells)}"


def _starts_table(starts: dict[str, list[float]]) -> str:
    cells = [["command", "seconds to first output", "range"]]
    cells += [[name, *median_and_range(seconds)] for name, seconds in starts.items()]
    return table(cells)


if __name__ == "__main__":
    main()
