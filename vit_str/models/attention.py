"""The one attention core: every self- and cross-attention of the project is built from it.

Shapes use the words of einops: ``batch head query key head_dim``. Masks are boolean, True where
a query may attend, and broadcast to ``batch head query key``; or numbers, which are added to the
scores.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

Mask = Bool[Tensor, "..."]
Bias = Float[Tensor, "..."]


def attention_weights(
    queries: Float[Tensor, "*batch query head_dim"],
    keys: Float[Tensor, "*batch key head_dim"],
    mask: Mask | Bias | None = None,
) -> Float[Tensor, "*batch query key"]:
    """softmax(QKᵀ / √d_k), row by row: equation 1 of Vaswani et al. 2017 without the values."""
    scores = (queries / math.sqrt(queries.shape[-1])) @ keys.transpose(-1, -2)
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, -math.inf).softmax(-1)
    return (scores + mask).softmax(-1)


class ScaledDotProductAttention(nn.Module):
    """softmax(QKᵀ / √d_k) V, in one fused kernel wherever that is the fast way.

    It has no parameters. It is a module so that a recorder can listen to its inputs and compute
    the weights again with `attention_weights`: reading needs no flag and no slow path.
    """

    weights = staticmethod(attention_weights)

    def forward(
        self,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        values: Float[Tensor, "batch head key value_dim"],
        mask: Mask | Bias | None = None,
    ) -> Float[Tensor, "batch head query value_dim"]:
        """Values weighted by the softmax over the keys (Vaswani et al. 2017, equation 1)."""
        if queries.requires_grad and queries.device.type == "cpu":
            # The backward pass of the fused CPU kernel takes longer than everything else in a
            # block: for 64 tokens a training step is half as fast again without it.
            return attention_weights(queries, keys, mask) @ values
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


class AdditiveAttention(nn.Module):
    """softmax(vᵀ tanh(Q + K)) V (Bahdanau et al. 2014); queries and keys are projected outside."""

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.to_scores = nn.Linear(head_dim, 1, bias=False)

    def weights(
        self,
        queries: Float[Tensor, "*batch query head_dim"],
        keys: Float[Tensor, "*batch key head_dim"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "*batch query key"]:
        """How much every query takes of every key; rows sum to 1."""
        sums = queries[..., :, None, :] + keys[..., None, :, :]
        scores = self.to_scores(sums.tanh().to(self.to_scores.weight.dtype))[..., 0]
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1)

    def forward(
        self,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        values: Float[Tensor, "batch head key value_dim"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch head query value_dim"]:
        """Values weighted by the softmax over the keys (Bahdanau et al. 2014)."""
        return self.weights(queries, keys, mask).to(values.dtype) @ values


class KeysValues(NamedTuple):
    """Keys and values of one source, split over heads."""

    keys: Float[Tensor, "batch head key head_dim"]
    values: Float[Tensor, "batch head key head_dim"]


class KeyValueCache:
    """Keys and values of the positions decoded so far, in memory taken once.

    The decoding loop owns it; the modules stay without state.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self._keys = torch.empty(0)
        self._values = torch.empty(0)

    def append(self, new: KeysValues) -> None:
        """Add the keys and values of the next positions; the first decide shape and type."""
        batch, heads, positions, head_dim = new.keys.shape
        if not self.length:
            self._keys = new.keys.new_empty(batch, heads, self.capacity, head_dim)
            self._values = torch.empty_like(self._keys)
        end = self.length + positions
        self._keys[:, :, self.length : end] = new.keys
        self._values[:, :, self.length : end] = new.values
        self.length = end

    def keep(self, rows: Bool[Tensor, " batch"] | Int64[Tensor, " row"]) -> None:
        """Keep these rows of the batch only: a mask, or indices in any order."""
        if self.length:
            self._keys = self._keys[rows]
            self._values = self._values[rows]

    @property
    def keys_values(self) -> KeysValues:
        """All positions so far, without a copy."""
        return KeysValues(
            keys=self._keys[:, :, : self.length],
            values=self._values[:, :, : self.length],
        )


