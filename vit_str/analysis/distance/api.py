"""Attention distance in Python and in notebooks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis.distance.inputs import (
    GivenImages,
    check_images,
    encoder_in,
    pixels_in,
)
from vit_str.analysis.distance.measure import METRICS_OF_DISTANCE, DistanceAnalysis
from vit_str.analysis.distance.result import (
    AttentionDistance,
    measure_distance,
    of_trainings,
)
from vit_str.analysis.distance.tables import check_group
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import RENDERED
from vit_str.analysis.libraries.load import unwrapped
from vit_str.analysis.subjects import load_subject
from vit_str.models import Encoder
from vit_str.torch_runtime.devices import choose_device

Model = str | Path | nn.Module


def attention_distance(
    model: Model | Sequence[Model],
    images: str | Path | Tensor | Image.Image | Iterable[Any] = RENDERED,
    *,
    grid: TokenGrid | None = None,
    name: str | None = None,
    count: int | None = None,
    norm: str = "renormalized",
    metrics: Sequence[str] = METRICS_OF_DISTANCE,
    queries: Bool[Tensor, "image token"] | None = None,
    maps: int = 0,
    batch_size: int = 32,
    device: torch.device | str | None = None,
    seed: int = 1,
    image_size: tuple[int, int] | None = None,
) -> AttentionDistance:
    """Measure how far the attention heads of a model look (Dosovitskiy et al. 2020, D.7).

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
            the processors of transformers do. A module always needs the last. One image alone may
            be a Pillow image, or a tensor without a batch.
        grid: of the tokens of a module, if it has no attribute ``grid``.
        name: to show.
        count: most images; 200 of a folder and of rendered words, all of tensors by default.
        norm: ``renormalized`` or ``raw``, see `vit_str.analysis.statistics`.
        metrics: of `vit_str.analysis.statistics.METRICS`, and of values ``value_distance``, which
            weights attention by their norms, and ``own_value_cosine``; distance always.
        queries: which tokens of the grid count as queries, image by image, such as those on text.
        maps: images whose maps are kept, for ``save("maps.npz")``.
        batch_size: images at once, where it is not decided by batches that are given.
        device: where to compute; by default where a module is, and on the CPU else.
        seed: of rendered words and random weights.
        image_size: height and width that images are resized to, for models by name that take
            several sizes, such as those of other libraries and ``line``.

    Returns:
        Distances in pixels of the model's input, and the other metrics, of every head and layer.

    Raises:
        ValueError: no such model, no attention in it, no images or not of its size, in one line.
    """
    if isinstance(images, Mapping):
        images = pixels_in(images)
    if isinstance(images, Image.Image):
        images = [images]
    if not isinstance(model, Model) and not isinstance(images, str | Path | Tensor):
        images = list(images)  # every training takes them
    given = GivenImages(
        source=images,
        queries=queries,
        count=count,
        batch_size=batch_size,
        device=device,
        seed=seed,
    )
    analyze = partial(
        DistanceAnalysis,
        norm=norm,
        metrics=list(dict.fromkeys(["distance", *metrics])),
        grid=grid,
        keep_maps=maps,
    )
    measure = partial(
        _measured, given=given, grid=grid, image_size=image_size, analyze=analyze
    )
    if isinstance(model, Model):
        return measure(model, name)
    return _of_group(model, name, measure)


def _of_group(
    models: Sequence[Model],
    name: str | None,
    measure: Callable[[Model, str], AttentionDistance],
) -> AttentionDistance:
    """Measure trainings of one architecture, one after the other."""
    check_group(len(models))
    trainings = list(map(measure, models, _names(models)))
    return of_trainings(name or f"{len(models)} trainings", trainings)


def _measured(
    model: Model,
    name: str | None,
    given: GivenImages,
    grid: TokenGrid | None,
    image_size: tuple[int, int] | None,
    analyze: Callable[[str, nn.Module], DistanceAnalysis],
) -> AttentionDistance:
    """Measure one model, which may be a name, a file or a module."""
    subject = None
    if isinstance(model, nn.Module):
        model = unwrapped(model)
    else:
        subject = load_subject(str(model), given.seed, image_size=image_size)
    batches = given.batches(subject)
    first = next(batches, None)
    if first is None or not len(first):
        raise ValueError("no images: give a folder, files, Pillow images or tensors")
    encoder = subject.encoder if subject else encoder_in(model, grid, first)
    if isinstance(encoder, Encoder):
        check_images(first)
    name = name or (subject.name if subject else type(model).__name__)
    analysis = analyze(name, encoder)
    if given.device is not None:
        encoder.to(choose_device(str(given.device)))
    every = given.with_queries(chain([first], batches), encoder)
    return measure_distance(analysis, every)


def _names(models: Sequence[Model]) -> list[str]:
    """Names of the trainings of a group: of their files, if these tell them apart."""
    files = [Path(str(each)).stem for each in models if not isinstance(each, nn.Module)]
    if len(set(files)) == len(models):
        return files
    return [f"training {number}" for number in range(1, len(models) + 1)]
