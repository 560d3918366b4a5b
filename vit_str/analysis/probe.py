"""Callbacks on the attention of a running model: the inputs of every softmax, layer by layer.

The model computes what it computes without the probe, with fused kernels and all: the callbacks
are called with queries and keys, and compute from them what they need.

    >>> statistics = AttentionStatistics(TokenGrid.of(encoder))  # doctest: +SKIP
    >>> with probe(encoder, statistics.update):  # doctest: +SKIP
    ...     encoder(images)

Models of other libraries are supported where they call the fused kernel of PyTorch
(``scaled_dot_product_attention``): what it is given has been normalized, turned by rotary positions
and biased already. The attention of timm, torchvision and ``transformers`` is supported without
the kernel too, and ``nn.MultiheadAttention``. For a module of one's own that does its softmax by
hand, say what its queries and keys are:

    >>> @register_attention(MyAttention)  # doctest: +SKIP
    ... def _(module, tokens):  # the arguments of its forward
    ...     return module.queries(tokens), module.keys(tokens)  # batch head token head_dim
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from vit_str.models import Encoder
from vit_str.models.attention import (
    ScaledDotProductAttention,
    attention_weights,
    forward_hooks,
)

Queries = Float[Tensor, "batch head query head_dim"]
Keys = Float[Tensor, "batch head key head_dim"]
Callback = Callable[[str, Queries, Keys, Tensor | None], None]
"""Name of the layer, queries, keys, mask; such as ``AttentionStatistics.update``. A mask is True
where a query may attend, or numbers that are added to the scores (bias)."""
Values = Float[Tensor, "batch head key value_dim"]
ValueCallback = Callable[[str, Queries, Keys, Tensor | None, Values | None], None]
"""As `Callback`, and the values; None of a softmax by hand, which does not show them."""
Attended = (
    tuple[Queries, Keys]
    | tuple[Queries, Keys, Tensor | None]
    | tuple[Queries, Keys, Tensor | None, Values | None]
)
Inputs = Callable[..., Attended]
"""A module and the arguments of its call -> queries, keys and, if known, mask and values."""

Outputs = list[Float[Tensor, "batch dim row column"]]

_REGISTERED: dict[type[nn.Module], Inputs] = {}
_OBSERVED = {F.scaled_dot_product_attention, F.softmax, torch.softmax, Tensor.softmax}
# Modules known to multiply the values with just what comes out of their softmax.
_EXPLICIT = re.compile(
    r"timm\.layers\.attention\.Attention(Rope)?"
    r"|timm\.models\.(beit\.Attention|eva\.EvaAttention|vision_transformer_relpos\.RelPosAttention)"
    r"|timm\.models\.swin_transformer(_v2)?\.WindowAttention"
    r"|timm\.models\.swin_transformer_v2_cr\.WindowMultiHeadAttention"
    r"|timm\.models\.tiny_vit\.Attention"
    r"|timm\.models\.(pvt_v2\.Attention|mvitv2\.MultiScaleAttention)"
    r"|timm\.models\.twins\.(LocallyGrouped|GlobalSubSample)Attn"
    r"|timm\.models\.(efficientformer|fastvit|metaformer|visformer)\.Attention"
    r"|timm\.models\.(maxxvit\.Attention(Cl|2d)|hiera\.MaskUnitAttention|nest\.Attention)"
    r"|torchvision\.models\.maxvit\.RelativePositionalMultiHeadAttention"
    r"|torchvision\.models\.swin_transformer\.ShiftedWindowAttention(V2)?"
    r"|transformers\.models\.(vit|deit|dinov2|dinov2_with_registers|dinov3_vit|vit_mae|ijepa|beit"
    r"|clip|siglip|swin|swinv2|donut|trocr|mbart|llama|mistral|qwen2|qwen2_vl|gemma"
    r"|pvt_v2|segformer|glpn)\.\w+Attention"
)

# Modules whose queries and keys are of batch, window, head, token, head_dim, and with heads before
# windows.
_OF_WINDOWS = re.compile(
    r"timm\.models\.twins\.LocallyGroupedAttn"
    r"|torchvision\.models\.maxvit\.RelativePositionalMultiHeadAttention"
)
_HEADS_BEFORE_WINDOWS = re.compile(
    r"timm\.models\.(hiera\.MaskUnitAttention|nest\.Attention)"
)


def register_attention(module_type: type[nn.Module]) -> Callable[[Inputs], Inputs]:
    """Make `probe` support a class of modules, by a function that returns their queries and keys.

    The function takes the module and the arguments of its call, and returns queries and keys as
    they go into the softmax of ``queries @ keys.T / sqrt(head_dim)``, split over heads and with
    norms and rotations applied; third, if there is one, a mask (True where a query may attend) or
    a bias that is added to the scores; fourth the values, for what is weighted by their norm.
    """

    def register(inputs: Inputs) -> Inputs:
        _REGISTERED[module_type] = inputs
        return inputs

    return register


@contextmanager
def probe(
    model: nn.Module, *callbacks: Callback, with_values: Sequence[ValueCallback] = ()
) -> Iterator[None]:
    """Call all callbacks once per layer and batch inside the ``with``, in forward order.

    Args:
        model: of this project or of another library, not compiled.
        callbacks: what to call with queries and keys of every layer.
        with_values: what to call with the values too.

    Raises:
        ValueError: the model has no attention that is supported, or none ran in the ``with``.
    """

    def pass_on(
        name: str,
        queries: Queries,
        keys: Keys,
        mask: Tensor | None = None,
        values: Values | None = None,
    ) -> None:
        for callback in callbacks:
            callback(name, queries, keys, mask)
        for value_callback in with_values:
            value_callback(name, queries, keys, mask, values)

    if any(map(_is_compiled, model.modules())):
        raise ValueError(
            f"{type(model).__name__} is compiled, so that its attention cannot be "
            "observed: give the module as it was before torch.compile"
        )
    is_ours = any(
        isinstance(module, ScaledDotProductAttention) for module in model.modules()
    )
    observing = _observing_registered if is_ours else _observing_softmaxes
    with observing(model, pass_on):
        yield


@contextmanager
def _observing_registered(
    model: nn.Module, pass_on: Callable[..., None]
) -> Iterator[None]:
    """Pass on the inputs of registered modules, without listening to every function of torch."""
    named_modules = model.named_modules()
    known = {name: module for name, module in named_modules if _registered(module)}

    def call(
        name: str, positional: tuple[Any, ...], named: dict[str, Any], _: object
    ) -> None:
        inputs = _registered(known[name])
        assert inputs is not None
        pass_on(name, *inputs(known[name], *positional, **named))

    with forward_hooks(known, call):
        yield


@contextmanager
def _observing_softmaxes(
    model: nn.Module, pass_on: Callable[..., None]
) -> Iterator[None]:
    """Pass on the inputs of every softmax over keys that a model of any library computes."""
    recorder = _SoftmaxRecorder(model, pass_on)
    with ExitStack() as hooks:
        for module in model.modules():
            before = module.register_forward_pre_hook(recorder.enter)
            hooks.enter_context(before)
            after = module.register_forward_hook(recorder.leave, with_kwargs=True)
            hooks.enter_context(after)
        hooks.enter_context(recorder)
        yield
    if recorder.called:
        return
    if recorder.by_hand:
        raise ValueError(
            f"{type(model).__name__}: {' and '.join(recorder.by_hand)} computes a "
            "softmax by hand, so that its queries and keys are not seen: call "
            "scaled_dot_product_attention there, or see register_attention"
        )
    raise ValueError(
        f"{type(model).__name__} holds no attention that is supported, or was not "
        "run inside the `with` block; for a module of your own see "
        "register_attention"
    )


@contextmanager
def in_evaluation(model: nn.Module) -> Iterator[None]:
    """Evaluation mode inside; then every module is in the mode it was in, frozen ones too."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def layer_outputs(
    encoder: Encoder, images: Float[Tensor, "batch channel height width"]
) -> Outputs:
    """Outputs of every layer, on its rows and columns and without special tokens."""
    outputs: Outputs = []

    def keep(_name: str, _inputs: object, _named: object, output: Any) -> None:
        outputs.append(encoder.as_map(len(outputs), output))

    layers = {f"{i}": layer for i, layer in enumerate(encoder.layer_modules)}
    with forward_hooks(layers, keep):
        encoder(images)
    return outputs


