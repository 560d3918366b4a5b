"""The worked matrices of the posts, computed in every way there is here."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from einops import einsum
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from studies.drawing import panels
from studies.study import Findings, Row, Rows, Settings, Study, Values, Verdict
from studies.training import seeded
from vit_str.models.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
)
from vit_str.reports.style import HEAT

STUDY = Study(
    posts="L, S",
    claim=(
        "Rows of X become queries, keys and values by three matrices; a softmax "
        "over each row of QKᵀ / √d\\_k gives weights that sum to 1, and with V "
        "their weighted means, whose dimension d\\_v need not be d\\_k."
    ),
    expected="All ways of computing it agree to rounding, and every statement about shapes holds.",
    experiment=(
        "The cases of post L in double precision: 3 queries and 4 keys with the row "
        "of weights .2 .1 .4 .3 and d\\_v = 5, two words of 4 dimensions with 4 x 3 "
        "projections, and random matrices of 7 queries and 9 keys (normal, one draw "
        "for each seed), by loops over plain numbers, einsum, the textbook formula "
        "and the fused kernel of our models; and our multi-head attention against a "
        "loop over its heads."
    ),
    correction=(
        "The formula in post L without √d\\_k is the same with queries multiplied "
        "by it. Softmax by row makes rows sum to 1, columns do not. In post S the "
        "input seems to be divided over heads; it is the projections that are."
    ),
    kind="identity",
)

Matrix = Float[Tensor, "row column"]
# Doubles near 1 are 2e-16 apart, and no sum here has more than a few dozen terms.
_ROUNDING = 1e-13
# A computation of the models counts as wrong, not as rounded, beyond this
_NEARLY = 1e-6
_DOUBLE = torch.float64


class Example(NamedTuple):
    """Queries, keys and values, one for each row."""

    queries: Matrix
    keys: Matrix
    values: Matrix


def run(settings: Settings) -> Findings:
    """Compute every example in every way."""
    table = settings.repeat("seed example computed_by difference", measure)
    worst = Values(max(table.values(seed=seed)) for seed in range(settings.seeds))
    holding = statements()
    summary: list[Row] = []
    for part in table.parts("example", *table.levels("example")):
        for way in part.levels("computed_by"):
            largest = max(part.values(computed_by=way))
            row: Row = {
                "example": part[0]["example"],
                "computed by": way,
                "largest difference from the loop": f"{largest:.1e}",
            }
            summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(max(worst), holding),
        measure="largest difference of any two ways, mean over draws",
        values=worst,
        because=(
            f"No way differs from the loop by more than {max(worst):.1e}. Of the "
            f"statements about shapes and roles, {sum(holding.values())} of "
            f"{len(holding)} hold: "
            f"{', '.join(name for name, holds in holding.items() if holds)}."
        ),
        draw=_draw,
    )


def judge(difference: float, holding: dict[str, bool]) -> Verdict:
    """Supported if all computations agree and all statements hold, partly if nearly or some do."""
    exact = difference <= _ROUNDING
    true = all(holding.values())
    return Verdict.graded(exact or (difference < _NEARLY and true), exact and true)


def of_post() -> Example:
    """Three queries, four keys, d_k = 3 and d_v = 5, as in post L.

    The keys are such that the first query has the weights of the post, .2 .1 .4 .3: the scores
    are their logarithms.
    """
    logarithms = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=_DOUBLE).log()
    others = torch.tensor([[0, 1], [1, 0], [1, 1], [0, -1]], dtype=_DOUBLE)
    keys = torch.cat([logarithms[:, None] * math.sqrt(3), others], 1)
    queries = torch.tensor([[1, 0, 0], [0, 2, 1], [1, -1, 2]], dtype=_DOUBLE)
    values = torch.arange(20, dtype=_DOUBLE).reshape(4, 5) % 7
    return Example(queries, keys, values)


def two_words() -> Example:
    """Two words as rows of 4 numbers, times three matrices of 4 x 3, as "Thinking Machines"."""
    words = torch.tensor([[1, 0, 1, 0], [0, 2, 0, 2]], dtype=_DOUBLE)
    to_queries = torch.tensor(
        [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
        dtype=_DOUBLE,
    )
    to_keys = torch.tensor([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]], dtype=_DOUBLE)
    to_values = torch.tensor(
        [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]], dtype=_DOUBLE
    )
    return Example(words @ to_queries, words @ to_keys, words @ to_values)


def drawn(seed: int) -> Example:
    """Normal matrices, 7 queries and 9 keys of 16 numbers, values of 11."""
    draw = partial(
        torch.randn,
        generator=torch.Generator().manual_seed(seed),
        dtype=_DOUBLE,
    )
    return Example(queries=draw(7, 16), keys=draw(9, 16), values=draw(9, 11))


def by_loops(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention number by number, as one would on paper."""
    results = []
    scale = 1 / math.sqrt(keys.shape[1])
    for query in queries.tolist():
        exponentials = [math.exp(_product(query, key) * scale) for key in keys.tolist()]
        weights = [exponential / sum(exponentials) for exponential in exponentials]
        results.append([_product(weights, column) for column in values.T.tolist()])
    return torch.tensor(results, dtype=_DOUBLE)


