"""How far the heads of a ViT look by depth, beside the growing field of a convolution.

Claim (V): The mean attention distance of a ViT by network depth, set beside the receptive field of
convolutional layers, which grows: both near and far heads below, only far ones above.

Expected: In the trained ViT, local heads stand beside global ones in the first layer and the last
layer reaches farther than the first; without training every head is near the chance line of
looking everywhere alike, in all layers. Growth from layer to layer is not sure.

Experiment: Rendered words go through the bundled recognizer (a convolutional stem, then 4 layers
of 4 heads) and through the same architecture with random weights, another one for each seed. Mean
attention distance of every head as a share of that of a head which looks everywhere alike; for a
convolution, the distance of the gradient, by layer.

Correction: The figure of the post is of large ViTs trained on hundreds of millions of images.
Global reach alone is no achievement: a ViT without training has it in every head. What is learned
is to look near.
"""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.drawing import COLORS, MUTED, draw_mean, panels
from studies.reading import CONVOLUTION, STANDARD, DrawnWords, build_reader, word_renderer
from studies.study import Cell, Findings, Row, Settings, Table, Verdict, differences
from vit_str.analysis.distance.measure import measure as measure_distances
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.receptive_field.gradients import gradient_distances
from vit_str.analysis.receptive_field.windows import fields_by_layer
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.images import Preprocessing
from vit_str.models import ConvolutionalEncoder, Encoder
from vit_str.pages.style import UNIFORM, WINDOW
from vit_str.statistics import Interval, mean_interval, with_interval
from vit_str.synthesis.renderer import RenderedBatch

TRAINED, UNTRAINED = "trained", "untrained"
CONV_FIELD = "convolution, gradient"
CONV_WINDOW = "convolution, half window"

_LOCAL = 0.5  # of looking everywhere alike
_GLOBAL = 0.9
_DEPARTED = 0.05  # of looking everywhere alike: less is a head that has not learned to look
_SHARE = "share_of_uniform"


def run(settings: Settings) -> Findings:
    """Measure trained and untrained heads and a convolution on other words for every seed."""
    trained = load_subject("tiny")
    renderer = word_renderer(trained.charset)
    count, images = (16, 2) if settings.quick else (128, 32)
    table = Table()
    for seed in range(settings.seeds):
        words = renderer.batch(count, seed=3, index=seed)
        table += measure_heads(TRAINED, trained, words, seed)
        table += measure_heads(UNTRAINED, load_subject("untrained:tiny", seed), words, seed)
        table += measure_convolution(words, seed, images)
    return findings(table, TokenGrid.of(trained.recognizer.encoder))


def measure_heads(name: str, subject: Subject, words: RenderedBatch, seed: int) -> list[Row]:
    """Mean attention distance of every head over some words, one row each."""
    material = DrawnWords(words, subject.charset)
    analysis = measure_distances(subject, material, metrics=["distance"], offset_images=0)
    uniform = analysis.grid.uniform_distance()
    return [
        _row(name, seed, layer, head, distance, uniform)
        for layer, values in enumerate(analysis.statistics.values("distance"), 1)
        for head, distance in enumerate(values.mean(0).tolist(), 1)
    ]


def measure_convolution(words: RenderedBatch, seed: int, images: int) -> list[Row]:
    """Where the gradient of an untrained convolution lies, and half of its window, by layer."""
    encoder = build_reader(CONVOLUTION, STANDARD, charset_size=94, seed=seed).encoder
    assert isinstance(encoder, ConvolutionalEncoder)
    pixels = Preprocessing(*encoder.image_size).normalize(words.images[:images])
    gradient = gradient_distances(encoder, pixels, queries=1, seed=seed).nanmean(1).tolist()
    uniform = TokenGrid.of(encoder).uniform_distance()
    return [
        _row(name, seed, layer, 0, distance, uniform)
        for name, distances in (
            (CONV_FIELD, gradient),
            (CONV_WINDOW, [size / 2 for size in windows(encoder)]),
        )
        for layer, distance in enumerate(distances, 1)
    ]


def windows(encoder: Encoder) -> list[int]:
    """Width of the theoretical field by layer, in pixels."""
    return [field.size[1] for field in fields_by_layer(encoder)]


def _row(name: str, seed: int, layer: int, head: int, distance: float, uniform: float) -> Row:
    return {
        "seed": seed,
        "system": name,
        "layer": layer,
        "head": head,
        "distance": distance,
        _SHARE: distance / uniform,
    }


