"""Does attention look, at each step of writing, where the answer stands?"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from einops import rearrange
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from vit_str.pages.style import HEAT
from vit_str.models.attention import record_attention
from studies.drawing import INK, draw_bars, panels
from studies.intervals import mean_interval, with_interval
from studies.sequence_tasks import (
    Recipe,
    RecurrentTranslator,
    SequenceTask,
    Texts,
    train_translator,
)
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_tokens import seeded

DOT, ADDITIVE, UNTRAINED = "dot product", "additive", "untrained"
_WAYS = {DOT: "dot", ADDITIVE: "additive", UNTRAINED: "dot"}

# The same numbers in double precision, computed in another order.
_EXACT = 1e-10
# More on the one right state than on all others together.
_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Size:
    """How large the experiment is.

    Attributes:
        task: what is learned.
        recipe: how.
        length: of the sequences whose attention is looked at.
        tested: how many there are.
    """

    task: SequenceTask
    recipe: Recipe
    length: int
    tested: int = 256


_QUICK = Size(SequenceTask(8, (2, 6), True), Recipe(32, 220, learning_rate=2e-2), 6)
_FULL = Size(SequenceTask(10, (3, 16), True), Recipe(64, 700, learning_rate=5e-3), 16)


class Alignment(Study):
    """Where a writer of reversed sequences looks, step by step."""

    id = "alignment"
    posts = "VEL"
    claim = (
        "At every step, attention takes the inner products of the decoder's state with the states "
        "of the encoder; their softmax says how much to concentrate on each of them (V)."
    )
    expectation = (
        "The weights are those of the formula, differ from step to step, and when a sequence is "
        "written backwards most of them lie on the anti-diagonal: above .9, where chance is 1 / T."
    )
    experiment = (
        "A GRU with dot-product attention learns to write sequences of 3 to 16 symbols backwards "
        "(quick: 2 to 6). Its weights on sequences of the longest length are compared with the "
        "formula written out, and what step t gives to the state after symbol T - t is averaged. "
        "Beside it: additive attention, and the same network before training."
    )
    correction = (
        "The products are of projections, divided by √d, and what the softmax makes of them is "
        "usually called weights; the scores are what goes in. A product is not needed: the first "
        "attention was additive (Bahdanau et al. 2014). Nor does anything tell the network to "
        "align: it learns where to look because that makes writing easier."
    )

    revised = (
        "A first run, with texts of 2 to 8 symbols, had 0.27 of the weight on the "
        "anti-diagonal: not supported. The verdict between, for weight within one place of "
        "it, was added then, the texts were shortened and the learning rate was raised."
    )

    def run(self, settings: Settings) -> Findings:
        size = _QUICK if settings.quick else _FULL
        rows, maps = [], []
        total = len(_WAYS) * settings.seeds
        for done in range(total):
            seed, way = done // len(_WAYS), list(_WAYS)[done % len(_WAYS)]

            def look(share: float, done: int = done) -> None:
                settings.progress((done + share) / total)

            row, weights = measure(size, way, seed, settings.device, look)
            rows.append(row)
            if not seed:
                maps.append(weights.cpu())
        return findings(rows, maps, size.length)


def measure(
    size: Size,
    way: str,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[Row, Float[Tensor, "step token"]]:
    """Numbers of one network, and its mean weights."""
    recipe = size.recipe
    if way == UNTRAINED:
        recipe = Recipe(recipe.dim, 0, recipe.batch, recipe.learning_rate)
    model = train_translator(size.task, _WAYS[way], recipe, seed, device, progress)
    with seeded(1_000_000 + seed):
        texts = size.task.draw(size.tested, size.length, device)
    weights = alignment(model, texts)
    row: Row = {
        "way": way,
        "seed": seed,
        "length": size.length,
        "anti_diagonal": anti_diagonal(weights),
        "one_later": anti_diagonal(weights, 1),
        "one_earlier": anti_diagonal(weights, -1),
        "change_per_step": change_per_step(weights),
        "formula_error": formula_error(model, texts) if _WAYS[way] == "dot" else 0.0,
        "right_symbols": model.accuracy(*texts)[0],
    }
    return row, weights.mean(0)


@torch.no_grad()
def alignment(model: RecurrentTranslator, texts: Texts) -> Float[Tensor, "batch step token"]:
    """Weights of every step that writes a symbol, the right ones before it given."""
    sources, labels = texts
    features = model.encoder(sources)
    with record_attention(model) as maps:
        model.decoder.logits(features, labels)
    steps = torch.cat(maps["decoder.look"], 2)
    return rearrange(steps, "b 1 step token -> b step token")[:, :-1]  # the last writes the end


def anti_diagonal(weights: Float[Tensor, "batch step token"], beside: int = 0) -> float:
    """Mean weight on the states that a reversal needs, or so many ``beside`` (later) them."""
    mirrored = weights.flip(2).diagonal(-beside, 1, 2)
    return mirrored.sum(-1).mean().item() / weights.shape[1]


def change_per_step(weights: Float[Tensor, "batch step token"]) -> float:
    """How much of the weight moves from one step to the next: 0 nothing, 1 all."""
    return (weights.diff(dim=1).abs().sum(-1) / 2).mean().item()


@torch.no_grad()
def formula_error(model: RecurrentTranslator, texts: Texts) -> float:
    """Largest difference of contexts from the formula, written out state by state.

    For every step: e_j = q · k_j / √d, weights exp e_j / Σ exp e, context Σ weight_j v_j.
    """
    sources, labels = texts
    model = copy.deepcopy(model).double()
    decoder, look = model.decoder, model.decoder.look
    assert look is not None
    features = model.encoder(sources)
    state = decoder.begin(features)
    assert state.image is not None
    keys, values = state.image.keys[:, 0], state.image.values[:, 0]
    worst = 0.0
    for position, symbols in enumerate(decoder.inputs(labels).unbind(1)):
        query = look.to_queries(state.hidden[0])
        products = (query[:, None] * keys).sum(-1) / math.sqrt(keys.shape[-1])
        powers = (products - products.amax(1, keepdim=True)).exp()
        weights = powers / powers.sum(1, keepdim=True)
        by_hand = look.to_output((weights[..., None] * values).sum(1))
        core = look(state.hidden[0][:, None], state.image)[:, 0]
        worst = max(worst, (by_hand - core).abs().max().item())
        decoder.step(symbols, position, state)
    return worst


def findings(
    rows: Sequence[Row], maps: Sequence[Float[Tensor, "step token"]], length: int
) -> Findings:
    """What the weights say about the claim.

    Args:
        rows: of `measure`.
        maps: mean weights of one seed, for every way.
        length: of the sequences.
    """
    mean, interval = mean_interval(_values(rows, DOT, "anti_diagonal"))
    error = max(_values(rows, DOT, "formula_error"))
    untrained = mean_interval(_values(rows, UNTRAINED, "anti_diagonal"))[0]
    change = mean_interval(_values(rows, DOT, "change_per_step"))[0]
    additive = mean_interval(_values(rows, ADDITIVE, "anti_diagonal"))[0]
    later = mean_interval(_values(rows, DOT, "one_later"))[0]
    band = mean_interval(
        [
            sum(float(row[name]) for name in ("one_earlier", "anti_diagonal", "one_later"))
            for row in rows
            if row["way"] == DOT
        ]
    )
    because = (
        f"The contexts are those of the formula to {error:.0e}, and {change:.0%} of the weight "
        f"moves from step to step. {mean:.0%} of it lies on the state right after the symbol that "
        f"a reversal needs (before training {untrained:.0%}, by chance {1 / length:.0%}), "
        f"{band[0]:.0%} there or one beside it (by chance {_band_chance(length):.0%})."
    )
    surprises = []
    if additive > 2 / length:
        surprises.append(
            f"Additive attention, without any inner product, aligns too: {additive:.0%} lies "
            "on the anti-diagonal."
        )
    if later > mean:
        surprises.append(
            f"Most of the weight, {later:.0%}, lies one state later than expected. Perhaps, "
            "as was not tested, because a recurrent state remembers the symbol before its own: "
            "the state after the symbol just written is then easy to find and tells the next "
            "one. A map of attention shows which state was read, not which symbol was meant."
        )
    return Findings(
        rows,
        _summary(rows),
        verdict_of(interval, band[1], error, length),
        f"share of the weight on the anti-diagonal at length {length}, dot products",
        mean,
        interval,
        because,
        lambda figure: _draw(figure, rows, maps, length),
        surprises,
    )


def verdict_of(
    exact: tuple[float, float], band: tuple[float, float], error: float, length: int
) -> Verdict:
    """From where the weight lies, and whether it is that of the formula.

    Args:
        exact: interval of the share on the anti-diagonal.
        band: interval of the share there or one beside it.
        error: of the formula.
        length: of the sequences, which makes the chance.
    """
    if error > _EXACT:
        return Verdict.NOT_SUPPORTED
    if exact[0] > _MOST:
        return Verdict.SUPPORTED
    # It moves along with the writing, but does not say which state is meant.
    follows = band[0] > max(_MOST, 1.5 * _band_chance(length))
    return Verdict.PARTLY if follows else Verdict.NOT_SUPPORTED


def _band_chance(length: int) -> float:
    """Share of even weights on the anti-diagonal and one beside it."""
    return (3 * length - 2) / length**2


def _values(rows: Sequence[Row], way: str, column: str) -> list[float]:
    return [float(row[column]) for row in rows if row["way"] == way]


def _summary(rows: Sequence[Row]) -> list[Row]:
    columns = ("anti_diagonal", "one_later", "one_earlier", "change_per_step", "right_symbols")
    return [
        {
            "attention": way,
            **{name.replace("_", " "): with_interval(_values(rows, way, name)) for name in columns},
        }
        for way in _WAYS
    ]


def _draw(
    figure: Figure,
    rows: Sequence[Row],
    maps: Sequence[Float[Tensor, "step token"]],
    length: int,
) -> None:
    titles = [f"{way[0].upper()}{way[1:]}" for way in _WAYS]
    *sheets, last = panels(figure, [*titles, "On the anti-diagonal"], width=2.9, height=3.1)
    low, high = 0.5, length + 0.5
    for axes, weights in zip(sheets, maps, strict=True):
        image = axes.imshow(
            weights.numpy(), cmap=HEAT, vmin=0, vmax=1, extent=(low, high, high, low)
        )
        axes.grid(visible=False)
        axes.set_xlabel("state after symbol")
        axes.set_ylabel("symbol written")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
    figure.colorbar(image, ax=sheets, label="mean weight (one seed)", shrink=0.75, pad=0.01)
    draw_bars(last, {way: _values(rows, way, "anti_diagonal") for way in _WAYS})
    last.axhline(1 / length, color=INK, linestyle=":", linewidth=1.1)
    last.annotate("chance", (2.5, 1 / length), ha="right", va="bottom", fontsize=8, color=INK)
    last.set_ylim(0, 1)
    last.set_ylabel("share of the weight")
    last.tick_params(axis="x", labelsize=7)
