"""Do residual connections and LayerNorm carry a deep stack of attention?"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from studies.block_variants import VARIANTS, Layers, Stack, probe
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

DEPTHS = (2, 6, 12, 24)
DIM, HEADS, TOKENS = 32, 4, 16
# Loss of accuracy from which on a part is needed: less is a difference in speed.
NEEDED = 0.1
FULL, BARE = "pre-norm", "no residual"

Probes = Sequence[Mapping[tuple[str, int], Layers]]
Accuracies = Sequence[Mapping[str, float]]


def probed(variant: str, depth: int, seed: int) -> Layers:
    """An untrained stack, given random tokens."""
    with seeded(seed):
        stack = Stack(depth, DIM, HEADS, variant)
        x = torch.randn(8, TOKENS, DIM)
    return probe(stack, x, seed)


def gradient_ratio(layers: Layers) -> float:
    """Decimal logarithm of the gradient in the first block over that in the last."""
    return math.log10(max(layers.gradient[0], 1e-300) / max(layers.gradient[-1], 1e-300))


def judge(accuracies: Accuracies) -> Verdict:
    """Supported if depth is learned worse without either, partly if without one of them."""
    lost = [
        mean_interval([found[FULL] - found[without] for found in accuracies])[1][0] > NEEDED
        for without in ("no residual", "no norm")
    ]
    if all(lost):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(lost) else Verdict.NOT_SUPPORTED


class ResidualNorm(Study):
    """Stacks with residuals or LayerNorm taken out, or LayerNorm moved."""

    id = "residual-norm"
    posts = "VE"
    claim = (
        'Both parts of an encoder layer "are residual connected and finally go through layer '
        'norm" (E), and ViT uses the same LayerNorm and residual structure (V): they carry depth.'
    )
    expectation = (
        "Without residuals the tokens of a sequence become the same vector within a few layers "
        "(cosine towards 1) and nothing is learned. Without LayerNorm a stack that starts small "
        "may still learn. Post-norm has its largest gradients in the last layers, pre-norm has "
        "them level (Xiong et al. 2020)."
    )
    experiment = (
        f"Untrained stacks of {DEPTHS[0]} to {DEPTHS[-1]} blocks of width {DIM}, pre-norm, "
        "post-norm, without LayerNorm, without residuals, without both: mean cosine between "
        "tokens after every block and norm of the gradient in every block. Then a deep one of "
        "each learns to name the token to the right."
    )
    correction = (
        "The ViT is not quite the encoder that E draws: the paper of 2017 normalizes after the "
        "sum (post-norm), the ViT before each part (pre-norm)."
    )

    revised = (
        "That a part is needed if its loss costs more than 0.1 of accuracy was set after a "
        "run with one seed, in which LayerNorm cost 0.03."
    )

    def run(self, settings: Settings) -> Findings:
        """Untrained stacks first, then training."""
        depth, steps = (6, 150) if settings.quick else (12, 400)
        probes: list[dict[tuple[str, int], Layers]] = []
        accuracies: list[dict[str, float]] = []
        task = NextToken(length=8, symbols=8)
        for seed in range(settings.seeds):
            probes.append({(v, d): probed(v, d, seed) for v in VARIANTS for d in DEPTHS})
            accuracies.append({})
            for place, variant in enumerate(VARIANTS):
                with seeded(seed):
                    net = TokenNetwork(task, DIM, Stack(depth, DIM, HEADS, variant))
                training = Training(steps, steps, batch=16)
                accuracies[seed][variant] = learning_curve(
                    net.to(settings.device), task, training, seed
                )[-1]
                settings.progress((seed + (place + 1) / len(VARIANTS)) / settings.seeds)
        return _findings(probes, accuracies, depth, steps)


def _findings(probes: Probes, accuracies: Accuracies, depth: int, steps: int) -> Findings:
    deepest = DEPTHS[-1]
    cosine = {
        variant: mean_interval([seed[variant, deepest].cosine[-1] for seed in probes])[0]
        for variant in VARIANTS
    }
    ratio = {
        variant: mean_interval([gradient_ratio(seed[variant, deepest]) for seed in probes])[0]
        for variant in VARIANTS
    }
    right = {v: mean_interval([found[v] for found in accuracies])[0] for v in VARIANTS}
    value, interval = mean_interval([found[FULL] - found[BARE] for found in accuracies])
    return Findings(
        rows=_rows(probes, accuracies, depth),
        summary=_summary(probes, accuracies),
        verdict=judge(accuracies),
        measure=f"accuracy gained by residuals at depth {depth}, pre-norm, after {steps} steps",
        value=value,
        interval=interval,
        because=(
            f"After {deepest} untrained blocks the cosine between tokens is {cosine[BARE]:.3f} "
            f"without residuals and {cosine[FULL]:.2f} with them. At depth {depth} the pre-norm "
            f"stack learns to {right[FULL]:.2f}, without residuals to {right[BARE]:.2f}, without "
            f"LayerNorm to {right['no norm']:.2f}, without both to {right['neither']:.2f}."
        ),
        surprises=(
            f"Post-norm reaches {right['post-norm']:.2f} in the same steps; its gradient in the "
            f"first of {deepest} blocks is 10^{ratio['post-norm']:.1f} of that in the last, "
            f"pre-norm's 10^{ratio[FULL]:.1f}.",
            "Without residuals, the gradient of the first block is "
            f"10^{ratio[BARE]:.1f} of that in the last with LayerNorm and "
            f"10^{ratio['neither']:.1f} without; the cosine between tokens is {cosine[BARE]:.3f} "
            f"and {cosine['neither']:.3f}: LayerNorm keeps gradients alive, not tokens apart.",
            f"Residuals do not keep tokens apart for ever: after {deepest} untrained blocks their "
            f"cosine is {cosine[FULL]:.2f} in pre-norm, {cosine['post-norm']:.2f} in post-norm and "
            f"{cosine['no norm']:.2f} without LayerNorm.",
        ),
        draw=partial(_draw, probes, accuracies, depth),
    )


def _rows(probes: Probes, accuracies: Accuracies, depth: int) -> list[Row]:
    layers: list[Row] = [
        {
            "seed": seed,
            "variant": variant,
            "depth": blocks,
            "layer": layer,
            "measure": name,
            "value": value,
        }
        for seed, found in enumerate(probes)
        for (variant, blocks), measured in found.items()
        for name, values in measured._asdict().items()
        for layer, value in enumerate(values, 1)
    ]
    trained: list[Row] = [
        {
            "seed": seed,
            "variant": variant,
            "depth": depth,
            "layer": depth,
            "measure": "accuracy",
            "value": value,
        }
        for seed, found in enumerate(accuracies)
        for variant, value in found.items()
    ]
    return layers + trained


def _summary(probes: Probes, accuracies: Accuracies) -> list[Row]:
    deepest = DEPTHS[-1]
    return [
        {
            "variant": variant,
            **{
                f"token cosine, depth {depth}": with_interval(
                    [seed[variant, depth].cosine[-1] for seed in probes]
                )
                for depth in DEPTHS
            },
            f"log10 gradient first / last, depth {deepest}": with_interval(
                [gradient_ratio(seed[variant, deepest]) for seed in probes], 1
            ),
            "accuracy": with_interval([found[variant] for found in accuracies], 2),
        }
        for variant in VARIANTS
    ]


def _draw(probes: Probes, accuracies: Accuracies, depth: int, figure: "Figure") -> None:
    deepest = DEPTHS[-1]
    cosines, gradients, trained = panels(
        figure,
        [
            "Tokens become alike (untrained)",
            "Gradient by layer (untrained)",
            f"Next token, {depth} blocks",
        ],
        width=4.0,
    )
    layers = range(1, deepest + 1)
    colors = dict(zip(VARIANTS, COLORS, strict=False))
    for variant, color in colors.items():
        found = [seed[variant, deepest] for seed in probes]
        draw_mean(cosines, layers, [layer.cosine for layer in found], variant, color)
        logs = [[math.log10(max(g, 1e-300)) for g in layer.gradient] for layer in found]
        draw_mean(gradients, layers, logs, variant, color)
    cosines.set(xlabel="block", ylabel="mean cosine between tokens", ylim=(-0.05, 1.05))
    cosines.legend(loc="upper left", bbox_to_anchor=(0, 0.92))
    gradients.set(xlabel="block", ylabel="log10 norm of the gradient")
    draw_bars(trained, {v: [found[v] for found in accuracies] for v in VARIANTS}, colors)
    trained.axhline(1 / 8, color=MUTED, linewidth=1, linestyle=":")
    trained.set(ylabel="accuracy", ylim=(0, 1.05))
    trained.tick_params(axis="x", labelrotation=25)
