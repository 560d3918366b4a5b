"""``vit-str export``: a model for onnxruntime."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.machine import install_hint

if TYPE_CHECKING:
    from vit_str.torch_runtime.weights_file import WeightsFile

_DESCRIPTION = """\
Write a model as ONNX graphs, which onnxruntime runs on any machine and in many languages: the
graphs, a description with charset and preprocessing, and a README with the loop that reads.
Or write a static web page that reads words and whole pictures inside the browser; pictures never
leave it. Or write a network that arranges pages, which ``vit-str read --arranger`` takes."""

_EPILOG = """\
examples:
  vit-str export tiny --out tiny-onnx              the model of the package
  vit-str export my.safetensors --out my-onnx      a file of your own
  vit-str read --model ./my-onnx word.png          read with it, without torch
  vit-str export arranger.safetensors --out arranger.onnx
  vit-str export finder.safetensors --out finder.onnx   a network that finds lines, see
                                                   vit-str read --page --detector
  vit-str export tiny --web page                   a page that reads in the browser, then
  python -m http.server --directory page           open http://localhost:8000"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str export``."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument(
        "weights",
        metavar="WEIGHTS",
        help="a .safetensors file of a reader or of a network that finds lines, or tiny",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--out",
        metavar="FOLDER",
        help="folder to create; of a network that arranges or finds, an .onnx file",
    )
    where.add_argument("--web", metavar="FOLDER", help="folder to create, with a page")
    parser.add_argument(
        "--int8",
        action="store_true",
        help="quantize matrix products: a quarter of the size",
    )
    parser.add_argument(
        "--runtime",
        metavar="FOLDER",
        help="with --web: the folder with onnxruntime-web (default: from npm)",
    )


def run(options: argparse.Namespace) -> int:
    """Export the model; returns the exit code."""
    from vit_str.engines.weights_contents import resolve
    from vit_str.export.folder import write_exported
    from vit_str.scripts.registry import choose_weights
    from vit_str.torch_runtime.arranger_file import is_arranger
    from vit_str.torch_runtime.finder_file import is_finder
    from vit_str.torch_runtime.weights_file import load_weights

    if is_arranger(Path(options.weights)):
        return _write_arranger(options)
    if options.runtime and not options.web:
        raise ValueError("--runtime needs --web")
    if is_finder(Path(options.weights)):
        return _write_finder(options)
    first = choose_weights(options.weights).first if options.web else options.weights
    weights = load_weights(resolve(first))
    if options.web:
        _write_page(weights, options)
        return 0
    write_exported(weights, Path(options.out), options.int8)
    console.warn(f"wrote {options.out}")
    return 0


def _write_arranger(options: argparse.Namespace) -> int:
    from vit_str.export.arranger import write_arranger
    from vit_str.torch_runtime.arranger_file import load_arranger

    if not options.out:
        raise ValueError("--web takes models that read; give --out arranger.onnx")
    target = Path(options.out)
    if target.suffix != ".onnx":
        raise ValueError(
            f"--out {target}: a network that arranges pages is one file; let its name "
            "end in .onnx"
        )
    write_arranger(load_arranger(Path(options.weights)), target, int8=options.int8)
    console.warn(f"wrote {target}")
    return 0


def _write_finder(options: argparse.Namespace) -> int:
    """Write a network that finds lines."""
    from vit_str.export.finder import write_finder

    if options.web or options.int8:
        raise ValueError("a network that finds lines takes --out FILE.onnx only")
    if Path(options.out).suffix != ".onnx":
        raise ValueError(
            f"--out: expected a file such as finder.onnx, found {options.out}"
        )
    write_finder(Path(options.weights), Path(options.out))
    console.warn(f"wrote {options.out}")
    return 0


def _write_page(weights: "WeightsFile", options: argparse.Namespace) -> None:
    from vit_str.export.web import detector_files, write_page
    from vit_str.pages.find.detection import DETECTOR

    runtime = Path(options.runtime) if options.runtime else None
    detector = detector_files()
    write_page(
        weights,
        Path(options.web),
        options.int8,
        runtime,
        detector,
        options.weights,
    )
    console.warn(
        f"wrote {options.web}: python -m http.server --directory {options.web}"
    )
    if not detector:
        console.warn(
            f"it reads words only: whole pictures need {DETECTOR} of rapidocr, run: "
            f"{install_hint('page')}"
        )
