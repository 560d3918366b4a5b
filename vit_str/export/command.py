"""``vit-str export``: a model for onnxruntime."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.machine import install_hint

if TYPE_CHECKING:
    from onnx import ModelProto

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
    from vit_str.torch_runtime.network_files import ARRANGER, FINDER
    from vit_str.torch_runtime.weights_file import load_weights

    if options.runtime and not options.web:
        raise ValueError("--runtime needs --web")
    if ARRANGER.describes(Path(options.weights)):
        return _write_arranger(options)
    if FINDER.describes(Path(options.weights)):
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
    from vit_str.export.arranger import arranger_graph
    from vit_str.torch_runtime.network_files import ARRANGER

    target = _graph_target(options, ARRANGER.kind)
    file = ARRANGER.load(Path(options.weights))
    return _write_graph(arranger_graph(file, int8=options.int8), target)


def _write_finder(options: argparse.Namespace) -> int:
    from vit_str.export.finder import finder_graph
    from vit_str.torch_runtime.network_files import FINDER

    if options.int8:
        raise ValueError(f"--int8: {FINDER.kind} has no graph in 8 bits")
    target = _graph_target(options, FINDER.kind)
    return _write_graph(finder_graph(FINDER.load(Path(options.weights))), target)


def _graph_target(options: argparse.Namespace, kind: str) -> Path:
    """The file that a network of a kind becomes."""
    if options.web:
        raise ValueError(
            f"--web takes models that read; of {kind}, give --out FILE.onnx"
        )
    if Path(options.out).suffix != ".onnx":
        raise ValueError(
            f"--out {options.out}: {kind} becomes one file; let its name end in .onnx"
        )
    return Path(options.out)


def _write_graph(graph: "ModelProto", target: Path) -> int:
    from vit_str.export.graphs import write_graph

    write_graph(graph, target)
    console.warn(f"wrote {target}")
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
            f"{install_hint('photo')}"
        )