def map_of(
    queries: Queries, keys: Keys, mask: Tensor | None = None
) -> Float[Tensor, "batch head query key"]:
    """The attention map from the arguments of a callback, in float32 or better; rows sum to 1."""
    queries = queries.float() if queries.itemsize < 4 else queries
    keys = keys.float() if keys.itemsize < 4 else keys
    return attention_weights(queries, keys, mask)


@dataclass(slots=True)
class _Running:
    """A module that is running, and how many softmaxes it has computed."""

    module: nn.Module
    softmaxes: int = 0

    @property
    def inputs(self) -> Inputs | None:
        """The inputs that were registered for its class."""
        return _registered(self.module)


class _SoftmaxRecorder(TorchFunctionMode):
    """Passes on the inputs of every softmax over keys, and which module it belongs to."""

    def __init__(self, model: nn.Module, pass_on: Callable[..., None]) -> None:
        super().__init__()
        self.called = False
        self.by_hand: dict[str, None] = {}  # classes whose softmax is not understood
        self._busy = False
        self._pass_on = pass_on
        self._names = {module: name for name, module in model.named_modules()}
        self._running: list[_Running] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        is_busy = self._busy or not self._running
        if func in _OBSERVED and not is_busy and not self._in_registered():
            running = self._innermost()
            if func is F.scaled_dot_product_attention:
                inputs = _without_windows(running.module, args)
                self._record(running, of_fused_kernel(*inputs, **kwargs))
            elif _is(_EXPLICIT, running.module):
                scores, *_ = _without_windows(running.module, args)
                self._record(running, _scores(running.module, scores))
            else:
                self.by_hand[type(running.module).__name__] = None
        return func(*args, **kwargs)

    def enter(self, module: nn.Module, _: Any) -> None:
        """Note that a module begins to run."""
        self._running.append(_Running(module))

    def leave(
        self, _: nn.Module, positional: Any, named: dict[str, Any], __: Any
    ) -> None:
        """Note that it has ended, and record its inputs if its class is registered."""
        ended = self._running.pop()
        if ended.inputs is not None and not self._in_registered():
            self._record(ended, ended.inputs(ended.module, *positional, **named))

    def _in_registered(self) -> bool:
        return any(running.inputs for running in self._running)

    def _innermost(self) -> _Running:
        for running in reversed(self._running):
            if not isinstance(running.module, nn.Softmax):
                return running
        return self._running[-1]

    def _record(self, running: _Running, attended: Attended) -> None:
        running.softmaxes += 1
        if running.softmaxes > 1:
            raise ValueError(
                f"{type(running.module).__name__} has more than one softmax, which are "
                "put together in a way that is not supported; see register_attention"
            )
        self.called = True
        self._busy = True
        try:
            self._pass_on(self._names[running.module], *attended)
        finally:
            self._busy = False


