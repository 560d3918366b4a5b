"""Does the softmax over products of wide vectors peak, and does dividing by √d_k cure it?"""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import nn

from vit_str.models.attention import MultiHeadAttention, ScaledDotProductAttention
from studies.drawing import COLORS, MUTED, draw_mean, panels
from studies.intervals import mean_interval, with_interval
from studies.softmax_probe import (
    KEYS,
    SOFTMAXES,
    WIDTHS,
    RawDotProductAttention,
    Softmax,
    measure,
)
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

TRAINED_WIDTHS = (16, 64, 256)
KINDS = ("scaled", "raw", "raw, small start")
# The three similarities that the lecture notes draw for 100 and for 2 dimensions.
LECTURE_DRAWS = {100: (8.0, -11.0, 7.0), 2: (1.1, -0.8, -1.7)}


def network(width: int, kind: str, seed: int) -> TokenNetwork:
    """One attention of one head whose queries and keys have variance one, as the posts assume.

    With "raw, small start" only the start of the query weights is divided by √d_k.
    """
    with seeded(seed):
        attention = MultiHeadAttention(
            width, 1, ScaledDotProductAttention() if kind == "scaled" else RawDotProductAttention()
        )
        for layer in (attention.to_queries, attention.to_keys_values):
            nn.init.normal_(layer.weight, std=width**-0.5)
            nn.init.zeros_(layer.bias)
        if kind == "raw, small start":
            with torch.no_grad():
                attention.to_queries.weight /= math.sqrt(width)
        norm = nn.LayerNorm(width, elementwise_affine=False)
        return TokenNetwork(NextToken(), width, nn.Sequential(norm, attention))


def judge(links: Sequence[bool]) -> Verdict:
    """The claim is a chain: supported if all links hold, partly if some do."""
    if all(links):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(links) else Verdict.NOT_SUPPORTED


def chain(
    measured: Sequence[dict[tuple[int, str], Softmax]],
    trained: Sequence[dict[tuple[int, str], float]],
) -> list[bool]:
    """Whether variance, peak, gradient, cure and training are each as the posts say, on average."""

    def mean(name: str, width: int, kind: str) -> float:
        return mean_interval([getattr(seed[width, kind], name) for seed in measured])[0]

    widest = WIDTHS[-1]
    gain = [t[TRAINED_WIDTHS[-1], "scaled"] - t[TRAINED_WIDTHS[-1], "raw"] for t in trained]
    scaled = [mean("jacobian_median", width, "scaled") for width in WIDTHS if width >= KEYS]
    return [
        # One tenth is several standard errors of a variance from this many products.
        all(abs(mean("variance", width, "raw") / width - 1) < 0.1 for width in WIDTHS),
        mean("entropy", widest, "raw") < mean("entropy", WIDTHS[0], "raw") / 2,
        mean("jacobian_median", widest, "raw") < mean("jacobian_median", widest, "scaled") / 2,
        max(scaled) < 1.1 * min(scaled),
        mean_interval(gain)[1][0] > 0,
    ]


