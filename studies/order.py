"""Does attention without positions know the order?"""

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_bars, panels
from studies.study import Findings, Row, Rows, Settings, Study, Values, Verdict
from studies.training import Labels, Tokens, fit, seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.models.positions import sinusoidal_positions

STUDY = Study(
    posts="V, E",
    claim=(
        "What attention puts out says nothing about positions in the sequence, so "
        "that a positional encoding has to be added."
    ),
    expected=(
        "Without positions and mask a permuted input gives the permuted output, "
        "exactly, and an order cannot be learned. With sinusoidal positions both "
        "change. A causal mask, as in a decoder, tells something about positions by "
        "itself."
    ),
    experiment=(
        "Encoders of 2 blocks over 12 tokens. Untrained, in double precision: how "
        "much the output of a permuted input differs from the permuted output, "
        "relative to its size, over 20 permutations. Trained (600 steps of 32 "
        "texts, 200 in the small version): every text has each token once; does "
        "token 0 come before token 1? Accuracy on 2000 new texts, chance .5."
    ),
    correction=(
        "It holds for an encoder. A decoder with a causal mask is not blind to "
        "order: what a token may not look at comes later. More heads do not help "
        "against it, as post E has it; positions do."
    ),
    kind="identity in part: that permuted inputs give permuted outputs",
)

NONE = "no positions"
MASKED = "no positions, causal mask"
SINUSOIDAL = "sinusoidal positions"
ENCODERS = {NONE: "no positions", MASKED: "causal mask", SINUSOIDAL: "sinusoidal"}
"""Name -> short name for figures."""
_DIM = 32
_HEADS = 4
_LENGTH = 12
# Rounding of doubles through a few layers is 1e-15; anything that a position does is 1e-2 and more.
_EXACT = 1e-12
_TELLS = 1e-3
# Chance for 2000 texts is .50 with a standard deviation of .011; .55 is beyond all luck.
_BEYOND_CHANCE = 0.55


class OrderedTokens(nn.Module):
    """Two blocks of the encoder over tokens, with or without positions and a causal mask."""

    def __init__(self, name: str) -> None:
        super().__init__()
        # Every text has each token once, in some order
        self.embed = nn.Embedding(_LENGTH, _DIM)
        self.blocks = nn.ModuleList(
            EncoderBlock(_DIM, _HEADS, 2.0, 0.0) for _ in range(2)
        )
        self.norm = nn.LayerNorm(_DIM)
        self.classify = nn.Linear(_DIM, 2)
        self.name = name

    def forward(self, tokens: Labels) -> Tokens:
        x = self.embed(tokens)
        if self.name == SINUSOIDAL:
            x = x + sinusoidal_positions(_LENGTH, _DIM).to(x)
        mask = None
        if self.name == MASKED:
            shape = (_LENGTH, _LENGTH)
            mask = torch.ones(shape, dtype=torch.bool, device=x.device).tril()
        for block in self.blocks:  # written out: the blocks of encoders take no mask
            assert isinstance(block, EncoderBlock)
            x = x + block.attention(block.attention_norm(x), mask=mask)
            x = x + block.feed_forward(block.feed_forward_norm(x))
        return self.norm(x)

    def answer(self, tokens: Labels) -> Float[Tensor, "batch answer"]:
        """Scores of the two answers, from the mean over tokens."""
        return self.classify(self(tokens).mean(1))


def run(settings: Settings) -> Findings:
    """Permute and train every encoder with every seed."""
    steps = 200 if settings.quick else 600

    def measure(seed: int) -> Rows:
        for name in ENCODERS:
            right = learned(name, seed, steps, settings.device)
            yield name, seed, permutation_error(name, seed), right

    table = settings.repeat("encoder seed error accuracy", measure)
    error = {name: table.values("error", encoder=name) for name in ENCODERS}
    accuracy = {name: table.values("accuracy", encoder=name) for name in ENCODERS}
    summary: list[Row] = [
        {
            "encoder": name,
            "error of permuted output": f"{error[name].mean:.1e}",
            "accuracy, which comes first": accuracy[name].text(),
        }
        for name in ENCODERS
    ]
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(error, accuracy),
        measure="relative error of permuted output without positions",
        values=error[NONE],
        because=(
            "Without positions, permuting the input permutes the output to "
            f"{error[NONE].mean:.0e}, and which of two tokens comes first is learned "
            f"to {accuracy[NONE].text()}, chance being .5. With sinusoidal positions "
            f"the output differs by {error[SINUSOIDAL].mean:.2f} of its size, and "
            f"accuracy is {accuracy[SINUSOIDAL].text()}."
        ),
        draw=lambda figure: _draw(figure, error, accuracy),
    )


@torch.no_grad()
def permutation_error(name: str, seed: int, count: int = 20) -> float:
    """Root mean square of f(permuted x) - permuted f(x), relative to f(x), without training."""
    with seeded(seed):
        model = OrderedTokens(name).double()
        tokens = torch.randperm(_LENGTH)[None]
        orders = [torch.randperm(_LENGTH) for _ in range(count)]
    plain = model(tokens)
    squares = [(model(tokens[:, o]) - plain[:, o]).square().mean() for o in orders]
    return float((torch.stack(squares).mean() / plain.square().mean()).sqrt())


def learned(name: str, seed: int, steps: int, device: str = "cpu") -> float:
    """Accuracy on new texts after training to say which of two tokens comes first."""
    with seeded(seed):
        model = OrderedTokens(name).to(device)

        def loss(step: int) -> Tensor:
            tokens, answers = texts(32)
            return F.cross_entropy(model.answer(tokens.to(device)), answers.to(device))

        fit(loss, steps, torch.optim.Adam(model.parameters(), lr=3e-3), clip=math.inf)
        tokens, answers = texts(2000)
        with torch.no_grad():
            right = model.answer(tokens.to(device)).argmax(1).cpu() == answers
    return right.float().mean().item()


def texts(count: int) -> tuple[Labels, Int64[Tensor, " batch"]]:
    """Texts with each token once, and whether token 0 comes before token 1."""
    tokens = torch.rand(count, _LENGTH).argsort(1)
    positions = tokens.argsort(1)
    return tokens, (positions[:, 0] < positions[:, 1]).long()


def judge(error: Mapping[str, Values], accuracy: Mapping[str, Values]) -> Verdict:
    """From both ways to see that attention alone is blind and that positions mend it."""
    blind = max(error[NONE]) < _EXACT and min(error[SINUSOIDAL]) > _TELLS
    return Verdict.of(
        blind, accuracy[NONE].mean < _BEYOND_CHANCE < accuracy[SINUSOIDAL].mean
    )


def _draw(
    figure: Figure,
    error: Mapping[str, Values],
    accuracy: Mapping[str, Values],
) -> None:
    left, right = panels(
        figure, ("Output of a permuted input", "Which token comes first?")
    )
    for x, (values, color) in enumerate(zip(error.values(), COLORS, strict=False)):
        left.plot([x] * len(values), values, "o", color=color, markersize=5)
    left.set(yscale="log", ylabel="relative error, one dot a seed", xlim=(-0.5, 2.5))
    left.set_ylim(1e-17, 10)
    chance_line(left, 2.2e-16, "rounding of doubles")
    left.set_xticks(range(3), list(ENCODERS.values()))
    draw_bars(right, {ENCODERS[name]: values for name, values in accuracy.items()})
    chance_line(right, 0.5)
    right.set(ylabel="accuracy on new texts", ylim=(0, 1.05))
    for axes in (left, right):
        axes.legend()
