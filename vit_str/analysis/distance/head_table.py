"""Rows of one metric, looked up by model, layer and head: what figures draw."""

import pandas as pd

from vit_str.reports.style import is_untrained, plain_lines


class HeadTable:
    """Rows of one metric in one unit, all of the same norm.

    Attributes:
        shown: models, in the order of the rows; those without training only if there is no other.
        untrained: models to compare them with.
        layers: of the deepest model.

    Raises:
        ValueError: there are no such rows.
    """

    def __init__(self, rows: pd.DataFrame, metric: str, unit: str) -> None:
        self.rows = rows[(rows["metric"] == metric) & (rows["unit"] == unit)]
        if self.rows.empty:
            raise ValueError(f"no rows of {metric} in {unit}: nothing to draw")
        models = self.rows["model"].unique().tolist()
        self.shown = [model for model in models if not is_untrained(model)] or models
        self.untrained = [model for model in models if model not in self.shown]
        self.unit = unit
        self.norm = self.rows["norm"].iloc[0]
        self.layers = int(self.rows["layer"].max())

    def heads(self, model: str) -> pd.DataFrame:
        """Its heads, layer by layer."""
        rows = self.rows[self.rows["model"] == model]
        return rows[rows["head"].notna()].sort_values(["layer", "head"])

    def layer_means(self, model: str) -> pd.DataFrame:
        """Its layers."""
        rows = self.rows[self.rows["model"] == model]
        return rows[rows["head"].isna()].sort_values("layer")

    def references(self, model: str) -> list[str]:
        """The same model untrained, or all that are untrained if none has its name."""
        if model in self.untrained:
            return []
        own = f"untrained:{model}"
        return [own] if own in self.untrained else self.untrained

    def short_name(self, untrained: str) -> str:
        """The name of an untrained model: without its own name if the trained one is shown too."""
        known = [f"untrained:{model}" for model in self.shown]
        if len(self.untrained) == 1 and untrained in known:
            return "untrained"
        return plain_lines(untrained, 18)

    def titles(self) -> list[tuple[str, str]]:
        """For each model shown its name, and of how many images."""
        images = self.rows.groupby("model")["n"].last()
        return [(model, f"n = {images[model]:,}") for model in self.shown]

    def highest(self) -> float:
        """The largest of all values and ends of intervals."""
        return float(self.rows["high"].max())