class Scaling(Study):
    """Variance, softmax, gradient and training, with and without the division by √d_k."""

    id = "scaling"
    posts = "VSL"
    claim = (
        'As d_k gets large the variance of qᵀk increases, the softmax "gets very peaked", '
        '"hence, its gradient gets smaller"; dividing by √d_k keeps the variance at 1 (L; V and S '
        "divide too)."
    )
    expectation = (
        "The variance of q·k is d_k and 1 after the division. Without it, the median norm of the "
        "softmax's Jacobian first rises, to d_k of about 16, and then falls; the three numbers "
        "drawn in L contradict the claim that they illustrate, the expectation supports it."
    )
    experiment = (
        f"Queries and {KEYS} keys of independent normal numbers, d_k = {WIDTHS[0]} to "
        f"{WIDTHS[-1]}: variance of the products, entropy of their softmax, median norm of its "
        "Jacobian and of the gradient that reaches the query. Then one attention learns to name "
        f"the token to the right, d_k = {', '.join(map(str, TRAINED_WIDTHS))}, with the division, "
        "without it, and without it but with query weights that start √d_k times smaller."
    )
    correction = (
        '"Dimension 10" in L means a standard deviation of 10, which is dimension 100. L\'s draw '
        "of (8, -11, 7) for 100 dimensions gives a largest weight of 0.73, its (1.1, -0.8, -1.7) "
        "for 2 dimensions one of 0.83: the less peaked of the two is the one that should be more, "
        "and neither is near 30 to 50 % each. Three numbers drawn once show nothing; on average "
        "over draws the claim holds. It is about the typical softmax at wide heads: at narrow "
        "ones the gradient grows with d_k."
    )

    def run(self, settings: Settings) -> Findings:
        """Measure random softmaxes, then train."""
        queries, steps = (200, 120) if settings.quick else (2000, 600)
        measured = [measure(seed, queries) for seed in range(settings.seeds)]
        settings.progress(0.05)
        plan = [(w, kind) for w in TRAINED_WIDTHS for kind in KINDS]
        cost = [width**1.5 for width, _ in plan]
        trained: list[dict[tuple[int, str], float]] = []
        for seed in range(settings.seeds):
            trained.append({})
            for i, (width, kind) in enumerate(plan):
                net = network(width, kind, seed).to(settings.device)
                training = Training(steps, steps, batch=16)
                trained[seed][width, kind] = learning_curve(net, NextToken(), training, seed)[-1]
                done = seed + sum(cost[: i + 1]) / sum(cost)
                settings.progress(0.05 + 0.95 * done / settings.seeds)
        return _findings(measured, trained, steps)


def _findings(
    measured: Sequence[dict[tuple[int, str], Softmax]],
    trained: Sequence[dict[tuple[int, str], float]],
    steps: int,
) -> Findings:
    def median(width: int, kind: str, name: str = "jacobian_median") -> float:
        return mean_interval([getattr(seed[width, kind], name) for seed in measured])[0]

    widest, trained_widest = WIDTHS[-1], TRAINED_WIDTHS[-1]
    gains = [t[trained_widest, "scaled"] - t[trained_widest, "raw"] for t in trained]
    value, interval = mean_interval(gains)
    peak = max(WIDTHS, key=lambda width: median(width, "raw"))
    starts = [t[trained_widest, "raw, small start"] for t in trained]
    widest_query = max((w for w in WIDTHS if _query_ratio(measured, w) > 1), default=WIDTHS[0])
    draws = {width: torch.tensor(draw).softmax(0).max() for width, draw in LECTURE_DRAWS.items()}
    return Findings(
        rows=_rows(measured, trained),
        summary=_summary(measured, trained),
        verdict=judge(chain(measured, trained)),
        measure=(
            f"accuracy gained by the division, at d_k = {trained_widest} after {steps} steps "
            "(next token)"
        ),
        value=value,
        interval=interval,
        because=(
            f"The variance of q·k is {median(widest, 'raw', 'variance'):.0f} at d_k = {widest} and "
            f"{median(widest, 'scaled', 'variance'):.2f} after the division; the median Jacobian "
            f"norm falls from {median(peak, 'raw'):.2f} at d_k = {peak} to "
            f"{median(widest, 'raw'):.3f} without it and stays at {median(widest, 'scaled'):.2f} "
            f"with it. At d_k = {trained_widest} the division gains {value:.2f} in accuracy."
        ),
        surprises=(
            f"Without the division the median Jacobian norm rises up to d_k = {peak} before it "
            f"falls, and its mean is still {median(widest, 'raw', 'jacobian_mean'):.3f} at d_k = "
            f"{widest}: a few undecided softmaxes carry all of the gradient.",
            "The query itself, whose gradient is multiplied by undivided keys, gets a larger "
            f"gradient without the division than with it up to d_k = {widest_query}.",
            f"L's own numbers have a largest weight of {draws[100]:.2f} at 100 dimensions and "
            f"{draws[2]:.2f} at 2: the opposite of what they are to show.",
            "The start is not all: where only the starting query weights are √d_k times smaller, "
            "so that the first step has the same softmax, attention without the division reaches "
            f"an accuracy of {mean_interval(starts)[0]:.2f} at d_k = {trained_widest}, against "
            f"{mean_interval([t[trained_widest, 'scaled'] for t in trained])[0]:.2f} with it. "
            "Adam's steps are not divided with the start, which may be why.",
        ),
        draw=partial(_draw, measured, trained),
    )