def _product(row: list[float], column: list[float]) -> float:
    return sum(a * b for a, b in zip(row, column, strict=True))


def by_einsum(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention in the words of einops."""
    scores = einsum(queries, keys, "query d, key d -> query key") / keys.shape[1] ** 0.5
    return einsum(scores.softmax(1), values, "query key, key d -> query d")


def by_formula(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention with the textbook weights that the analysis of the models uses."""
    return attention_weights(queries, keys) @ values


def by_fused_kernel(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention in one kernel, as models compute it."""
    batch = F.scaled_dot_product_attention(queries[None], keys[None], values[None])
    return batch[0]


COMPUTATIONS: Mapping[str, Callable[[Matrix, Matrix, Matrix], Matrix]] = {
    "einsum": by_einsum,
    "textbook formula": by_formula,
    "fused kernel": by_fused_kernel,
}
"""Ways to compute attention that are compared with the loops."""


def measure(seed: int) -> Rows:
    """Largest difference of each computation from the loops, example by example."""
    two = "two words"
    core = "attention core of the models"
    examples = {"3 queries, 4 keys": of_post(), two: two_words(), "drawn": drawn(seed)}
    for name, example in examples.items():
        for way, compute in COMPUTATIONS.items():
            yield (
                seed,
                name,
                way,
                _largest_difference(compute(*example), by_loops(*example)),
            )
    result = ScaledDotProductAttention()(
        *(matrix[None, None] for matrix in examples[two])
    )
    yield seed, two, core, _largest_difference(result[0, 0], by_loops(*examples[two]))
    yield seed, "two heads", core, heads_difference(seed)


def heads_difference(seed: int) -> float:
    """Our multi-head attention against loops over heads that take their columns of projections."""
    with seeded(seed):
        attention = MultiHeadAttention(dim=8, heads=2).double()
        x = torch.randn(1, 6, 8, dtype=_DOUBLE)
    with torch.no_grad():
        queries = attention.to_queries(x)[0]
        keys, values = attention.to_keys_values(x)[0].chunk(2, -1)
        parts = [matrix.chunk(2, -1) for matrix in (queries, keys, values)]
        heads = [by_loops(*matrices) for matrices in zip(*parts, strict=True)]
        return _largest_difference(
            attention(x)[0], attention.to_output(torch.cat(heads, 1))
        )


def _largest_difference(result: Tensor, expected: Tensor) -> float:
    return float((result - expected).abs().max())


def statements() -> dict[str, bool]:
    """What the posts say about shapes and roles, and whether it holds."""
    queries, keys, values = of_post()
    weights = attention_weights(queries, keys)
    result = by_formula(queries, keys, values)
    first = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=_DOUBLE)
    words = two_words()
    scores = words.queries @ words.keys.T
    alone = by_formula(queries[1:2], keys, values)
    same = partial(torch.allclose, rtol=0, atol=_ROUNDING)
    return {
        "3 x 3 times 3 x 4 gives 3 x 4 weights": weights.shape == (3, 4),
        "rows sum to 1": same(weights.sum(1), torch.ones(3, dtype=_DOUBLE)),
        "columns do not": not same(weights.sum(0), torch.ones(4, dtype=_DOUBLE)),
        "the first row is .2 .1 .4 .3": same(weights[0], first),
        "its result is that mean of the values": same(result[0], first @ values),
        "the result has d_v = 5 columns beside d_k = 3": result.shape == (3, 5),
        "many queries at once are as one by one": same(result[1:2], alone),
        "a word need not fit itself best": bool(
            (scores.argmax(1) != torch.arange(2)).any()
        ),
        "other dimensions of queries and keys are refused": _is_refused(
            queries[:, :2], keys
        ),
    }


def _is_refused(queries: Matrix, keys: Matrix) -> bool:
    try:
        attention_weights(queries, keys)
    except (RuntimeError, TypeError):  # of torch; of a check of shapes, where one is on
        return True
    return False


def _draw(figure: Figure) -> None:
    queries, keys, values = of_post()
    shown = {
        "Q": (queries, "d_k", "query"),
        "K": (keys, "d_k", "key"),
        "softmax(QKᵀ / √d_k)": (attention_weights(queries, keys), "key", "query"),
        "V": (values, "d_v", "key"),
        "weighted means": (by_einsum(queries, keys, values), "d_v", "query"),
    }
    sheets = panels(figure, tuple(shown), width=2.3, height=2.4)
    for axes, (matrix, xlabel, ylabel) in zip(sheets, shown.values(), strict=True):
        low = float(matrix.min())
        high = float(matrix.max())
        axes.imshow(matrix.numpy(), cmap=HEAT, vmin=low, vmax=high + (high - low))
        for (y, x), number in np.ndenumerate(matrix.numpy()):
            text = f"{number:.0f}" if float(number).is_integer() else f"{number:.2f}"
            axes.text(x, y, text, ha="center", va="center", fontsize=7)
        for axis, count in ((axes.yaxis, len(matrix)), (axes.xaxis, len(matrix.T))):
            axis.set_ticks(
                range(count), [str(number) for number in range(1, count + 1)]
            )
        axes.grid(visible=False)
        axes.set(xlabel=xlabel, ylabel=ylabel)
