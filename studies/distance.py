"""How far the heads of a ViT look by depth, beside the growing field of a convolution."""

from collections.abc import Sequence
from itertools import groupby, pairwise, product
from operator import itemgetter

from matplotlib.figure import Figure

from studies.drawing import COLORS, MUTED, draw_lines, panels
from studies.reading import CONVOLUTION, STANDARD, build_reader, word_renderer
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.geometry import TokenGrid, neighborhood, uniform_attention
from vit_str.analysis.receptive_field.gradients import GradientFields
from vit_str.analysis.receptive_field.windows import fields_by_layer
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import ConvolutionalEncoder
from vit_str.reports.style import UNIFORM, WINDOW
from vit_str.synthesis.renderer import RenderedBatch

STUDY = Study(
    posts="V",
    claim=(
        "The mean attention distance of a ViT by network depth, set beside the "
        "receptive field of convolutional layers, which grows: both near and far "
        "heads below, only far ones above."
    ),
    expected=(
        "In the trained ViT, local heads stand beside global ones in the first "
        "layer and the last layer reaches farther than the first; without training "
        "every head is near the chance line of looking everywhere alike, in all "
        "layers. Growth from layer to layer is not sure."
    ),
    experiment=(
        "Rendered words go through the bundled recognizer (a convolutional stem, "
        "then 4 layers of 4 heads) and through the same architecture with random "
        "weights, another one for each seed. Mean attention distance of every head "
        "as a share of that of a head which looks everywhere alike; for a "
        "convolution, the distance of the gradient, by layer."
    ),
    correction=(
        "The figure of the post is of large ViTs trained on hundreds of millions of "
        "images. Global reach alone is no achievement: a ViT without training has "
        "it in every head. What is learned is to look near."
    ),
    kind="caption of a figure",
    over="batches of words, one model",
    weights=("tiny",),
)

TRAINED = "trained"
UNTRAINED = "untrained"
CONV_FIELD = "convolution, gradient"
CONV_WINDOW = "convolution, half window"
_LOCAL = 0.5  # of looking everywhere alike
_GLOBAL = 0.9
_SHARE = "share_of_uniform"


def run(settings: Settings) -> Findings:
    """Measure trained and untrained heads and a convolution on other words for every seed."""
    trained = load_subject("tiny")
    renderer = word_renderer(trained.charset)
    count = 16 if settings.quick else 128
    images = 2 if settings.quick else 32

    def measure(seed: int) -> Rows:
        words = renderer.batch(count, seed=3, index=seed)
        systems = {TRAINED: trained, UNTRAINED: load_subject("untrained:tiny", seed)}
        for name, subject in systems.items():
            yield from ((seed, name, *row) for row in measure_heads(subject, words))
        yield from ((seed, *row) for row in measure_convolution(words, seed, images))

    columns = f"seed system layer head distance {_SHARE}"
    table = settings.repeat(columns, measure)
    grid = TokenGrid.of(trained.recognizer.encoder)
    layers = table.levels("layer", system=TRAINED)
    means = mean_of_heads(table)
    heads_of_layer = table.levels("head", system=TRAINED)
    heads = {}
    for name, layer in product((TRAINED, UNTRAINED), layers):
        of_layer = table.where(system=name, layer=layer)
        heads[name, layer] = [of_layer.mean(head=head) for head in heads_of_layer]
    by_layer = [means.mean(system=TRAINED, layer=layer) for layer in layers]
    last = means.values(system=TRAINED, layer=layers[-1])
    growth = last - means.values(system=TRAINED, layer=1)
    first = heads[TRAINED, 1]
    shares = table.values(system=UNTRAINED)
    least = layers[by_layer.index(min(by_layer))]
    most = layers[by_layer.index(max(by_layer))]
    summary: list[Row] = []
    for (name, layer), of_heads in heads.items():
        row: Row = {
            "system": name,
            "layer": layer,
            "distance (px)": means.text("distance", 1, system=name, layer=layer),
            "share of uniform": means.text(system=name, layer=layer),
            "nearest head": f"{min(of_heads):.2f}",
            "farthest head": f"{max(of_heads):.2f}",
        }
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(first, growth, by_layer),
        measure="mean distance of the last layer minus the first, as a share of uniform attention",
        values=growth,
        because=(
            f"Trained, the heads of layer 1 reach from {min(first):.2f} to "
            f"{max(first):.2f} of looking everywhere alike "
            f"({grid.uniform_distance():.1f} px), and the layers on average "
            f"{', '.join(f'{mean:.2f}' for mean in by_layer)}: layer {most} reaches "
            f"farthest, layer {least} least far. Untrained, every head of every "
            f"layer is between {min(shares):.2f} and {max(shares):.2f}."
        ),
        draw=lambda figure: _draw(figure, table, means, grid),
    )