def _query_ratio(measured: Sequence[dict[tuple[int, str], Softmax]], width: int) -> float:
    """Median gradient at the query without the division over that with it."""
    raw, scaled = (
        mean_interval([seed[width, kind].query_gradient_median for seed in measured])[0]
        for kind in SOFTMAXES
    )
    return raw / scaled


def _rows(
    measured: Sequence[dict[tuple[int, str], Softmax]],
    trained: Sequence[dict[tuple[int, str], float]],
) -> list[Row]:
    softmaxes: list[Row] = [
        {"seed": seed, "width": width, "kind": kind, "measure": name, "value": value}
        for seed, found in enumerate(measured)
        for (width, kind), softmax in found.items()
        for name, value in softmax._asdict().items()
    ]
    accuracies: list[Row] = [
        {"seed": seed, "width": width, "kind": kind, "measure": "accuracy", "value": value}
        for seed, found in enumerate(trained)
        for (width, kind), value in found.items()
    ]
    return softmaxes + accuracies


def _summary(
    measured: Sequence[dict[tuple[int, str], Softmax]],
    trained: Sequence[dict[tuple[int, str], float]],
) -> list[Row]:
    def cell(width: int, kind: str, name: str) -> str:
        return with_interval([getattr(seed[width, kind], name) for seed in measured])

    def accuracy_cell(width: int, kind: str) -> str:
        known = width in TRAINED_WIDTHS and kind in KINDS
        return with_interval([t[width, kind] for t in trained], 2) if known else ""

    return [
        {
            "d_k": width,
            "softmax": kind,
            "variance": cell(width, kind, "variance"),
            "entropy / log n": cell(width, kind, "entropy"),
            "median Jacobian": cell(width, kind, "jacobian_median"),
            "median query gradient": cell(width, kind, "query_gradient_median"),
            "accuracy": accuracy_cell(width, kind),
        }
        for width in (2, 16, 64, 256, 1024)
        for kind in SOFTMAXES
    ]


def _draw(
    measured: Sequence[dict[tuple[int, str], Softmax]],
    trained: Sequence[dict[tuple[int, str], float]],
    figure: "Figure",
) -> None:
    entropy, jacobian, accuracy_axes = panels(
        figure, ["Softmax peaks", "Gradient through it", "Learning the next token"]
    )
    colors = dict(zip(KINDS, COLORS, strict=False))
    for kind in SOFTMAXES:
        for axes, name in ((entropy, "entropy"), (jacobian, "jacobian_median")):
            runs = [[getattr(seed[width, kind], name) for width in WIDTHS] for seed in measured]
            draw_mean(axes, WIDTHS, runs, kind, colors[kind], marker="o", markersize=3)
    for kind in KINDS:
        runs = [[seed[width, kind] for width in TRAINED_WIDTHS] for seed in trained]
        draw_mean(accuracy_axes, TRAINED_WIDTHS, runs, kind, colors[kind], marker="o", markersize=4)
    accuracy_axes.axhline(1 / 16, color=MUTED, linewidth=1, linestyle=":", label="chance")
    for axes, label, ticks in (
        (entropy, f"entropy / log {KEYS}", (2, 16, 128, 1024)),
        (jacobian, "median norm of the Jacobian", (2, 16, 128, 1024)),
        (accuracy_axes, "accuracy", TRAINED_WIDTHS),
    ):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xlabel("width of queries and keys d_k")
        axes.set_ylabel(label)
        axes.set_ylim(0, 1.08 if axes is accuracy_axes else None)
        axes.legend(loc="upper left" if axes is accuracy_axes else "best")
