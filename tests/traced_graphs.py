"""Graphs of the same weights, traced once in a test run: that takes seconds for the smallest."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from vit_str.models import Recognizer, describe


@pytest.fixture(scope="module")
def graphs_traced_once(shared_folder: Path) -> Iterator[None]:
    """Exports take what another one, in any process of the run, has traced of such weights."""
    from onnx import ModelProto

    from vit_str.export import folder as export_folder

    export_graphs = export_folder.export_graphs

    def traced_once(recognizer: Recognizer) -> dict[str, ModelProto]:
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


def _digest(recognizer: Recognizer) -> str:
    """Of the architecture and all weights."""
    digest = hashlib.sha256(json.dumps(describe(recognizer)).encode())
    for name, tensor in recognizer.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()
