"""Attention distance in Python and in notebooks."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.distance.measure import (
    Chance,
    DistanceAnalysis,
    chance,
    chance_distances,
    measurements,
)
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import RENDERED, ImageSet, batches_of, load_images, read_images
from vit_str.analysis.libraries.load import encoder_of, library_of
from vit_str.analysis.results import Measurement
from vit_str.analysis.statistics import METRICS
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.devices import choose_device
from vit_str.images import ImageSource
from vit_str.models import Recognizer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class AttentionDistance:
    """How far every attention head of a model looks; a notebook shows it as figure and table.

    Attributes:
        model: its name.
        rows: every metric of every head and layer with its interval, as in ``distance.csv``.
        chance: ``uniform`` (to all tokens) and ``window 3x3`` (only to the tokens
            around) -> metric -> value.
        grid: of the tokens.
    """

    model: str
    rows: list[Measurement]
    chance: Chance
    grid: TokenGrid

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a tidy pandas table: a row per metric, unit, layer and head.

        ``head`` is missing where the row is the mean of a layer.
        """
        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows])
        return frame.astype({"head": "Int64"})

    def plot(self, ax: "Axes | None" = None, unit: str = "px", color: str | None = None) -> "Axes":
        """Draw heads by layer (dots) and the means of layers (line), with 95 % intervals.

        Args:
            ax: that may show other models too; a new pyplot figure by default.
            unit: px, patches, share of uniform or share of diagonal.
            color: of the dots and the line; the next one of the axis by default.

        Raises:
            ValueError: no such unit.
        """
        import matplotlib.pyplot as plt

        from vit_str.analysis.distance.figures import draw_layers
        from vit_str.reports.panels import chance_lines
        from vit_str.reports.style import plain

        table = HeadTable(self.rows, "distance", unit)
        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        drawn = {line.get_label() for line in ax.lines}
        lines = {
            name: value
            for name, value in chance_distances(self.chance, self.grid, unit).items()
            if not any(str(label).startswith(name) for label in drawn)
        }
        chance_lines(ax, lines, unit)
        color = color or ax._get_lines.get_next_color()  # type: ignore[attr-defined]
        draw_layers(ax, table, self.model, color, mean=plain(self.model))
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.08 * max(table.highest(), *lines.values(), 0)))
        ax.set_ylabel(f"attention distance ({unit})")
        handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        ax.legend(handles.values(), handles, fontsize="small")
        return ax

    def __repr__(self) -> str:
        layers = HeadTable(self.rows, "distance", "px").layer_means(self.model)
        means = ", ".join(f"{mean:.1f}" for _, mean, *_ in layers)
        return f"AttentionDistance({self.model}, n = {self.rows[0].n}, px by layer: {means})"

    def _repr_html_(self) -> str:
        """For notebooks: the figure, which names heads on hover, and a table of layers."""
        from vit_str.analysis.distance.figures import heads_by_depth
        from vit_str.reports.images import svg

        table, shares = (
            HeadTable(self.rows, "distance", unit) for unit in ("px", "share of uniform")
        )
        by_chance = chance_distances(self.chance, self.grid, "px")
        figure = heads_by_depth(self.rows, {self.model: by_chance})
        columns = (
            *("layer", "distance (px)", "95 %", "share of uniform", "nearest head (px)"),
            "farthest (px)",
        )
        lines = [f"<tr><th>{'</th><th>'.join(columns)}</th></tr>"]
        for (layer, mean, low, high), (_, share, *_) in zip(
            table.layer_means(self.model), shares.layer_means(self.model), strict=True
        ):
            heads = table.sorted_means(self.model)[layer]
            cells = [f"{layer}", f"{mean:.1f}", f"{low:.1f} to {high:.1f}", f"{share:.2f}"]
            cells += [f"{heads[0]:.1f}", f"{heads[-1]:.1f}"]
            lines.append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
        return (
            f"<div style='background: white'>{svg(figure)}</div><table><caption>"
            f"{escape(self.model)}, n = {self.rows[0].n}</caption>{''.join(lines)}</table>"
        )