def measure_heads(subject: Subject, words: RenderedBatch) -> Rows:
    """Layer, head, mean attention distance over some words, and as a share of uniform attention."""
    analysis = DistanceAnalysis(subject.name, subject.encoder, metrics=["distance"])
    for images in words.images.split(32):  # type: ignore[no-untyped-call]
        analysis.update(subject.preprocessing.normalize(images))
    uniform = analysis.grid.uniform_distance()
    for layer, values in enumerate(analysis.statistics.values("distance"), 1):
        for head, distance in enumerate(values.mean(0).tolist(), 1):
            yield layer, head, distance, distance / uniform


def measure_convolution(words: RenderedBatch, seed: int, images: int) -> Rows:
    """Where the gradient of an untrained convolution lies, and half of its window, by layer."""
    encoder = build_reader(CONVOLUTION, STANDARD, charset_size=94, seed=seed).encoder
    assert isinstance(encoder, ConvolutionalEncoder)
    pixels = Preprocessing(*encoder.image_size).normalize(words.images[:images])
    fields = GradientFields(encoder, queries=1, seed=seed)
    fields.update(pixels)
    distances = {
        CONV_FIELD: fields.values("gradient_distance").nanmean(1).tolist(),
        CONV_WINDOW: [field.size[1] / 2 for field in fields_by_layer(encoder)],
    }
    uniform = TokenGrid.of(encoder).uniform_distance()
    for name, of_layers in distances.items():
        for layer, distance in enumerate(of_layers, 1):
            yield name, layer, 0, distance, distance / uniform


def mean_of_heads(table: Table) -> Table:
    """The mean over heads, whose rows follow each other, for each seed, system and layer."""
    rows = []
    for key, group in groupby(table, itemgetter("seed", "system", "layer")):
        heads = Table(group)
        rows.append((*key, heads.mean("distance"), heads.mean(_SHARE)))
    return Table.of(f"seed system layer distance {_SHARE}", rows)


def judge(first: Sequence[float], growth: Values, layers: Sequence[float]) -> Verdict:
    """Near and far heads in layer 1, the last layer farther, each farther than before."""
    return Verdict.of(
        min(first) < _LOCAL and max(first) > _GLOBAL,
        growth.low > 0,
        all(after > before for before, after in pairwise(layers)),
    )


def _draw(figure: Figure, table: Table, means: Table, grid: TokenGrid) -> None:
    vit, conv = panels(figure, ["ViT: attention distance", "convolution: its field"])
    names = {TRAINED: COLORS[0], UNTRAINED: MUTED}
    draw_lines(vit, means, "layer", "system", names, names.values(), column="distance")
    for name, color in names.items():
        for row in table.where(system=name, seed=0):
            vit.plot(
                row["layer"],
                row["distance"],
                "o",
                color=color,
                markersize=4,
                alpha=0.6,
            )
    vit.axhline(grid.uniform_distance(), **UNIFORM, label="everywhere alike")
    near = uniform_attention(neighborhood(grid))
    window = float((near * grid.distances()).sum(-1).mean())
    vit.axhline(window, **WINDOW, label="3 x 3 tokens around")
    fields = (CONV_WINDOW, CONV_FIELD)
    colors = (COLORS[3], COLORS[1])
    draw_lines(conv, means, "layer", "system", fields, colors, column="distance")
    vit.set(
        xlabel="layer (dots: heads, first seed)",
        ylabel="mean distance (px)",
        ylim=(0, 84),
    )
    vit.set_xticks(table.levels("layer", system=TRAINED))
    conv.set(xlabel="layer", ylabel="distance (px)", ylim=(0, None))
    vit.legend(loc="upper left", fontsize=7)
    conv.legend()
