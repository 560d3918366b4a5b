"""The worked matrices of the posts, computed in every way there is here."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from einops import einsum
from jaxtyping import Float
from torch import Tensor

from vit_str.models.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
)
from studies.drawing import panels
from studies.intervals import mean_interval
from studies.study import Findings, Row, Settings, Study, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Matrix = Float[Tensor, "row column"]
Numbers = list[list[float]]

# Doubles near 1 are 2e-16 apart, and no sum here has more than a few dozen terms.
_ROUNDING = 1e-13
_ALSO = 1e-6  # a way of the models counts as wrong, not as rounded, beyond this


class Example(NamedTuple):
    """Queries, keys and values, one for each row."""

    queries: Matrix
    keys: Matrix
    values: Matrix


class WorkedExample(Study):
    """loop = einops = textbook formula = fused kernel, on the matrices of the posts."""

    id = "worked-example"
    posts = "LS"
    claim = (
        "Rows of X become queries, keys and values by three matrices; a softmax over each row of "
        "QKᵀ / √d_k gives weights that sum to 1, and with V their weighted means, whose dimension "
        "d_v need not be d_k."
    )
    expectation = (
        "All ways of computing it agree to rounding, and every statement about shapes holds."
    )
    experiment = (
        "The cases of post L in double precision: 3 queries and 4 keys with the row of weights .2 "
        ".1 .4 .3 and d_v = 5, two words of 4 dimensions with 4 x 3 projections, and random "
        "matrices of 7 queries and 9 keys (normal, one draw for each seed), by loops over plain "
        "numbers, einsum, the textbook formula and the fused kernel of our models; and our "
        "multi-head attention against a loop over its heads."
    )
    correction = (
        "The formula in post L without √d_k is the same with queries multiplied by it. Softmax by "
        "row makes rows sum to 1, columns do not. In post S the input seems to be divided over "
        "heads; it is the projections that are."
    )

    def run(self, settings: Settings) -> Findings:
        """Compute every example in every way."""
        rows: list[Row] = []
        for seed in range(settings.seeds):
            rows += rows_of(seed)
            settings.progress((seed + 1) / settings.seeds)
        worst = [
            max(float(row["difference"]) for row in rows if row["seed"] == seed)
            for seed in range(settings.seeds)
        ]
        value, interval = mean_interval(worst)
        holding = statements()
        return Findings(
            rows=rows,
            summary=_summary(rows),
            verdict=verdict(max(worst), holding),
            measure="largest difference of any two ways, mean over draws",
            value=value,
            interval=interval,
            because=(
                f"No way differs from the loop by more than {max(worst):.1e}. Of the statements "
                f"about shapes and roles, {sum(holding.values())} of {len(holding)} hold: "
                f"{', '.join(name for name, holds in holding.items() if holds)}."
            ),
            draw=_draw,
        )


def verdict(difference: float, holding: dict[str, bool]) -> Verdict:
    """Supported if all ways agree and all statements hold, partly if the first only."""
    if difference > _ROUNDING:
        return (
            Verdict.PARTLY
            if difference < _ALSO and all(holding.values())
            else Verdict.NOT_SUPPORTED
        )
    return Verdict.SUPPORTED if all(holding.values()) else Verdict.PARTLY


def of_post() -> Example:
    """Three queries, four keys, d_k = 3 and d_v = 5, as in post L.

    The keys are such that the first query has the weights of the post, .2 .1 .4 .3: the scores
    are their logarithms.
    """
    logarithms = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=torch.float64).log()
    others = torch.tensor([[0, 1], [1, 0], [1, 1], [0, -1]], dtype=torch.float64)
    keys = torch.cat([logarithms[:, None] * math.sqrt(3), others], 1)
    queries = torch.tensor([[1, 0, 0], [0, 2, 1], [1, -1, 2]], dtype=torch.float64)
    values = torch.arange(20, dtype=torch.float64).reshape(4, 5) % 7
    return Example(queries, keys, values)


def two_words() -> Example:
    """Two words as rows of 4 numbers, times three matrices of 4 x 3, as "Thinking Machines"."""
    words = torch.tensor([[1, 0, 1, 0], [0, 2, 0, 2]], dtype=torch.float64)
    to_queries = torch.tensor([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]], dtype=torch.float64)
    to_keys = torch.tensor([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]], dtype=torch.float64)
    to_values = torch.tensor([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]], dtype=torch.float64)
    return Example(words @ to_queries, words @ to_keys, words @ to_values)


def drawn(seed: int) -> Example:
    """Normal matrices, 7 queries and 9 keys of 16 numbers, values of 11."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((7, 16), (9, 16), (9, 11))
    return Example(
        *(torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    )


def by_loops(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention number by number, as one would on paper."""
    found = [
        _one_query(query, keys.tolist(), values.tolist(), 1 / math.sqrt(keys.shape[1]))
        for query in queries.tolist()
    ]
    return torch.tensor(found, dtype=torch.float64)


def _one_query(query: list[float], keys: Numbers, values: Numbers, scale: float) -> list[float]:
    scores = [sum(q * k for q, k in zip(query, key, strict=True)) * scale for key in keys]
    exponentials = [math.exp(score) for score in scores]
    weights = [each / sum(exponentials) for each in exponentials]
    return [
        sum(weight * value[column] for weight, value in zip(weights, values, strict=True))
        for column in range(len(values[0]))
    ]


def by_einsum(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention in the words of einops."""
    scores = einsum(queries, keys, "query d, key d -> query key") / keys.shape[1] ** 0.5
    return einsum(scores.softmax(1), values, "query key, key d -> query d")


def by_formula(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention with the textbook weights that the analysis of the models uses."""
    return attention_weights(queries, keys) @ values


def by_kernel(queries: Matrix, keys: Matrix, values: Matrix) -> Matrix:
    """Attention by the fused kernel that the models call when they read."""
    found = F.scaled_dot_product_attention(queries[None], keys[None], values[None])
    return found[0]


WAYS: dict[str, Callable[[Matrix, Matrix, Matrix], Matrix]] = {
    "einsum": by_einsum,
    "textbook formula": by_formula,
    "fused kernel": by_kernel,
}


def rows_of(seed: int) -> list[Row]:
    """Largest difference of each way from the loops, example by example."""
    examples = {
        "3 queries, 4 keys": of_post(),
        "two words": two_words(),
        "drawn": drawn(seed),
    }
    rows: list[Row] = []
    for name, example in examples.items():
        expected = by_loops(*example)
        for way, compute in WAYS.items():
            difference = float((compute(*example) - expected).abs().max())
            rows.append({"seed": seed, "example": name, "way": way, "difference": difference})
    core = {"two words": core_difference(), "two heads": heads_difference(seed)}
    for name, difference in core.items():
        way = "attention core of the models"
        rows.append({"seed": seed, "example": name, "way": way, "difference": difference})
    return rows


def core_difference() -> float:
    """The module that every attention of the models goes through, against the loops."""
    example = two_words()
    found = ScaledDotProductAttention()(*(each[None, None] for each in example))[0, 0]
    return float((found - by_loops(*example)).abs().max())


def heads_difference(seed: int) -> float:
    """Our multi-head attention against loops over heads that take their columns of projections."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(dim=8, heads=2).double()
        x = torch.randn(1, 6, 8, dtype=torch.float64)
    with torch.no_grad():
        queries = attention.to_queries(x)[0]
        keys, values = attention.to_keys_values(x)[0].chunk(2, -1)
        heads = [
            by_loops(queries[:, part], keys[:, part], values[:, part])
            for part in (slice(0, 4), slice(4, 8))
        ]
        expected = attention.to_output(torch.cat(heads, 1))
        return float((attention(x)[0] - expected).abs().max())


def statements() -> dict[str, bool]:
    """What the posts say about shapes and roles, and whether it holds."""
    queries, keys, values = example = of_post()
    weights = attention_weights(queries, keys)
    result = by_formula(*example)
    first = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=torch.float64)
    words = two_words()
    scores = words.queries @ words.keys.T
    one = by_formula(queries[1:2], keys, values)
    return {
        "3 x 3 times 3 x 4 gives 3 x 4 weights": weights.shape == (3, 4),
        "rows sum to 1": _same(weights.sum(1), torch.ones(3, dtype=torch.float64)),
        "columns do not": not _same(weights.sum(0), torch.ones(4, dtype=torch.float64)),
        "the first row is .2 .1 .4 .3": _same(weights[0], first),
        "its result is that mean of the values": _same(result[0], first @ values),
        "the result has d_v = 5 columns beside d_k = 3": result.shape == (3, 5),
        "many queries at once are as one by one": _same(result[1:2], one),
        "a word need not fit itself best": bool((scores.argmax(1) != torch.arange(2)).any()),
        "other dimensions of queries and keys are refused": _is_refused(queries[:, :2], keys),
    }


def _same(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() < _ROUNDING)


def _is_refused(queries: Matrix, keys: Matrix) -> bool:
    try:
        attention_weights(queries, keys)
    except (RuntimeError, TypeError):  # of torch; of a check of shapes, where one is on
        return True
    return False


def _summary(rows: list[Row]) -> list[Row]:
    examples = dict.fromkeys((str(row["example"]), str(row["way"])) for row in rows)
    return [
        {
            "example": example,
            "computed by": way,
            "largest difference from the loop": "{:.1e}".format(
                max(
                    float(row["difference"])
                    for row in rows
                    if (row["example"], row["way"]) == (example, way)
                )
            ),
        }
        for example, way in examples
    ]


def _draw(figure: "Figure") -> None:
    queries, keys, values = example = of_post()
    shown = {
        "Q": (queries, "d_k", "query"),
        "K": (keys, "d_k", "key"),
        "softmax(QKᵀ / √d_k)": (attention_weights(queries, keys), "key", "query"),
        "V": (values, "d_v", "key"),
        "weighted means": (by_formula(*example), "d_v", "query"),
    }
    for axes, (matrix, column, row) in zip(
        panels(figure, tuple(shown), width=2.3, height=2.4), shown.values(), strict=True
    ):
        _draw_matrix(axes, matrix)
        axes.set(xlabel=column, ylabel=row)


def _draw_matrix(axes: "Axes", matrix: Matrix) -> None:
    from vit_str.pages.style import HEAT

    height, width = matrix.shape
    low, high = float(matrix.min()), float(matrix.max())
    axes.imshow(matrix.numpy(), cmap=HEAT, vmin=low, vmax=high + (high - low))
    for place, number in enumerate(matrix.flatten().tolist()):
        text = f"{number:.0f}" if float(number).is_integer() else f"{number:.2f}"
        axes.text(place % width, place // width, text, ha="center", va="center", fontsize=7)
    axes.set_xticks(range(width), [str(each + 1) for each in range(width)])
    axes.set_yticks(range(height), [str(each + 1) for each in range(height)])
    axes.grid(visible=False)
