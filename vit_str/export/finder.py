"""A network that finds as one ONNX graph, which needs no torch."""

import json
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import torch
from jaxtyping import Float
from onnx import ModelProto
from torch import Tensor, nn

from vit_str.export.graphs import OPSET, remove_traces
from vit_str.files import write_atomically
from vit_str.models.finder import STEP, Finder
from vit_str.pages.find.maps import SHARES
from vit_str.pages.find.own_detector import FORMAT, IMAGES, MAPS_OF_GRAPH
from vit_str.torch_runtime.finder_file import load_finder

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


def write_finder(weights: Path, path: Path) -> None:
    """Write the graph of a weights file.

    Raises:
        ValueError: for a file of other weights, or a damaged one.
    """
    file = load_finder(weights)
    model = finder_graph(file.finder, file.maps)
    with write_atomically(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def finder_graph(finder: Finder, maps: Sequence[str]) -> ModelProto:
    """The graph for pictures of any size whose sides are multiples of `STEP`."""
    module = Probabilities(finder).eval()
    rows, columns = torch.export.Dim("rows"), torch.export.Dim("columns")
    side = _TRACED * STEP
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")  # about what torch itself is going to change
        program = torch.onnx.export(
            module,
            (torch.zeros(1, 3, side, side + STEP),),
            dynamo=True,
            opset_version=OPSET,
            dynamic_shapes=({2: STEP * rows, 3: STEP * columns},),
            input_names=[IMAGES],
            output_names=[MAPS_OF_GRAPH],
            verbose=False,
        )
    assert program is not None
    model: ModelProto = program.model_proto
    remove_traces(model)
    for key, value in (("format", FORMAT), ("maps", json.dumps(list(maps)))):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    return model
