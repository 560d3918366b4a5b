"""Do convolutions need many steps to connect far positions, and are these hard to learn then?"""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.bidirectional import SYMBOLS, Tagger, TokenAhead
from studies.drawing import chance_line, draw_lines, log_ticks, panels
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import TokenNetwork, learning_curve
from studies.training import Tokens, seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.reports.panels import legend

STUDY = Study(
    posts="E",
    claim=(
        "Networks of convolutions such as ByteNet need many operations to connect "
        "an input and an output that are far apart, so that dependencies of distant "
        "positions are hard to learn; for attention the number is constant."
    ),
    expected=(
        "With width 3 a layer reaches one place further, so d places need d layers; "
        "with dilation (ByteNet) the reach doubles, log2(d) layers are enough; "
        "attention needs one. Deep stacks without residuals should fail to learn, "
        "with residuals and with dilation they should learn as well as attention. "
        "So: partly."
    ),
    experiment=(
        "The least number of layers at which the gradient of an output by an input "
        "d places before it is not zero. Then every token has to name the symbol "
        "(one of 4) that stands d places to its left, by layers of convolution of "
        "width 3 as many as are needed, without residuals, with them, and with "
        "dilations 1, 2, 4 and so on, or by one block of attention with positions: "
        "width 32, 600 steps of Adam, sequences of 40 tokens, d up to 32 (quick: "
        "150 steps, 12 tokens, d up to 8)."
    ),
    correction=(
        "Sequential operations are not all operations: attention connects any two "
        "places in one step, and looks at all pairs to do so. With dilation the "
        "number of steps grows only as the logarithm of the distance, as the "
        "paper that the post retells says too, and far positions are learned as "
        "well as by attention."
    ),
    kind="identity in part: how many layers are needed follows from their width",
)

PLAIN = "convolutions"
RESIDUAL = "convolutions, residual"
DILATED = "dilated convolutions, residual"
ATTENTION = "attention"
NETWORKS = (PLAIN, RESIDUAL, DILATED, ATTENTION)
_DIM = 32
# A lead of less is no difficulty that anybody would notice.
_HARDER = 0.1
_VALUE = "layers_or_accuracy"


class Convolutions(nn.Module):
    """Layers of width 3 along the tokens, each with a ReLU."""

    def __init__(self, dim: int, dilations: Sequence[int], residual: bool) -> None:
        super().__init__()
        self.residual = residual
        self.layers = nn.ModuleList(
            nn.Conv1d(dim, dim, 3, padding=dilation, dilation=dilation)
            for dilation in dilations
        )

    def forward(self, x: Tokens) -> Tokens:
        x = x.transpose(1, 2)
        for layer in self.layers:
            features = layer(x).relu()
            x = x + features if self.residual else features
        return x.transpose(1, 2)


def run(settings: Settings) -> Findings:
    """Count layers, and train every network for every distance, with every seed."""
    distances = (1, 4, 8) if settings.quick else (1, 2, 4, 8, 16, 32)
    length = 12 if settings.quick else 40
    steps = 150 if settings.quick else 600

    def measure(seed: int) -> Rows:
        for name in NETWORKS:
            for distance in distances:
                yield (
                    "layers",
                    name,
                    seed,
                    distance,
                    layers_needed(name, distance, seed),
                )
                named = accuracy(name, distance, length, steps, seed, settings.device)
                yield "accuracy", name, seed, distance, named

    table = settings.repeat(f"experiment network seed distance {_VALUE}", measure)
    counts, named = table.parts("experiment", "layers", "accuracy")
    far = distances[-1]
    layers = {}
    for name in NETWORKS:
        layers[name] = [counts.mean(network=name, distance=d) for d in distances]
    scores = {name: named.values(network=name, distance=far) for name in NETWORKS}
    summary: list[Row] = []
    for name in NETWORKS:
        needed = round(layers[name][-1])
        at = named.cells(
            "accuracy at {}",
            "distance",
            distances,
            digits=2,
            network=name,
        )
        summary.append({"network": name, f"layers for {far}": needed, **at})
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(layers, scores),
        measure=f"accuracy of attention minus that of dilated convolutions at {far} places",
        values=scores[ATTENTION] - scores[DILATED],
        because=(
            f"To connect places that are {far} apart takes "
            + ", ".join(f"{layers[name][-1]:.0f} ({name})" for name in NETWORKS)
            + " layers. Of the tokens at that distance, these shares are named after training: "
            + ", ".join(f"{values.text(2)} ({name})" for name, values in scores.items())
            + f"; chance is {1 / SYMBOLS:.2f}."
        ),
        draw=lambda figure: _draw(figure, counts, named, distances),
    )


