"""``vit-str export``: a model for onnxruntime."""

import argparse
from pathlib import Path

from vit_str import console

_DESCRIPTION = """\
Write a model as ONNX graphs, which onnxruntime runs on any machine and in many languages: the
graphs, a description with charset and preprocessing, and a README with the loop that reads."""

_EPILOG = """\
examples:
  vit-str export tiny --out tiny-onnx              the model of the package
  vit-str export my.safetensors --out my-onnx      a file of your own
  vit-str read --model ./my-onnx word.png          read with it, without torch"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str export``."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("weights", metavar="WEIGHTS", help="a .safetensors file, or tiny")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="the folder to make")
    parser.add_argument(
        "--int8", action="store_true", help="quantize matrix products: a quarter of the size"
    )


def run(options: argparse.Namespace) -> int:
    """Export the model; returns the exit code."""
    from vit_str.export.folder import write_exported
    from vit_str.weights import load_weights, resolve

    write_exported(load_weights(resolve(options.weights)), Path(options.out), options.int8)
    console.complain(f"wrote {options.out}")
    return 0
