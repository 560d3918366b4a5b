"""Does the softmax over products of wide vectors peak, and does dividing by √d_k cure it?

Claim (V, S, L): As d_k gets large the variance of qᵀk increases, the softmax "gets very peaked",
"hence, its gradient gets smaller"; dividing by √d_k keeps the variance at 1 (L; V and S divide
too).

Expected: The variance of q·k is d_k and 1 after the division. Without it, the median norm of the
softmax's Jacobian first rises, to d_k of about 16, and then falls; the three numbers drawn in L
contradict the claim that they illustrate, the expectation supports it.

Experiment: Queries and 32 keys of independent normal numbers, d_k = 2 to 1024: variance of the
products, entropy of their softmax, median norm of its Jacobian and of the gradient that reaches
the query. Then one attention learns to name the token to the right, d_k = 16, 64, 256, with the
division, without it, and without it but with query weights that start √d_k times smaller.

Correction: "Dimension 10" in L means a standard deviation of 10, which is dimension 100. L's draw
of (8, -11, 7) for 100 dimensions gives a largest weight of 0.73, its (1.1, -0.8, -1.7) for 2
dimensions one of 0.83: the less peaked of the two is the one that should be more, and neither is
near 30 to 50 % each. Three numbers drawn once show nothing; on average over draws the claim holds.
It is about the typical softmax at wide heads: at narrow ones the gradient grows with d_k.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_lines, panels
from studies.study import Cell, Findings, Settings, Table, Values, Verdict, repeat
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models.attention import (
    Mask,
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
)

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
KEYS = 32
RAW, SCALED, SMALL_START = "raw", "scaled", "raw, small start"
SOFTMAXES = (RAW, SCALED)
TRAINED_WIDTHS = (16, 64, 256)
TRAINED = (SCALED, RAW, SMALL_START)


class RawDotProductAttention(ScaledDotProductAttention):
    """softmax(QKᵀ) V: the core, given queries that undo its division."""

    def forward(
        self,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        values: Float[Tensor, "batch head key head_dim"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch head query head_dim"]:
        return super().forward(queries * math.sqrt(queries.shape[-1]), keys, values, mask)


def run(settings: Settings) -> Findings:
    """Measure random softmaxes, then train."""
    queries, steps = (200, 120) if settings.quick else (2000, 600)

    def measure_all(seed: int) -> Iterator[tuple[Cell, ...]]:
        yield from measure(seed, queries)
        for width in TRAINED_WIDTHS:
            for name in TRAINED:
                net = make_network(width, name, seed).to(settings.device)
                accuracy = learning_curve(net, NextToken(), steps, seed, batch=16)[-1]
                yield seed, width, name, "accuracy", accuracy

    return findings(repeat(settings, "seed width softmax measure value", measure_all), steps)


def jacobian_norm(weights: Float[Tensor, "query key"]) -> Float[Tensor, " query"]:
    """Frobenius norm of d softmax / d scores, diag(p) - ppᵀ, without making the matrix."""
    square, cube = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (square - 2 * cube + square.square()).clamp_min(0).sqrt()


def softmax_numbers(
    queries: Float[Tensor, "query dim"], keys: Float[Tensor, "query key dim"], divisor: float
) -> dict[str, float]:
    """How large the products are, how peaked their softmax is and what gradient it lets through.

    Args:
        queries: the queries.
        keys: the keys of each query.
        divisor: what the products are divided by.

    Returns:
        Averages over queries, by name.
    """
    undone = queries[:, None] * math.sqrt(queries.shape[-1]) / divisor
    weights = attention_weights(undone, keys)[:, 0]
    jacobian = jacobian_norm(weights)
    # d weights / d query = (diag(p) - ppᵀ) K / divisor: each key less the mean key, weighted.
    to_query = weights[..., None] * (keys - weights[:, None] @ keys) / divisor
    return {
        "variance": (queries[:, None] * keys).sum(-1).div(divisor).square().mean().item(),
        "entropy": -torch.xlogy(weights, weights).sum(-1).mean().item() / math.log(keys.shape[1]),
        "largest": weights.amax(-1).mean().item(),
        "jacobian_median": jacobian.median().item(),
        "jacobian_mean": jacobian.mean().item(),
        "query_gradient_median": to_query.flatten(1).norm(dim=1).median().item(),
    }


def measure(
    seed: int, queries: int, widths: tuple[int, ...] = WIDTHS
) -> Iterator[tuple[Cell, ...]]:
    """Every width, raw and scaled, on the same independent numbers of variance one."""
    generator = torch.Generator().manual_seed(seed)
    for width in widths:
        q = torch.randn(queries, width, generator=generator)
        k = torch.randn(queries, KEYS, width, generator=generator)
        for softmax, divisor in ((RAW, 1.0), (SCALED, math.sqrt(width))):
            numbers = softmax_numbers(q, k, divisor)
            yield from ((seed, width, softmax, name, value) for name, value in numbers.items())


def make_network(width: int, name: str, seed: int) -> TokenNetwork:
    """One attention of one head whose queries and keys have variance one, as the posts assume.

    With "raw, small start" only the start of the query weights is divided by √d_k.
    """
    with seeded(seed):
        attention = MultiHeadAttention(
            width, 1, ScaledDotProductAttention() if name == SCALED else RawDotProductAttention()
        )
        for layer in (attention.to_queries, attention.to_keys_values):
            nn.init.normal_(layer.weight, std=width**-0.5)
            nn.init.zeros_(layer.bias)
        if name == SMALL_START:
            with torch.no_grad():
                attention.to_queries.weight /= math.sqrt(width)
        norm = nn.LayerNorm(width, elementwise_affine=False)
        return TokenNetwork(NextToken(), width, nn.Sequential(norm, attention))


def links(table: Table) -> list[bool]:
    """Whether variance, peak, gradient, cure and training are each as the posts say, on average."""
    variance, entropy, jacobian, accuracy = _parts(table)
    widest = WIDTHS[-1]
    scaled = [jacobian.mean(width=width, softmax=SCALED) for width in WIDTHS if width >= KEYS]
    return [
        # One tenth is several standard errors of a variance from this many products.
        all(abs(variance.mean(width=w, softmax=RAW) / w - 1) < 0.1 for w in WIDTHS),
        entropy.mean(width=widest, softmax=RAW) < entropy.mean(width=WIDTHS[0], softmax=RAW) / 2,
        jacobian.mean(width=widest, softmax=RAW) < jacobian.mean(width=widest, softmax=SCALED) / 2,
        max(scaled) < 1.1 * min(scaled),
        _gains(accuracy).low > 0,
    ]


def _parts(table: Table) -> list[Table]:
    measures = ("variance", "entropy", "jacobian_median", "accuracy")
    return [table.where(measure=measure) for measure in measures]


def _gains(accuracy: Table) -> Values:
    """Accuracy gained by the division at the widest training, for each seed."""
    scaled, raw = (accuracy.values(width=TRAINED_WIDTHS[-1], softmax=n) for n in (SCALED, RAW))
    return scaled - raw


def findings(table: Table, steps: int) -> Findings:
    """What the softmaxes and the accuracies say about the claim."""
    variance, _, jacobian, accuracy = _parts(table)
    widest, trained = WIDTHS[-1], TRAINED_WIDTHS[-1]
    peak = max(WIDTHS, key=lambda width: jacobian.mean(width=width, softmax=RAW))
    gains = _gains(accuracy)
    shown = {
        "variance": "variance",
        "entropy / log n": "entropy",
        "median Jacobian": "jacobian_median",
        "median query gradient": "query_gradient_median",
        "accuracy": "accuracy",
    }
    return Findings(
        table=table,
        summary=[
            {"d_k": width, "softmax": softmax}
            | {
                title: table.text("", 2 + (name != "accuracy"), **where, measure=name)
                for title, name in shown.items()
            }
            for width in (2, 16, 64, 256, 1024)
            for softmax in SOFTMAXES
            for where in [{"width": width, "softmax": softmax}]
        ],
        verdict=Verdict.of(*links(table)),
        measure=(
            f"accuracy gained by the division, at d_k = {trained} after {steps} steps (next token)"
        ),
        values=gains,
        because=(
            f"The variance of q·k is {variance.mean(width=widest, softmax=RAW):.0f} at d_k = "
            f"{widest} and {variance.mean(width=widest, softmax=SCALED):.2f} after the division; "
            f"the median Jacobian norm falls from {jacobian.mean(width=peak, softmax=RAW):.2f} at "
            f"d_k = {peak} to {jacobian.mean(width=widest, softmax=RAW):.3f} without it and stays "
            f"at {jacobian.mean(width=widest, softmax=SCALED):.2f} with it. At d_k = {trained} the "
            f"division gains {gains.mean:.2f} in accuracy."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises=[
            f"Where only the starting query weights are √d_k times smaller, the accuracy at d_k = "
            f"{trained} is {accuracy.mean(width=trained, softmax=SMALL_START):.2f}, against "
            f"{accuracy.mean(width=trained, softmax=SCALED):.2f} with the division."
        ],
    )


def _draw(figure: Figure, table: Table) -> None:
    sheets = panels(figure, ["Softmax peaks", "Gradient through it", "Learning the next token"])
    for axes, measure, names, label, ticks in zip(
        sheets,
        ("entropy", "jacobian_median", "accuracy"),
        (SOFTMAXES, SOFTMAXES, TRAINED),
        (f"entropy / log {KEYS}", "median norm of the Jacobian", "accuracy"),
        ((2, 16, 128, 1024), (2, 16, 128, 1024), TRAINED_WIDTHS),
        strict=True,
    ):
        colors = [COLORS[TRAINED.index(name)] for name in names]
        part = table.where(measure=measure)
        draw_lines(axes, part, "width", "softmax", names, colors, marker="o", markersize=3)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set(xlabel="width of queries and keys d_k", ylabel=label, ylim=(0, None))
        axes.legend()
    chance_line(sheets[-1], 1 / 16)
    sheets[-1].set_ylim(0, 1.08)
    sheets[-1].legend(loc="upper left")
