"""Matrix products of a piece of work: which it takes, and how fast the machine takes them alone."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from measuring import synchronize
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_SHORTEST = 0.05  # seconds to take the time of a product for
_ROUNDS = 3
_OF_CONVOLUTIONS = "convolution"


@dataclass(frozen=True, slots=True)
class Product:
    """Matrices of (rows, inner) times matrices of (inner, columns).

    Attributes:
        kind: ``linear`` (one product), ``batched`` or ``convolution``, which is taken as the one
            product that it amounts to.
        batch: number of products.
        rows: of the first matrix and of the result.
        inner: columns of the first, rows of the second.
        columns: of the second and of the result.
        dtype: of the matrices.
    """

    kind: str
    batch: int
    rows: int
    inner: int
    columns: int
    dtype: torch.dtype

    @property
    def flops(self) -> float:
        """Multiplications and additions."""
        return 2.0 * self.batch * self.rows * self.inner * self.columns

    def __str__(self) -> str:
        times = f"{self.batch} x " if self.batch > 1 else ""
        return f"{self.kind} {times}{self.rows} x {self.inner} x {self.columns}"


class ProductCounter(TorchDispatchMode):
    """Counts the products that torch takes within the block, by what they are taken for.

    Args:
        purpose: says what the product of this moment is for.
    """

    def __init__(self, purpose: Callable[[], str]) -> None:
        super().__init__()
        self.purpose = purpose
        self.counts: Counter[tuple[str, Product]] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Take note of a call and pass it on."""
        result = func(*args, **(kwargs or {}))
        for product in _products(func, args, result):
            self.counts[self.purpose(), product] += 1
        return result


def _products(func: Any, args: Sequence[Any], result: Any) -> list[Product]:
    """The products of a call of torch; none for all else."""
    aten = torch.ops.aten
    if func in (aten.mm.default, aten.addmm.default):
        first, second = args[-2:]
        return [Product("linear", 1, *first.shape, second.shape[1], first.dtype)]
    if func in (aten.bmm.default, aten.baddbmm.default):
        first, second = args[-2:]
        return [Product("batched", *first.shape, second.shape[2], first.dtype)]
    if func is aten.convolution.default:
        return [_convolution(result, args[1])]
    if func is aten.convolution_backward.default:
        forward = _convolution(args[0], args[2])
        wanted = args[-1][:2]  # gradients of the images, of the weights
        backward = (_of_images(forward), _of_weights(forward))
        return [
            product
            for product, is_wanted in zip(backward, wanted, strict=True)
            if is_wanted
        ]
    return []


def _convolution(output: Tensor, weight: Tensor) -> Product:
    """Forward: places of the output x values under the window x channels of the output."""
    places = output.numel() // output.shape[1]
    inner = math.prod(weight.shape[1:])
    return Product(_OF_CONVOLUTIONS, 1, places, inner, weight.shape[0], weight.dtype)


def _of_images(forward: Product) -> Product:
    shape = forward.rows, forward.columns, forward.inner
    return Product(_OF_CONVOLUTIONS, 1, *shape, forward.dtype)


def _of_weights(forward: Product) -> Product:
    shape = forward.columns, forward.rows, forward.inner
    return Product(_OF_CONVOLUTIONS, 1, *shape, forward.dtype)


def alone(product: Product, device: str, clock: Callable[[], float]) -> float:
    """Multiplications and additions per second of a product of dense matrices, the best seen."""
    shape = (product.batch,) if product.batch > 1 else ()
    first = torch.randn(*shape, product.rows, product.inner, device=device)
    first = first.to(product.dtype)
    second = torch.randn(*shape, product.inner, product.columns, device=device)
    second = second.to(product.dtype)
    first @ second
    synchronize(device)
    once = max(_seconds(first, second, 1, device, clock), 1e-7)
    count = max(1, math.ceil(_SHORTEST / once))
    seconds = [_seconds(first, second, count, device, clock) for _ in range(_ROUNDS)]
    return count * product.flops / max(min(seconds), 1e-9)


def _seconds(
    first: Tensor, second: Tensor, count: int, device: str, clock: Callable[[], float]
) -> float:
    synchronize(device)
    start = clock()
    for _ in range(count):
        first @ second
    synchronize(device)
    return clock() - start


def clock_of(device: str, threads: int) -> Callable[[], float]:
    """CPU time of this process on one thread of a CPU; threads and GPUs that are waited for: wall.

    Threads that wait for each other count as CPU time.
    """
    return time.process_time if device == "cpu" and threads == 1 else time.perf_counter
