"""Graphs of the same weights, traced once in a test run: that takes seconds for the smallest.

Those of the weights of the package are not traced: it has them, see ``data/make_graphs.py``.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from filelock import FileLock

from vit_str.engines.graph_files import DESCRIPTION, find_graphs
from vit_str.engines.initializers import initializer
from vit_str.models import Recognizer, describe

if TYPE_CHECKING:
    from onnx import ModelProto


@pytest.fixture(scope="module")
def graphs_traced_once(shared_folder: Path) -> Iterator[None]:
    """Exports take what another one, in any process of the run, has traced of such weights."""
    from onnx import ModelProto

    from vit_str.export import folder as export_folder

    export_graphs = export_folder.export_graphs

    def traced_once(recognizer: Recognizer) -> dict[str, ModelProto]:
        folder = find_graphs(json.loads(json.dumps(describe(recognizer))))
        if folder is not None:
            return _filled(folder, recognizer)
        path = shared_folder / f"graphs-{_digest(recognizer)}.npz"
        with FileLock(path.with_suffix(".lock")):
            if not path.is_file():
                graphs = export_graphs(recognizer)
                files = {n: graph.SerializeToString() for n, graph in graphs.items()}
                np.savez(path, **{n: np.frombuffer(f, "u1") for n, f in files.items()})
        with np.load(path) as kept:
            return {n: ModelProto.FromString(kept[n].tobytes()) for n in kept.files}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_folder, "export_graphs", traced_once)
        yield


def _filled(folder: Path, recognizer: Recognizer) -> "dict[str, ModelProto]":
    """Graphs of the package with weights in them, as `export_graphs` gives them."""
    import onnx
    from onnx import TensorProto, numpy_helper

    state = recognizer.float().state_dict()
    tensors = {name: tensor.numpy() for name, tensor in state.items()}
    graphs = {}
    for name in json.loads((folder / DESCRIPTION).read_text())["graphs"]:
        graph = onnx.load(folder / f"{name}.onnx", load_external_data=False)
        for tensor in graph.graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                values = initializer(tensor.name, tensors, {})
                tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        del graph.metadata_props[:]  # which model it is part of
        graphs[name] = graph
    return graphs


def _digest(recognizer: Recognizer) -> str:
    """Of the architecture and all weights."""
    digest = hashlib.sha256(json.dumps(describe(recognizer)).encode())
    for name, tensor in recognizer.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()
