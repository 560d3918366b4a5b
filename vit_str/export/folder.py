"""Folders of graphs with their weights, for onnxruntime."""

import hashlib
import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from onnx import ModelProto

from vit_str.engines.graph_files import DESCRIPTION, FORMAT, IDENTITY, VERSION
from vit_str.engines.interface import Interface
from vit_str.engines.weights_contents import CHECKSUM
from vit_str.export.graphs import export_graphs
from vit_str.files import folder_to_fill, write_atomically
from vit_str.torch_runtime.engine import interface_of
from vit_str.torch_runtime.weights_file import WeightsFile


def write_exported(weights: WeightsFile, out: Path, int8: bool = False) -> None:
    """Write the graphs of a model with their weights and a README; the description comes last."""
    with folder_to_fill(out, "--out"):
        _write_exported(weights, out, int8)


def _write_exported(weights: WeightsFile, out: Path, int8: bool) -> None:
    graphs = export_graphs(weights.recognizer)
    if int8:
        graphs = {name: quantized(graph) for name, graph in graphs.items()}
    digest = hashlib.sha256()
    for graph in graphs.values():
        digest.update(graph.SerializeToString(deterministic=True))
    interface = interface_of(weights.recognizer)
    values = {
        **describe_graphs(graphs, interface, digest.hexdigest()[:16]),
        "number_format": "int8" if int8 else "float32",
        "temperature": weights.temperature,
        "charset": weights.charset.characters,
        "preprocessing": weights.preprocessing.to_dict(),
        "provenance": weights.provenance,
    }
    write_files(out, graphs, values, readme(interface, list(graphs)))


def readme(interface: Interface, graphs: list[str]) -> str:
    """How to read with these graphs in a few lines of numpy."""
    environment = Environment(  # noqa: S701 - Markdown, of our own words
        loader=PackageLoader("vit_str.export", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("README.md.jinja")
    return template.render(
        decoder=interface.decoder, loop=interface.loop, graphs=graphs
    )


def describe_graphs(
    graphs: Mapping[str, ModelProto], interface: Interface, identity: str
) -> dict[str, Any]:
    """The description that `OnnxEngine` needs besides the graphs, which get the identity too."""
    for graph in graphs.values():
        identify(graph, identity)
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": identity,
        "graphs": list(graphs),
        "interface": asdict(interface),
    }


def identify(graph: ModelProto, identity: str) -> None:
    """Write into a graph which model it is part of."""
    graph.metadata_props.add(key=IDENTITY, value=identity)


def write_files(
    out: Path,
    graphs: Mapping[str, ModelProto],
    values: dict[str, Any],
    page: str | None = None,
) -> None:
    """Write graphs, their description with the digests of all, and a README."""
    files = {
        f"{name}.onnx": graph.SerializeToString() for name, graph in graphs.items()
    }
    digests = {}
    for name, content in files.items():
        digests[name] = hashlib.sha256(content).hexdigest()
    values = {**values, CHECKSUM: digests}
    if page:
        files["README.md"] = page.encode()
    description = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    files[DESCRIPTION] = description.encode()
    for name, content in files.items():
        with write_atomically(out / name) as temporary:
            temporary.write_bytes(content)


def quantized(graph: ModelProto) -> ModelProto:
    """Weights of matrix products in int8; what they are multiplied with is quantized as it comes.

    Weights take 7 bits: no sum of products is too large for any processor, see
    `largest_int8_weight`. Convolutions stay: in int8 they are slower.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    copied = ModelProto()  # quantizing changes what it is given
    copied.CopyFrom(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quantized.onnx")
        root = logging.getLogger()
        root.addFilter(_is_no_advice)
        try:
            quantize_dynamic(
                copied,
                path,
                weight_type=QuantType.QInt8,
                reduce_range=True,
                op_types_to_quantize=["MatMul", "Gemm"],
            )
        finally:
            root.removeFilter(_is_no_advice)
        return onnx.load(path)


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Whether a message is not the advice to infer shapes first, which the export has done."""
    return "pre-processing before quantization" not in record.getMessage()
