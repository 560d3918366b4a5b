"""Muon for the matrices of Transformer blocks, AdamW for everything else, as one optimizer."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW

from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward
from vit_str.torch_runtime.devices import fastest_dtype

Matrix = Float[Tensor, "row column"]

# Quintic Newton-Schulz iteration of Jordan 2024: a X + b (X Xᵀ) X + c (X Xᵀ)² X.
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5  # of Newton and Schulz, as Jordan et al. 2024
_SMALLEST_NORM = 1e-7
_BETAS = (0.9, 0.98)  # of AdamW
_MOMENTUM = 0.95  # of the moving average of gradients (Nesterov)
_ADAMW_RMS = 0.2
"""Root mean square of a usual AdamW update; Muon's is scaled to it (Liu et al. 2025, eq. 4)."""


class MuonAdamW(AdamW):
    """Orthogonalized momentum on matrices (Muon, Jordan et al. 2024), AdamW on the rest.

    The first parameter group holds the matrices. An update of Muon is scaled so that it is as
    large as one of AdamW usually is: ``adjust_lr_fn="match_rms_adamw"`` of ``torch.optim.Muon``,
    with which it agrees on single matrices. Beside it, this class takes projections that hold
    several matrices below each other, such as keys and values, one by one; and the processes of a
    distributed run share the work: each orthogonalizes a part of the matrices.

    Args:
        matrices: parameters of two dimensions, for Muon.
        stacked: ids of those that hold two matrices, one below the other.
        groups: parameter groups for AdamW.
        learning_rate: of Muon.
        weight_decay: of Muon, decoupled.
    """

    def __init__(
        self,
        matrices: Iterable[Tensor],
        stacked: Iterable[int],
        groups: Iterable[dict[str, Any]],
        learning_rate: float,
        weight_decay: float,
    ) -> None:
        muon = {
            "params": list(matrices),
            "lr": learning_rate,
            "weight_decay": weight_decay,
            "momentum": _MOMENTUM,
        }
        super().__init__([muon, *groups], betas=_BETAS, fused=True)
        self._stacked = frozenset(stacked)

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, closure: Callable[[], float] | None = None
    ) -> float | None:
        """One step of both."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._step_matrices()
        groups = self.param_groups
        self.param_groups = groups[1:]
        try:
            super().step()
        finally:
            self.param_groups = groups
        return loss

    def _step_matrices(self) -> None:
        """Every operation is one of all matrices, or of all of one shape: few calls for a GPU."""
        group = self.param_groups[0]
        parameters = [each for each in group["params"] if each.grad is not None]
        if not parameters:
            return
        updates = self._momentum(parameters, group["momentum"])
        parts: list[Matrix] = []
        scales = []
        for parameter, update in zip(parameters, updates, strict=True):
            matrices = self._matrices_in(parameter)
            parts += update.chunk(matrices)
            rows = len(parameter) // matrices
            scales.append(_ADAMW_RMS * max(rows, parameter.shape[1]) ** 0.5)
        _orthogonalize_all(parts)
        torch._foreach_mul_(updates, scales)
        torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(parameters, updates, alpha=-group["lr"])

    def _matrices_in(self, parameter: Tensor) -> int:
        """How many lie below each other."""
        return 2 if id(parameter) in self._stacked else 1

    def _momentum(self, parameters: list[Tensor], momentum: float) -> list[Matrix]:
        """Averages of gradients moved on, and looked at one step ahead: fresh tensors."""
        gradients: list[Matrix] = []
        averages: list[Matrix] = []
        for parameter in parameters:
            assert parameter.grad is not None
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(parameter)
                # Not used, but AdamW expects it in what it loads.
                state["step"] = torch.tensor(0.0)
            gradients.append(parameter.grad)
            averages.append(state["momentum_buffer"])
        torch._foreach_lerp_(averages, gradients, 1 - momentum)
        return list(torch._foreach_lerp(gradients, averages, momentum))


def make_optimizer(
    model: nn.Module,
    parameters: Iterable[tuple[str, nn.Parameter]],
    learning_rate: float,
    muon_learning_rate: float | None,
    weight_decay: float,
) -> AdamW:
    """Muon for the matrices of a model if it has a learning rate, AdamW for all other parameters.

    Norms, biases and embeddings do not decay.
    """
    matrices: list[Tensor] = []
    stacked: list[int] = []
    if muon_learning_rate is not None:
        matrices, stacked = transformer_matrices(model)
    by_muon = {id(matrix) for matrix in matrices}
    decayed = []
    kept = []
    for name, parameter in parameters:
        if id(parameter) in by_muon:
            continue
        if parameter.ndim > 1 and "embed_" not in name:
            decayed.append(parameter)
        else:
            kept.append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay, "lr": learning_rate},
        {"params": kept, "weight_decay": 0.0, "lr": learning_rate},
    ]
    if matrices and muon_learning_rate is not None:
        return MuonAdamW(matrices, stacked, groups, muon_learning_rate, weight_decay)
    return AdamW(groups, betas=_BETAS, fused=True)


def has_matrices(model: nn.Module) -> bool:
    """Whether a model has attention or feed-forward, whose matrices Muon trains."""
    matrices, _ = transformer_matrices(model)
    return bool(matrices)


def transformer_matrices(model: nn.Module) -> tuple[list[Tensor], list[int]]:
    """Matrices of attention and feed-forward, and the ids of those that hold keys and values."""
    matrices: list[Tensor] = []
    stacked: list[int] = []
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            layers = [module.to_queries, module.to_keys_values, module.to_output]
            stacked.append(id(module.to_keys_values.weight))
        elif isinstance(module, FeedForward):
            layers = [layer for layer in module if isinstance(layer, nn.Linear)]
        else:
            continue
        matrices += [layer.weight for layer in layers]
    return matrices, stacked


def _orthogonalize_all(matrices: list[Matrix]) -> None:
    """Replace every matrix by the nearest one with equal singular values, in place.

    Matrices of one shape are worked on together. Of several processes each takes a part of every
    shape and leaves zeros in place of the others, so that the sum over processes is exact.
    """
    by_shape = defaultdict(list)
    for matrix in matrices:
        by_shape[matrix.shape].append(matrix)
    rank = 0
    processes = 1
    if dist.is_available() and dist.is_initialized():
        rank = dist.get_rank()
        processes = dist.get_world_size()
    for same in by_shape.values():
        mine = same[rank::processes]
        results = list(orthogonalize(torch.stack(mine))) if mine else []
        if processes > 1:
            torch._foreach_zero_(same)
        if mine:
            torch._foreach_copy_(mine, results)
    if processes > 1:
        flat = torch.cat([matrix.flatten() for matrix in matrices])
        dist.all_reduce(flat)
        parts = torch.split(flat, [matrix.numel() for matrix in matrices])
        shaped = zip(matrices, parts, strict=True)
        sums = [values.view_as(matrix) for matrix, values in shaped]
        torch._foreach_copy_(matrices, sums)


def orthogonalize(
    matrices: Float[Tensor, "matrix row column"],
) -> Float[Tensor, "matrix row column"]:
    """Matrices with the singular vectors of these and singular values near 1 (0.7 to 1.2)."""
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    wide = matrices.transpose(1, 2) if tall else matrices
    x = wide.to(fastest_dtype(matrices.device))
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=_SMALLEST_NORM)
    for _ in range(_ITERATIONS):
        gram = x @ x.transpose(1, 2)
        polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.baddbmm(x, polynomial, x, beta=a)
    if tall:
        x = x.transpose(1, 2)
    # In the order of memory in which updates are: only then is copying all of them one call.
    return x.to(matrices.dtype, memory_format=torch.contiguous_format)
