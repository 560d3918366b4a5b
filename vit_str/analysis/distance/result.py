"""Attention distance of a model, or of trainings of one: measured, as tables and as a figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from jaxtyping import Bool, Float
from torch import Tensor

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import (
    chance_distances,
    measurements,
    over_trainings,
    save_maps,
    sink_tokens,
    special_tokens,
    values_of_images,
)
from vit_str.analysis.probe import in_evaluation
from vit_str.analysis.statistics import Chance
from vit_str.reports.tables import write_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Images = Float[Tensor, "batch channel height width"]
_Queries = Bool[Tensor, "batch token"]
ImagesAndQueries = tuple[_Images, _Queries | None]
"""Normalized images, and which of their tokens count as queries; None for all."""


@dataclass(frozen=True, slots=True, eq=False)
class AttentionDistance:
    """How far every attention head of a model looks; a notebook shows it as figure and table.

    Attributes:
        model: its name.
        rows: every metric of every head and layer with its interval, see `measurements`.
        analyses: what was measured of every model: one, or the trainings of a group.
    """

    model: str
    rows: pd.DataFrame
    analyses: list[DistanceAnalysis]

    @property
    def analysis(self) -> DistanceAnalysis:
        """The analysis of the model, or of the first training of a group, whose tokens all have."""
        return self.analyses[0]

    @property
    def images(self) -> int:
        """How many were measured."""
        return self.analysis.images

    @property
    def chance(self) -> Chance:
        """``uniform`` and ``window 3x3`` -> metric -> value in every layer, of all of a group."""
        return self.analysis.statistics.chance()

    def chance_distances(self, unit: str) -> dict[str, list[float]]:
        """The distance of ``uniform`` and ``window 3x3`` in a unit, layer by layer."""
        return chance_distances(self.analysis.statistics, unit)

    def to_frame(self, per_image: bool = False) -> pd.DataFrame:
        """The rows, or with ``per_image`` the values of every image, without intervals."""
        if per_image:
            return pd.concat(map(values_of_images, self.analyses), ignore_index=True)
        return self.rows.copy()

    def sinks(self) -> pd.DataFrame:
        """The token that every head attends to most, its share and its kind, see `sink_tokens`."""
        return pd.concat(map(sink_tokens, self.analyses), ignore_index=True)

    def special_queries(self, names: Sequence[str] = ()) -> pd.DataFrame:
        """Attention of the special tokens (class, registers), see `special_tokens`."""
        count = self.analysis.grid.special_tokens
        default = [f"special {i}" for i in range(1, count + 1)]
        called = list(names) or default
        tables = [special_tokens(each, called) for each in self.analyses]
        return pd.concat(tables, ignore_index=True)

    def save(self, path: str | Path) -> None:
        """Write the maps that were kept (``.npz``), or the table (``.csv``).

        The maps of a group are ``training_01_layer_01`` and so on, in the order of the models.

        Raises:
            ValueError: no maps were kept, or another suffix.
        """
        path = Path(path)
        if path.suffix == ".csv":
            write_frame(path, self.rows)
        elif path.suffix != ".npz":
            raise ValueError(f"{path}: maps are written as .npz, the table as .csv")
        elif not self.analysis.maps:
            raise ValueError("no maps were kept: measure with maps=N, of N images")
        else:
            save_maps(path, *self.analyses)

    def plot(
        self,
        ax: "Axes | None" = None,
        unit: str = "px",
        color: str | None = None,
    ) -> "Axes":
        """Draw heads by layer (dots) and the means of layers (line), with 95 % intervals.

        Args:
            ax: that may show other models too; a new pyplot figure by default.
            unit: px, patches, share of uniform or share of diagonal.
            color: of the dots and the line; the next one of the axis by default.
        """
        import matplotlib.pyplot as plt

        from vit_str.analysis.distance.figures import draw_layers
        from vit_str.reports.panels import chance_lines
        from vit_str.reports.style import plain

        table = HeadTable(self.rows, "distance", unit)
        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        drawn = [str(artist.get_label()) for artist in (*ax.lines, *ax.patches)]
        lines = self.chance_distances(unit)
        for name in list(lines):
            if any(label.startswith(name) for label in drawn):
                del lines[name]
        chance_lines(ax, lines, unit)
        color = color or ax._get_lines.get_next_color()  # type: ignore[attr-defined]
        draw_layers(ax, table, self.model, color, mean=plain(self.model))
        highest = max([table.highest(), *map(max, lines.values())])
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.08 * highest))
        ax.set_ylabel(f"attention distance ({unit})")
        handles, labels = ax.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True))
        ax.legend(entries.values(), entries, fontsize="small")
        return ax

    def __repr__(self) -> str:
        layers = HeadTable(self.rows, "distance", "px").layer_means(self.model)
        means = ", ".join(f"{mean:.1f}" for mean in layers["mean"])
        n = self.rows["n"].iloc[0]
        return f"AttentionDistance({self.model}, n = {n}, px by layer: {means})"

    def _repr_html_(self) -> str:
        """For notebooks: the figure, which names heads on hover, and a table of layers."""
        from vit_str.analysis.distance.figures import heads_by_depth
        from vit_str.reports.images import svg

        table = HeadTable(self.rows, "distance", "px")
        shares = HeadTable(self.rows, "distance", "share of uniform")
        figure = heads_by_depth(self.rows, {self.model: self.chance_distances("px")})
        layers = table.layer_means(self.model).set_index("layer")
        layers = layers[["mean", "low", "high"]]
        share_of_layers = shares.layer_means(self.model).set_index("layer")
        layers["share of uniform"] = share_of_layers["mean"]
        heads = table.heads(self.model).groupby("layer")["mean"]
        layers["nearest head (px)"] = heads.min()
        layers["farthest (px)"] = heads.max()
        layers = layers.rename(columns={"mean": "distance (px)"}).reset_index()
        caption = f"{escape(self.model)}, n = {self.rows['n'].iloc[0]}"
        return (
            f"<div style='background: white'>{svg(figure)}</div><p>{caption}</p>"
            f"{layers.to_html(index=False, float_format='{:.2f}'.format)}"
        )


def measure_distance(
    analysis: DistanceAnalysis, batches: Iterable[ImagesAndQueries]
) -> AttentionDistance:
    """Show all batches to a model, in evaluation mode, and gather what its attention does.

    Afterwards every one of its modules is in the mode that it was in.

    Args:
        analysis: of the model, with what is to be measured; nothing was shown to it yet.
        batches: on the device of the model.

    Raises:
        ValueError: images that are not finite, or a module that serves as several layers.
    """
    with in_evaluation(analysis.encoder):
        for images, queries in batches:
            analysis.update(images, queries)
    return AttentionDistance(analysis.model, measurements(analysis), [analysis])


def of_trainings(
    name: str, trainings: Sequence[AttentionDistance]
) -> AttentionDistance:
    """Measurements of several trainings of one architecture, see `over_trainings`."""
    analyses = [training.analysis for training in trainings]
    return AttentionDistance(name, over_trainings(name, analyses), analyses)
