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

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_mean, panels
from studies.study import Findings, Row, Settings, Table, Verdict, differences
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models.attention import (
    Mask,
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
)
from vit_str.statistics import mean_interval

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
    table = Table()
    for seed in range(settings.seeds):
        table += measure(seed, queries)
    for seed in range(settings.seeds):
        for width in TRAINED_WIDTHS:
            for name in TRAINED:
                net = make_network(width, name, seed).to(settings.device)
                accuracy = learning_curve(net, NextToken(), steps, seed, batch=16)[-1]
                table.append(_row(seed, width, name, "accuracy", accuracy))
    return findings(table, steps)


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


def measure(seed: int, queries: int, widths: tuple[int, ...] = WIDTHS) -> list[Row]:
    """Every width, raw and scaled, on the same independent numbers of variance one."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for width in widths:
        q = torch.randn(queries, width, generator=generator)
        k = torch.randn(queries, KEYS, width, generator=generator)
        for softmax, divisor in ((RAW, 1.0), (SCALED, math.sqrt(width))):
            numbers = softmax_numbers(q, k, divisor)
            rows += [_row(seed, width, softmax, name, value) for name, value in numbers.items()]
    return rows


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


def _row(seed: int, width: int, softmax: str, measure: str, value: float) -> Row:
    return {"seed": seed, "width": width, "softmax": softmax, "measure": measure, "value": value}


def links(table: Table) -> list[bool]:
    """Whether variance, peak, gradient, cure and training are each as the posts say, on average."""

    def mean(measure: str, width: int, softmax: str) -> float:
        return table.mean("value", measure=measure, width=width, softmax=softmax)

    widest = WIDTHS[-1]
    scaled = [mean("jacobian_median", width, SCALED) for width in WIDTHS if width >= KEYS]
    return [
        # One tenth is several standard errors of a variance from this many products.
        all(abs(mean("variance", width, RAW) / width - 1) < 0.1 for width in WIDTHS),
        mean("entropy", widest, RAW) < mean("entropy", WIDTHS[0], RAW) / 2,
        mean("jacobian_median", widest, RAW) < mean("jacobian_median", widest, SCALED) / 2,
        max(scaled) < 1.1 * min(scaled),
        mean_interval(_gains(table))[1][0] > 0,
    ]


def _gains(table: Table) -> list[float]:
    """Accuracy gained by the division at the widest training, for each seed."""
    return differences(
        *(
            table.values("value", measure="accuracy", width=TRAINED_WIDTHS[-1], softmax=name)
            for name in (SCALED, RAW)
        )
    )


def findings(table: Table, steps: int) -> Findings:
    """What the softmaxes and the accuracies say about the claim."""

    def mean(measure: str, width: int, softmax: str) -> float:
        return table.mean("value", measure=measure, width=width, softmax=softmax)

    def text(measure: str, width: int, softmax: str, digits: int = 3) -> str:
        return table.text("value", digits, measure=measure, width=width, softmax=softmax)

    widest, trained_widest = WIDTHS[-1], TRAINED_WIDTHS[-1]
    peak = max(WIDTHS, key=lambda width: mean("jacobian_median", width, RAW))
    gains = _gains(table)
    return Findings(
        table=table,
        summary=[
            {
                "d_k": width,
                "softmax": softmax,
                "variance": text("variance", width, softmax),
                "entropy / log n": text("entropy", width, softmax),
                "median Jacobian": text("jacobian_median", width, softmax),
                "median query gradient": text("query_gradient_median", width, softmax),
                "accuracy": text("accuracy", width, softmax, 2),
            }
            for width in (2, 16, 64, 256, 1024)
            for softmax in SOFTMAXES
        ],
        verdict=Verdict.of(*links(table)),
        measure=(
            f"accuracy gained by the division, at d_k = {trained_widest} after {steps} steps "
            "(next token)"
        ),
        values=gains,
        because=(
            f"The variance of q·k is {mean('variance', widest, RAW):.0f} at d_k = {widest} and "
            f"{mean('variance', widest, SCALED):.2f} after the division; the median Jacobian "
            f"norm falls from {mean('jacobian_median', peak, RAW):.2f} at d_k = {peak} to "
            f"{mean('jacobian_median', widest, RAW):.3f} without it and stays at "
            f"{mean('jacobian_median', widest, SCALED):.2f} with it. At d_k = {trained_widest} the "
            f"division gains {mean_interval(gains)[0]:.2f} in accuracy."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises=_surprises(table, peak),
    )


def _surprises(table: Table, peak: int) -> list[str]:
    def mean(measure: str, width: int, softmax: str) -> float:
        return table.mean("value", measure=measure, width=width, softmax=softmax)

    widest, trained_widest = WIDTHS[-1], TRAINED_WIDTHS[-1]
    surprises = []
    few = mean("jacobian_mean", widest, RAW)
    if peak > WIDTHS[0] and few > 2 * mean("jacobian_median", widest, RAW):
        surprises.append(
            f"Without the division the median Jacobian norm rises up to d_k = {peak} before it "
            f"falls, and its mean is still {few:.3f} at d_k = {widest}: a few undecided softmaxes "
            "carry all of the gradient."
        )
    larger = [
        width
        for width in WIDTHS
        if mean("query_gradient_median", width, RAW) > mean("query_gradient_median", width, SCALED)
    ]
    if larger:
        surprises.append(
            "The query itself, whose gradient is multiplied by undivided keys, gets a larger "
            f"gradient without the division than with it up to d_k = {max(larger)}."
        )
    scaled, small = (mean("accuracy", trained_widest, name) for name in (SCALED, SMALL_START))
    if small < scaled - 0.1:
        surprises.append(
            "The start is not all: where only the starting query weights are √d_k times smaller, "
            "so that the first step has the same softmax, attention without the division reaches "
            f"an accuracy of {small:.2f} at d_k = {trained_widest}, against {scaled:.2f} with it. "
            "Adam's steps are not divided with the start, which may be why."
        )
    return surprises


def _draw(figure: Figure, table: Table) -> None:
    entropy, jacobian, accuracy = panels(
        figure, ["Softmax peaks", "Gradient through it", "Learning the next token"]
    )
    colors = dict(zip(TRAINED, COLORS, strict=False))
    for axes, measure, names, size in (
        (entropy, "entropy", SOFTMAXES, 3),
        (jacobian, "jacobian_median", SOFTMAXES, 3),
        (accuracy, "accuracy", TRAINED, 4),
    ):
        for name in names:
            curves = table.curves("value", "width", measure=measure, softmax=name)
            draw_mean(axes, *curves, name, colors[name], marker="o", markersize=size)
    chance_line(accuracy, 1 / 16)
    for axes, label, ticks in (
        (entropy, f"entropy / log {KEYS}", (2, 16, 128, 1024)),
        (jacobian, "median norm of the Jacobian", (2, 16, 128, 1024)),
        (accuracy, "accuracy", TRAINED_WIDTHS),
    ):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set(xlabel="width of queries and keys d_k", ylabel=label)
        axes.set_ylim(0, 1.08 if axes is accuracy else None)
        axes.legend(loc="upper left" if axes is accuracy else "best")
