"""Put the weights of a training run into the package.

    python data/bundle_weights.py base runs/vit_base_transformer/weights.safetensors

In float16, with graphs, and with ranges for 8 bits, which a run measures only for architectures
that the package has graphs of. Ranges are measured on words in the fonts of this machine.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from make_graphs import main as make_graphs

from vit_str import console
from vit_str.engines.graph_files import takes_ranges
from vit_str.engines.weights_contents import BUNDLED, load_header
from vit_str.torch_runtime.ranges import measure_ranges, rendered_words
from vit_str.torch_runtime.weights_file import (
    load_weights,
    renew_weights,
    save_weights,
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
    console.write(str(target))


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
    return parser.parse_args()


if __name__ == "__main__":
    main()
