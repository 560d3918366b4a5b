"""One training step of a network that finds, and what is measured between steps."""

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.models.finder import Finder
from vit_str.pages.find.maps import SHARES
from vit_str.torch_runtime.network_files import FINDER
from vit_str.training.find.examples import Batch
from vit_str.training.find.losses import Found, counts_of, losses_of
from vit_str.training.networks import NetworkTraining
from vit_str.training.schedule import WarmupStableDecay

# Logit that all shares begin with, as most cells are none (Lin et al. 2017)
_RARE = -4.0


class FinderTraining(NetworkTraining[Finder, Batch]):
    """Trains a network that finds; see `NetworkTraining`.

    Args:
        finder: the network, which begins to say that nothing is anywhere.
        learning_rate: highest rate of AdamW.
        weight_decay: on all matrices.
        schedule: of the learning rate.
        averaging: share of the average that stays at each step.
        init: weights of such a network to start from.

    Raises:
        ValueError: the weights are no such file, or of a network of another size.
    """

    format = FINDER
    examples = "images"
    loss_weights = {"ink": 2.0, "gap": 2.0}  # noqa: RUF012 (a constant of the class)

    def __init__(
        self,
        finder: Finder,
        learning_rate: float = 3e-3,
        weight_decay: float = 0.02,
        schedule: WarmupStableDecay | None = None,
        averaging: float = 0.998,
        init: Path | None = None,
    ) -> None:
        bias = finder.to_maps.bias
        assert bias is not None
        with torch.no_grad():
            bias[:SHARES] = _RARE
        super().__init__(finder, learning_rate, weight_decay, schedule, averaging, init)

    def losses(self, network: Finder, batch: Batch) -> Mapping[str, Float[Tensor, ""]]:
        """See `losses_of`."""
        return losses_of(_found(network, batch), batch)

    def counts(
        self, network: Finder, batch: Batch
    ) -> Mapping[str, tuple[float, float]]:
        """See `counts_of`."""
        return counts_of(_found(network, batch), batch)


def _found(finder: Finder, batch: Batch) -> Found:
    # Channels last take two thirds of the time on a CPU, and suit tensor cores
    images = batch.images.contiguous(memory_format=torch.channels_last)
    # Sums over many cells are not exact in half precision
    return finder(images.float() / 255).float()
