"""A network that finds as one ONNX graph, which needs no torch."""

import json

import torch
from jaxtyping import Float
from onnx import ModelProto, helper
from torch import Tensor, nn

from vit_str.export.graphs import trace
from vit_str.models.finder import STEP, Finder
from vit_str.pages.find.maps import SHARES
from vit_str.pages.find.own_detector import FORMAT, IMAGES, MAPS_OF_GRAPH
from vit_str.torch_runtime.network_files import NetworkFile

_TRACED = 2  # steps of a side of the picture that is traced: 1 would count as fixed


class Probabilities(nn.Module):
    """The maps as they are used: shares as probabilities.

    Args:
        finder: the network.
    """

    def __init__(self, finder: Finder) -> None:
        super().__init__()
        self.finder = finder

    def forward(
        self, images: Float[Tensor, "one 3 height width"]
    ) -> Float[Tensor, "one map row column"]:
        """See `Finder`."""
        maps = self.finder(images)
        return torch.cat([maps[:, :SHARES].sigmoid(), maps[:, SHARES:]], 1)


def finder_graph(file: NetworkFile[Finder]) -> ModelProto:
    """The graph for pictures of any size whose sides are multiples of `STEP`."""
    rows, columns = torch.export.Dim("rows"), torch.export.Dim("columns")
    side = _TRACED * STEP
    graph = trace(
        Probabilities(file.network),
        {IMAGES: torch.zeros(1, 3, side, side + STEP)},
        [MAPS_OF_GRAPH],
        ({2: STEP * rows, 3: STEP * columns},),
    )
    maps = json.dumps(list(file.names))
    helper.set_model_props(graph, {"format": FORMAT, "maps": maps})
    return graph
