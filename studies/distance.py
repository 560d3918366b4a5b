"""How far the heads of a ViT look by depth, beside the growing field of a convolution."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from vit_str.analysis.distance import measure as measure_distances
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.gradient_fields import gradient_distances
from vit_str.analysis.receptive_field import fields_by_layer
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.images import Preprocessing
from vit_str.models import ConvolutionalEncoder, Encoder
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_reading import CONVOLUTION, STANDARD, build_reader
from studies.tasks_words import DrawnWords, word_renderer
from vit_str.synthesis.renderer import RenderedBatch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRAINED, UNTRAINED = "trained", "untrained"
CONV_FIELD = "convolution, gradient"
CONV_WINDOW = "convolution, half window"

_LOCAL = 0.5  # of looking everywhere alike
_GLOBAL = 0.9
_DEPARTED = 0.05  # of looking everywhere alike: less is a head that has not learned to look


class Distance(Study):
    """Attention distances of the bundled ViT, of the same without training, and chance lines."""

    id = "distance"
    posts = "V"
    claim = (
        "The mean attention distance of a ViT by network depth, set beside the receptive field of "
        "convolutional layers, which grows: both near and far heads below, only far ones above."
    )
    expectation = (
        "In the trained ViT, local heads stand beside global ones in the first layer and the last "
        "layer reaches farther than the first; without training every head is near the chance "
        "line of looking everywhere alike, in all layers. Growth from layer to layer is not sure."
    )
    experiment = (
        "Rendered words go through the bundled recognizer (a convolutional stem, then 4 layers of "
        "4 heads) and through the same architecture with random weights, another one for each "
        "seed. Mean attention distance of every head as a share of that of a head which looks "
        "everywhere alike; for a convolution, the distance of the gradient, by layer."
    )
    correction = (
        "The figure of the post is of large ViTs trained on hundreds of millions of images. "
        "Global reach alone is no achievement: a ViT without training has it in every head. What "
        "is learned is to look near."
    )

    def run(self, settings: Settings) -> Findings:
        """See `Study`."""
        trained = load_subject("tiny")
        encoder = trained.recognizer.encoder
        renderer = word_renderer(trained.charset)
        count = 16 if settings.quick else 128
        rows: list[Row] = []
        for seed in range(settings.seeds):
            words = renderer.batch(count, seed=3, index=seed)
            random = load_subject("untrained:tiny", seed)
            for name, subject in ((TRAINED, trained), (UNTRAINED, random)):
                rows += heads(name, subject, words, seed)
            rows += convolution(words, seed, images=2 if settings.quick else 32)
            settings.progress((seed + 1) / settings.seeds)
        return _findings(rows, TokenGrid.of(encoder))


def heads(name: str, subject: Subject, words: RenderedBatch, seed: int) -> list[Row]:
    """Mean attention distance of every head over some words, one row each."""
    material = DrawnWords(words, subject.charset)
    analysis = measure_distances(subject, material, metrics=["distance"], offset_images=0)
    uniform = analysis.grid.uniform_distance()
    return [
        _row(name, seed, layer, head, distance, uniform)
        for layer, values in enumerate(analysis.statistics.values("distance"), 1)
        for head, distance in enumerate(values.mean(0).tolist(), 1)
    ]


def convolution(words: RenderedBatch, seed: int, images: int) -> list[Row]:
    """Where the gradient of an untrained convolution lies, and half of its window, by layer."""
    encoder = build_reader(CONVOLUTION, STANDARD, charset_size=94, seed=seed).encoder
    assert isinstance(encoder, ConvolutionalEncoder)
    pixels = Preprocessing(*encoder.image_size).normalize(words.images[:images])
    distances = gradient_distances(encoder, pixels, queries=1, seed=seed).nanmean(1).tolist()
    uniform = TokenGrid.of(encoder).uniform_distance()
    return [
        _row(CONV_FIELD, seed, layer, 0, distance, uniform)
        for layer, distance in enumerate(distances, 1)
    ] + [
        _row(CONV_WINDOW, seed, layer, 0, size / 2, uniform)
        for layer, size in enumerate(windows(encoder), 1)
    ]


def windows(encoder: Encoder) -> list[int]:
    """Width of the theoretical field by layer, in pixels."""
    return [field.size[1] for field in fields_by_layer(encoder)]


def judge(first: Sequence[float], growth: tuple[float, float], layers: Sequence[float]) -> Verdict:
    """Three parts: near and far heads in layer 1, the last layer farther, each farther than before.

    Args:
        first: heads of the first layer, as shares of looking everywhere alike.
        growth: interval of the last layer minus the first.
        layers: means of the layers, first to last.
    """
    both = min(first) < _LOCAL and max(first) > _GLOBAL
    steps = all(after > before for before, after in pairwise(layers))
    parts = (both, growth[0] > 0, steps)
    if all(parts):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(parts) else Verdict.NOT_SUPPORTED


def _row(name: str, seed: int, layer: int, head: int, distance: float, uniform: float) -> Row:
    return {
        "seed": seed,
        "system": name,
        "layer": layer,
        "head": head,
        "distance": distance,
        "share_of_uniform": distance / uniform,
    }


def _of(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row["system"] == name]


def _layers(rows: Sequence[Row]) -> list[int]:
    return sorted({int(row["layer"]) for row in rows})


def layer_means(rows: Sequence[Row], layer: int, what: str = "share_of_uniform") -> list[float]:
    """Mean over the heads of a layer, one value for each seed."""
    chosen = [row for row in rows if row["layer"] == layer]
    by_seed = [
        [float(row[what]) for row in chosen if row["seed"] == seed]
        for seed in sorted({int(row["seed"]) for row in chosen})
    ]
    return [sum(values) / len(values) for values in by_seed]


def head_means(rows: Sequence[Row], layer: int) -> list[float]:
    """Mean over seeds of every head of a layer, as a share of looking everywhere alike."""
    chosen = [row for row in rows if row["layer"] == layer]
    numbers = sorted({int(row["head"]) for row in chosen})
    return [
        mean_interval([float(row["share_of_uniform"]) for row in chosen if row["head"] == head])[0]
        for head in numbers
    ]


def _findings(rows: list[Row], grid: TokenGrid) -> Findings:
    trained, random = _of(rows, TRAINED), _of(rows, UNTRAINED)
    layers = _layers(trained)
    means = [mean_interval(layer_means(trained, layer))[0] for layer in layers]
    value, interval = mean_interval(
        [
            last - first
            for first, last in zip(
                layer_means(trained, 1), layer_means(trained, layers[-1]), strict=True
            )
        ]
    )
    first = head_means(trained, 1)
    shares = [float(row["share_of_uniform"]) for row in random]
    least, most = layers[means.index(min(means))], layers[means.index(max(means))]
    return Findings(
        rows=rows,
        summary=_summary(rows),
        verdict=judge(first, interval, means),
        measure="mean distance of the last layer minus the first, as a share of uniform attention",
        value=value,
        interval=interval,
        because=(
            f"Trained, the heads of layer 1 reach from {min(first):.2f} to {max(first):.2f} of "
            f"looking everywhere alike ({grid.uniform_distance():.1f} px), and the layers on "
            f"average {', '.join(f'{mean:.2f}' for mean in means)}: layer {most} reaches "
            f"farthest, layer {least} least far. Untrained, every head of every layer is between "
            f"{min(shares):.2f} and {max(shares):.2f}."
        ),
        draw=lambda figure: _draw(figure, rows, grid),
        surprises=_surprises(trained, random),
    )


def _surprises(trained: Sequence[Row], random: Sequence[Row]) -> tuple[str, ...]:
    reached = [mean_interval(layer_means(trained, layer))[0] for layer in _layers(trained)]
    before = [mean_interval(layer_means(random, layer))[0] for layer in _layers(random)]
    found = []
    if all(abs(share - 1) < _DEPARTED for share in before) and max(reached) < 1 - _DEPARTED:
        found.append(
            "Training makes every layer look less far than before: a convolution starts near and "
            "grows with depth, a ViT starts everywhere and learns where near is."
        )
    if min(reached) < min(reached[0], reached[-1]):
        found.append(
            "There is no order by depth in between. This is one network of one training run; the "
            "intervals are over words, not over trainings."
        )
    return tuple(found)


def _summary(rows: Sequence[Row]) -> list[Row]:
    found: list[Row] = []
    for name in (TRAINED, UNTRAINED):
        chosen = _of(rows, name)
        for layer in _layers(chosen):
            shares = head_means(chosen, layer)
            found.append(
                {
                    "system": name,
                    "layer": layer,
                    "distance (px)": with_interval(layer_means(chosen, layer, "distance"), 1),
                    "share of uniform": with_interval(layer_means(chosen, layer)),
                    "nearest head": f"{min(shares):.2f}",
                    "farthest head": f"{max(shares):.2f}",
                }
            )
    return found


def _draw(figure: "Figure", rows: Sequence[Row], grid: TokenGrid) -> None:
    from vit_str.pages.style import UNIFORM, WINDOW
    from studies.drawing import COLORS, MUTED, panels

    vit, conv = panels(figure, ["ViT: attention distance", "convolution: its field"])
    for name, color in ((TRAINED, COLORS[0]), (UNTRAINED, MUTED)):
        chosen = _of(rows, name)
        _draw_layers(vit, chosen, f"{name}, mean of heads", color)
        points = {(int(row["layer"]), int(row["head"])) for row in chosen}
        for layer, head in sorted(points):
            values = [
                float(r["distance"]) for r in chosen if (r["layer"], r["head"]) == (layer, head)
            ]
            vit.plot(layer, mean_interval(values)[0], "o", color=color, markersize=4, alpha=0.6)
    vit.axhline(grid.uniform_distance(), **UNIFORM, label="everywhere alike")
    vit.axhline(grid.window_distance(), **WINDOW, label="3 x 3 tokens around")
    for name, color in ((CONV_WINDOW, COLORS[3]), (CONV_FIELD, COLORS[1])):
        _draw_layers(conv, _of(rows, name), name.partition(", ")[2], color)
    vit.set(xlabel="layer", ylabel="mean distance (px)", ylim=(0, 66))
    vit.set_xticks(_layers(_of(rows, TRAINED)))
    conv.set(xlabel="layer", ylabel="distance (px)", ylim=(0, None))
    vit.legend(loc="upper left", ncols=1, fontsize=7)
    conv.legend()


def _draw_layers(axes: "Axes", rows: Sequence[Row], label: str, color: str) -> None:
    from studies.drawing import draw_mean

    layers = _layers(rows)
    runs = list(zip(*(layer_means(rows, layer, "distance") for layer in layers), strict=True))
    draw_mean(axes, layers, runs, label, color)
