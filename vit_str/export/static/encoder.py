"""The encoder of a reader of words, and what its decoder keeps of an image."""

from onnx import ModelProto
from torch import nn

from vit_str.engines.ranges import PIXELS, input_of
from vit_str.export.static.arithmetic import (
    Arithmetic,
    arithmetic_of,
    feed_forward,
    linear,
)
from vit_str.export.static.graph import Graph
from vit_str.models import (
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.blocks import EncoderBlock
from vit_str.models.convolutions import ResidualBlock
from vit_str.models.decoders.ctc import CtcHead
from vit_str.models.encoders.vit import FineRows
from vit_str.models.positions import Positions

_CHANNELS_LAST = [0, 2, 3, 1]


def encoder_graph(
    recognizer: Recognizer,
    encoder: VisionTransformer,
    decoder: TransformerDecoder,
    *,
    int8: bool,
) -> ModelProto:
    """Images to keys and values of every block of the decoder, and to scores of a draft."""
    graph = Graph("encoder", recognizer)
    height, width = encoder.image_size
    graph.take(PIXELS, ["batch", 3, height, width])
    layers = EncoderLayers(graph, arithmetic_of(graph, int8=int8))
    rows, columns = encoder.grid
    x = layers.patches(encoder)
    if encoder.fine is not None:
        x = layers.fine_rows(x, encoder.fine, encoder.dim)
    x = graph.reshape(x, rows * columns, encoder.dim)
    x = layers.add_positions(x, encoder.embed_positions)
    for block in encoder.blocks:
        assert isinstance(block, EncoderBlock)
        x = layers.block(x, block)
    to_keys_values = [block.cross_attention.to_keys_values for block in decoder.blocks]
    point = input_of(graph.names[to_keys_values[0]])
    features = layers.arithmetic.quantize(graph.normalize(x, encoder.norm), point)
    keys_values = layers.arithmetic.multiply(features, point, to_keys_values)
    _give_keys_values(graph, keys_values, decoder, rows * columns)
    if decoder.draft:
        scores = _draft(graph, layers.arithmetic, features, point, decoder.draft)
        graph.add("Identity", [scores], output="logits")
        graph.give("logits", ["batch", columns, decoder.draft.classify.out_features])
    return graph.model()


class EncoderLayers:
    """Nodes of the layers that encoders share."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic) -> None:
        self.graph = graph
        self.arithmetic = arithmetic

    def patches(self, encoder: VisionTransformer | LineTransformer) -> str:
        """Embedded patches of an image: batch, row, column, dim."""
        x, point = self._stem(encoder)
        height, width = encoder._cut
        rows = encoder.image_size[0] // (height * 2 ** len(encoder.stem_widths))
        layer = encoder.embed_patches
        channels = layer.in_features // (height * width)
        x = self._reshape(x, 0, rows, height, -1, width, channels)
        x = self.graph.transpose(x, [0, 1, 3, 2, 4, 5])
        x = self._reshape(x, 0, rows, -1, layer.in_features)
        return self.arithmetic.multiply(x, point, [layer])

    def fine_rows(self, x: str, fine: FineRows, dim: int) -> str:
        """Tokens behind the merged rows: batch, row, column, dim."""
        rows, columns = fine.grid
        x = self.graph.reshape(x, rows * columns, dim)
        x = self.add_positions(x, fine.embed_positions)
        for block in fine.blocks:
            assert isinstance(block, EncoderBlock)
            x = self.block(x, block)
        x = self.graph.reshape(x, rows // 2, 2, columns, dim)
        x = self.graph.transpose(x, [0, 1, 3, 2, 4])
        x = self.graph.reshape(x, rows // 2, columns, 2 * dim)
        return linear(self.graph, self.arithmetic, x, fine.merge)

    def add_positions(self, x: str, positions: Positions) -> str:
        """Tokens with their places."""
        name = f"{self.graph.names[positions]}.weight"
        weight = self.graph.given(name, positions.weight.shape)
        return self.graph.add("Add", [x, weight])

    def _reshape(self, x: str, *shape: int) -> str:
        """The same values in another shape; 0 is an axis as it was, -1 what is left."""
        return self.graph.add("Reshape", [x, self.graph.constant(shape)])

    def _stem(self, encoder: VisionTransformer | LineTransformer) -> tuple[str, str]:
        """Features of the stem, channels last, quantized; and their quantization point."""
        point = PIXELS
        x = self.arithmetic.quantize(PIXELS, point)
        x = self.graph.transpose(x, _CHANNELS_LAST)
        stages = [list(stage.children()) for stage in encoder.stem]
        following = [*(stage[0] for stage in stages[1:]), encoder.embed_patches]
        for number, (shrink, *blocks) in enumerate(stages):
            assert isinstance(shrink, nn.Conv2d)
            x = self.arithmetic.convolve(x, point, shrink)
            for block in blocks:
                assert isinstance(block, ResidualBlock)
                x = self._residual(x, block)
            point = input_of(self.graph.names[following[number]])
            x = self.arithmetic.quantize(x, point)
        return x, point

    def _residual(self, x: str, block: ResidualBlock) -> str:
        inside = x
        steps = (
            (block.first_norm, block.first),
            (block.second_norm, block.second),
        )
        for norm, layer in steps:
            point = input_of(self.graph.names[layer])
            inside = self.arithmetic.rectify(self.graph.normalize(inside, norm), point)
            inside = self.arithmetic.convolve(inside, point, layer)
        return self.graph.add("Add", [x, inside])

    def block(self, x: str, block: EncoderBlock) -> str:
        """Self-attention, then feed-forward."""
        attention = block.attention
        inside = self.graph.normalize(x, block.attention_norm)
        point = input_of(self.graph.names[attention.to_queries])
        inside = self.arithmetic.quantize(inside, point)
        inside = self.arithmetic.attend(inside, point, attention)
        inside = linear(self.graph, self.arithmetic, inside, attention.to_output)
        x = self.graph.add("Add", [x, inside])
        inside = self.graph.normalize(x, block.feed_forward_norm)
        inside = feed_forward(self.graph, self.arithmetic, inside, block.feed_forward)
        return self.graph.add("Add", [x, inside])


def _give_keys_values(
    graph: Graph,
    x: str,
    decoder: TransformerDecoder,
    tokens: int,
) -> None:
    """Keys and values of the image for every block of the decoder, as outputs."""
    head_dim = decoder.dim // decoder.heads
    x = graph.reshape(x, tokens, 2 * decoder.depth, decoder.heads, head_dim)
    x = graph.transpose(x, [2, 0, 3, 1, 4])
    for block in range(decoder.depth):
        for place, kind in enumerate(("key", "value")):
            name = f"present.{block}.encoder.{kind}"
            graph.pick(x, 2 * block + place, axis=0, output=name)
            graph.give(name, ["batch", decoder.heads, tokens, head_dim])


def _draft(
    graph: Graph,
    arithmetic: Arithmetic,
    x: str,
    point: str,
    draft: CtcHead,
) -> str:
    """Scores of the characters along the columns of the grid."""
    rows, columns = draft.grid
    dim = draft.classify.in_features // rows
    x = graph.reshape(x, rows, columns, dim)
    x = graph.transpose(x, [0, 2, 1, 3])
    x = graph.reshape(x, columns, draft.classify.in_features)
    return arithmetic.multiply(x, point, [draft.classify])
