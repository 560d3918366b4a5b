"""Put the weights of a training run into the package.

    python data/bundle_weights.py base runs/vit_base_transformer/weights.safetensors

In float16, with graphs, and with ranges for 8 bits, which a run measures only for architectures
that the package has graphs of. Ranges are measured on words in the fonts of this machine.
``--int8`` keeps matrices in the 8 bits that graphs take of them, for half the size: not of weights
to analyze or train on.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import torch
from make_graphs import main as make_graphs

from vit_str import console
from vit_str.engines.graph_files import (
    DESCRIPTION,
    find_graphs,
    int8_weights,
    takes_ranges,
)
from vit_str.engines.weights_contents import BUNDLED, load_header
from vit_str.torch_runtime.ranges import measure_ranges, rendered_words
from vit_str.torch_runtime.weights_file import (
    load_weights,
    renew_weights,
    save_weights,
    write_in_int8,
)


def main() -> None:
    """Write the file, and the graphs of all weights of the package anew."""
    options = _options()
    weights = load_weights(options.weights)
    target = BUNDLED / f"{options.name}.safetensors"
    save_weights(
        target,
        weights.recognizer,
        weights.charset,
        weights.preprocessing,
        weights.provenance | json.loads(options.provenance),
        torch.float16,
        temperature=options.temperature or weights.temperature,
        ranges=weights.ranges,
    )
    make_graphs()
    if not weights.ranges and takes_ranges(load_header(target).description):
        _measure(target, options.fonts)
    if options.int8:
        _keep_in_int8(target)
    console.write(str(target))


def _keep_in_int8(path: Path) -> None:
    """Write a weights file again, with matrices in 8 bits."""
    folder = find_graphs(load_header(path).description)
    if folder is None:
        sys.exit(f"{path}: no graphs say which tensors they take in 8 bits")
    values = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    write_in_int8(path, path, int8_weights(values))


def _measure(path: Path, fonts: list[Path] | None) -> None:
    """Write a weights file again, with ranges."""
    weights = load_weights(path)
    words = rendered_words(weights.charset, weights.preprocessing, fonts)
    ranges = measure_ranges(weights.recognizer, weights.preprocessing, words)
    renew_weights(path, path, replace(weights, ranges=ranges))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="of the weights in the package, such as base")
    parser.add_argument("weights", type=Path, help="the file of the run")
    parser.add_argument(
        "--temperature", type=float, help="divides scores (default: that of the file)"
    )
    parser.add_argument(
        "--provenance",
        default="{}",
        metavar="JSON",
        help='entries to replace, such as \'{"command": "vit-str train ..."}\'',
    )
    parser.add_argument(
        "--fonts", type=Path, nargs="+", help="folders (default: all of this machine)"
    )
    parser.add_argument(
        "--int8", action="store_true", help="half the size (default: float16)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
