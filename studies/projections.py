"""Does a token attend to itself unless queries and keys are projected apart?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.attention import KeysValues, MultiHeadAttention, attention_weights
from studies.drawing import COLORS, MUTED, draw_bars, draw_mean, panels
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_tokens import (
    NextToken,
    TokenNetwork,
    Training,
    learning_curve,
    seeded,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = (4, 8, 16, 32, 64, 128, 256)
LENGTH = 32
DECIDING = 64
KINDS = ("none", "tied", "one", "separate")
"""Projections of queries and keys: none (X, X), one for both, one for the keys only, two."""
UNEVEN = "none, uneven"
"""As none, on tokens whose lengths differ."""

Numbers = Sequence[Mapping[tuple[str, int], float]]
"""For each seed: kind, width -> a number."""


class SharedAttention(nn.Module):
    """The house's attention with one head, its queries and keys projected less than usual.

    Args:
        dim: width of a token.
        kind: one of `KINDS`.
    """

    def __init__(self, dim: int, kind: str) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(dim, 1)
        self.keys_are_queries = kind in ("none", "tied")
        if kind in ("none", "one"):
            queries = self.attention.to_queries
            nn.init.eye_(queries.weight)
            nn.init.zeros_(queries.bias)
            queries.requires_grad_(requires_grad=False)

    def keys_values(self, x: Float[Tensor, "batch token dim"]) -> KeysValues:
        """What is attended to."""
        keys, values = self.attention.project_keys_values(x)
        if self.keys_are_queries:
            keys = self.attention.to_queries(x)[:, None]
        return KeysValues(keys, values)

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        return self.attention(x, self.keys_values(x))


def own_weight(kind: str, width: int, generator: torch.Generator, sequences: int) -> float:
    """How much of its attention a token pays to itself, before any training.

    Tokens are independent and normal, projections keep their variance of one; with uneven lengths,
    every token is multiplied by a log-normal number.
    """
    x = torch.randn(sequences, LENGTH, width, generator=generator)
    if kind == UNEVEN:
        x = x * torch.randn(sequences, LENGTH, 1, generator=generator).exp()
    first, second = torch.randn(2, width, width, generator=generator) / width**0.5
    queries = x @ first if kind in ("tied", "separate") else x
    keys = {"tied": x @ first, "one": x @ second, "separate": x @ second}.get(kind, x)
    return attention_weights(queries, keys).diagonal(dim1=-2, dim2=-1).mean().item()


def network(kind: str, seed: int) -> TokenNetwork:
    """One attention without a residual: the answer has to come through its weights."""
    with seeded(seed):
        norm = nn.LayerNorm(DECIDING, elementwise_affine=False)
        body = nn.Sequential(norm, SharedAttention(DECIDING, kind))
        return TokenNetwork(NextToken(), DECIDING, body)


def judge(own: Numbers, accuracies: Sequence[Mapping[str, float]]) -> Verdict:
    """Supported if all of the posts' points hold, partly if some do."""

    def mean_own(kind: str) -> float:
        return mean_interval([seed[kind, DECIDING] for seed in own])[0]

    gains = [found["separate"] - found["none"] for found in accuracies]
    points = [
        mean_own("none") > 0.5,  # more than all others together
        mean_own("separate") < 2 / LENGTH,  # about an equal share
        mean_interval(gains)[1][0] > 0,
        # R: without matrices nothing can be optimized. Twice chance is far beyond noise.
        mean_interval([found["none"] for found in accuracies])[1][0] < 2 / NextToken().symbols,
    ]
    if all(points):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(points) else Verdict.NOT_SUPPORTED


class Projections(Study):
    """The weight of a token on itself, and a task that needs its neighbor."""

    id = "projections"
    posts = "LR"
    claim = (
        'The product of a token with itself is "usually much larger" than with others, so its own '
        "information dominates until W_Q and W_K separate the roles (L); products alone have no "
        "weights to optimize (R)."
    )
    expectation = (
        "At width 64 and 32 tokens a token gives itself about 0.97 of its attention without "
        "projections, 0.94 with one shared by queries and keys, 0.03 (an equal share) with two. "
        "Separate projections learn to look at the next token, X·Xᵀ does not learn it well."
    )
    experiment = (
        f"Random normal tokens, {LENGTH} at a time, widths {WIDTHS[0]} to {WIDTHS[-1]}: mean "
        "weight of a token on itself without projections, with one shared, with one for the keys "
        "only, and with two. Then one attention of each kind, with a trained embedding, learns to "
        "name the token to the right (in a circle of 16)."
    )
    correction = (
        "The self product dominates because a wide random vector has a length of √d, after the "
        "division still √d against numbers around 1: it is a matter of width, weak at d = 4, and "
        "of tokens of similar length. R's reason needs care: without W_Q and W_K the gradient "
        "still reaches the embedding that makes X, but X·Xᵀ stays symmetric and largest on its "
        "diagonal. For a head as wide as a token one matrix, on the keys only, can express all "
        "scores that two can, though it need not learn them as fast."
    )

    def run(self, settings: Settings) -> Findings:
        """Random tokens, then training."""
        sequences, steps = (30, 150) if settings.quick else (300, 1000)
        own: list[dict[tuple[str, int], float]] = []
        accuracies: list[dict[str, float]] = []
        for seed in range(settings.seeds):
            generator = torch.Generator().manual_seed(seed)
            own.append(
                {
                    (kind, width): own_weight(kind, width, generator, sequences)
                    for kind in (*KINDS, UNEVEN)
                    for width in WIDTHS
                }
            )
            accuracies.append({})
            for place, kind in enumerate(KINDS):
                net = network(kind, seed).to(settings.device)
                training = Training(steps, steps, batch=16)
                accuracies[seed][kind] = learning_curve(net, NextToken(), training, seed)[-1]
                settings.progress((seed + (place + 1) / len(KINDS)) / settings.seeds)
        return _findings(own, accuracies, steps)


