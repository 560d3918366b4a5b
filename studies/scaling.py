"""Does the softmax over products of wide vectors peak, and does dividing by √d_k cure it?"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_lines, log_ticks, panels
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models import attention as core
from vit_str.reports.panels import legend

STUDY = Study(
    posts="V, S, L",
    claim=(
        'As d\\_k gets large the variance of qᵀk increases, the softmax "gets very '
        'peaked", "hence, its gradient gets smaller"; dividing by √d\\_k keeps the '
        "variance at 1 (L; V and S divide too)."
    ),
    expected=(
        "The variance of q·k is d\\_k and 1 after the division. Without it, the "
        "median norm of the softmax's Jacobian first rises, to d\\_k of about 16, "
        "and then falls; the three numbers drawn in L contradict the claim that "
        "they illustrate, the expectation supports it."
    ),
    experiment=(
        "Queries and 32 keys of independent normal numbers, d\\_k = 2 to 1024: "
        "variance of the products, entropy of their softmax, median norm of its "
        "Jacobian and of the gradient that reaches the query. Then one attention "
        "learns to name the token to the right, d\\_k = 16, 64, 256, with the "
        "division, without it, and without it but with query weights that start "
        "√d\\_k times smaller."
    ),
    correction=(
        '"Dimension 10" in L means a standard deviation of 10, which is dimension '
        "100. L's draw of (8, -11, 7) for 100 dimensions gives a largest weight of "
        "0.73, its (1.1, -0.8, -1.7) for 2 dimensions one of 0.83: the less peaked "
        "of the two is the one that should be more, and neither is near 30 to 50 % "
        "each. Three numbers drawn once show nothing; on average over draws the "
        "claim holds. It is about the typical softmax at wide heads: at narrow ones "
        "the gradient grows with d\\_k."
    ),
)

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WIDEST = WIDTHS[-1]
KEYS = 32
RAW = "raw"
SCALED = "scaled"
SMALL_START = "raw, small start"
SOFTMAXES = (RAW, SCALED)
TRAINED_WIDTHS = (16, 64, 256)
TRAINED = (SCALED, RAW, SMALL_START)
_SHOWN = {
    "variance": ("variance", 3),
    "entropy / log n": ("entropy", 3),
    "median Jacobian": ("jacobian_median", 3),
    "median query gradient": ("query_gradient_median", 3),
    "accuracy": ("accuracy", 2),
}
"""In the summary -> in the table, and digits."""
Heads = Float[Tensor, "batch head token head_dim"]


class RawDotProductAttention(core.ScaledDotProductAttention):
    """softmax(QKᵀ) V: the core, given queries that undo its division."""

    def forward(
        self, queries: Heads, keys: Heads, values: Heads, mask: core.Mask | None = None
    ) -> Heads:
        return super().forward(
            queries * math.sqrt(queries.shape[-1]), keys, values, mask
        )


def run(settings: Settings) -> Findings:
    """Measure random softmaxes, then train."""
    queries, steps = (200, 120) if settings.quick else (2000, 600)

    def measure_all(seed: int) -> Rows:
        yield from measure(seed, queries)
        for width in TRAINED_WIDTHS:
            for name in TRAINED:
                net = make_network(width, name, seed).to(settings.device)
                accuracy = learning_curve(net, NextToken(), steps, seed, batch=16)[-1]
                yield seed, width, name, "accuracy", accuracy

    table = settings.repeat("seed width softmax measure value", measure_all)
    variance, entropy, jacobian, accuracy = table.parts(
        "measure", "variance", "entropy", "jacobian_median", "accuracy"
    )
    trained = TRAINED_WIDTHS[-1]
    peak = max(WIDTHS, key=lambda width: jacobian.mean(width=width, softmax=RAW))
    scaled, raw, small = (
        accuracy.values(width=trained, softmax=name) for name in TRAINED
    )
    gains = scaled - raw
    level = [
        jacobian.mean(width=width, softmax=SCALED) for width in WIDTHS if width >= KEYS
    ]
    return Findings(
        table=table,
        summary=_summary(table),
        verdict=judge(
            {width: variance.mean(width=width, softmax=RAW) for width in WIDTHS},
            [entropy.mean(width=width, softmax=RAW) for width in (2, WIDEST)],
            jacobian.mean(width=WIDEST, softmax=RAW),
            level,
            gains,
        ),
        measure=(
            f"accuracy gained by the division, at d_k = {trained} after {steps} steps "
            "(next token)"
        ),
        values=gains,
        because=(
            f"The variance of q·k is {variance.mean(width=WIDEST, softmax=RAW):.0f} "
            f"at d_k = {WIDEST} and "
            f"{variance.mean(width=WIDEST, softmax=SCALED):.2f} after the division; "
            "the median Jacobian norm falls from "
            f"{jacobian.mean(width=peak, softmax=RAW):.2f} at d_k = {peak} to "
            f"{jacobian.mean(width=WIDEST, softmax=RAW):.3f} without it and stays at "
            f"{level[-1]:.2f} with it. At d_k = {trained} the division gains "
            f"{gains.mean:.2f} in accuracy."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises={
            "Where only the starting query weights are √d_k times smaller, the "
            f"accuracy at d_k = {trained} is {small.mean:.2f}, against "
            f"{scaled.mean:.2f} with the division.": ((small - raw).low > 0)
        },
    )


def _summary(table: Table) -> list[Row]:
    """A row for some widths, raw and scaled."""
    summary: list[Row] = []
    for width, softmax in product((2, 16, 64, 256, 1024), SOFTMAXES):
        measured = table.where(width=width, softmax=softmax)
        row: Row = {"d_k": width, "softmax": softmax}
        for title, (name, digits) in _SHOWN.items():
            row[title] = measured.text("", digits, measure=name)
        summary.append(row)
    return summary


def judge(
    variance: Mapping[int, float],
    entropy: Sequence[float],
    gradient: float,
    divided: Sequence[float],
    gain: Values,
) -> Verdict:
    """Variance, peak, gradient, cure and training: each as the posts say, on average.

    From the variance of products by width, the entropy at the least and the largest width and the
    gradient there, all without the division; the gradients with it, and what it gains.
    """
    return Verdict.of(
        # One tenth is several standard errors of a variance from this many products.
        all(abs(value / width - 1) < 0.1 for width, value in variance.items()),
        entropy[-1] < entropy[0] / 2,
        gradient < divided[-1] / 2,
        max(divided) < 1.1 * min(divided),
        gain.low > 0,
    )


def jacobian_norm(weights: Float[Tensor, "query key"]) -> Float[Tensor, " query"]:
    """Frobenius norm of d softmax / d scores, diag(p) - ppᵀ, without making the matrix."""
    square = weights.square().sum(-1)
    cube = weights.pow(3).sum(-1)
    return (square - 2 * cube + square.square()).clamp_min(0).sqrt()


def softmax_numbers(
    queries: Float[Tensor, "query dim"],
    keys: Float[Tensor, "query key dim"],
    divisor: float,
) -> dict[str, float]:
    """How large the products are, how peaked their softmax is and what gradient it lets through."""
    undone = queries[:, None] * math.sqrt(queries.shape[-1]) / divisor
    weights = core.attention_weights(undone, keys)[:, 0]
    jacobian = jacobian_norm(weights)
    # d weights / d query = (diag(p) - ppᵀ) K / divisor: each key less the mean key, weighted.
    to_query = weights[..., None] * (keys - weights[:, None] @ keys) / divisor
    products = (queries[:, None] * keys).sum(-1).div(divisor)
    entropy = -torch.xlogy(weights, weights).sum(-1).mean().item()
    return {
        "variance": products.square().mean().item(),
        "entropy": entropy / math.log(keys.shape[1]),
        "jacobian_median": jacobian.median().item(),
        "query_gradient_median": to_query.flatten(1).norm(dim=1).median().item(),
    }


def measure(seed: int, queries: int) -> Rows:
    """Every width, raw and scaled, on the same independent numbers of variance one."""
    generator = torch.Generator().manual_seed(seed)
    for width in WIDTHS:
        q = torch.randn(queries, width, generator=generator)
        k = torch.randn(queries, KEYS, width, generator=generator)
        for softmax, divisor in ((RAW, 1.0), (SCALED, math.sqrt(width))):
            numbers = softmax_numbers(q, k, divisor)
            yield from (
                (seed, width, softmax, name, value) for name, value in numbers.items()
            )


def make_network(width: int, name: str, seed: int) -> TokenNetwork:
    """One attention of one head whose queries and keys have variance one, as the posts assume.

    With "raw, small start" only the start of the query weights is divided by √d_k.
    """
    with seeded(seed):
        attend: core.ScaledDotProductAttention = RawDotProductAttention()
        if name == SCALED:
            attend = core.ScaledDotProductAttention()
        attention = core.MultiHeadAttention(width, 1, attend)
        for layer in (attention.to_queries, attention.to_keys_values):
            nn.init.normal_(layer.weight, std=width**-0.5)
            nn.init.zeros_(layer.bias)
        if name == SMALL_START:
            with torch.no_grad():
                attention.to_queries.weight /= math.sqrt(width)
        norm = nn.LayerNorm(width, elementwise_affine=False)
        return TokenNetwork(NextToken(), width, nn.Sequential(norm, attention))


def _draw(figure: Figure, table: Table) -> None:
    sheets = panels(
        figure, ["Softmax peaks", "Gradient through it", "Learning the next token"]
    )
    labels = {
        "entropy": f"entropy / log {KEYS}",
        "jacobian_median": "median norm of the Jacobian",
        "accuracy": "accuracy",
    }
    for axes, (measure, label) in zip(sheets, labels.items(), strict=True):
        names = TRAINED if measure == "accuracy" else SOFTMAXES
        colors = [COLORS[TRAINED.index(name)] for name in names]
        part = table.where(measure=measure)
        draw_lines(
            axes,
            part,
            "width",
            "softmax",
            names,
            colors,
            marker="o",
            markersize=3,
        )
        log_ticks(axes, TRAINED_WIDTHS if measure == "accuracy" else WIDTHS[::3])
        axes.set(xlabel="width of queries and keys d_k", ylabel=label, ylim=(0, None))
    chance_line(sheets[-1], 1 / 16)
    sheets[-1].set_ylim(0, 1.08)
    legend(figure, sheets)