def attention_distance(
    model: str | Path | nn.Module,
    images: str | Path | Tensor | Sequence[ImageSource] = RENDERED,
    *,
    grid: TokenGrid | None = None,
    name: str | None = None,
    count: int = 200,
    norm: str = "renormalized",
    metrics: Sequence[str] = METRICS,
    batch_size: int = 32,
    device: torch.device | str = "cpu",
    seed: int = 1,
) -> AttentionDistance:
    """Measure how far the attention heads of a model look.

        >>> result = attention_distance("tiny", "photos/")  # doctest: +SKIP
        >>> result.to_frame(), result.plot()  # doctest: +SKIP

    Args:
        model: what ``vit-str analyze distance`` takes (a name or a file), or a torch module: of
            this project, timm, torchvision, transformers or one's own. A module whose attention
            is not supported needs `vit_str.analysis.register_attention`.
        images: a folder, ``rendered`` words, or image files or Pillow images; or a tensor of what
            the model takes (batch, channel, height, width), which a module always needs.
        grid: of the tokens of a module, if it has no attribute ``grid``.
        name: to show.
        count: most images.
        norm: ``renormalized`` or ``raw``, see `vit_str.analysis.statistics`.
        metrics: of `vit_str.analysis.statistics.METRICS`; distance always.
        batch_size: images at once.
        device: where to compute.
        seed: of rendered words, random weights and the bootstrap.

    Raises:
        ValueError: no such model, no attention in it, no images or not of its size, in one line.
    """
    if isinstance(model, nn.Module):
        if not isinstance(images, Tensor):
            raise ValueError("a torch module needs a tensor of images, prepared as it takes them")
        encoder: nn.Module = model.encoder if isinstance(model, Recognizer) else model
        if grid is None and library_of(encoder):
            encoder = encoder_of(encoder, (images.shape[-2], images.shape[-1]))
        name = name or type(model).__name__
    else:
        subject = load_subject(str(model), seed)
        encoder, name = subject.encoder, name or subject.name
    batches: Iterable[Tensor]
    if isinstance(images, Tensor):
        grid = grid or _grid_of(encoder)
        batches = torch.split(images[:count], batch_size)
    else:
        image_set = _image_set(subject, images, count, seed)
        batches = (pixels for _, pixels in batches_of(subject, image_set, batch_size, device))
    metrics = list(dict.fromkeys(["distance", *metrics]))
    analysis = DistanceAnalysis(name, encoder, norm, metrics, grid)
    device, training = choose_device(str(device)), encoder.training
    encoder.to(device).eval()
    try:
        for batch in batches:
            analysis.update(batch.to(device))
    finally:
        encoder.train(training)
    rows = measurements(analysis, seed)
    return AttentionDistance(name, rows, chance(analysis.grid), analysis.grid)


def _grid_of(module: Any) -> TokenGrid:
    if hasattr(module, "grid") and hasattr(module, "special_tokens"):
        return TokenGrid.of(module)
    raise ValueError(
        f"{type(module).__name__} has no attributes grid and special_tokens: give grid=TokenGrid("
        "rows, columns, (height, width) of a patch, special_tokens)"
    )


def _image_set(
    subject: Subject, images: str | Path | Sequence[ImageSource], count: int, seed: int
) -> ImageSet:
    if isinstance(images, str | Path):
        return load_images(subject, str(images), count, seed)
    chosen = [(source, None, f"image {i}") for i, source in enumerate(images[:count], 1)]
    if not chosen:
        raise ValueError("no images: give a folder, files, Pillow images or a tensor")
    description = f"{len(chosen)} images"
    return ImageSet(description, len(chosen), partial(read_images, chosen, subject.preprocessing))
