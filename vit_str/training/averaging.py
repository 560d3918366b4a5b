"""The moving average of a model, which is validated and published."""

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel


class MovingAverage(AveragedModel):
    """Exponential moving average of the parameters of a model.

    Unlike `AveragedModel.update_parameters`, `update` looks only once at the counter, which is a
    tensor on the device: a GPU would be waited for in every step. Before the first update the
    average is a copy of the model.

    Args:
        model: what is averaged.
        decay: share of the average that stays at each update.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__(model)
        self.decay = decay
        self.requires_grad_(False)
        self._started: bool | None = None

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move the average towards the model; the first update copies it."""
        if self._started is None:
            self._started = bool(self.n_averaged > 0)
        averages: list[Tensor] = list(self.module.parameters())
        parameters: list[Tensor] = list(model.parameters())
        if self._started:
            torch._foreach_lerp_(averages, parameters, 1 - self.decay)
        else:
            torch._foreach_copy_(averages, parameters)
        self.n_averaged += 1
        self._started = True

    @torch.no_grad()
    def start(self, model: nn.Module) -> None:
        """Take a model as the average so far."""
        torch._foreach_copy_(list(self.module.parameters()), list(model.parameters()))
        self.n_averaged.fill_(1)
