import math
from itertools import pairwise

import pytest
import torch
from matplotlib.figure import Figure
from torch import nn

from studies import Verdict, path_length
from studies.adding import SOLVED
from studies.study import Table

TINY = path_length.Training(4, 3, 8, dim=8)


def test_gradients_of_a_fading_sum_fade() -> None:
    """The state h = 0.5 h + x forgets by a factor of two a step, which the norms must say."""

    def read(x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[1])
        powers = 0.5 ** (places[:, None] - places)
        return powers.tril().to(x.dtype) @ x

    norms = path_length.gradient_norms(read, torch.randn(2, 6, 4).double())
    ratios = [b / a for a, b in pairwise(norms)]
    assert ratios == pytest.approx([0.5] * 5)


def test_nobody_feels_what_comes_after() -> None:
    norms = path_length.gradient_norms(nn.Identity(), torch.randn(2, 6, 4).double())
    assert norms[0] > 0 and norms[1:] == [0.0] * 5


def test_attention_is_flat_and_a_gru_is_not() -> None:
    changes = {}
    for name in (path_length.ATTENTION, "gru"):
        logs = [float(row["value"]) for row in path_length.gradient_rows(name, 0, steps=30)]
        changes[name] = logs[29] - logs[1]
    assert abs(changes[path_length.ATTENTION]) < 0.15
    assert changes["gru"] < -3


def made_up(near: float, far: float, inside: float, outside: float) -> Table:
    return Table(
        {
            "network": name,
            "seed": seed,
            "measure": measure,
            "trained": trained,
            "at": at,
            "value": value * (1 + seed / 100),
        }
        for name in path_length.NETS
        for seed in range(3)
        for measure, trained, at, value in (
            (path_length.GRADIENT, 0, 1, math.log10(near)),
            (path_length.GRADIENT, 0, 9, math.log10(far)),
            (path_length.ERROR, 5, 5, inside),
            (path_length.ERROR, 5, 20, outside),
        )
    )


def test_the_verdict_follows_from_the_numbers() -> None:
    assert path_length.findings(made_up(1, 1, 1e-3, 1e-3)).verdict is Verdict.SUPPORTED
    partly = path_length.findings(made_up(1, 1, 1e-3, 1))
    assert partly.verdict is Verdict.PARTLY
    partly.draw(Figure())
    assert path_length.findings(made_up(1, 1e-3, 1e-3, 1e-3)).verdict is Verdict.NOT_SUPPORTED
    assert path_length.findings(made_up(1, 1, 0.1, 0.1)).verdict is Verdict.NOT_SUPPORTED
    assert path_length.judge((-0.1, 0.1), 0, SOLVED) is Verdict.PARTLY
