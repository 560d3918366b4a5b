"""Does attention without positions know the order?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import Mask
from vit_str.models.blocks import EncoderBlock
from vit_str.models.positions import sinusoidal_positions
from studies.drawing import COLORS, draw_bars, panels
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NONE, MASKED, SINUSOIDAL = "no positions", "no positions, causal mask", "sinusoidal positions"
KINDS = (NONE, MASKED, SINUSOIDAL)

_DIM, _HEADS, _LENGTH = 32, 4, 12
# Rounding of doubles through a few layers is 1e-15; anything that a position does is 1e-2 and more.
_EXACT = 1e-12
_TELLS = 1e-3
_TOKENS = _LENGTH  # every text has each token once, in some order


class OrderedTokens(nn.Module):
    """Blocks of the encoder over tokens, with or without positions and a causal mask."""

    def __init__(self, kind: str, depth: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(_TOKENS, _DIM)
        self.blocks = nn.ModuleList(EncoderBlock(_DIM, _HEADS, 2.0, 0.0) for _ in range(depth))
        self.norm = nn.LayerNorm(_DIM)
        self.classify = nn.Linear(_DIM, 2)
        self.kind = kind

    def forward(self, tokens: Int64[Tensor, "batch token"]) -> Float[Tensor, "batch token dim"]:
        x = self.embed(tokens)
        length = tokens.shape[1]
        if self.kind == SINUSOIDAL:
            x = x + sinusoidal_positions(length, _DIM).to(x)
        mask = causal(length).to(x.device) if self.kind == MASKED else None
        for block in self.blocks:
            assert isinstance(block, EncoderBlock)
            x = _through(block, x, mask)
        return self.norm(x)

    def answer(self, tokens: Int64[Tensor, "batch token"]) -> Float[Tensor, "batch answer"]:
        """Scores of the two answers, from the mean over tokens."""
        return self.classify(self(tokens).mean(1))


class Order(Study):
    """Permute what goes in, and look whether more than the order of the output changes."""

    id = "order"
    posts = "VE"
    claim = (
        "What attention puts out says nothing about positions in the sequence, so that a "
        "positional encoding has to be added."
    )
    expectation = (
        "Without positions and mask a permuted input gives the permuted output, exactly, and an "
        "order cannot be learned. With sinusoidal positions both change. A causal mask, as in a "
        "decoder, tells something about positions by itself."
    )
    experiment = (
        f"Encoders of 2 blocks over {_LENGTH} tokens. Untrained, in double precision: how much "
        "the output of a permuted input differs from the permuted output, relative to its size, "
        "over 20 permutations. Trained (600 steps of 32 texts, 200 in the small version): every "
        "text has each token once; does token 0 come before token 1? Accuracy on 2000 new texts, "
        "chance .5."
    )
    correction = (
        "It holds for an encoder. A decoder with a causal mask is not blind to order: what a token "
        "may not look at comes later. More heads do not help against it, as post E has it; "
        "positions do."
    )

    def run(self, settings: Settings) -> Findings:
        """Measure and train every kind with every seed."""
        steps = 200 if settings.quick else 600
        rows: list[Row] = []
        for seed in range(settings.seeds):
            for kind in KINDS:
                error = permutation_error(kind, seed)
                share = learned(kind, seed, steps, settings.device)
                rows.append({"kind": kind, "seed": seed, "error": error, "accuracy": share})
                settings.progress(len(rows) / len(KINDS) / settings.seeds)
        errors = {kind: _values(rows, kind, "error") for kind in KINDS}
        right = {kind: _values(rows, kind, "accuracy") for kind in KINDS}
        value, interval = mean_interval(errors[NONE])
        return Findings(
            rows=rows,
            summary=[
                {
                    "encoder": kind,
                    "error of permuted output": f"{mean_interval(errors[kind])[0]:.1e}",
                    "accuracy, which comes first": with_interval(right[kind]),
                }
                for kind in KINDS
            ],
            verdict=verdict(errors, right),
            measure="relative error of permuted output without positions",
            value=value,
            interval=interval,
            because=(
                f"Without positions, permuting the input permutes the output to {value:.0e}, and "
                f"which of two tokens comes first is learned to {with_interval(right[NONE])}, "
                f"chance being .5. With sinusoidal positions the output differs by "
                f"{mean_interval(errors[SINUSOIDAL])[0]:.2f} of its size, and accuracy is "
                f"{with_interval(right[SINUSOIDAL])}."
            ),
            draw=lambda figure: _draw(figure, errors, right),
            surprises=_surprises(errors, right),
        )


def verdict(errors: dict[str, list[float]], right: dict[str, list[float]]) -> Verdict:
    """Supported if attention alone is exactly blind and positions mend it.

    Partly if only one of the two ways to look says so.
    """
    blind = max(errors[NONE]) < _EXACT and min(errors[SINUSOIDAL]) > _TELLS
    # Chance for 2000 texts is .50 with a standard deviation of .011; .55 is beyond all luck.
    fails = mean_interval(right[NONE])[0] < 0.55 < mean_interval(right[SINUSOIDAL])[0]
    if blind and fails:
        return Verdict.SUPPORTED
    return Verdict.PARTLY if blind or fails else Verdict.NOT_SUPPORTED


def causal(length: int) -> Bool[Tensor, "query key"]:
    """Which keys a query may see: those up to its own place."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def permutation_error(kind: str, seed: int, count: int = 20) -> float:
    """Root mean square of f(permuted x) - permuted f(x), relative to f(x), without training."""
    with torch.random.fork_rng(devices=()), torch.no_grad():
        torch.manual_seed(seed)
        model = OrderedTokens(kind, depth=2).double()
        tokens = torch.randperm(_TOKENS)[None]
        plain = model(tokens)
        squares = []
        for _ in range(count):
            order = torch.randperm(_LENGTH)
            squares.append((model(tokens[:, order]) - plain[:, order]).square().mean())
        return float((torch.stack(squares).mean() / plain.square().mean()).sqrt())


