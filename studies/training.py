"""How the small networks of the studies are trained: one loop, and seeds that decide everything."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

Tokens = Float[Tensor, "batch token dim"]
Labels = Int64[Tensor, "batch position"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Initialize networks inside from a seed; the random state outside stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def fit(
    loss: Callable[[int], Tensor],
    steps: int,
    optimizer: torch.optim.Optimizer,
    rate: Callable[[int], float] = lambda step: 1.0,
    clip: float = 1.0,
) -> None:
    """Train with any optimizer."""
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    weights = list(
        chain.from_iterable(group["params"] for group in optimizer.param_groups)
    )
    for step in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(loss(step))
        nn.utils.clip_grad_norm_(weights, clip)
        optimizer.step()
        schedule.step()


def fit_warm(
    model: nn.Module, loss: Callable[[], Tensor], steps: int, learning_rate: float
) -> None:
    """Train with Adam, the learning rate rising for a tenth of the steps, then falling to zero."""

    def rate(step: int) -> float:
        falling = (1 + math.cos(math.pi * step / (steps or 1))) / 2
        return min((10 * step + 1) / (steps + 1), falling)

    fit(
        lambda step: loss(),
        steps,
        torch.optim.Adam(model.parameters(), learning_rate),
        rate,
    )
