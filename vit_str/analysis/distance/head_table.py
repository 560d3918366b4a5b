"""Tidy rows of one metric, looked up by model, layer and head: what figures draw."""

from collections.abc import Iterable
from itertools import groupby

from vit_str.analysis.results import Measurement
from vit_str.reports.style import is_untrained, plain_lines


class HeadTable:
    """Rows of one metric in one unit, all of the same norm.

    Attributes:
        shown: models, in the order of the rows; those without training only if there is no other.
        untrained: models to compare them with.
        layers: of the deepest model.
    """

    def __init__(self, rows: Iterable[Measurement], metric: str, unit: str) -> None:
        self._rows = [row for row in rows if row.metric == metric and row.unit == unit]
        if not self._rows:
            raise ValueError(f"no rows of {metric} in {unit}: nothing to draw")
        models = list(dict.fromkeys(row.model for row in self._rows))
        trained = [model for model in models if not is_untrained(model)]
        self.shown = trained or models
        self.untrained = [model for model in models if model not in self.shown]
        self.metric, self.unit, self.norm = metric, unit, self._rows[0].norm
        self.layers = max(row.layer for row in self._rows)

    def heads(self, model: str) -> list[Measurement]:
        """Its heads, layer by layer."""
        rows = [row for row in self._rows if row.model == model and row.head is not None]
        return sorted(rows, key=lambda row: (row.layer, row.head or 0))

    def by_layer(self, model: str) -> dict[int, list[Measurement]]:
        """Its heads as a list for each layer."""
        heads = self.heads(model)
        return {layer: list(of) for layer, of in groupby(heads, key=lambda row: row.layer)}

    def sorted_means(self, model: str) -> dict[int, list[float]]:
        """Means of the heads of each layer, the smallest first."""
        layers = self.by_layer(model).items()
        return {layer: sorted(row.mean for row in heads) for layer, heads in layers}

    def layer_means(self, model: str) -> list[tuple[int, float, float, float]]:
        """(layer, mean, low, high) of its layers."""
        whole = [row for row in self._rows if row.model == model and row.head is None]
        return sorted((row.layer, row.mean, row.low, row.high) for row in whole)

    def references(self, model: str) -> list[str]:
        """The same model untrained, or all that are untrained if none has its name."""
        if model in self.untrained:
            return []
        return [name for name in self.untrained if name == f"untrained:{model}"] or self.untrained

    def short_name(self, untrained: str) -> str:
        """Of an untrained model; which one goes without saying if it is that of a model shown."""
        known = [f"untrained:{model}" for model in self.shown] * (len(self.untrained) == 1)
        return "untrained" if untrained in known else plain_lines(untrained, 18)

    def titles(self) -> list[tuple[str, str]]:
        """For each model shown its name, and of how many images."""
        images = {row.model: row.n for row in self._rows}
        return [(model, f"n = {images[model]:,}") for model in self.shown]

    def highest(self) -> float:
        """Of all values and intervals."""
        return max(row.high for row in self._rows)