def judge(first: Sequence[float], growth: Interval, layers: Sequence[float]) -> Verdict:
    """Three parts: near and far heads in layer 1, the last layer farther, each farther than before.

    Args:
        first: heads of the first layer, as shares of looking everywhere alike.
        growth: interval of the last layer minus the first.
        layers: means of the layers, first to last.
    """
    return Verdict.of(
        min(first) < _LOCAL and max(first) > _GLOBAL,
        growth[0] > 0,
        all(after > before for before, after in pairwise(layers)),
    )


def layer_means(table: Table, system: str, layer: int, column: str = _SHARE) -> list[float]:
    """Mean over the heads of a layer, one value for each seed."""
    where: dict[str, Cell] = {"system": system, "layer": layer}
    by_seed = [table.values(column, seed=seed, **where) for seed in table.levels("seed")]
    return [sum(values) / len(values) for values in by_seed]


def head_means(table: Table, system: str, layer: int, column: str = _SHARE) -> list[float]:
    """Mean over seeds of every head of a layer."""
    where: dict[str, Cell] = {"system": system, "layer": layer}
    return [table.mean(column, head=head, **where) for head in table.levels("head", **where)]


def findings(table: Table, grid: TokenGrid) -> Findings:
    """What the distances say about the claim."""
    layers = table.levels("layer", system=TRAINED)
    means, before = (
        [mean_interval(layer_means(table, name, layer))[0] for layer in layers]
        for name in (TRAINED, UNTRAINED)
    )
    growth = differences(layer_means(table, TRAINED, layers[-1]), layer_means(table, TRAINED, 1))
    first = head_means(table, TRAINED, 1)
    shares = table.values(_SHARE, system=UNTRAINED)
    least, most = layers[means.index(min(means))], layers[means.index(max(means))]
    surprises = []
    if all(abs(share - 1) < _DEPARTED for share in before) and max(means) < 1 - _DEPARTED:
        surprises.append(
            "Training makes every layer look less far than before: a convolution starts near and "
            "grows with depth, a ViT starts everywhere and learns where near is."
        )
    if min(means) < min(means[0], means[-1]):
        surprises.append(
            "There is no order by depth in between. This is one network of one training run; the "
            "intervals are over words, not over trainings."
        )
    return Findings(
        table=table,
        summary=[
            {
                "system": name,
                "layer": layer,
                "distance (px)": with_interval(layer_means(table, name, layer, "distance"), 1),
                "share of uniform": with_interval(layer_means(table, name, layer)),
                "nearest head": f"{min(head_means(table, name, layer)):.2f}",
                "farthest head": f"{max(head_means(table, name, layer)):.2f}",
            }
            for name in (TRAINED, UNTRAINED)
            for layer in layers
        ],
        verdict=judge(first, mean_interval(growth)[1], means),
        measure="mean distance of the last layer minus the first, as a share of uniform attention",
        values=growth,
        because=(
            f"Trained, the heads of layer 1 reach from {min(first):.2f} to {max(first):.2f} of "
            f"looking everywhere alike ({grid.uniform_distance():.1f} px), and the layers on "
            f"average {', '.join(f'{mean:.2f}' for mean in means)}: layer {most} reaches "
            f"farthest, layer {least} least far. Untrained, every head of every layer is between "
            f"{min(shares):.2f} and {max(shares):.2f}."
        ),
        draw=lambda figure: _draw(figure, table, grid),
        surprises=surprises,
    )


def _draw(figure: Figure, table: Table, grid: TokenGrid) -> None:
    vit, conv = panels(figure, ["ViT: attention distance", "convolution: its field"])
    for name, color in ((TRAINED, COLORS[0]), (UNTRAINED, MUTED)):
        _draw_layers(vit, table, name, f"{name}, mean of heads", color)
        for layer in table.levels("layer", system=name):
            heads = head_means(table, name, layer, "distance")
            vit.plot([layer] * len(heads), heads, "o", color=color, markersize=4, alpha=0.6)
    vit.axhline(grid.uniform_distance(), **UNIFORM, label="everywhere alike")
    vit.axhline(grid.window_distance(), **WINDOW, label="3 x 3 tokens around")
    for name, color in ((CONV_WINDOW, COLORS[3]), (CONV_FIELD, COLORS[1])):
        _draw_layers(conv, table, name, name.partition(", ")[2], color)
    vit.set(xlabel="layer", ylabel="mean distance (px)", ylim=(0, 66))
    vit.set_xticks(table.levels("layer", system=TRAINED))
    conv.set(xlabel="layer", ylabel="distance (px)", ylim=(0, None))
    vit.legend(loc="upper left", ncols=1, fontsize=7)
    conv.legend()


def _draw_layers(axes: Axes, table: Table, system: str, label: str, color: str) -> None:
    layers = table.levels("layer", system=system)
    columns = [layer_means(table, system, layer, "distance") for layer in layers]
    draw_mean(axes, layers, list(zip(*columns, strict=True)), label, color)
