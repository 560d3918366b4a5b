"""A network that arranges pages as one ONNX file with its weights, in float32 or in 8 bits."""

import json
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int64
from onnx import ModelProto, TensorProto, helper, numpy_helper
from torch import Tensor, nn

from vit_str.export.graphs import trace
from vit_str.models.arranger import RELATIONS, PageArranger
from vit_str.pages.arrange.features import NGRAMS, PLACES
from vit_str.pages.arrange.network import ABOUT
from vit_str.torch_runtime.network_files import NetworkFile

_TRACED_TOKENS = 7  # any number that nothing else has
_FEWEST = 1024  # numbers of a weight that is worth 8 bits
_LARGEST = 127  # of 8 bits


class _OnePage(nn.Module):
    """Scores for the tokens of one page, without padding."""

    def __init__(self, arranger: PageArranger) -> None:
        super().__init__()
        self.arranger = arranger

    def forward(
        self,
        features: Float[Tensor, "token feature"],
        places: Float[Tensor, "token place"],
        ngrams: Int64[Tensor, "token ngram"],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Roles, levels and relations, see `Arrangement`."""
        mask = torch.ones_like(features[None, :, 0], dtype=torch.bool)
        found = self.arranger(features[None], places[None], ngrams[None], mask)
        return found.roles[0], found.levels[0], found.relations[0]


def arranger_graph(file: NetworkFile[PageArranger], *, int8: bool = True) -> ModelProto:
    """The graph of a network: tokens of one page in, scores out.

    Args:
        file: weights with the names of their roles.
        int8: keep weights in 8 bits; what is computed with them is float32.
    """
    tokens = torch.export.Dim("token", min=1)
    features = int(file.network.arguments["features"])
    inputs = {
        "features": torch.zeros(_TRACED_TOKENS, features),
        "places": torch.zeros(_TRACED_TOKENS, PLACES),
        "ngrams": torch.zeros(_TRACED_TOKENS, NGRAMS, dtype=torch.int64),
    }
    outputs = ["roles", "levels", "relations"]
    graph = trace(_OnePage(file.network), inputs, outputs, ({0: tokens},) * len(inputs))
    about = {
        "roles": list(file.names),
        "relations": list(RELATIONS),
        "provenance": dict(file.provenance),
    }
    helper.set_model_props(graph, {ABOUT: json.dumps(about)})
    return _in_int8(graph) if int8 else graph


def _in_int8(graph: ModelProto) -> ModelProto:
    """The same with large weights in 8 bits, a scale for each of their last axis or first.

    onnxruntime multiplies them out once, when it opens the file: nothing gets slower.
    """
    looked_up = {node.input[0] for node in graph.graph.node if node.op_type == "Gather"}
    kept = []
    added = []
    for tensor in graph.graph.initializer:
        values = numpy_helper.to_array(tensor)
        is_large = values.ndim == 2 and values.size >= _FEWEST
        if tensor.data_type != TensorProto.FLOAT or not is_large:
            kept.append(tensor)
            continue
        axis = 0 if tensor.name in looked_up else 1
        small, scale = _rounded(values, axis)
        names = f"{tensor.name}.int8", f"{tensor.name}.scale"
        kept += map(numpy_helper.from_array, (small, scale), names)
        added.append(
            helper.make_node("DequantizeLinear", names, [tensor.name], axis=axis)
        )
    nodes = [*added, *graph.graph.node]
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(kept)
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    return graph


def _rounded(values: np.ndarray, axis: int) -> Sequence[np.ndarray]:
    """Numbers in 8 bits, and their scales along an axis."""
    largest = np.abs(values).max(1 - axis, keepdims=True)
    scale = np.maximum(largest, np.finfo(np.float32).tiny) / _LARGEST
    return np.round(values / scale).astype(np.int8), scale.ravel().astype(np.float32)
