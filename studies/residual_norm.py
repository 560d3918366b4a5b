"""Do residual connections and LayerNorm carry a deep stack of attention?"""

import math
from collections.abc import Mapping

import torch
from matplotlib.figure import Figure
from torch import nn

from studies.drawing import chance_line, draw_bars, draw_lines, panels
from studies.memory import SMALLEST
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import NextToken, TokenNetwork, learning_curve
from studies.training import Tokens, seeded
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward

STUDY = Study(
    posts="V, E",
    claim=(
        'Both parts of an encoder layer "are residual connected and finally go '
        'through layer norm" (E, translated), and ViT uses the same LayerNorm and '
        "residual structure (V): they carry depth."
    ),
    expected=(
        "Without residuals the tokens of a sequence become the same vector within a "
        "few layers (cosine towards 1) and nothing is learned. Without LayerNorm a "
        "stack that starts small may still learn. Post-norm has its largest "
        "gradients in the last layers, pre-norm has them level (Xiong et al. 2020)."
    ),
    experiment=(
        "Untrained stacks of 2 to 24 blocks of width 32, pre-norm, post-norm, "
        "without LayerNorm, without residuals, without both: mean cosine between "
        "tokens after every block and norm of the gradient in every block. Then a "
        "deep one of each learns to name the token to the right."
    ),
    changed=(
        "That a part is needed if its loss costs more than 0.1 of accuracy was set "
        "after a run with one seed, in which LayerNorm cost 0.03."
    ),
    correction=(
        "The ViT is not quite the encoder that E draws: the paper of 2017 "
        "normalizes after the sum (post-norm), the ViT before each part (pre-norm)."
    ),
)

FULL = "pre-norm"
POST = "post-norm"
UNNORMED = "no norm"
BARE = "no residual"
NEITHER = "neither"
VARIANTS = (FULL, POST, UNNORMED, BARE, NEITHER)
"""x + f(norm(x)), norm(x + f(x)), x + f(x), f(norm(x)), f(x)."""
DEPTHS = (2, 6, 12, 24)
DEEPEST = DEPTHS[-1]
DIM = 32
HEADS = 4
TOKENS = 16
# Loss of accuracy from which on a part is needed: less is a difference in speed.
NEEDED = 0.1
_COSINE = "cosine"
_GRADIENT = "log10 gradient"
_ACCURACY = "accuracy"


class SubLayer(nn.Module):
    """Attention or feed-forward with what a variant puts around it."""

    def __init__(self, part: nn.Module, dim: int, variant: str) -> None:
        super().__init__()
        self.part = part
        self.before = nn.LayerNorm(dim) if variant in (FULL, BARE) else nn.Identity()
        self.after = nn.LayerNorm(dim) if variant == POST else nn.Identity()
        self.residual = variant not in (BARE, NEITHER)

    def forward(self, x: Tokens) -> Tokens:
        change = self.part(self.before(x))
        return self.after(x + change if self.residual else change)


class Stack(nn.Module):
    """Blocks of attention and feed-forward, of one of `VARIANTS`."""

    def __init__(self, depth: int, dim: int, heads: int, variant: str) -> None:
        super().__init__()
        self.blocks = nn.Sequential()
        for _ in range(depth):
            attention = SubLayer(MultiHeadAttention(dim, heads), dim, variant)
            feed_forward = SubLayer(FeedForward(dim, 2.0), dim, variant)
            self.blocks.append(nn.Sequential(attention, feed_forward))
        # As in the project's encoders: what is not normalized at the end is normalized once.
        self.norm = nn.LayerNorm(dim) if variant in (FULL, BARE) else nn.Identity()

    def forward(self, x: Tokens) -> Tokens:
        return self.norm(self.blocks(x))