def learned(kind: str, seed: int, steps: int, device: str) -> float:
    """Accuracy on new texts after training to say which of two tokens comes first."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        model = OrderedTokens(kind, depth=2).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(steps):
            tokens, answers = texts(32)
            loss = F.cross_entropy(model.answer(tokens.to(device)), answers.to(device))
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
        tokens, answers = texts(2000)
        with torch.no_grad():
            return float(
                (model.answer(tokens.to(device)).argmax(1).cpu() == answers).float().mean()
            )


def texts(count: int) -> tuple[Int64[Tensor, "batch token"], Int64[Tensor, " batch"]]:
    """Texts with each token once, and whether token 0 comes before token 1."""
    tokens = torch.rand(count, _LENGTH).argsort(1)
    places = tokens.argsort(1)
    return tokens, (places[:, 0] < places[:, 1]).long()


def _through(block: EncoderBlock, x: Tensor, mask: Mask | None) -> Tensor:
    """One block, with a mask: encoders have none, so that their blocks take none."""
    x = x + block.attention(block.attention_norm(x), mask=mask)
    return x + block.feed_forward(block.feed_forward_norm(x))


def _values(rows: Sequence[Row], kind: str, column: str) -> list[float]:
    return [float(row[column]) for row in rows if row["kind"] == kind]


def _surprises(errors: dict[str, list[float]], right: dict[str, list[float]]) -> list[str]:
    mean, (low, _) = mean_interval(right[MASKED])
    if low <= 0.55:
        return []
    return [
        f"A causal mask without any positions differs by {mean_interval(errors[MASKED])[0]:.2f} "
        f"under permutation and is trained to an accuracy of {mean:.2f}: a token that another one "
        "may not look at is one that comes later."
    ]


def _draw(figure: "Figure", errors: dict[str, list[float]], right: dict[str, list[float]]) -> None:
    left, middle = panels(figure, ("Output of a permuted input", "Which token comes first?"))
    names = {NONE: "no positions", MASKED: "causal mask", SINUSOIDAL: "sinusoidal"}
    colors = dict(zip(names.values(), COLORS, strict=False))
    for place, kind in enumerate(KINDS):
        color = colors[names[kind]]
        left.plot([place] * len(errors[kind]), errors[kind], "o", color=color, markersize=5)
    left.set(yscale="log", ylabel="relative error, one dot a seed", xlim=(-0.5, 2.5))
    left.set_ylim(1e-17, 10)
    left.axhline(2.2e-16, color="#666c75", linewidth=1, linestyle=":")
    left.text(2.45, 3e-16, "rounding of doubles", ha="right", fontsize=7.5, color="#666c75")
    left.set_xticks(range(3), list(names.values()))
    draw_bars(middle, {names[kind]: right[kind] for kind in KINDS}, colors)
    middle.axhline(0.5, color="#666c75", linewidth=1, linestyle=":")
    middle.text(-0.45, 0.515, "chance", fontsize=7.5, color="#666c75")
    middle.set(ylabel="accuracy on new texts", ylim=(0, 1.05))
