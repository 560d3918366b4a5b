"""The decoder of a reader of words: texts in one call (``verify``), or a character (``step``).

Inputs and outputs are those of the graphs that torch exports.
"""

import math

from onnx import ModelProto, TensorProto
from torch import nn

from vit_str.engines.ranges import input_of
from vit_str.export.static.arithmetic import arithmetic_of, feed_forward, linear
from vit_str.export.static.graph import MICROSOFT, Graph
from vit_str.models import Recognizer, TransformerDecoder
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import DecoderBlock


def verify_graph(
    recognizer: Recognizer,
    decoder: TransformerDecoder,
    *,
    int8: bool,
) -> ModelProto:
    """Every character of given texts, from those before it."""
    graph = Graph("verify", recognizer)
    layers = _DecoderLayers(graph, decoder, int8=int8)
    ids = graph.take("input_ids", ["batch", "position"], TensorProto.INT64)
    images = layers.images()
    count = graph.size(ids, axis=1)
    positions = layers.positions()
    ends = [graph.constant([0]), count, graph.constant([0])]
    characters = layers.characters(ids)
    x = graph.add("Add", [characters, graph.add("Slice", [positions, *ends])])
    for block, image in zip(decoder.blocks, images, strict=True):
        x = layers.attend_to_text(x, block)
        x, _ = layers.attend_to_image(x, block, image)
        x = layers.feed_forward(x, block)
    layers.give_scores(x, "position")
    return graph.model()


def step_graph(
    recognizer: Recognizer,
    decoder: TransformerDecoder,
    *,
    int8: bool,
) -> ModelProto:
    """One character more, what to remember of it, and where the last block looks."""
    graph = Graph("step", recognizer)
    layers = _DecoderLayers(graph, decoder, int8=int8)
    ids = graph.take("input_ids", ["batch", 1], TensorProto.INT64)
    images = layers.images()
    past = layers.pairs("past_key_values.{}.decoder", "past")
    position = graph.size(past[0][0], axis=2)
    x = graph.add("Gather", [layers.positions(), position], axis=0)
    x = graph.add("Add", [layers.characters(ids), x])
    weights = ""
    for number, block in enumerate(decoder.blocks):
        x = layers.attend_to_past(x, block, past[number], f"present.{number}.decoder")
        x, weights = layers.attend_to_image(x, block, images[number])
        x = layers.feed_forward(x, block)
    layers.give_scores(x, 1)
    for number in range(decoder.depth):
        for kind in ("key", "value"):
            shape = layers.shape_of_past("past_and_new")
            graph.give(f"present.{number}.decoder.{kind}", shape)
    layers.give_attention(weights, images[-1])
    return graph.model()


