"""One training step of a network that arranges pages, and what is measured between steps."""

from collections.abc import Mapping
from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from vit_str.models.arranger import Arrangement, PageArranger
from vit_str.torch_runtime.network_files import ARRANGER
from vit_str.training.networks import NetworkTraining
from vit_str.training.pages.examples import Batch
from vit_str.training.pages.losses import counts_of, losses_of
from vit_str.training.schedule import WarmupStableDecay


class ArrangerTraining(NetworkTraining[PageArranger, Batch]):
    """Trains a network that arranges pages; see `NetworkTraining`.

    Args:
        arranger: the network.
        learning_rate: highest rate of AdamW.
        weight_decay: on all matrices.
        schedule: of the learning rate.
        averaging: share of the average that stays at each step.
        init: weights of such a network to start from, or of one with fewer blocks.

    Raises:
        ValueError: the weights are no such file, or of a network of another size.
    """

    format = ARRANGER
    examples = "pages"

    def __init__(
        self,
        arranger: PageArranger,
        learning_rate: float = 1.5e-3,
        weight_decay: float = 0.02,
        schedule: WarmupStableDecay | None = None,
        averaging: float = 0.999,
        init: Path | None = None,
    ) -> None:
        super().__init__(
            arranger, learning_rate, weight_decay, schedule, averaging, init
        )

    def losses(
        self, network: PageArranger, batch: Batch
    ) -> Mapping[str, Float[Tensor, ""]]:
        """See `losses_of`."""
        return losses_of(_arranged(network, batch), batch)

    def counts(
        self, network: PageArranger, batch: Batch
    ) -> Mapping[str, tuple[float, float]]:
        """See `counts_of`."""
        return counts_of(_arranged(network, batch), batch)


def _arranged(arranger: PageArranger, batch: Batch) -> Arrangement:
    found = arranger(batch.features, batch.places, batch.ngrams, batch.mask)
    # Sums over thousands of pairs are not exact in half precision
    return Arrangement(*(part.float() for part in found))
