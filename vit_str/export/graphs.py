"""A recognizer in torch to ONNX graphs.

A model that writes step by step becomes two graphs: ``encoder``, an image to what every step needs
of it, and ``step``, one character more. The names of inputs and outputs are those of the Hugging
Face exports: what is called ``present...`` goes into the next call as ``past_key_values...``.
A model that reads all characters at once is ``encoder`` alone, whose output are ``logits``.
"""

import copy
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int64
from onnx import ModelProto
from torch import Tensor, nn

from vit_str.files import write_atomically
from vit_str.models import (
    Encoder,
    PermutedDecoder,
    Recognizer,
    RecurrentDecoder,
    TransformerDecoder,
)
from vit_str.models.attention import KeysValues, KeyValueCache, Mask, attention_weights
from vit_str.models.blocks import DecoderBlock
from vit_str.models.decoders.recurrent import RecurrentState
from vit_str.models.decoders.transformer import CachedState

OPSET = 20  # of ONNX
_IMAGE = ("encoder.key", "encoder.value")
_WRITTEN = ("decoder.key", "decoder.value")
_PAST = "past_key_values."
# Of a dynamic axis, when it is traced: torch takes 0 and 1 for constants
_TRACED_POSITIONS = 3


class Encode(nn.Module):
    """Normalized images to the keys and values of cross-attention, or to the first state."""

    def __init__(self, recognizer: Recognizer) -> None:
        super().__init__()
        self.recognizer = recognizer

    def forward(
        self,
        pixel_values: Float[Tensor, "batch 3 height width"],
    ) -> tuple[Tensor, ...]:
        """The tensors of `_state_names`; logits for a decoder without a state."""
        decoder: Any = self.recognizer.decoder
        features = self.recognizer.encode(pixel_values)
        if isinstance(decoder, RecurrentDecoder):
            state = decoder.begin(features)
            return (*state.hidden, state.context, *(state.image or ()))
        if isinstance(decoder, TransformerDecoder | PermutedDecoder):
            image: tuple[Tensor, ...] = ()
            for keys_values in decoder.begin(features).image:
                image = (*image, *keys_values)
            return (*image, decoder.draft(features)) if decoder.draft else image
        return (decoder.logits(features),)


class TransformerStep(nn.Module):
    """One step of a Transformer decoder, and where its last block looks."""

    def __init__(self, decoder: TransformerDecoder | PermutedDecoder) -> None:
        super().__init__()
        self.decoder = decoder
        self.blocks: list[DecoderBlock] = [
            module for module in decoder.modules() if isinstance(module, DecoderBlock)
        ]
        attention: Any = self.blocks[-1].cross_attention
        attention.attend = ShownAttention()

    def forward(
        self, input_ids: Int64[Tensor, "batch 1"], *state: Float[Tensor, "batch ..."]
    ) -> tuple[Tensor, ...]:
        """Scores, the keys and values of everything written, and attention to the image."""
        pairs = [
            KeysValues(*pair) for pair in zip(state[::2], state[1::2], strict=True)
        ]
        depth = len(self.blocks)
        past = [_Past(*pair) for pair in pairs[depth:]]
        known = CachedState(pairs[:depth], [*past])
        position = past[0].keys.shape[2]
        if isinstance(self.decoder, PermutedDecoder):
            logits = self._permuted(input_ids, position, known)
        else:
            logits = self.decoder.step(input_ids[:, 0], position, known)[:, None]
        attend: Any = self.blocks[-1].cross_attention.attend
        present: list[Tensor] = []
        for cache in past:
            present += cache.keys_values
        return (logits, *present, attend.shown.pop().mean(1)[:, 0])

    def _permuted(
        self, input_ids: Int64[Tensor, "batch 1"], position: int, known: CachedState
    ) -> Float[Tensor, "batch 1 symbol"]:
        """Scores as of `PermutedDecoder.step`, whose branch at the start no graph can take."""
        decoder: Any = self.decoder
        positions = decoder.embed_positions.weight
        before = torch.cat([torch.zeros_like(positions[:1]), positions])
        written = decoder.embed_characters(input_ids) + before[position : position + 1]
        known.past[0].append(decoder.block.project_past(written))
        asking = torch.zeros_like(written) + positions[position : position + 1]
        x = decoder.block(asking, known.image[0], past=known.past[0].keys_values)
        return decoder.classify(decoder.norm(x))


