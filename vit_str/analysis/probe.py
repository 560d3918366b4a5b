"""Listen to the attention of a running model: what goes into every softmax, layer by layer.

The model computes exactly what it computes without the probe, with fused kernels and all: the
probe gets queries and keys, and works out beside the model what it wants to know.

    >>> statistics = AttentionStatistics(TokenGrid.of(encoder))  # doctest: +SKIP
    >>> with probe(encoder, statistics.update):  # doctest: +SKIP
    ...     encoder(images)

Models of timm and of Hugging Face are understood too; neither is needed.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.attention import Mask, ScaledDotProductAttention

Queries = Float[Tensor, "batch head query head_dim"]
Keys = Float[Tensor, "batch head key head_dim"]
Listener = Callable[[str, Queries, Keys, Mask | None], None]
"""Name of the layer, queries, keys, mask; such as ``AttentionStatistics.update``."""

_TURNED = {"rope", "position_embeddings", "cos", "sin"}


@dataclass(frozen=True, slots=True)
class Tap:
    """Where to listen.

    Attributes:
        name: of the layer.
        module: whose call is heard.
        inputs: arguments of the call -> queries, keys, mask.
    """

    name: str
    module: nn.Module
    inputs: Callable[..., tuple[Queries, Keys, Mask | None]]


@contextmanager
def probe(model: nn.Module, listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of every attention inside the ``with``.

    Args:
        model: of this project, a ViT of timm or of Hugging Face, or a part of one.
        listener: called once per layer and batch, in the order of computing.

    Raises:
        ValueError: the model has no attention that is understood, or none ran in the ``with``.
    """
    found = taps(model)
    heard = False

    def listen(tap: Tap) -> Callable[..., None]:
        def hook(_: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
            nonlocal heard
            heard = True
            listener(tap.name, *tap.inputs(*positional, **named))

        return hook

    handles = [tap.module.register_forward_pre_hook(listen(tap), with_kwargs=True) for tap in found]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    if not heard:
        raise ValueError("no attention was heard: run the model inside the `with` block")


def taps(model: nn.Module) -> list[Tap]:
    """Every place of a model at which attention can be heard.

    Raises:
        ValueError: none is understood.
    """
    found = [
        Tap(name, module, inputs)
        for name, module in model.named_modules()
        if (inputs := _inputs(module)) is not None
    ]
    if not found:
        raise ValueError(
            f"{type(model).__name__} holds no attention that is understood: give a model of this "
            "project, a timm VisionTransformer or a Hugging Face ViT"
        )
    return found


def _inputs(module: nn.Module) -> Callable[..., tuple[Queries, Keys, Mask | None]] | None:
    """How to find queries and keys in the arguments of a module; None if it is no attention."""
    if isinstance(module, ScaledDotProductAttention):
        return _own
    if _TURNED & set(inspect.signature(module.forward).parameters):
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


def _refuse(beyond_us: bool) -> None:
    if beyond_us:
        raise ValueError("attention with rotary positions or masks of numbers is not understood")