def _findings(own: Numbers, accuracies: Sequence[Mapping[str, float]], steps: int) -> Findings:
    weight = {k: mean_interval([seed[k, DECIDING] for seed in own])[0] for k in (*KINDS, UNEVEN)}
    right = {kind: mean_interval([found[kind] for found in accuracies])[0] for kind in KINDS}
    value, interval = mean_interval([seed["none", DECIDING] for seed in own])
    narrow = mean_interval([seed["none", WIDTHS[0]] for seed in own])[0]
    return Findings(
        rows=_rows(own, accuracies),
        summary=_summary(own, accuracies),
        verdict=judge(own, accuracies),
        measure=f"weight of a token on itself without projections, d = {DECIDING}",
        value=value,
        interval=interval,
        because=(
            f"A token gives itself {weight['none']:.2f} of its attention without projections, "
            f"{weight['tied']:.2f} with a shared one and {weight['separate']:.3f} with two (an "
            f"equal share is {1 / LENGTH:.3f}). After {steps} steps the next token is named with "
            f"an accuracy of {right['separate']:.2f} with two and {right['none']:.2f} without "
            f"(chance {1 / NextToken().symbols:.2f})."
        ),
        surprises=(
            "One projection for both sides has symmetric scores: what t pays to t + 1, before the "
            f"softmax, t + 1 pays to t. It reaches {right['tied']:.2f} all the same.",
            "One projection of the keys alone can express every score that two can, with a weight "
            f"of {weight['one']:.3f} on itself, and reaches {right['one']:.2f} in the same steps.",
            f"Where the lengths of tokens differ, the self product dominates less: "
            f"{weight[UNEVEN]:.2f} instead of {weight['none']:.2f}; at d = {WIDTHS[0]} it is "
            f"{narrow:.2f}.",
        ),
        draw=partial(_draw, own, accuracies),
    )


def _rows(own: Numbers, accuracies: Sequence[Mapping[str, float]]) -> list[Row]:
    weights: list[Row] = [
        {"seed": seed, "projections": kind, "width": width, "measure": "own weight", "value": value}
        for seed, found in enumerate(own)
        for (kind, width), value in found.items()
    ]
    trained: list[Row] = [
        {"seed": s, "projections": kind, "width": DECIDING, "measure": "accuracy", "value": value}
        for s, found in enumerate(accuracies)
        for kind, value in found.items()
    ]
    return weights + trained


def _summary(own: Numbers, accuracies: Sequence[Mapping[str, float]]) -> list[Row]:
    return [
        {
            "projections": kind,
            **{
                f"own weight, d = {width}": with_interval([seed[kind, width] for seed in own])
                for width in (4, 64, 256)
            },
            "accuracy": with_interval([found[kind] for found in accuracies], 2)
            if kind in KINDS
            else "",
        }
        for kind in (*KINDS, UNEVEN)
    ]


def _draw(own: Numbers, accuracies: Sequence[Mapping[str, float]], figure: "Figure") -> None:
    weights, trained = panels(figure, ["Attention to itself", "Naming the next token"], width=4.2)
    colors = dict(zip((*KINDS, UNEVEN), COLORS, strict=False))
    for kind, color in colors.items():
        runs = [[seed[kind, width] for width in WIDTHS] for seed in own]
        draw_mean(weights, WIDTHS, runs, kind, color, marker="o", markersize=3)
    weights.axhline(1 / LENGTH, color=MUTED, linewidth=1, linestyle=":", label="equal shares")
    weights.set_xscale("log", base=2)
    weights.set_xticks(WIDTHS, [str(width) for width in WIDTHS])
    weights.set(xlabel="width of a token d", ylabel="weight of a token on itself", ylim=(0, 1.05))
    weights.legend(loc="upper left", fontsize=7, labelspacing=0.3)
    draw_bars(trained, {kind: [f[kind] for f in accuracies] for kind in KINDS}, colors)
    trained.axhline(1 / NextToken().symbols, color=MUTED, linewidth=1, linestyle=":")
    trained.set(xlabel="projections of queries and keys", ylabel="accuracy", ylim=(0, 1.05))
