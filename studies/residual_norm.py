"""Do residual connections and LayerNorm carry a deep stack of attention?

Claim (V, E): Both parts of an encoder layer "are residual connected and finally go through layer
norm" (E), and ViT uses the same LayerNorm and residual structure (V): they carry depth.

Expected: Without residuals the tokens of a sequence become the same vector within a few layers
(cosine towards 1) and nothing is learned. Without LayerNorm a stack that starts small may still
learn. Post-norm has its largest gradients in the last layers, pre-norm has them level (Xiong et
al. 2020).

Experiment: Untrained stacks of 2 to 24 blocks of width 32, pre-norm, post-norm, without LayerNorm,
without residuals, without both: mean cosine between tokens after every block and norm of the
gradient in every block. Then a deep one of each learns to name the token to the right.

Correction: The ViT is not quite the encoder that E draws: the paper of 2017 normalizes after the
sum (post-norm), the ViT before each part (pre-norm).

Revised: That a part is needed if its loss costs more than 0.1 of accuracy was set after a run with
one seed, in which LayerNorm cost 0.03.
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_bars, draw_mean, panels
from studies.gradients import SMALLEST
from studies.study import Findings, Row, Settings, Table, Verdict, differences
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward
from vit_str.statistics import mean_interval, with_interval

FULL, POST, UNNORMED, BARE, NEITHER = "pre-norm", "post-norm", "no norm", "no residual", "neither"
VARIANTS = (FULL, POST, UNNORMED, BARE, NEITHER)
"""x + f(norm(x)), norm(x + f(x)), x + f(x), f(norm(x)), f(x)."""

DEPTHS = (2, 6, 12, 24)
DEEPEST = DEPTHS[-1]
DIM, HEADS, TOKENS = 32, 4, 16
# Loss of accuracy from which on a part is needed: less is a difference in speed.
NEEDED = 0.1
_COSINE, _GRADIENT, _ACCURACY = "cosine", "log10 gradient", "accuracy"


class SubLayer(nn.Module):
    """Attention or feed-forward with what is around it.

    Args:
        part: from tokens to tokens.
        dim: width of a token.
        variant: one of `VARIANTS`.
    """

    def __init__(self, part: nn.Module, dim: int, variant: str) -> None:
        super().__init__()
        self.part = part
        norm, none = nn.LayerNorm(dim), nn.Identity()
        self.before = norm if variant in (FULL, BARE) else none
        self.after = norm if variant == POST else none
        self.residual = variant not in (BARE, NEITHER)

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        change = self.part(self.before(x))
        return self.after(x + change if self.residual else change)


class Stack(nn.Module):
    """Blocks of attention and feed-forward.

    Args:
        depth: number of blocks.
        dim: width of a token.
        heads: attention heads per block.
        variant: one of `VARIANTS`.
    """

    def __init__(self, depth: int, dim: int, heads: int, variant: str) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(
                SubLayer(MultiHeadAttention(dim, heads), dim, variant),
                SubLayer(FeedForward(dim, 2.0), dim, variant),
            )
            for _ in range(depth)
        )
        # As in the project's encoders: what is not normalized at the end is normalized once.
        self.norm = nn.LayerNorm(dim) if variant in (FULL, BARE) else nn.Identity()

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def run(settings: Settings) -> Findings:
    """Untrained stacks first, then training, with every seed."""
    depth, steps = (6, 150) if settings.quick else (12, 400)
    task = NextToken(length=8, symbols=8)
    table = Table()
    for seed in range(settings.seeds):
        for variant in VARIANTS:
            for untrained in DEPTHS:
                table += measure(variant, untrained, seed)
            with seeded(seed):
                net = TokenNetwork(task, DIM, Stack(depth, DIM, HEADS, variant))
            curve = learning_curve(net.to(settings.device), task, steps, seed, batch=16)
            table.append(_row(seed, variant, depth, depth, _ACCURACY, curve[-1]))
    return findings(table, depth, steps)


def token_cosine(x: Float[Tensor, "batch token dim"]) -> float:
    """Mean cosine of two different tokens of a sequence: 1 if all say the same."""
    # Divided by the largest first: signals that have almost vanished still have a direction.
    x = x / x.abs().amax((1, 2), keepdim=True).clamp_min(SMALLEST)
    x = x / x.norm(dim=-1, keepdim=True).clamp_min(SMALLEST)
    tokens = x.shape[1]
    cosines = x @ x.transpose(1, 2)
    others = cosines.sum((1, 2)) - cosines.diagonal(dim1=1, dim2=2).sum(1)
    return (others / (tokens * (tokens - 1))).mean().item()


def measure(variant: str, depth: int, seed: int) -> list[Row]:
    """Cosine of tokens after, and norm of the gradient in, every block of an untrained stack.

    One pass forward and back, in doubles, with a random gradient of length one per token.
    """
    with seeded(seed):
        stack = Stack(depth, DIM, HEADS, variant).double()
        x = torch.randn(8, TOKENS, DIM).double()
    cosines = []
    for block in stack.blocks:
        x = block(x)
        cosines.append(token_cosine(x.detach()))
    x = stack.norm(x)
    direction = torch.randn(x.shape, generator=torch.Generator().manual_seed(seed), dtype=x.dtype)
    (x * direction / direction.norm(dim=-1, keepdim=True)).sum().backward()
    gradients = [
        sum(p.grad.square().sum().item() for p in block.parameters() if p.grad is not None) ** 0.5
        for block in stack.blocks
    ]
    logs = [math.log10(max(gradient, SMALLEST)) for gradient in gradients]
    return [
        _row(seed, variant, depth, block, name, value)
        for name, values in ((_COSINE, cosines), (_GRADIENT, logs))
        for block, value in enumerate(values, 1)
    ]


def _row(seed: int, variant: str, depth: int, block: int, measure: str, value: float) -> Row:
    return {
        "seed": seed,
        "variant": variant,
        "depth": depth,
        "block": block,
        "measure": measure,
        "value": value,
    }


def gradient_ratios(table: Table, variant: str) -> list[float]:
    """log10 of the gradient in the first block of the deepest stack over that in the last."""
    first, last = (
        table.values("value", measure=_GRADIENT, variant=variant, depth=DEEPEST, block=block)
        for block in (1, DEEPEST)
    )
    return differences(first, last)


def _gains(table: Table, without: str) -> list[float]:
    """Accuracy of the full block minus that of one without a part, for each seed."""
    return differences(
        *(table.values("value", measure=_ACCURACY, variant=name) for name in (FULL, without))
    )


def judge(table: Table) -> Verdict:
    """Supported if depth is learned worse without either, partly if without one of them."""
    return Verdict.of(
        *(mean_interval(_gains(table, part))[1][0] > NEEDED for part in (BARE, UNNORMED))
    )


def findings(table: Table, depth: int, steps: int) -> Findings:
    """What cosines, gradients and accuracies say about the claim."""
    cosine = {
        name: table.mean("value", measure=_COSINE, variant=name, depth=DEEPEST, block=DEEPEST)
        for name in VARIANTS
    }
    ratio = {name: mean_interval(gradient_ratios(table, name))[0] for name in VARIANTS}
    right = {name: table.mean("value", measure=_ACCURACY, variant=name) for name in VARIANTS}
    surprises = []
    if ratio[POST] > -0.5:  # expected: far below, the largest gradients in the last layers
        surprises.append(
            f"Post-norm reaches {right[POST]:.2f} in the same steps; its gradient in the first of "
            f"{DEEPEST} blocks is 10^{ratio[POST]:.1f} of that in the last, pre-norm's "
            f"10^{ratio[FULL]:.1f}."
        )
    if ratio[BARE] > ratio[NEITHER] + 1 and cosine[BARE] > 0.9:
        surprises.append(
            "Without residuals, the gradient of the first block is "
            f"10^{ratio[BARE]:.1f} of that in the last with LayerNorm and "
            f"10^{ratio[NEITHER]:.1f} without; the cosine between tokens is {cosine[BARE]:.3f} "
            f"and {cosine[NEITHER]:.3f}: LayerNorm keeps gradients alive, not tokens apart."
        )
    if cosine[FULL] > 0.25:
        surprises.append(
            f"Residuals do not keep tokens apart for ever: after {DEEPEST} untrained blocks their "
            f"cosine is {cosine[FULL]:.2f} in pre-norm, {cosine[POST]:.2f} in post-norm and "
            f"{cosine[UNNORMED]:.2f} without LayerNorm."
        )
    return Findings(
        table=table,
        summary=[
            {
                "variant": name,
                **{
                    f"token cosine, depth {blocks}": table.text(
                        "value", measure=_COSINE, variant=name, depth=blocks, block=blocks
                    )
                    for blocks in DEPTHS
                },
                f"log10 gradient first / last, depth {DEEPEST}": with_interval(
                    gradient_ratios(table, name), 1
                ),
                "accuracy": table.text("value", 2, measure=_ACCURACY, variant=name),
            }
            for name in VARIANTS
        ],
        verdict=judge(table),
        measure=f"accuracy gained by residuals at depth {depth}, pre-norm, after {steps} steps",
        values=_gains(table, BARE),
        because=(
            f"After {DEEPEST} untrained blocks the cosine between tokens is {cosine[BARE]:.3f} "
            f"without residuals and {cosine[FULL]:.2f} with them. At depth {depth} the pre-norm "
            f"stack learns to {right[FULL]:.2f}, without residuals to {right[BARE]:.2f}, without "
            f"LayerNorm to {right[UNNORMED]:.2f}, without both to {right[NEITHER]:.2f}."
        ),
        draw=lambda figure: _draw(figure, table, depth),
        surprises=surprises,
    )


def _draw(figure: Figure, table: Table, depth: int) -> None:
    titles = ["Tokens become alike (untrained)", "Gradient by layer (untrained)"]
    cosines, gradients, trained = panels(figure, [*titles, f"Next token, {depth} blocks"], 4.0)
    colors = dict(zip(VARIANTS, COLORS, strict=False))
    for axes, measure in ((cosines, _COSINE), (gradients, _GRADIENT)):
        for name, color in colors.items():
            where: dict[str, Any] = {"measure": measure, "variant": name, "depth": DEEPEST}
            draw_mean(axes, *table.curves("value", "block", **where), name, color)
    cosines.set(xlabel="block", ylabel="mean cosine between tokens", ylim=(-0.05, 1.05))
    cosines.legend(loc="upper left", bbox_to_anchor=(0, 0.92))
    gradients.set(xlabel="block", ylabel="log10 norm of the gradient")
    bars = {name: table.values("value", measure=_ACCURACY, variant=name) for name in VARIANTS}
    draw_bars(trained, bars, colors)
    chance_line(trained, 1 / 8, None)
    trained.set(ylabel="accuracy", ylim=(0, 1.05))
    trained.tick_params(axis="x", labelrotation=25)
