"""One set of weights, read fast and carefully: accuracy on the same words, and speed.

    python benchmarks/effort.py FOLDER... --model runs/vit_permuted/weights.safetensors

For models that can choose (``vit-str read --effort``): all characters at once or one after the
other, and how often the label is read again with all other characters in sight. Every way reads
the same labeled crops; differences to the first way are taken word by word, with 95 % intervals.
There is no test-time augmentation. Speed is from pixels to text, 32 at a time, on one CPU
thread or on the device, in turns.
"""

import argparse
import itertools
import statistics
from pathlib import Path

import numpy as np
import torch
from measuring import (
    described_parser,
    interleave,
    pin,
    print_machine,
    table,
    write_json,
)
from variant_cost import reading_seconds
from variant_report import percent, points

from vit_str.datasets import open_words
from vit_str.datasets.folder import FolderReader
from vit_str.engines.weights_contents import resolve
from vit_str.evaluation.statistics import paired_difference, wilson_interval
from vit_str.evaluation.words.reading import read_words
from vit_str.evaluation.words.results import ReadWords, together
from vit_str.models import PermutedDecoder
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.words.reader import Reader

_BATCH = 32
_TIMED = 256
_REFINEMENTS = 0, 1, 2
_WAYS = {
    f"{decoding}, {times} refinement{'' if times == 1 else 's'}": (decoding, times)
    for decoding, times in itertools.product(
        ("autoregressive", "parallel"), _REFINEMENTS
    )
}


def main() -> None:
    """Read in every way, compare, print."""
    parser = _parser()
    options = parser.parse_args()
    try:
        _measure(options)
    except (ValueError, OSError) as error:
        parser.exit(2, f"effort: {error}\n")


def _measure(options: argparse.Namespace) -> None:
    pin()
    print_machine()
    readers = {name: _reader(options, *way) for name, way in _WAYS.items()}
    words = {name: _read(reader, options.folders) for name, reader in readers.items()}
    pixels = _pixels(next(iter(readers.values())), options.folders[0])
    seconds = interleave(
        {name: lambda n=name: reading_seconds(readers[n], pixels) for name in readers},  # type: ignore[misc]
        options.rounds,
    )
    rates = {name: [len(pixels) / taken for taken in seconds[name]] for name in readers}
    first = next(iter(words.values())).right()
    rows = [["way", f"word 36, n = {len(first):,}", "difference", "reads per second"]]
    rows += [_row(name, words[name], first, rates[name]) for name in readers]
    print(table(rows))
    right = {name: float(found.right().mean()) for name, found in words.items()}
    write_json(options.json, {"word_accuracy_36": right, "images_per_second": rates})


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=5)
    parser.add_argument(
        "folders", type=Path, nargs="+", help="folders of labeled crops"
    )
    parser.add_argument("--model", required=True, help="name or .safetensors file")
    parser.add_argument(
        "--device", default="cpu", help="cpu, cuda, cuda:1 or mps (cpu)"
    )
    return parser


def _reader(options: argparse.Namespace, decoding: str, refinements: int) -> Reader:
    weights = load_weights(resolve(options.model))
    decoder = weights.recognizer.decoder
    if not isinstance(decoder, PermutedDecoder):
        raise ValueError(
            f"{type(decoder).__name__} of {options.model} reads in one way only"
        )
    decoder.decoding = decoding
    decoder.refinements = refinements
    return Reader(weights, options.device).at_one_look()


def _read(reader: Reader, folders: list[Path]) -> ReadWords:
    return together(
        read_words(reader, open_words(folder), _BATCH) for folder in folders
    )


def _pixels(reader: Reader, folder: Path) -> torch.Tensor:
    paths = FolderReader(folder).files().paths[:_TIMED]
    return torch.from_numpy(np.stack([reader.pixels(path) for path in paths]))


def _row(
    name: str,
    words: ReadWords,
    first: np.ndarray,
    rates: list[float],
) -> list[str]:
    right = words.right()
    accuracy = percent(
        float(right.mean()), wilson_interval(int(right.sum()), len(right))
    )
    found = paired_difference(first, right)
    difference = points(found.difference, found.interval)
    return [name, accuracy, difference, f"{statistics.median(rates):,.0f}"]


if __name__ == "__main__":
    main()
