"""Attention rollout: which patches reach a token through all layers (Abnar and Zuidema 2020).

A layer passes on what its attention mixes, and through the skip connection what was there: its
matrix is ``residual * I + (1 - residual) * A``, A the mean over heads. The product of these
matrices tells how much of each patch is in each token after a layer, as far as attention alone
decides: values, norms and feed-forward layers are left out. Grids need not be square, and special
tokens take part.
"""

from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vit_str.analysis.characters.measure import gradient_times_input
from vit_str.analysis.geometry import TokenGrid, attention_maps, windows_of
from vit_str.analysis.images import Batch
from vit_str.analysis.libraries.encoder import probe_layers
from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.probe import Callback, map_of
from vit_str.analysis.results import AnalysisRun, of_layers, table_of
from vit_str.analysis.rollout_figure import rollout_by_depth
from vit_str.analysis.statistics import UNITS, AttentionStatistics
from vit_str.analysis.subjects import Subject
from vit_str.models import Encoder, Recognizer
from vit_str.models.cross_attention import cross_attention
from vit_str.reports.tables import write_frame
from vit_str.torch_runtime.engine import generate

Mixed = Float64[Tensor, "batch token token"]

RESIDUAL = 0.5  # share of the skip connection; the paper's choice
_METRICS = ("distance", "entropy", "self_mass")