class _DecoderLayers:
    """Nodes of the layers of a decoder, and its inputs and outputs."""

    def __init__(
        self, graph: Graph, decoder: TransformerDecoder, *, int8: bool
    ) -> None:
        self.graph = graph
        self.arithmetic = arithmetic_of(graph, int8=int8)
        self.decoder = decoder
        self.head_dim = decoder.dim // decoder.heads

    def shape_of_past(self, length: str) -> list[int | str]:
        """Shape of the past keys, which the past values share."""
        return ["batch", self.decoder.heads, length, self.head_dim]

    def pairs(self, name: str, length: str) -> list[tuple[str, str]]:
        """Keys and values that come in for every block."""
        found = []
        for block in range(self.decoder.depth):
            of_block = name.format(block)
            shape = self.shape_of_past(length)
            keys = self.graph.take(f"{of_block}.key", shape)
            values = self.graph.take(f"{of_block}.value", shape)
            found.append((keys, values))
        return found

    def images(self) -> list[tuple[str, str]]:
        """Keys and values of the images."""
        return self.pairs("past_key_values.{}.encoder", "token")

    def characters(self, ids: str) -> str:
        """Embedded characters."""
        embedded = self._weight(self.decoder.embed_characters)
        return self.graph.add("Gather", [embedded, ids], axis=0)

    def positions(self) -> str:
        """A vector for every position."""
        return self._weight(self.decoder.embed_positions)

    def _weight(self, module: nn.Module) -> str:
        weight = module.weight
        assert isinstance(weight, nn.Parameter)
        return self.graph.given(f"{self.graph.names[module]}.weight", weight.shape)

    def attend_to_text(self, x: str, block: DecoderBlock) -> str:
        """Self-attention of positions to themselves and those before them."""
        attention = block.self_attention
        point = input_of(self.graph.names[attention.to_queries])
        inside = self.graph.normalize(x, block.self_attention_norm)
        inside = self.arithmetic.quantize(inside, point)
        inside = self.arithmetic.attend(inside, point, attention, causal=True)
        return self._added(x, inside, attention)

    def attend_to_past(
        self, x: str, block: DecoderBlock, past: tuple[str, str], present: str
    ) -> str:
        """Self-attention of one position to itself and to all that was written."""
        attention = block.self_attention
        point = input_of(self.graph.names[attention.to_queries])
        inside = self.graph.normalize(x, block.self_attention_norm)
        inside = self.arithmetic.quantize(inside, point)
        layers = [attention.to_queries, attention.to_keys_values]
        inside = self.arithmetic.multiply(inside, point, layers)
        inside = self.graph.reshape(inside, 3, attention.heads, 1, self.head_dim)
        queries, keys, values = (
            self.graph.pick(inside, place, axis=1) for place in range(3)
        )
        keys = self.graph.add(
            "Concat", [past[0], keys], output=f"{present}.key", axis=2
        )
        values = self.graph.add(
            "Concat", [past[1], values], output=f"{present}.value", axis=2
        )
        inside = self.graph.add("MatMul", [self._weights(queries, keys), values])
        inside = self.graph.reshape(inside, 1, self.decoder.dim)
        return self._added(x, inside, attention)

    def attend_to_image(
        self, x: str, block: DecoderBlock, image: tuple[str, str]
    ) -> tuple[str, str]:
        """Cross-attention, and its weights: image, head, query, token.

        Rows may be several times as many as images: those of one image stand together.
        """
        attention = block.cross_attention
        keys, values = image
        inside = self.graph.normalize(x, block.cross_attention_norm)
        queries = linear(self.graph, self.arithmetic, inside, attention.to_queries)
        images = self.graph.size(keys, axis=0)
        rest = self.graph.constant([-1, attention.heads, self.head_dim])
        shape = self.graph.add("Concat", [images, rest], axis=0)
        queries = self.graph.add("Reshape", [queries, shape])
        queries = self.graph.transpose(queries, [0, 2, 1, 3])
        weights = self._weights(queries, keys)
        inside = self.graph.add("MatMul", [weights, values])
        inside = self.graph.transpose(inside, [0, 2, 1, 3])
        inside = self.graph.add("Reshape", [inside, self.graph.add("Shape", [x])])
        return self._added(x, inside, attention), weights

    def _weights(self, queries: str, keys: str) -> str:
        """How much every query takes of every key."""
        scores = self.graph.add(
            "FusedMatMul",
            [queries, keys],
            domain=MICROSOFT,
            transB=1,
            alpha=1 / math.sqrt(self.head_dim),
        )
        return self.graph.add("Softmax", [scores], axis=-1)

    def _added(self, x: str, inside: str, attention: MultiHeadAttention) -> str:
        inside = linear(self.graph, self.arithmetic, inside, attention.to_output)
        return self.graph.add("Add", [x, inside])

    def feed_forward(self, x: str, block: DecoderBlock) -> str:
        """The last part of a block."""
        inside = self.graph.normalize(x, block.feed_forward_norm)
        inside = feed_forward(self.graph, self.arithmetic, inside, block.feed_forward)
        return self.graph.add("Add", [x, inside])

    def give_scores(self, x: str, positions: int | str) -> None:
        """Scores of every symbol, as an output."""
        classify = self.decoder.classify
        x = self.graph.normalize(x, self.decoder.norm)
        x = linear(self.graph, self.arithmetic, x, classify)
        self.graph.add("Identity", [x], output="logits")
        self.graph.give("logits", ["batch", positions, classify.out_features])

    def give_attention(self, weights: str, image: tuple[str, str]) -> None:
        """How much of every token a row takes, the mean of all heads, as an output."""
        x = self.graph.add(
            "ReduceMean", [weights, self.graph.constant([1])], keepdims=0
        )
        tokens = self.graph.size(image[0], axis=2)
        shape = self.graph.add("Concat", [self.graph.constant([-1]), tokens], axis=0)
        self.graph.add("Reshape", [x, shape], output="cross_attentions")
        self.graph.give("cross_attentions", ["batch", "token"])
