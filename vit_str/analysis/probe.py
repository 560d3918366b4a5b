"""Listen to the attention of a running model: what goes into every softmax, layer by layer.

The model computes exactly what it computes without the probe, with fused kernels and all: the
probe gets queries and keys, and its listeners work out what they want to know from them.

    >>> statistics = AttentionStatistics(TokenGrid.of(encoder))  # doctest: +SKIP
    >>> with probe(encoder, statistics.update):  # doctest: +SKIP
    ...     encoder(images)

Models of timm and of Hugging Face are understood too; neither is needed.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.attention import Mask, ScaledDotProductAttention, listen

Queries = Float[Tensor, "batch head query head_dim"]
Keys = Float[Tensor, "batch head key head_dim"]
Listener = Callable[[str, Queries, Keys, Mask | None], None]
"""Name of the layer, queries, keys, mask; such as ``AttentionStatistics.update``."""
Inputs = Callable[..., tuple[Queries, Keys, Mask | None]]
"""Arguments of the call of a module -> queries, keys, mask."""

_ROTARY = {"rope", "position_embeddings", "cos", "sin"}


@contextmanager
def probe(model: nn.Module, *listeners: Listener) -> Iterator[None]:
    """Pass every attention inside the ``with`` to all ``listeners``.

    Args:
        model: of this project, a ViT of timm or of Hugging Face, or a part of one.
        listeners: called once per layer and batch, in the order of computing.

    Raises:
        ValueError: the model has no attention that is understood, or none ran in the ``with``.
    """
    inputs = attention_inputs(model)
    modules = dict(model.named_modules())

    def pass_on(name: str, positional: tuple[Any, ...], named: dict[str, Any], _: Any) -> None:
        queries, keys, mask = inputs[name](*positional, **named)
        for listener in listeners:
            listener(name, queries, keys, mask)

    with listen({name: modules[name] for name in inputs}, pass_on):
        yield


def attention_inputs(model: nn.Module) -> dict[str, Inputs]:
    """Name of every module of a model that computes attention -> how to find its inputs.

    Raises:
        ValueError: none is understood.
    """
    inputs = {name: _inputs(module) for name, module in model.named_modules()}
    understood = {name: of_call for name, of_call in inputs.items() if of_call is not None}
    if not understood:
        raise ValueError(
            f"{type(model).__name__} holds no attention that is understood: give a model of this "
            "project, a timm VisionTransformer or a Hugging Face ViT"
        )
    return understood


def _inputs(module: nn.Module) -> Inputs | None:
    """How to find queries and keys in the arguments of a module; None if it is no attention."""
    if isinstance(module, ScaledDotProductAttention):
        return _own
    if _ROTARY & set(inspect.signature(module.forward).parameters):
        return None  # rotary positions would have to be applied to what is projected
    parts = dict(module.named_children())
    if {"qkv", "q_norm", "k_norm", "proj"} <= parts.keys() and hasattr(module, "num_heads"):
        return partial(_timm, module)
    if {"q_proj", "k_proj", "v_proj"} <= parts.keys():
        return partial(_hugging_face, module, parts["q_proj"], parts["k_proj"])
    if {"query", "key", "value"} <= parts.keys():
        return partial(_hugging_face, module, parts["query"], parts["key"])
    return None


def _own(
    queries: Queries, keys: Keys, values: Keys, mask: Mask | None = None
) -> tuple[Queries, Keys, Mask | None]:
    return queries, keys, mask


def _timm(
    module: Any,
    x: Float[Tensor, "batch token dim"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
) -> tuple[Queries, Keys, Mask | None]:
    """Attention of ``timm.layers``: one projection to queries, keys and values, then norms."""
    queries, keys, _values = rearrange(
        module.qkv(x), "b token (three h d) -> three b h token d", three=3, h=module.num_heads
    )
    _refuse(is_causal or (attn_mask is not None and attn_mask.dtype != torch.bool))
    return module.q_norm(queries), module.k_norm(keys), attn_mask


def _hugging_face(
    module: Any,
    to_queries: nn.Module,
    to_keys: nn.Module,
    hidden_states: Float[Tensor, "batch token dim"],
    attention_mask: Tensor | None = None,
    **named: object,
) -> tuple[Queries, Keys, Mask | None]:
    """Self-attention of a ViT in ``transformers``: a projection each, no mask."""
    _refuse(attention_mask is not None or named.get("position_embeddings") is not None)
    queries, keys = (
        rearrange(x, "b token (h d) -> b h token d", h=module.num_attention_heads)
        for x in (to_queries(hidden_states), to_keys(hidden_states))
    )
    return queries, keys, None


def _refuse(unknown: bool) -> None:
    if unknown:
        raise ValueError("attention with rotary positions or masks of numbers is not understood")
