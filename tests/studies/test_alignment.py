import pytest
import torch
from matplotlib.figure import Figure

from studies import Verdict
from studies.alignment import (
    ADDITIVE,
    DOT,
    UNTRAINED,
    alignment,
    anti_diagonal,
    change_per_step,
    findings,
    formula_error,
    judge,
)
from studies.sequences import RecurrentTranslator, SequenceTask
from studies.study import Table

TASK = SequenceTask(4, (2, 5), True)
MIRROR = torch.eye(5).flip(1)[None]


def test_a_mirror_lies_on_the_anti_diagonal() -> None:
    assert anti_diagonal(MIRROR) == 1
    assert anti_diagonal(torch.full((2, 5, 5), 0.2)) == pytest.approx(0.2)
    late = MIRROR.roll(1, 1)  # step t looks where step t - 1 should have
    assert anti_diagonal(late) == 0
    assert anti_diagonal(late, 1) == pytest.approx(4 / 5)  # the first has nothing later
    assert anti_diagonal(late, -1) == 0


def test_weights_that_jump_change_wholly_and_even_ones_do_not() -> None:
    assert change_per_step(MIRROR) == 1
    assert change_per_step(torch.full((2, 5, 5), 0.2)) == 0


def test_weights_are_of_the_steps_that_write_symbols() -> None:
    torch.manual_seed(0)
    model = RecurrentTranslator(TASK, 8, "dot", 10)
    weights = alignment(model, TASK.draw(3, 5))
    assert weights.shape == (3, 5, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5))


def test_the_formula_is_that_of_the_core() -> None:
    torch.manual_seed(0)
    model = RecurrentTranslator(TASK, 8, "dot", 10)
    assert model.decoder.look is not None
    texts = TASK.draw(3, 5)
    assert formula_error(model, texts) < 1e-12
    # The check would see a temperature that is not √d.
    look = model.decoder.look
    plain = look.to_queries.forward
    look.attend.forward = lambda q, k, v, mask=None: (q @ k.mT).softmax(-1) @ v  # type: ignore[method-assign]
    assert plain is not None and formula_error(model, texts) > 1e-6


def rows(exact: float, later: float, error: float = 0.0) -> Table:
    return Table(
        {
            "attention": way,
            "seed": seed,
            "length": 8,
            "anti_diagonal": exact + seed / 1000,
            "one_later": later,
            "one_earlier": 0.01,
            "change_per_step": 0.9,
            "formula_error": error,
            "right_symbols": 1.0,
        }
        for way in (DOT, ADDITIVE, UNTRAINED)
        for seed in range(3)
    )


def test_the_verdict_follows_from_the_numbers() -> None:
    maps = dict.fromkeys((DOT, ADDITIVE, UNTRAINED), MIRROR[0])
    assert findings(rows(0.9, 0.05), maps).verdict is Verdict.SUPPORTED
    partly = findings(rows(0.2, 0.7), maps)
    assert partly.verdict is Verdict.PARTLY
    assert any("one state later" in text for text in partly.surprises)
    partly.draw(Figure(layout="constrained"))
    assert findings(rows(0.13, 0.12), maps).verdict is Verdict.NOT_SUPPORTED
    assert findings(rows(0.9, 0.05, error=1e-3), maps).verdict is Verdict.NOT_SUPPORTED
    assert judge((0.3, 0.4), (0.45, 0.6), 0, 8) is Verdict.NOT_SUPPORTED