class RecurrentStep(nn.Module):
    """One step of a recurrent decoder."""

    def __init__(self, decoder: RecurrentDecoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self, input_ids: Int64[Tensor, "batch 1"], *state: Float[Tensor, "batch ..."]
    ) -> tuple[Tensor, ...]:
        """Scores, and the new state."""
        count = 2 if self.decoder.cell == "lstm" else 1
        hidden = tuple(state[:count])
        context, *looked_at = state[count:]
        image = KeysValues(*looked_at) if looked_at else None
        known = RecurrentState(hidden, context, image)
        logits = self.decoder.step(input_ids[:, 0], 0, known)
        return (logits[:, None], *known.hidden)


class Refine(nn.Module):
    """Every character again, from all others."""

    def __init__(self, decoder: PermutedDecoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self,
        input_ids: Int64[Tensor, "batch position"],
        keys: Float[Tensor, "batch head token head_dim"],
        values: Float[Tensor, "batch head token head_dim"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of every position."""
        return self.decoder.refine_with(KeysValues(keys, values), input_ids)


class Verify(nn.Module):
    """Every character of given texts, from those before it."""

    def __init__(self, decoder: TransformerDecoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self,
        input_ids: Int64[Tensor, "batch position"],
        *image: Float[Tensor, "batch ..."],
    ) -> Float[Tensor, "batch position symbol"]:
        """Scores of every position."""
        pairs = [
            KeysValues(*pair) for pair in zip(image[::2], image[1::2], strict=True)
        ]
        return self.decoder.logits_with(pairs, input_ids)


def export_graphs(recognizer: Recognizer) -> dict[str, ModelProto]:
    """The graphs of a model, by name, with the weights in them.

    ``verify`` is for models that draft texts; what `step` writes is the same.

    Raises:
        ValueError: a model whose batches cannot have any size.
    """
    recognizer = copy.deepcopy(recognizer).float().cpu().eval()
    decoder = recognizer.decoder
    encoder, state = _encoder_graph(recognizer)
    graphs = {"encoder": encoder}
    if not state:
        return graphs
    if isinstance(decoder, RecurrentDecoder):
        graphs["step"] = _recurrent_step_graph(decoder, state)
        return graphs
    assert isinstance(decoder, TransformerDecoder | PermutedDecoder)
    if isinstance(decoder, PermutedDecoder):
        graphs["refine"] = _refine_graph(decoder, state)
    elif _has_draft(recognizer):
        graphs["verify"] = _verify_graph(decoder, state)
    # The last one: `TransformerStep` puts another attention into the decoder.
    graphs["step"] = _step_graph(decoder, state)
    return graphs


def _has_draft(recognizer: Recognizer) -> bool:
    """Whether the encoder's features are also read at once, as a draft of the text."""
    return recognizer.decoder.draft is not None


def _encoder_graph(recognizer: Recognizer) -> tuple[ModelProto, dict[str, Tensor]]:
    """The graph of the encoder, and what it gives to every step, by the name that has there."""
    encoder = recognizer.encoder
    height, width = encoder.image_size
    images = torch.zeros(2, 3, height, 4 * encoder.width_step or width)
    with torch.no_grad():
        found = Encode(recognizer)(images)
    drafts = _has_draft(recognizer)
    names = _state_names(recognizer, len(found) - drafts)
    outputs = [f"present.{name}" for name in names]
    if drafts or not names:
        outputs.append("logits")
    axes = None
    if encoder.width_step:
        axes = {"pixel_values": {0: "batch", 3: _widths(encoder)}}
    graph = _graph(Encode(recognizer), {"pixel_values": images}, outputs, axes)
    pairs = zip(names, found, strict=False)
    return graph, {f"{_PAST}{name}": tensor for name, tensor in pairs}


def _recurrent_step_graph(
    decoder: RecurrentDecoder, state: Mapping[str, Tensor]
) -> ModelProto:
    names = [name.removeprefix(_PAST) for name in state]
    renewed = [f"present.{name}" for name in names if name.startswith("hidden")]
    inputs = {"input_ids": _ids(1), **state}
    return _graph(RecurrentStep(decoder), inputs, ["logits", *renewed])


def _refine_graph(decoder: PermutedDecoder, state: Mapping[str, Tensor]) -> ModelProto:
    inputs = {"input_ids": _ids(decoder.maximum_length), **state}
    return _graph(Refine(decoder), inputs, ["logits"])


def _verify_graph(
    decoder: TransformerDecoder, state: Mapping[str, Tensor]
) -> ModelProto:
    positions = torch.export.Dim("position", min=1, max=decoder.maximum_length + 1)
    inputs = {"input_ids": _ids(_TRACED_POSITIONS), **state}
    axes = {"input_ids": {0: "batch", 1: positions}}
    return _graph(Verify(decoder), inputs, ["logits"], axes)


def _step_graph(
    decoder: TransformerDecoder | PermutedDecoder, state: Mapping[str, Tensor]
) -> ModelProto:
    _, heads, _, head_dim = next(iter(state.values())).shape
    blocks = range(len(state) // len(_IMAGE))
    written = [f"{block}.{name}" for block, name in product(blocks, _WRITTEN)]
    past = {}
    for name in written:
        past[f"{_PAST}{name}"] = torch.zeros(2, heads, _TRACED_POSITIONS, head_dim)
    return _graph(
        TransformerStep(decoder),
        {"input_ids": _ids(1), **state, **past},
        ["logits", *(f"present.{name}" for name in written), "cross_attentions"],
        {name: {0: "batch", 2: "past"} for name in past},
        decoder.maximum_length,
    )


def _ids(positions: int) -> Int64[Tensor, "2 position"]:
    """Two texts to trace with."""
    return torch.zeros(2, positions, dtype=torch.int64)


def _widths(encoder: Encoder) -> Any:
    """All that the encoder reads, as an axis of its images."""
    most = encoder.image_size[1] // encoder.width_step
    return encoder.width_step * torch.export.Dim("width_steps", min=1, max=most)


def _state_names(recognizer: Recognizer, count: int) -> list[str]:
    """Names of what the encoder gives to every step; none if there are no steps."""
    decoder = recognizer.decoder
    if isinstance(decoder, RecurrentDecoder):
        hidden = [f"hidden.{i}" for i in range(2 if decoder.cell == "lstm" else 1)]
        return [*hidden, "context", "image.key", "image.value"][:count]
    if isinstance(decoder, TransformerDecoder | PermutedDecoder):
        blocks = range(count // 2)
        return [f"{block}.{name}" for block, name in product(blocks, _IMAGE)]
    return []


def _graph(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    axes: Mapping[str, Mapping[int, Any]] | None = None,
    longest: int = 0,
) -> ModelProto:
    """Trace a module; the first axis of everything is the batch."""
    dims = {
        "batch": torch.export.Dim("batch", min=1),
        "past": torch.export.Dim("past", max=max(_TRACED_POSITIONS, longest)),
    }
    shapes = []
    for name in inputs:
        named = (axes or {}).get(name, {0: "batch"})
        shapes.append({axis: dims.get(dim, dim) for axis, dim in named.items()})
    takes_state = isinstance(module, TransformerStep | RecurrentStep | Verify)
    dynamic = (shapes[0], tuple(shapes[1:])) if takes_state else tuple(shapes)
    model = trace(module, inputs, outputs, dynamic)
    for value in model.graph.input:
        if not value.type.tensor_type.shape.dim[0].dim_param:
            raise ValueError(
                f"this model cannot be exported: {value.name} has a fixed batch"
            )
    return model


def trace(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    dynamic_shapes: tuple[Any, ...],
) -> ModelProto:
    """The graph of a module.

    Args:
        module: in float32 on the CPU.
        inputs: to trace with, by name.
        outputs: names of what it returns.
        dynamic_shapes: axes of inputs that may have any size, as `torch.export` takes them.
    """
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")  # about what torch itself is going to change
        program = torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            dynamo=True,
            opset_version=OPSET,
            dynamic_shapes=dynamic_shapes,
            input_names=list(inputs),
            output_names=list(outputs),
            verbose=False,
        )
    assert program is not None
    model: ModelProto = program.model_proto
    _remove_traces(model)
    return model


def write_graph(model: ModelProto, path: Path) -> None:
    """Write a graph with its weights as one file, whole or not at all."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def _remove_traces(model: ModelProto) -> None:
    """Take out where in whose files the parts of a graph come from."""
    for node in model.graph.node:
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    del (
        model.graph.value_info[:],
        model.metadata_props[:],
        model.graph.metadata_props[:],
    )


class _Past(KeyValueCache):
    """Grows by one position, as `KeyValueCache`, in what a graph can say."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__(capacity=0)
        self.keys = keys
        self.values = values

    def append(self, new: KeysValues) -> None:
        self.keys = torch.cat([self.keys, new.keys], 2)
        self.values = torch.cat([self.values, new.values], 2)

    @property
    def keys_values(self) -> KeysValues:
        return KeysValues(self.keys, self.values)


class ShownAttention(nn.Module):
    """Scaled dot product attention that keeps its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[Tensor] = []

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None = None
    ) -> Tensor:
        weights = attention_weights(queries, keys, mask)
        self.shown.append(weights)
        return weights @ values
