"""A model in 8 bits, with ranges that the weights file knows.

A graph of `quantized` measures the range of what comes into every matrix product, and leaves
convolutions in float32. Here all is in 8 bits, and no range is measured while it reads: what an
image becomes hardly depends on its batch. The same nodes in float32 show that the graphs compute
what the model does.
"""

from onnx import ModelProto

from vit_str.export.static.decoder import step_graph, verify_graph
from vit_str.export.static.encoder import encoder_graph
from vit_str.export.static.graph import external_shapes
from vit_str.export.static.line import line_graph
from vit_str.models import (
    CtcDecoder,
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)

__all__ = ["external_shapes", "static_graphs"]


def static_graphs(
    recognizer: Recognizer, *, int8: bool = True
) -> dict[str, ModelProto]:
    """The graphs of a model by name, with names of initializers in place of weights.

    Args:
        recognizer: the model.
        int8: in 8 bits; else the same in float32.

    Returns:
        Graphs by name; empty if there are none for the parts of this model.
    """
    encoder = recognizer.encoder
    decoder = recognizer.decoder
    if isinstance(encoder, VisionTransformer) and isinstance(
        decoder, TransformerDecoder
    ):
        positions = {encoder.positions, decoder.positions}
        if encoder.special_tokens or positions != {"learned"}:
            return {}
        graphs = {
            "encoder": encoder_graph(recognizer, encoder, decoder, int8=int8),
            "step": step_graph(recognizer, decoder, int8=int8),
        }
        if decoder.draft:
            graphs["verify"] = verify_graph(recognizer, decoder, int8=int8)
        return graphs
    if isinstance(encoder, LineTransformer) and isinstance(decoder, CtcDecoder):
        is_one_row = encoder.patch_size[0] == encoder.image_size[0]
        if is_one_row:
            return {"encoder": line_graph(recognizer, encoder, decoder, int8=int8)}
    return {}
