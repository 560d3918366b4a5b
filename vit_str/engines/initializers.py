"""The initializers of the graphs of the package, made of the tensors of a weights file.

An initializer has the name of a tensor: ``a+b`` are the outputs of one layer and then those of
another, ``.T`` behind it stands for the transpose, and behind a colon stands what is made of it:

====================  ==============================================================================
``w:int8``            the weights in 8 bits, all on one scale
``w:scale``           that scale
``w:int8-outputs``    the weights in 8 bits, every output on a scale of its own
``w:scale-outputs``   those scales
``point:step``        how far apart the numbers of 8 bits are at a point of the model, from its
                      range there
``point:zero``        the number that stands for 0 there
``b:int32@point``     a bias on the scale of sums of products: that of the weights beside it, times
                      the step at the point that comes in
====================  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.engines.ranges import Ranges

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int8, Shaped, UInt8

    Tensors = Mapping[str, Float[np.ndarray, "..."]]

QUANTIZED = ":int8"
SCALE = ":scale"
QUANTIZED_OUTPUTS = ":int8-outputs"
SCALE_OUTPUTS = ":scale-outputs"
STEP = ":step"
ZERO = ":zero"
BIAS = ":int32@"
TRANSPOSED = ".T"
JOIN = "+"

LARGEST_INT8 = 127
_LARGEST_UINT8 = 255
_LARGEST_SUM = (1 << 31) - 128  # of 32 bits, as float32 has it
# Of a layer whose weights are all 0, or a point where nothing happens
_LEAST_STEP = 1e-12


def initializer(
    name: str, tensors: Tensors, ranges: Ranges, largest: int = LARGEST_INT8
) -> Shaped[np.ndarray, "*shape"]:
    """The array that a name stands for.

    Args:
        name: see above.
        tensors: of the weights file.
        ranges: of the weights file; none for graphs that measure them.
        largest: of weights in 8 bits, see `largest_int8_weight`.

    Raises:
        KeyError: there is no such tensor or range.
    """
    base, _, kind = name.partition(":")
    if f":{kind}" in _OF_RANGES:
        return _OF_RANGES[f":{kind}"](ranges[base])
    if BIAS in name:
        bias, point = name.split(BIAS)
        step = quantization_step(ranges[point])
        return _bias_of_sums(bias, tensors, step, largest)
    names = base.removesuffix(TRANSPOSED).split(JOIN)
    values = _joined([tensors[each] for each in names])
    if kind:
        values = _OF_TENSORS[f":{kind}"](values, largest)
    return values.T.copy(order="C") if base.endswith(TRANSPOSED) else values


def quantization_step(limits: tuple[float, float]) -> Float32[np.ndarray, ""]:
    """The distance of two numbers of 8 bits that cover a range and 0."""
    return np.array(_step(limits), np.float32)


def quantized_zero(limits: tuple[float, float]) -> UInt8[np.ndarray, ""]:
    """The number of 8 bits that stands for 0."""
    low, _ = _with_zero(limits)
    return np.array(round(-low / _step(limits)), np.uint8)


def output_scales(
    weights: Float[np.ndarray, "output ..."], largest: int = LARGEST_INT8
) -> Float[np.ndarray, " output"]:
    """What makes the largest weight of every output the largest number."""
    rows = weights.reshape(len(weights), -1)
    found = np.maximum(rows.max(1), -rows.min(1))
    return np.maximum(found / largest, _LEAST_STEP).astype(np.float32)


def _step(limits: tuple[float, float]) -> float:
    low, high = _with_zero(limits)
    return max((high - low) / _LARGEST_UINT8, _LEAST_STEP)


def _with_zero(limits: tuple[float, float]) -> tuple[float, float]:
    """A range that holds 0, which padding and ReLU need exactly."""
    low, high = limits
    return min(low, 0.0), max(high, 0.0)


def quantized_outputs(
    weights: Float[np.ndarray, "output ..."], largest: int = LARGEST_INT8
) -> Int8[np.ndarray, "output ..."]:
    """The weights in 8 bits, every output on a scale of its own, see `output_scales`."""
    scales = output_scales(weights, largest)
    other_axes = tuple(range(1, weights.ndim))
    scaled = weights / np.expand_dims(scales, other_axes)
    return np.rint(scaled, out=scaled).astype(np.int8)


def _bias_of_sums(
    name: str, tensors: Tensors, step: np.ndarray, largest: int
) -> np.ndarray:
    weights = tensors[f"{name.removesuffix('.bias')}.weight"]
    scales = step * output_scales(weights, largest)
    sums = np.rint(tensors[name] / scales)
    return sums.clip(-_LARGEST_SUM, _LARGEST_SUM).astype(np.int32)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The outputs of layers, one behind the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _scale(weights: np.ndarray, largest: int) -> np.ndarray:
    """The largest weight is the largest number."""
    found = np.maximum(np.abs(weights).max() / largest, _LEAST_STEP)
    return np.array(np.float32(found))


def _quantized(weights: np.ndarray, largest: int) -> np.ndarray:
    return np.rint(weights / _scale(weights, largest)).astype(np.int8)


_OF_TENSORS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    QUANTIZED: _quantized,
    SCALE: _scale,
    QUANTIZED_OUTPUTS: quantized_outputs,
    SCALE_OUTPUTS: output_scales,
}
_OF_RANGES: dict[str, Callable[[tuple[float, float]], np.ndarray]] = {
    STEP: quantization_step,
    ZERO: quantized_zero,
}
