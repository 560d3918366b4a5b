"""How the small networks of the studies are trained: one loop, and seeds that decide everything."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


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
    """Train with any optimizer.

    Args:
        loss: on a new batch at every call, given the number of the step.
        steps: number of batches.
        optimizer: of the weights, with the highest learning rate.
        rate: factor of the learning rate at a step.
        clip: largest norm of the gradient. A recurrent network now and then has a gradient far
            larger than the usual.
    """
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for step in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(loss(step))
        nn.utils.clip_grad_norm_(weights, clip)
        optimizer.step()
        schedule.step()


def fit_warm(
    model: nn.Module, loss: Callable[[], Tensor], steps: int, learning_rate: float
) -> None:
    """Train with Adam, the learning rate rising for a tenth of the steps, then falling to zero.

    Args:
        model: whose weights change.
        loss: on a new batch at every call.
        steps: number of batches.
        learning_rate: the highest.
    """
    fit(
        lambda step: loss(),
        steps,
        torch.optim.Adam(model.parameters(), lr=learning_rate),
        lambda step: min(
            (10 * step + 1) / (steps + 1), (1 + math.cos(math.pi * step / (steps or 1))) / 2
        ),
    )
