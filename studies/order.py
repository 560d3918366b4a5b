"""Does attention without positions know the order?

Claim (V, E): What attention puts out says nothing about positions in the sequence, so that a
positional encoding has to be added.

Expected: Without positions and mask a permuted input gives the permuted output, exactly, and an
order cannot be learned. With sinusoidal positions both change. A causal mask, as in a decoder,
tells something about positions by itself.

Experiment: Encoders of 2 blocks over 12 tokens. Untrained, in double precision: how much the
output of a permuted input differs from the permuted output, relative to its size, over 20
permutations. Trained (600 steps of 32 texts, 200 in the small version): every text has each token
once; does token 0 come before token 1? Accuracy on 2000 new texts, chance .5.

Correction: It holds for an encoder. A decoder with a causal mask is not blind to order: what a
token may not look at comes later. More heads do not help against it, as post E has it; positions
do.
"""

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_bars, panels
from studies.study import Findings, Settings, Table, Values, Verdict, repeat
from studies.training import fit, seeded
from vit_str.models.attention import Mask
from vit_str.models.blocks import EncoderBlock
from vit_str.models.positions import sinusoidal_positions

NONE, MASKED, SINUSOIDAL = "no positions", "no positions, causal mask", "sinusoidal positions"
ENCODERS = {NONE: "no positions", MASKED: "causal mask", SINUSOIDAL: "sinusoidal"}
"""Name -> short name for figures."""
_DIM, _HEADS, _LENGTH = 32, 4, 12
# Rounding of doubles through a few layers is 1e-15; anything that a position does is 1e-2 and more.
_EXACT = 1e-12
_TELLS = 1e-3
# Chance for 2000 texts is .50 with a standard deviation of .011; .55 is beyond all luck.
_BEYOND_CHANCE = 0.55


