"""What special tokens, such as the class token, attend to."""

import torch
from jaxtyping import Float, Float64
from torch import Tensor

_METRICS = ("entropy", "sink_mass", "special_mass")


class SpecialQueries:
    """Attention of the special tokens, batch by batch."""

    def __init__(self) -> None:
        self._measures: dict[str, list[Tensor]] = {}

    def add(self, layer: str, maps: Float[Tensor, "batch head special key"]) -> None:
        """Measure the maps of a batch; nothing where there are no special tokens."""
        special = maps.shape[-2]
        if not special:
            return
        of_grid = maps[..., special:].cpu().double()
        mass = of_grid.sum(-1)
        whole = of_grid / mass.clamp(min=torch.finfo(torch.float64).tiny)[..., None]
        entropy = torch.special.entr(whole).sum(-1)
        measures = torch.stack([entropy, whole.amax(-1), 1 - mass])
        self._measures.setdefault(layer, []).append(measures)

    def values(self) -> dict[str, list[Float64[Tensor, "image head token"]]]:
        """Metric -> values, layer by layer.

        ``entropy`` over the tokens of the grid, what the most attended one of them gets (both of
        the grid's share scaled to 1), and the share of special tokens.
        """
        layers = [torch.cat(parts, 1) for parts in self._measures.values()]
        by_metric = {}
        for number, metric in enumerate(_METRICS):
            by_metric[metric] = [values[number] for values in layers]
        return by_metric
