"""Attention distance in Python and in notebooks."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from jaxtyping import Bool
from torch import Tensor, nn

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.distance.measure import (
    METRICS_OF_DISTANCE,
    DistanceAnalysis,
    chance_distances,
    check_group,
    measurements,
    over_trainings,
    save_maps,
    sink_tokens,
    special_tokens,
    values_of_images,
)
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import RENDERED, ImageSet, batches_of, load_images, read_images
from vit_str.analysis.libraries.load import encoder_of, library_of, unwrapped
from vit_str.analysis.statistics import Chance
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.models import Recognizer
from vit_str.reports.tables import write_frame
from vit_str.runtime.images import ImageSource
from vit_str.torch_runtime.devices import choose_device

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Model = str | Path | nn.Module


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
    def chance(self) -> Chance:
        """``uniform`` and ``window 3x3`` -> metric -> value in every layer, of all of a group."""
        return self.analyses[0].statistics.chance()

    def to_frame(self, per_image: bool = False) -> pd.DataFrame:
        """The rows, or with ``per_image`` the values of every image, without intervals."""
        if per_image:
            return pd.concat(map(values_of_images, self.analyses), ignore_index=True)
        return self.rows.copy()

    def sinks(self) -> pd.DataFrame:
        """The token that every head attends to most, its share and its kind, see `sink_tokens`."""
        return pd.concat(map(sink_tokens, self.analyses), ignore_index=True)

    def special_queries(self, names: Sequence[str] = ()) -> pd.DataFrame:
        """What special tokens (class, registers) attend to, see `special_tokens`."""
        count = self.analyses[0].grid.special_tokens
        default = [f"special {i}" for i in range(1, count + 1)]
        tables = [special_tokens(each, list(names) or default) for each in self.analyses]
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
        elif not self.analyses[0].maps:
            raise ValueError("no maps were kept: measure with maps=N, of N images")
        else:
            save_maps(path, *self.analyses)

    def plot(self, ax: "Axes | None" = None, unit: str = "px", color: str | None = None) -> "Axes":
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
        drawn = {artist.get_label() for artist in (*ax.lines, *ax.patches)}
        lines = {
            name: value
            for name, value in self._chance(unit).items()
            if not any(str(label).startswith(name) for label in drawn)
        }
        chance_lines(ax, lines, unit)
        color = color or ax._get_lines.get_next_color()  # type: ignore[attr-defined]
        draw_layers(ax, table, self.model, color, mean=plain(self.model))
        highest = max([table.highest(), *map(max, lines.values())])
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.08 * highest))
        ax.set_ylabel(f"attention distance ({unit})")
        handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        ax.legend(handles.values(), handles, fontsize="small")
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

        table, shares = (
            HeadTable(self.rows, "distance", unit) for unit in ("px", "share of uniform")
        )
        figure = heads_by_depth(self.rows, {self.model: self._chance("px")})
        layers = table.layer_means(self.model).set_index("layer")[["mean", "low", "high"]]
        layers["share of uniform"] = shares.layer_means(self.model).set_index("layer")["mean"]
        heads = table.heads(self.model).groupby("layer")["mean"]
        layers["nearest head (px)"] = heads.min()
        layers["farthest (px)"] = heads.max()
        layers = layers.rename(columns={"mean": "distance (px)"}).reset_index()
        caption = f"{escape(self.model)}, n = {self.rows['n'].iloc[0]}"
        return (
            f"<div style='background: white'>{svg(figure)}</div><p>{caption}</p>"
            f"{layers.to_html(index=False, float_format='{:.2f}'.format)}"
        )

    def _chance(self, unit: str) -> dict[str, list[float]]:
        return chance_distances(self.analyses[0].statistics, unit)


def attention_distance(
    model: Model | Sequence[Model],
    images: str | Path | Tensor | Iterable[Any] = RENDERED,
    *,
    grid: TokenGrid | None = None,
    name: str | None = None,
    count: int | None = None,
    norm: str = "renormalized",
    metrics: Sequence[str] = METRICS_OF_DISTANCE,
    queries: Bool[Tensor, "image token"] | None = None,
    maps: int = 0,
    batch_size: int = 32,
    device: torch.device | str = "cpu",
    seed: int = 1,
) -> AttentionDistance:
    """Measure how far the attention heads of a model look.

        >>> result = attention_distance("tiny", "photos/")  # doctest: +SKIP
        >>> result.to_frame(), result.plot()  # doctest: +SKIP

    Args:
        model: what ``vit-str analyze distance`` takes (a name or a file), or a torch module: of
            this project, timm, torchvision, transformers or one's own, also inside of DataParallel
            and DistributedDataParallel. A module whose attention is not supported needs
            `vit_str.analysis.register_attention`. Several, as a list, are
            trainings of one architecture: intervals are between them, see `over_trainings`.
        images: a folder, ``rendered`` words, or image files or Pillow images; or what the model
            takes: a tensor (batch, channel, height, width), or batches of it such as a
            ``DataLoader`` gives, alone, first in a tuple, or as ``pixel_values`` of a mapping, as
            the processors of transformers do. A module always needs the last.
        grid: of the tokens of a module, if it has no attribute ``grid``.
        name: to show.
        count: most images; 200 of a folder and of rendered words, all of tensors by default.
        norm: ``renormalized`` or ``raw``, see `vit_str.analysis.statistics`.
        metrics: of `vit_str.analysis.statistics.METRICS`, and ``value_distance``, which weights
            attention by the norm of values; distance always.
        queries: which tokens of the grid count as queries, image by image, such as those on text.
        maps: images whose maps are kept, for ``save("maps.npz")``.
        batch_size: images at once, where it is not decided by batches that are given.
        device: where to compute.
        seed: of rendered words and random weights.

    Raises:
        ValueError: no such model, no attention in it, no images or not of its size, in one line.
    """
    metrics = list(dict.fromkeys(["distance", *metrics]))
    if isinstance(model, Sequence) and not isinstance(model, str):
        images = images if isinstance(images, str | Path | Tensor) else list(images)
        options: dict[str, Any] = {"count": count, "queries": queries, "batch_size": batch_size}
        options |= {"norm": norm, "metrics": metrics, "maps": maps}
        options |= {"grid": grid, "device": device, "seed": seed}
        check_group(len(model))
        names = _names(model)
        analyses = [
            attention_distance(training, images, name=called, **options).analyses[0]
            for called, training in zip(names, model, strict=True)
        ]
        name = name or f"{len(analyses)} trainings"
        return AttentionDistance(name, over_trainings(name, analyses), analyses)
    model = unwrapped(model) if isinstance(model, nn.Module) else model
    subject = None if isinstance(model, nn.Module) else load_subject(str(model), seed)
    name = name or (subject.name if subject else type(model).__name__)
    batches = _batches(subject, images, count, batch_size, device, seed)
    first = next(batches, None)
    if first is None or not len(first):
        raise ValueError("no images: give a folder, files, Pillow images or tensors")
    encoder = subject.encoder if subject else _encoder_of(model, grid, first)
    analysis = DistanceAnalysis(name, encoder, norm, metrics, grid, maps)
    device = choose_device(str(device))
    training = encoder.training
    encoder.to(device).eval()
    seen = 0
    try:
        for batch in chain([first], batches):
            chosen = None if queries is None else queries[seen : seen + len(batch)].flatten(1)
            analysis.update(batch.to(device), chosen)
            seen += len(batch)
    finally:
        encoder.train(training)
    return AttentionDistance(name, measurements(analysis), [analysis])


def _names(models: Sequence[Model]) -> list[str]:
    """Names of the trainings of a group: of their files, if these tell them apart."""
    files = [Path(str(each)).stem for each in models if not isinstance(each, nn.Module)]
    if len(set(files)) == len(models):
        return files
    return [f"training {number}" for number in range(1, len(models) + 1)]


def _batches(
    subject: Subject | None,
    images: str | Path | Tensor | Iterable[Any],
    count: int | None,
    batch_size: int,
    device: torch.device | str,
    seed: int,
) -> Iterator[Tensor]:
    """Batches as the model takes them, from all that the user may give."""
    if isinstance(images, Mapping):
        images = _pixels(images)
    if isinstance(images, Tensor):
        yield from torch.split(images[:count], batch_size)
        return
    if not isinstance(images, str | Path):
        items = iter(images)
        first = next(items, None)
        if first is None:
            return
        images = chain([first], items)
        if isinstance(first, Tensor | list | tuple | Mapping):
            left = math.inf if count is None else count
            for item in images:
                batch = _pixels(item)
                batch = batch[None] if batch.ndim == 3 else batch
                yield batch[: int(min(left, len(batch)))]
                left -= len(batch)
                if left <= 0:
                    return
            return
    if subject is None:
        raise ValueError(
            "a torch module needs a tensor of images, or batches of it, as it takes them"
        )
    image_set = _image_set(subject, images, 200 if count is None else count, seed)
    for _, pixels in batches_of(subject, image_set, batch_size, device):
        yield pixels


def _pixels(batch: Any) -> Tensor:
    """The images of a batch: itself, the first of a tuple, or its ``pixel_values``."""
    if isinstance(batch, list | tuple):
        return _pixels(batch[0])
    if isinstance(batch, Mapping):
        if "pixel_values" not in batch:
            known = ", ".join(map(str, batch))
            raise ValueError(f"a batch as a mapping needs pixel_values, found {known}")
        batch = batch["pixel_values"]
    if not isinstance(batch, Tensor):
        raise ValueError(f"batches are tensors of images, found {type(batch).__name__}")
    return batch


def _encoder_of(model: Any, grid: TokenGrid | None, images: Tensor) -> nn.Module:
    """The encoder of a torch module, which knows the grid of its tokens unless one is given."""
    encoder: Any = model.encoder if isinstance(model, Recognizer) else model
    if grid is None and library_of(encoder):
        return encoder_of(encoder, (images.shape[-2], images.shape[-1]))
    if grid or (hasattr(encoder, "grid") and hasattr(encoder, "special_tokens")):
        return encoder
    raise ValueError(
        f"{type(encoder).__name__} has no attributes grid and special_tokens: give grid=TokenGrid("
        "rows, columns, (height, width) of a patch, special_tokens)"
    )


def _image_set(
    subject: Subject, images: str | Path | Iterable[ImageSource], count: int, seed: int
) -> ImageSet:
    if isinstance(images, str | Path):
        return load_images(subject, str(images), count, seed)
    chosen = [(source, None, f"image {i}") for i, source in enumerate(islice(images, count), 1)]
    description = f"{len(chosen)} images"
    return ImageSet(description, len(chosen), partial(read_images, chosen, subject.preprocessing))
