"""Statistics of attention where layers have windows and grids of their own, as in Swin."""

from collections.abc import Sequence
from typing import cast

from jaxtyping import Float64
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.statistics import METRICS, AttentionStatistics
from vit_str.models import Encoder


class LayerStatistics(AttentionStatistics):
    """`AttentionStatistics` of every layer by its own grid, in pixels of the whole image.

    A token of a shifted window never looks across the border at which the image was rolled, so
    distances inside a window are those in the image. In layers with windows every metric is that of
    a window, mean over the windows of an image (``rms``: root of the mean of squares); sinks are
    places in the window.

    Args:
        encoder: whose layers `probe_layers` names.
        metrics: which ones, see ``AttentionStatistics``.
        norm: ``renormalized`` or ``raw``.
        grid: of the tokens of the whole image; by default what the encoder says.
    """

    def __init__(
        self,
        encoder: nn.Module,
        metrics: Sequence[str] = METRICS,
        norm: str = "renormalized",
        grid: TokenGrid | None = None,
    ) -> None:
        super().__init__(grid or TokenGrid.of(cast(Encoder, encoder)), metrics, norm)
        self._parts: dict[str, AttentionStatistics] = {}
        self._windows: dict[str, int] = {}
        if isinstance(encoder, LibraryEncoder) and encoder.in_windows:
            for name, block in zip(encoder.block_names, encoder.blocks, strict=True):
                self._parts[name] = AttentionStatistics(block.attended, metrics, norm)
                self._windows[name] = block.windows

    @property
    def in_windows(self) -> bool:
        """Whether layers have windows."""
        return bool(self._parts)

    @property
    def layers(self) -> list[str]:
        """Names of the layers, in the order in which they were met."""
        return [name for name, part in self._parts.items() if part.layers] or super().layers

    def update(self, layer: str, queries: Tensor, keys: Tensor, mask: Tensor | None = None) -> None:
        """Add a batch of images, from what goes into the softmax, see `probe`."""
        if not self._parts:
            super().update(layer, queries, keys, mask)
        else:
            self._parts[layer].update(layer, queries, keys, mask)

    def values(self, metric: str) -> list[Float64[Tensor, "image head"]]:
        """A metric of every image, layer by layer; one column if it is of the whole layer."""
        if not self._parts:
            return super().values(metric)
        power = 2 if metric == "rms" else 1
        return [
            values.pow(power).unflatten(0, (-1, self._windows[name])).mean(1).pow(1 / power)
            for name in self.layers
            for values in self._parts[name].values(metric)
        ]

    def sinks(self) -> list[list[tuple[int, int, float]]]:
        """Per layer and head: row and column of the token most looked at, and its share."""
        if not self._parts:
            return super().sinks()
        return [heads for name in self.layers for heads in self._parts[name].sinks()]
