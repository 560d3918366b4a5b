"""Inputs and outputs of the attention of every layer, and how to replace them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.probe import Keys, Queries, Values, of_fused_kernel
from vit_str.models import Encoder
from vit_str.models.attention import attention_modules


class Head(NamedTuple):
    """A head of the encoder; layer and head count from 1."""

    layer: int
    head: int


class AttentionCall(NamedTuple):
    """Inputs of the attention of a layer, see `probe`, and outputs of its heads."""

    queries: Queries
    keys: Keys
    values: Values
    mask: Tensor | None
    output: Float[Tensor, "batch head query dim"]


Replace = Callable[[int, AttentionCall], Tensor | None]
"""Layer, from 1, and its call -> what its heads put out instead; None to leave it."""


@contextmanager
def intercepted(encoder: Encoder, replace: Replace) -> Iterator[None]:
    """Call ``replace`` for the attention of every layer inside the ``with``.

    Raises:
        ValueError: for a model with windows or pooled keys, or whose attention does not call the
            fused kernel of PyTorch.
    """
    if isinstance(encoder, LibraryEncoder):
        with _in_kernels(encoder, replace):
            yield
        return
    with ExitStack() as hooks:
        for layer, module in enumerate(attention_modules(encoder).values(), 1):
            hook = partial(_after, replace, layer)
            hooks.enter_context(module.register_forward_hook(hook, with_kwargs=True))
        yield


def _after(
    replace: Replace,
    layer: int,
    _: nn.Module,
    inputs: tuple[Any, ...],
    named: dict[str, Any],
    output: Tensor,
) -> Tensor | None:
    return replace(layer, _call(*inputs, **named, output=output))


def _call(
    queries: Queries,
    keys: Keys,
    values: Values,
    mask: Tensor | None = None,
    *,
    output: Tensor,
) -> AttentionCall:
    """The call of the attention of this project."""
    return AttentionCall(queries, keys, values, mask, output)


@contextmanager
def _in_kernels(encoder: LibraryEncoder, replace: Replace) -> Iterator[None]:
    """The same for a model of another library: inside of its blocks, at the fused kernel."""
    if encoder.windows:
        raise ValueError(
            f"{type(encoder.model).__name__}: heads are cut in models whose tokens all attend to "
            "each other, not in windows or to pooled keys"
        )
    mode = _KernelMode(replace)
    with ExitStack() as hooks:
        for layer, block in enumerate(encoder.blocks, 1):
            begin = partial(mode.enter, layer)
            hooks.enter_context(block.module.register_forward_pre_hook(begin))
            hooks.enter_context(block.module.register_forward_hook(mode.leave))
        hooks.enter_context(mode)
        yield
    if mode.missing:
        raise ValueError(
            f"{type(encoder.model).__name__}: heads of layer {min(mode.missing)} cannot be cut, as "
            "its attention does not call scaled_dot_product_attention once"
        )


class _KernelMode(TorchFunctionMode):
    """Replaces what the fused kernel puts out in the blocks of a model.

    Attributes:
        missing: layers that ran without calling it once.
    """

    def __init__(self, replace: Replace) -> None:
        super().__init__()
        self.missing: set[int] = set()
        self._replace = replace
        self._layer = 0  # none
        self._calls = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        if func is not F.scaled_dot_product_attention or not self._layer:
            return output
        self._calls += 1
        queries, keys, mask, values = of_fused_kernel(*args, **(kwargs or {}))
        call = AttentionCall(queries, keys, values, mask, output)
        replaced = self._replace(self._layer, call)
        return output if replaced is None else replaced

    def enter(self, layer: int, *_: Any) -> None:
        """Note that a block begins."""
        self._layer = layer
        self._calls = 0

    def leave(self, *_: Any) -> None:
        """Note that it has ended."""
        if self._calls != 1:
            self.missing.add(self._layer)
        self._layer = 0
