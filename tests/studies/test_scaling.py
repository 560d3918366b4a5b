import math

import pytest
import torch

from vit_str.pages.style import figure, styled
from vit_str.models.attention import ScaledDotProductAttention
from studies import softmax_probe
from studies.scaling import (
    KINDS,
    LECTURE_DRAWS,
    TRAINED_WIDTHS,
    RawDotProductAttention,
    _findings,
    chain,
    judge,
    network,
)
from studies.softmax_probe import WIDTHS, jacobian_norm, measure, softmax_of
from studies.study import Verdict


def test_jacobian_norm_is_that_of_autograd():
    scores = torch.randn(3, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    explicit = [
        torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row).norm() for row in scores
    ]
    torch.testing.assert_close(jacobian_norm(scores.softmax(-1)), torch.stack(explicit))


def test_gradient_at_the_query_is_that_of_autograd():
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(1, 4, generator=generator), torch.randn(1, 6, 4, generator=generator)
    for divisor in (1.0, 2.0):
        explicit = torch.autograd.functional.jacobian(
            lambda x, divisor=divisor: (k[0] @ x / divisor).softmax(-1), q[0]
        )
        found = softmax_of(q, k, divisor).query_gradient_median
        assert found == pytest.approx(explicit.norm().item(), rel=1e-4)


def test_raw_attention_is_the_softmax_of_undivided_products():
    q, k, v = torch.randn(3, 2, 1, 5, 8, generator=torch.Generator().manual_seed(0))
    raw = RawDotProductAttention()(q, k, v)
    torch.testing.assert_close(raw, (q @ k.transpose(-1, -2)).softmax(-1) @ v)
    torch.testing.assert_close(raw, ScaledDotProductAttention()(q * math.sqrt(8), k, v))


def test_variance_is_the_width_and_one_after_the_division(monkeypatch):
    monkeypatch.setattr(softmax_probe, "WIDTHS", (2, 64))
    found = measure(0, 500)
    for width in (2, 64):
        raw, scaled = found[width, "raw"], found[width, "scaled"]
        assert raw.variance == pytest.approx(width, rel=0.1)
        assert scaled.variance == pytest.approx(raw.variance / width, rel=1e-4)
    assert found == measure(0, 500)


def test_the_draw_of_the_lecture_shows_the_opposite():
    largest = {width: torch.tensor(d).softmax(0).max().item() for width, d in LECTURE_DRAWS.items()}
    assert largest[100] == pytest.approx(0.731, abs=1e-3)
    assert largest[2] == pytest.approx(0.826, abs=1e-3)


def test_networks_start_with_equal_weights_but_for_the_small_start():
    scaled, raw, small = (
        network(16, kind, 0).body[1].to_queries.weight
        for kind in ("scaled", "raw", "raw, small start")
    )
    assert scaled.equal(raw)
    torch.testing.assert_close(small, raw / 4)


def test_the_verdict_follows_the_chain():
    assert judge([True, True]) is Verdict.SUPPORTED
    assert judge([True, False]) is Verdict.PARTLY
    assert judge([False, False]) is Verdict.NOT_SUPPORTED


def test_the_last_link_is_the_gain_in_training():
    measured = [measure(0, 20)]
    assert {width for width, _ in measured[0]} == set(WIDTHS)

    def last(scaled: float, raw: float) -> bool:
        return chain(measured, [{(256, "scaled"): scaled, (256, "raw"): raw}])[-1]

    assert last(0.9, 0.1)
    assert not last(0.5, 0.5)


def test_one_table_and_a_figure():
    trained = {(width, kind): 0.5 for width in TRAINED_WIDTHS for kind in KINDS}
    findings = _findings([measure(seed, 20) for seed in range(2)], [trained] * 2, 100)
    assert findings.verdict is Verdict.PARTLY
    assert len({tuple(row) for row in findings.rows}) == 1
    assert len({tuple(row) for row in findings.summary}) == 1
    with styled():
        sheet = figure(7.5, 3)
        findings.draw(sheet)
        sheet.canvas.draw()