def _is_compiled(module: nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or bool(module._compiled_call_impl)


def _registered(module: nn.Module) -> Inputs | None:
    classes = type(module).__mro__
    return next((_REGISTERED[of] for of in classes if of in _REGISTERED), None)


def _is(classes: re.Pattern[str], module: nn.Module) -> bool:
    # Files of transformers are left out: modeling_vit.ViTAttention is vit.ViTAttention here.
    of = type(module)
    name = re.sub(r"\.modeling_\w+", "", f"{of.__module__}.{of.__qualname__}")
    return bool(classes.fullmatch(name))


def _without_windows(module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors of a softmax with windows in the batch, image by image."""
    heads_first = _is(_HEADS_BEFORE_WINDOWS, module)
    if not heads_first and not _is(_OF_WINDOWS, module):
        return inputs

    def joined(x: Any) -> Any:
        if not isinstance(x, Tensor) or x.ndim != 5:
            return x
        return (x.transpose(1, 2) if heads_first else x).flatten(0, 1)

    return tuple(map(joined, inputs))


def of_fused_kernel(
    query: Queries,
    key: Keys,
    value: Keys,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Queries, Keys, Tensor | None, Values]:
    """Queries, keys, mask and values, from the arguments of the fused kernel."""
    if query.ndim != 4:
        raise ValueError(
            f"attention of {query.ndim} dimensions is not supported, 4 are"
        )
    usual = query.shape[-1] ** -0.5
    if scale is not None and not math.isclose(scale, usual, rel_tol=1e-9):
        query = query * (scale / usual)
    if enable_gqa:
        shared = query.shape[1] // key.shape[1]
        key = key.repeat_interleave(shared, 1)
        value = value.repeat_interleave(shared, 1)
    if is_causal:
        shape = (query.shape[-2], key.shape[-2])
        attn_mask = query.new_ones(shape, dtype=torch.bool).tril()
    if attn_mask is not None:
        attn_mask = attn_mask[(None,) * (4 - attn_mask.ndim)]
    return query, key, attn_mask, value


def _scores(module: Any, scores: Tensor) -> Attended:
    """Queries and keys of zeros, with the scores that go into a softmax as their bias."""
    if scores.ndim == 3:  # heads along the batch
        heads = module.num_heads
        scores = rearrange(scores, "(b h) query key -> b h query key", h=heads)
    if scores.ndim != 4:
        raise ValueError(
            f"attention of {scores.ndim} dimensions is not supported, 4 are"
        )
    batch, heads, of_queries, of_keys = scores.shape
    queries = scores.new_zeros(batch, heads, of_queries, 1)
    keys = scores.new_zeros(batch, heads, of_keys, 1)
    return queries, keys, scores


@register_attention(ScaledDotProductAttention)
def _own(
    _: nn.Module, queries: Queries, keys: Keys, values: Keys, mask: Tensor | None = None
) -> Attended:
    return queries, keys, mask, values


@register_attention(nn.MultiheadAttention)
def _multi_head(
    module: nn.MultiheadAttention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Attended:
    """Computes its projections again: it does not keep its queries, keys and values."""
    if module.bias_k is not None or module.add_zero_attn or query.ndim != 3:
        raise ValueError(
            "nn.MultiheadAttention with keys added or without a batch: not supported"
        )
    if module.in_proj_weight is None:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    else:
        weights = module.in_proj_weight.chunk(3)
    biases = [None] * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    layout = "b token (h d)" if module.batch_first else "token b (h d)"
    projected = []
    for tokens, *of in zip((query, key, value), weights, biases, strict=True):
        by_head = f"{layout} -> b h token d"
        of_tokens = F.linear(tokens, *of)
        projected.append(rearrange(of_tokens, by_head, h=module.num_heads))
    queries, keys, values = projected
    mask = None if attn_mask is None else _bias(attn_mask, queries)
    if mask is not None and mask.ndim == 3:
        mask = rearrange(mask, "(b h) query key -> b h query key", b=len(queries))
    if key_padding_mask is not None:
        padding = _bias(key_padding_mask, queries)[:, None, None]
        mask = padding if mask is None else mask + padding
    if mask is not None:
        mask = mask[(None,) * (4 - mask.ndim)]
    return queries, keys, mask, values


def _bias(mask: Tensor, like: Tensor) -> Tensor:
    """A mask of ``nn.MultiheadAttention``, True where none may attend, as numbers to add."""
    if mask.dtype != torch.bool:
        return mask
    return like.new_zeros(mask.shape).masked_fill(mask, -math.inf)