class OrderedTokens(nn.Module):
    """Blocks of the encoder over tokens, with or without positions and a causal mask.

    Args:
        name: one of `ENCODERS`.
        depth: number of blocks.
    """

    def __init__(self, name: str, depth: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(_LENGTH, _DIM)  # every text has each token once, in some order
        self.blocks = nn.ModuleList(EncoderBlock(_DIM, _HEADS, 2.0, 0.0) for _ in range(depth))
        self.norm = nn.LayerNorm(_DIM)
        self.classify = nn.Linear(_DIM, 2)
        self.name = name

    def forward(self, tokens: Int64[Tensor, "batch token"]) -> Float[Tensor, "batch token dim"]:
        x = self.embed(tokens)
        length = tokens.shape[1]
        if self.name == SINUSOIDAL:
            x = x + sinusoidal_positions(length, _DIM).to(x)
        mask = causal(length).to(x.device) if self.name == MASKED else None
        for block in self.blocks:
            assert isinstance(block, EncoderBlock)
            x = _through(block, x, mask)
        return self.norm(x)

    def answer(self, tokens: Int64[Tensor, "batch token"]) -> Float[Tensor, "batch answer"]:
        """Scores of the two answers, from the mean over tokens."""
        return self.classify(self(tokens).mean(1))


def run(settings: Settings) -> Findings:
    """Permute and train every encoder with every seed."""
    steps = 200 if settings.quick else 600
    return findings(
        repeat(
            settings,
            "encoder seed error accuracy",
            lambda seed: (
                (n, seed, permutation_error(n, seed), learned(n, seed, steps, settings.device))
                for n in ENCODERS
            ),
        )
    )


def causal(length: int) -> Bool[Tensor, "query key"]:
    """Which keys a query may see: those up to its own position."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def permutation_error(name: str, seed: int, count: int = 20) -> float:
    """Root mean square of f(permuted x) - permuted f(x), relative to f(x), without training."""
    with seeded(seed), torch.no_grad():
        model = OrderedTokens(name, depth=2).double()
        tokens = torch.randperm(_LENGTH)[None]
        plain = model(tokens)
        squares = []
        for _ in range(count):
            order = torch.randperm(_LENGTH)
            squares.append((model(tokens[:, order]) - plain[:, order]).square().mean())
        return float((torch.stack(squares).mean() / plain.square().mean()).sqrt())


def learned(name: str, seed: int, steps: int, device: str = "cpu") -> float:
    """Accuracy on new texts after training to say which of two tokens comes first."""
    with seeded(seed):
        model = OrderedTokens(name, depth=2).to(device)

        def loss(step: int) -> Tensor:
            tokens, answers = texts(32)
            return F.cross_entropy(model.answer(tokens.to(device)), answers.to(device))

        fit(loss, steps, torch.optim.Adam(model.parameters(), lr=3e-3), clip=math.inf)
        tokens, answers = texts(2000)
        with torch.no_grad():
            right = model.answer(tokens.to(device)).argmax(1).cpu() == answers
    return right.float().mean().item()


def texts(count: int) -> tuple[Int64[Tensor, "batch token"], Int64[Tensor, " batch"]]:
    """Texts with each token once, and whether token 0 comes before token 1."""
    tokens = torch.rand(count, _LENGTH).argsort(1)
    positions = tokens.argsort(1)
    return tokens, (positions[:, 0] < positions[:, 1]).long()


def _through(block: EncoderBlock, x: Tensor, mask: Mask | None) -> Tensor:
    """One block, with a mask: encoders have none, so that their blocks take none."""
    x = x + block.attention(block.attention_norm(x), mask=mask)
    return x + block.feed_forward(block.feed_forward_norm(x))


def findings(table: Table) -> Findings:
    """What errors and accuracies say about the claim."""
    error, accuracy = (
        {name: table.values(column, encoder=name) for name in ENCODERS}
        for column in ("error", "accuracy")
    )
    return Findings(
        table=table,
        summary=[
            {
                "encoder": name,
                "error of permuted output": f"{error[name].mean:.1e}",
                "accuracy, which comes first": accuracy[name].text(),
            }
            for name in ENCODERS
        ],
        verdict=judge(error, accuracy),
        measure="relative error of permuted output without positions",
        values=error[NONE],
        because=(
            f"Without positions, permuting the input permutes the output to {error[NONE].mean:.0e},"
            f" and which of two tokens comes first is learned to {accuracy[NONE].text()}, chance "
            f"being .5. With sinusoidal positions the output differs by "
            f"{error[SINUSOIDAL].mean:.2f} of its size, and accuracy is "
            f"{accuracy[SINUSOIDAL].text()}."
        ),
        draw=lambda figure: _draw(figure, error, accuracy),
        surprises=[
            f"With a causal mask and no positions the output differs by {error[MASKED].mean:.2f} "
            f"under permutation, and the accuracy is {accuracy[MASKED].mean:.2f}."
        ],
    )


def judge(error: Mapping[str, Values], accuracy: Mapping[str, Values]) -> Verdict:
    """Supported if attention alone is exactly blind and positions mend it.

    Partly if only one of the two ways to look says so.
    """
    blind = max(error[NONE]) < _EXACT and min(error[SINUSOIDAL]) > _TELLS
    return Verdict.of(blind, accuracy[NONE].mean < _BEYOND_CHANCE < accuracy[SINUSOIDAL].mean)


def _draw(figure: Figure, error: Mapping[str, Values], accuracy: Mapping[str, Values]) -> None:
    left, right = panels(figure, ("Output of a permuted input", "Which token comes first?"))
    for x, (values, color) in enumerate(zip(error.values(), COLORS, strict=False)):
        left.plot([x] * len(values), values, "o", color=color, markersize=5)
    left.set(yscale="log", ylabel="relative error, one dot a seed", xlim=(-0.5, 2.5))
    left.set_ylim(1e-17, 10)
    chance_line(left, 2.2e-16, "rounding of doubles")
    left.set_xticks(range(3), list(ENCODERS.values()))
    colors = dict(zip(ENCODERS.values(), COLORS, strict=False))
    draw_bars(right, {ENCODERS[name]: values for name, values in accuracy.items()}, colors)
    chance_line(right, 0.5)
    right.set(ylabel="accuracy on new texts", ylim=(0, 1.05))
    for axes in (left, right):
        axes.legend()