class MultiHeadAttention(nn.Module):
    """Attention of several heads over one source, itself by default (Vaswani et al. 2017, 3.2.2).

    Args:
        dim: width of queries, source and output.
        heads: number of heads; divides ``dim``.
        attend: what makes weights of queries and keys; by default their scaled dot product.

    Raises:
        ValueError: ``heads`` does not divide ``dim``.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        attend: ScaledDotProductAttention | AdditiveAttention | None = None,
    ) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim {dim} must be a multiple of heads {heads}")
        self.heads = heads
        self.to_queries = nn.Linear(dim, dim)
        self.to_keys_values = nn.Linear(dim, 2 * dim)
        self.attend = attend or ScaledDotProductAttention()
        self.to_output = nn.Linear(dim, dim)

    def project_keys_values(self, source: Float[Tensor, "batch key dim"]) -> KeysValues:
        """Keys and values of ``source``: for cross-attention once per image, not per step."""
        keys, values = rearrange(
            self.to_keys_values(source),
            "b key (two h d) -> two b h key d",
            two=2,
            h=self.heads,
        )
        return KeysValues(keys, values)

    def forward(
        self,
        x: Float[Tensor, "batch query dim"],
        keys_values: KeysValues | None = None,
        mask: Mask | Bias | None = None,
    ) -> Float[Tensor, "batch query dim"]:
        """Attend from ``x`` to ``keys_values``, or to ``x`` itself when there are none."""
        queries = rearrange(
            self.to_queries(x),
            "b query (h d) -> b h query d",
            h=self.heads,
        )
        keys, values = keys_values or self.project_keys_values(x)
        attended = self.attend(queries, keys, values, mask)
        return self.to_output(rearrange(attended, "b h query d -> b query (h d)"))


AttentionMaps = dict[str, list[Float[Tensor, "batch head query key"]]]
Call = Callable[[str, tuple[Any, ...], dict[str, Any], Any], None]
"""Name of a module, positional and named arguments of its call, what it returned."""


@contextmanager
def forward_hooks(modules: Mapping[str, nn.Module], callback: Call) -> Iterator[None]:
    """Call ``callback`` after every call of some modules inside the ``with``.

    Raises:
        ValueError: none of them ran inside the ``with``.
    """
    called = False

    def hook(name: str, module: nn.Module, *call: Any) -> None:
        nonlocal called
        called = True
        callback(name, *call)

    handles = [
        module.register_forward_hook(partial(hook, name), with_kwargs=True)
        for name, module in modules.items()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    if not called:
        raise ValueError(
            "no attention was recorded: run the model inside the `with` block"
        )


@contextmanager
def record_attention(model: nn.Module) -> Iterator[AttentionMaps]:
    """Collect the attention weights of every call inside the ``with``, by module name.

    The model computes exactly what it computes without the recorder: the weights are computed
    again from the inputs of each `ScaledDotProductAttention` or `AdditiveAttention`.

    Raises:
        ValueError: the model has no attention, or nothing ran inside the ``with``.
    """
    maps: AttentionMaps = {}
    modules = attention_modules(model)

    @torch.no_grad()
    def record(
        name: str,
        inputs: tuple[Any, ...],
        named: dict[str, Any],
        output: Any,
    ) -> None:
        queries, keys, _values, *mask = inputs
        module: Any = modules[name]
        weights = module.weights(queries.float(), keys.float(), *mask)
        maps.setdefault(name, []).append(weights)

    with forward_hooks(modules, record):
        yield maps


def attention_modules(model: nn.Module) -> dict[str, nn.Module]:
    """Every attention of a model of this project, by the name of its `MultiHeadAttention`.

    Raises:
        ValueError: for a model without such an attention.
    """
    modules: dict[str, nn.Module] = {
        name.removesuffix(".attend"): module
        for name, module in model.named_modules()
        if isinstance(module, ScaledDotProductAttention | AdditiveAttention)
    }
    if not modules:
        raise ValueError(f"{type(model).__name__} holds no attention to record")
    return modules
