"""The encoder of a reader of lines, and the scores that it ends in."""

from onnx import ModelProto
from torch import nn

from vit_str.engines.ranges import PIXELS, input_of
from vit_str.export.static.arithmetic import arithmetic_of, linear
from vit_str.export.static.encoder import EncoderLayers
from vit_str.export.static.graph import Graph
from vit_str.models import CtcDecoder, LineTransformer, Recognizer
from vit_str.models.blocks import EncoderBlock


def line_graph(
    recognizer: Recognizer, encoder: LineTransformer, decoder: CtcDecoder, *, int8: bool
) -> ModelProto:
    """Images of any width to scores of every symbol under every column, the blank last.

    The patches are as high as the image, so that a row of columns is all there is.
    """
    graph = Graph("encoder", recognizer)
    height, _ = encoder.image_size
    graph.take(PIXELS, ["batch", 3, height, "width"])
    arithmetic = arithmetic_of(graph, int8=int8)
    layers = EncoderLayers(graph, arithmetic)
    rows = graph.given("encoder.embed_rows", encoder.embed_rows.shape)
    x = graph.add("Add", [layers.patches(encoder), rows])
    x = graph.add("Squeeze", [x, graph.constant([1])])
    for neighbors, block in zip(encoder.neighbors, encoder.blocks, strict=True):
        assert isinstance(neighbors, nn.Conv1d)
        assert isinstance(block, EncoderBlock)
        point = input_of(graph.names[neighbors])
        seen = arithmetic.convolve(arithmetic.quantize(x, point), point, neighbors)
        x = layers.block(graph.add("Add", [x, seen]), block)
    x = graph.add("Gelu", [graph.normalize(x, encoder.norm)])
    x = linear(graph, arithmetic, x, encoder.join_rows)
    x = graph.add("Reshape", [x, graph.constant([0, -1, encoder.dim])])
    scores = linear(graph, arithmetic, x, decoder.classify)
    graph.add("Identity", [scores], output="logits")
    graph.give("logits", ["batch", "column", decoder.classify.out_features])
    return graph.model()
