"""How a model called its layers, to run two of them again without those before."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

from torch import nn


class _Inputs(NamedTuple):
    """What a layer was given, before its own hooks."""

    positional: tuple[Any, ...]
    named: dict[str, Any]


class LayerCalls:
    """The calls of all layers of the last batch.

    Args:
        layers: the modules, first to last.
    """

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        self.layers = list(layers)
        self._inputs: dict[int, _Inputs] = {}
        self._outputs: dict[int, Any] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Keep what is called inside the ``with``."""
        with ExitStack() as hooks:
            for number, layer in enumerate(self.layers, 1):
                before = layer.register_forward_pre_hook(
                    partial(self._keep_inputs, number), prepend=True, with_kwargs=True
                )
                after = layer.register_forward_hook(partial(self._keep_output, number))
                hooks.enter_context(before)
                hooks.enter_context(after)
            yield

    def _keep_inputs(self, number: int, _: nn.Module, *inputs: Any) -> None:
        self._inputs[number] = _Inputs(*inputs)

    def _keep_output(self, number: int, _: nn.Module, __: Any, output: Any) -> None:
        self._outputs[number] = output

    def follow(self, layer: int) -> bool:
        """Whether the next layer was given what this one, counted from 1, put out, as it was."""
        if layer not in self._outputs or layer + 1 not in self._inputs:
            return False
        given = self._inputs[layer + 1].positional
        return bool(given) and given[0] is self._outputs[layer]

    def repeat(self, layer: int) -> Any:
        """Call this layer, counted from 1, as it was, and the next one with what it puts out."""
        inputs = self._inputs[layer]
        output = self.layers[layer - 1](*inputs.positional, **inputs.named)
        following = self._inputs[layer + 1]
        return self.layers[layer](output, *following.positional[1:], **following.named)