def run(settings: Settings) -> Findings:
    """Untrained stacks first, then training, with every seed."""
    depth, steps = (6, 150) if settings.quick else (12, 400)
    task = NextToken(length=8, symbols=8)

    def measure_all(seed: int) -> Rows:
        for variant in VARIANTS:
            for untrained in DEPTHS:
                yield from measure(variant, untrained, seed)
            with seeded(seed):
                net = TokenNetwork(task, DIM, Stack(depth, DIM, HEADS, variant))
            curve = learning_curve(net.to(settings.device), task, steps, seed, batch=16)
            yield seed, variant, depth, depth, _ACCURACY, curve[-1]

    table = settings.repeat("seed variant depth block measure value", measure_all)
    cosines, gradients, accuracy = table.parts("measure", _COSINE, _GRADIENT, _ACCURACY)
    alike = {n: cosines.mean(variant=n, depth=DEEPEST, block=DEEPEST) for n in VARIANTS}
    right = {name: accuracy.values(variant=name) for name in VARIANTS}
    first, last = gradients.where(depth=DEEPEST).parts("block", 1, DEEPEST)
    summary: list[Row] = []
    for name in VARIANTS:
        row: Row = {"variant": name}
        for n in DEPTHS:
            alike_at = cosines.text(variant=name, depth=n, block=n)
            row[f"token cosine, depth {n}"] = alike_at
        kept = first.values(variant=name) - last.values(variant=name)
        row[f"log10 gradient first / last, depth {DEEPEST}"] = kept.text(1)
        row["accuracy"] = right[name].text(2)
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(right),
        measure=f"accuracy gained by residuals at depth {depth}, pre-norm, after {steps} steps",
        values=right[FULL] - right[BARE],
        because=(
            f"After {DEEPEST} untrained blocks the cosine between tokens is "
            f"{alike[BARE]:.3f} without residuals and {alike[FULL]:.2f} with them. "
            f"At depth {depth} the pre-norm stack learns to {right[FULL].mean:.2f}, "
            f"without residuals to {right[BARE].mean:.2f}, without LayerNorm to "
            f"{right[UNNORMED].mean:.2f}, without both to {right[NEITHER].mean:.2f}."
        ),
        draw=lambda figure: _draw(figure, cosines, gradients, right),
    )


def token_cosine(x: Tokens) -> float:
    """Mean cosine of two different tokens of a sequence: 1 if all say the same."""
    # Divided by the largest first: signals that have almost vanished still have a direction.
    x = x / x.abs().amax((1, 2), keepdim=True).clamp_min(SMALLEST)
    x = x / x.norm(dim=-1, keepdim=True).clamp_min(SMALLEST)
    tokens = x.shape[1]
    cosines = x @ x.transpose(1, 2)
    others = cosines.sum((1, 2)) - cosines.diagonal(dim1=1, dim2=2).sum(1)
    return (others / (tokens * (tokens - 1))).mean().item()


def measure(variant: str, depth: int, seed: int) -> Rows:
    """Cosine of tokens after, and norm of the gradient in, every block of an untrained stack."""
    with seeded(seed):
        stack = Stack(depth, DIM, HEADS, variant).double()
        x = torch.randn(8, TOKENS, DIM).double()
    cosines = []
    for block in stack.blocks:
        x = block(x)
        cosines.append(token_cosine(x.detach()))
    x = stack.norm(x)
    direction = torch.randn(
        x.shape,
        generator=torch.Generator().manual_seed(seed),
        dtype=x.dtype,
    )
    (x * direction / direction.norm(dim=-1, keepdim=True)).sum().backward()
    gradients = []
    for block in stack.blocks:
        parts = (part.grad for part in block.parameters() if part.grad is not None)
        squares = sum(part.square().sum().item() for part in parts)
        gradients.append(squares**0.5)
    logs = [math.log10(max(gradient, SMALLEST)) for gradient in gradients]
    for name, values in ((_COSINE, cosines), (_GRADIENT, logs)):
        yield from (
            (seed, variant, depth, i, name, value) for i, value in enumerate(values, 1)
        )


def judge(right: Mapping[str, Values]) -> Verdict:
    """Supported if depth is learned worse without either part, partly if without one of them."""
    return Verdict.of(
        *((right[FULL] - right[part]).low > NEEDED for part in (BARE, UNNORMED))
    )


def _draw(
    figure: Figure,
    cosines: Table,
    gradients: Table,
    right: Mapping[str, Values],
) -> None:
    titles = ["Tokens become alike (untrained)", "Gradient by layer (untrained)"]
    alike, norms, trained = panels(figure, [*titles, "Next token, trained"], 3.3)
    for axes, part in ((alike, cosines), (norms, gradients)):
        draw_lines(axes, part.where(depth=DEEPEST), "block", "variant", VARIANTS)
        axes.set_xlabel("block")
    alike.set(ylabel="mean cosine between tokens", ylim=(-0.05, 1.05))
    alike.legend(loc="upper left", bbox_to_anchor=(0, 0.92))
    norms.set_ylabel("log10 norm of the gradient")
    draw_bars(trained, right)
    chance_line(trained, 1 / 8, None)
    trained.set(ylabel="accuracy", ylim=(0, 1.05))
    trained.tick_params(axis="x", labelrotation=25)