def make_network(name: str, layers: int) -> nn.Module:
    """A network of so many layers."""
    if name == ATTENTION:
        blocks = [
            EncoderBlock(_DIM, 2, mlp_ratio=2.0, dropout=0.0) for _ in range(layers)
        ]
        return nn.Sequential(*blocks)
    dilations = [2**layer if name == DILATED else 1 for layer in range(layers)]
    return Convolutions(_DIM, dilations, residual=name != PLAIN)


def layers_needed(name: str, distance: int, seed: int) -> int:
    """The least number of layers with which an input matters to the output so far behind it."""
    for layers in range(1, distance + 1):
        with seeded(seed):
            network = make_network(name, layers).double()
            x = torch.randn(
                1,
                distance + 1,
                _DIM,
                dtype=torch.float64,
                requires_grad=True,
            )
        (gradient,) = torch.autograd.grad(_last(network(x)), x)
        if gradient[0, 0].any():
            return layers
    raise ValueError(f"{name} of {distance} layers does not reach {distance} places")


def _last(features: Tokens) -> Tensor:
    return features[0, -1].square().sum()


def accuracy(
    name: str, distance: int, length: int, steps: int, seed: int, device: str = "cpu"
) -> float:
    """Share of tokens at a distance that are named after training, with enough layers."""
    task = TokenAhead(-distance, length)
    layers = layers_needed(name, distance, seed)
    with seeded(seed):
        body = Tagger(make_network(name, layers), -distance)
        model = TokenNetwork(task, _DIM, body, positions=name == ATTENTION).to(device)
    return learning_curve(model, task, steps, seed)[-1]


def judge(
    layers: Mapping[str, Sequence[float]],
    scores: Mapping[str, Values],
) -> Verdict:
    """Partly if only convolutions need more layers for more distance, supported if all fail too.

    ``scores`` are those at the largest distance.
    """
    convolutions = (PLAIN, RESIDUAL, DILATED)
    grows = all(layers[name][-1] > layers[name][0] for name in convolutions)
    constant = layers[ATTENTION][-1] == layers[ATTENTION][0]
    harder = [(scores[ATTENTION] - scores[name]).low > _HARDER for name in convolutions]
    return Verdict.graded(grows and constant, all(harder))


def _draw(
    figure: Figure, counts: Table, named: Table, distances: Sequence[int]
) -> None:
    left, right = panels(
        figure, ["Layers to connect two places", "Naming a far token"], 4.6, 3.4
    )
    draw_lines(left, counts, "distance", "network", NETWORKS, marker="o", nested=True)
    left.set_yscale("log", base=2)
    left.set_yticks(distances, [str(distance) for distance in distances])
    left.set(
        xlabel="distance (places)", ylabel="layers", ylim=(0.75, 1.35 * distances[-1])
    )
    draw_lines(right, named, "distance", "network", NETWORKS, marker="o", nested=True)
    chance_line(right, 1 / SYMBOLS)
    right.set(
        xlabel="distance (places)", ylabel="share of tokens named", ylim=(0, 1.07)
    )
    for axes in (left, right):
        log_ticks(axes, distances)
    legend(figure, [left, right])