def rollout(
    maps: Sequence[Float[Tensor, "batch head query key"]], residual: float = RESIDUAL
) -> list[Mixed]:
    """Attention rollout: the shares of input tokens in every token after each layer; rows sum to 1.

    Args:
        maps: attention of every layer, first to last.
        residual: share of a token that goes around the attention, 0 to 1.

    Raises:
        ValueError: for a share outside of that.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be from 0 to 1, found {residual}")
    unmixed = torch.eye(maps[0].shape[-1], dtype=torch.float64)
    mixed: list[Mixed] = []
    for heads in maps:
        attended = heads.cpu().double().mean(1)
        layer = residual * unmixed + (1 - residual) * attended
        mixed.append(layer @ mixed[-1] if mixed else layer)
    return mixed


def uniform_rollout(
    grid: TokenGrid, depth: int, residual: float = RESIDUAL
) -> dict[str, list[float]]:
    """The metrics of rollout, layer by layer, of attention that is even in all layers.

    Of ``depth`` layers a token keeps ``residual ** depth`` of itself, and the rest is even: only
    far up is it near uniform attention.
    """
    tokens = len(grid) + grid.special_tokens
    statistics = AttentionStatistics(grid, _METRICS)
    for layer in range(1, depth + 1):
        kept = residual**layer
        mixed = torch.full((tokens, tokens), (1 - kept) / tokens, dtype=torch.float64)
        mixed.diagonal().add_(kept)
        statistics.update_maps(f"{layer}", mixed[None, None])
    return {
        metric: [float(values) for values in statistics.values(metric)]
        for metric in _METRICS
    }


@torch.no_grad()
def encoder_rollout(
    encoder: Encoder,
    images: Float[Tensor, "batch channel height width"],
    residual: float = RESIDUAL,
    *callbacks: Callback,
) -> list[Mixed]:
    """The rollout of a Vision Transformer after each of its layers; ``callbacks`` as of `probe`.

    Raises:
        ValueError: for models with windows or pooled keys.
    """
    if windows_of(encoder):
        raise ValueError(
            "attention inside windows or to pooled keys: rollout needs the same tokens "
            "everywhere"
        )
    maps: dict[str, Tensor] = {}

    def keep(layer: str, queries: Tensor, keys: Tensor, mask: Tensor | None) -> None:
        maps[layer] = map_of(queries, keys, mask)

    with probe_layers(encoder, keep, *callbacks):
        encoder(images)
    return rollout(list(maps.values()), residual)


@torch.no_grad()
def character_maps(
    recognizer: Recognizer,
    images: Float[Tensor, "batch channel height width"],
    labels: Int64[Tensor, "batch position"],
    residual: float = RESIDUAL,
) -> dict[str, Float64[Tensor, "batch position row column"]]:
    """Where each character of ``labels`` comes from, by method; every map sums to 1.

    Cross-attention is the mean over the heads of the last block.
    """
    encoder = recognizer.encoder
    mixed = encoder_rollout(encoder, images, residual)[-1]
    attention = cross_attention(recognizer.decoder, encoder(images), labels)
    last = attention[:, -1].mean(1).cpu().double()
    return {
        "cross-attention": attention_maps(encoder, last),
        "through the encoder by rollout": attention_maps(encoder, last @ mixed),
        "|gradient × input|": gradient_times_input(recognizer, images, labels),
    }


def mapped_words(
    subject: Subject,
    batch: Batch,
    images: Float[Tensor, "batch channel height width"],
    residual: float,
) -> list[MappedWord]:
    """The words read in the first images of a batch, with three maps for each character."""
    recognizer = subject.recognizer
    with torch.no_grad():
        labels = generate(recognizer.decoder, recognizer.encode(images)).labels
    by_method = character_maps(recognizer, images, labels, residual)
    words = []
    for index, ids in enumerate(labels.tolist()):
        text = subject.charset.decode(ids)
        if text:
            word = MappedWord(
                title=f"{text}    ({batch.names[index]})",
                pixels=batch.pixels[index],
                text=text,
                maps={method: maps[index] for method, maps in by_method.items()},
            )
            words.append(word)
    return words


def measure(
    run: AnalysisRun, subject: Subject, residual: float, show: int
) -> tuple[pd.DataFrame, list[MappedWord]]:
    """Distances and more by rollout and of single layers, and the first words read with maps."""
    grid = TokenGrid.of(subject.encoder)
    rolled_out = AttentionStatistics(grid, _METRICS)
    single = AttentionStatistics(grid, _METRICS)
    words: list[MappedWord] = []
    for batch, images in run.batches(subject):
        mixed = encoder_rollout(subject.encoder, images, residual, single.update)
        for layer, maps in enumerate(mixed):
            rolled_out.update_maps(f"{layer}", maps[:, None])
        missing = show - len(words)
        if subject.reads and missing > 0:
            words += mapped_words(subject, batch, images[:missing], residual)
    tables = []
    for prefix, statistics in {"rollout_": rolled_out, "": single}.items():
        for metric in _METRICS:
            layers = [values.mean(1) for values in statistics.values(metric)]
            means = torch.stack(layers, 1)
            unit = UNITS[metric]
            name = f"{prefix}{metric}"
            tables.append(of_layers(subject.name, name, unit, means, statistics.norm))
    return pd.concat(tables), words


_LEAD = """\
Attention of one layer tells which tokens a token takes from; rollout multiplies the \
attention of all layers up to it, with the skip connections, and tells which patches \
reach the token as far as attention decides."""

_METHOD = """\
Every layer is taken as residual * I + (1 - residual) * A, A the mean of its heads. \
What values and feed-forward layers do is left out, and a token that looks everywhere \
alike moves rollout towards even, whatever it does with what it sees. Uniform \
attention in every layer, rolled out with the same skip connections, is the chance \
line: it grows with depth, for every model by itself."""


def report(run: AnalysisRun, residual: float, show: int) -> int:
    """Roll out the attention of every model, and write a table and a page."""
    measured = {}
    for subject in run.subjects:
        measured[subject.name] = measure(run, subject, residual, show)
    rows = pd.concat(table for table, _ in measured.values())
    write_frame(run.folder / "rollout.csv", rows)
    chance = {}
    for subject in run.subjects:
        grid = TokenGrid.of(subject.encoder)
        depth = len(subject.encoder.layer_modules)
        chance[subject.name] = uniform_rollout(grid, depth, residual)
    distances = {model: lines["distance"] for model, lines in chance.items()}
    n = int(rows["n"].iloc[0])
    page = run.page("Attention rollout", _LEAD)
    page.heading("By depth")
    page.figure(
        rollout_by_depth(rows, distances),
        "rollout-distance",
        "Mean distance from a token to the patches that reach it by rollout, in pixels "
        "(solid), and to the tokens that the layer alone attends to (dotted); n = "
        f"{n:,} images, bands are 95 % intervals. The dashed line is rollout of attention "
        "that is uniform in every layer.",
        vector=True,
    )
    page.paragraph(_METHOD)
    page.heading("In numbers")
    page.table(*table_of(rows), f"Means over n = {n:,} images with 95 % intervals")
    if any(words for _, words in measured.values()):
        page.heading("Word by word")
        page.note(CAUTION)
    for number, (name, (_, words)) in enumerate(measured.items(), 1):
        if words:
            page.figure(
                map_sheet(words),
                f"words-{number}",
                f"{name}: for every character that it read the cross-attention of the "
                "last decoder block, the same through the encoder by rollout, and "
                "gradients; dark is the most of each map.",
            )
    return run.finish(page, n=n, chance=chance)
