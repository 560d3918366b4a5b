"""Does a token attend to itself unless queries and keys are projected apart?"""

from collections.abc import Mapping

import torch
from matplotlib.figure import Figure
from torch import nn

from studies.drawing import chance_line, draw_bars, draw_lines, log_ticks, panels
from studies.study import Findings, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import Tokens, seeded
from vit_str.models.attention import KeysValues, MultiHeadAttention, attention_weights

STUDY = Study(
    posts="L, R",
    claim=(
        'The product of a token with itself is "usually much larger" (translated) '
        "than with others, so its own information dominates until W\\_Q and W\\_K "
        "separate the roles (L); products alone have no weights to optimize (R)."
    ),
    expected=(
        "At width 64 and 32 tokens a token gives itself about 0.97 of its attention "
        "without projections, 0.94 with one shared by queries and keys, 0.03 (an "
        "equal share) with two. Separate projections learn to look at the next "
        "token, X·Xᵀ does not learn it well."
    ),
    experiment=(
        "Random normal tokens, 32 at a time, widths 4 to 256: mean weight of a "
        "token on itself without projections, with one shared, with one for the "
        "keys only, and with two. Then one attention of each kind, with a trained "
        "embedding, learns to name the token to the right (in a circle of 16)."
    ),
    correction=(
        "The self product dominates because a wide random vector has a length of "
        "√d, after the division still √d against numbers around 1: it is a matter "
        "of width, weak at d = 4, and of tokens of similar length. R's reason needs "
        "care: without W\\_Q and W\\_K the gradient still reaches the embedding "
        "that makes X, but X·Xᵀ stays symmetric and largest on its diagonal. For a "
        "head as wide as a token one matrix, on the keys only, can express all "
        "scores that two can, though it need not learn them as fast."
    ),
)

WIDTHS = (4, 8, 16, 32, 64, 128, 256)
LENGTH = 32
DECIDING = 64
NONE = "none"
TIED = "tied"
ONE = "one"
SEPARATE = "separate"
PROJECTIONS = (NONE, TIED, ONE, SEPARATE)
"""Projections of queries and keys: none (X, X), one for both, one for the keys only, two."""
UNEVEN = "none, uneven"
"""As none, on tokens whose lengths differ."""
_NAMES = (*PROJECTIONS, UNEVEN)
_EQUAL = 1 / LENGTH
_CHANCE = 1 / NextToken().symbols


class SharedAttention(nn.Module):
    """The project's attention with one head, its queries and keys projected less than usual."""

    def __init__(self, dim: int, projections: str) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(dim, 1)
        self.keys_are_queries = projections in (NONE, TIED)
        if projections in (NONE, ONE):
            queries = self.attention.to_queries
            nn.init.eye_(queries.weight)
            nn.init.zeros_(queries.bias)
            queries.requires_grad_(requires_grad=False)

    def forward(self, x: Tokens) -> Tokens:
        keys, values = self.attention.project_keys_values(x)
        if self.keys_are_queries:
            keys = self.attention.to_queries(x)[:, None]
        return self.attention(x, KeysValues(keys, values))


def run(settings: Settings) -> Findings:
    """Random tokens, then training, with every seed."""
    sequences, steps = (30, 150) if settings.quick else (300, 1000)

    def measure(seed: int) -> Rows:
        generator = torch.Generator().manual_seed(seed)
        for name in _NAMES:
            for width in WIDTHS:
                weight = own_weight(name, width, generator, sequences)
                yield seed, name, width, "own weight", weight
        for name in PROJECTIONS:
            net = make_network(name, seed).to(settings.device)
            accuracy = learning_curve(net, NextToken(), steps, seed, batch=16)[-1]
            yield seed, name, DECIDING, "accuracy", accuracy

    table = settings.repeat("seed projections width measure value", measure)
    own, accuracy = table.parts("measure", "own weight", "accuracy")
    weight = {name: own.mean(projections=name, width=DECIDING) for name in _NAMES}
    right = {name: accuracy.values(projections=name) for name in PROJECTIONS}
    return Findings(
        table=table,
        summary=[
            {"projections": name}
            | own.cells("own weight, d = {}", "width", (4, 64, 256), projections=name)
            | {"accuracy": accuracy.text(digits=2, projections=name)}
            for name in _NAMES
        ],
        verdict=judge(weight, right),
        measure=f"weight of a token on itself without projections, d = {DECIDING}",
        values=own.values(projections=NONE, width=DECIDING),
        because=(
            f"A token gives itself {weight[NONE]:.2f} of its attention without "
            f"projections, {weight[TIED]:.2f} with a shared one and "
            f"{weight[SEPARATE]:.3f} with two (an equal share is {_EQUAL:.3f}). "
            f"After {steps} steps the next token is named with an accuracy of "
            f"{right[SEPARATE].mean:.2f} with two and {right[NONE].mean:.2f} without "
            f"(chance {_CHANCE:.2f})."
        ),
        draw=lambda figure: _draw(figure, own, right),
    )


def judge(weight: Mapping[str, float], right: Mapping[str, Values]) -> Verdict:
    """From the weight of a token on itself, and the accuracy, by projections."""
    return Verdict.of(
        weight[NONE] > 0.5,  # more than all others together
        weight[SEPARATE] < 2 * _EQUAL,
        (right[SEPARATE] - right[NONE]).low > 0,
        # R: without matrices nothing can be optimized. Twice chance is far beyond noise.
        right[NONE].low < 2 * _CHANCE,
    )


def own_weight(
    name: str,
    width: int,
    generator: torch.Generator,
    sequences: int,
) -> float:
    """How much of its attention a token pays to itself, before any training.

    Tokens are independent and normal, projections keep their variance of one; with uneven lengths,
    every token is multiplied by a log-normal number.
    """
    x = torch.randn(sequences, LENGTH, width, generator=generator)
    if name == UNEVEN:
        x = x * torch.randn(sequences, LENGTH, 1, generator=generator).exp()
    first, second = torch.randn(2, width, width, generator=generator) / width**0.5
    queries = x @ first if name in (TIED, SEPARATE) else x
    keys = {TIED: x @ first, ONE: x @ second, SEPARATE: x @ second}.get(name, x)
    return attention_weights(queries, keys).diagonal(dim1=-2, dim2=-1).mean().item()


def make_network(name: str, seed: int) -> TokenNetwork:
    """One attention without a residual: the answer has to come through its weights."""
    with seeded(seed):
        norm = nn.LayerNorm(DECIDING, elementwise_affine=False)
        body = nn.Sequential(norm, SharedAttention(DECIDING, name))
        return TokenNetwork(NextToken(), DECIDING, body)


def _draw(figure: Figure, own: Table, right: Mapping[str, Values]) -> None:
    weights, trained = panels(
        figure,
        ["Attention to itself", "Naming the next token"],
        width=4.2,
    )
    draw_lines(weights, own, "width", "projections", _NAMES, marker="o", markersize=3)
    chance_line(weights, _EQUAL, "equal shares")
    log_ticks(weights, WIDTHS)
    weights.set(
        xlabel="width of a token d",
        ylabel="weight of a token on itself",
        ylim=(0, 1.05),
    )
    weights.legend(loc="upper left", fontsize=7, labelspacing=0.3)
    draw_bars(trained, right)
    chance_line(trained, _CHANCE, None)
    trained.set(
        xlabel="projections of queries and keys",
        ylabel="accuracy",
        ylim=(0, 1.05),
    )
