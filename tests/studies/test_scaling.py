import math

import pytest
import torch
from matplotlib.figure import Figure

from studies import scaling
from studies.study import Row, Table, Verdict
from vit_str.models.attention import ScaledDotProductAttention


def test_jacobian_norm_is_that_of_autograd():
    scores = torch.randn(3, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    explicit = [
        torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row).norm() for row in scores
    ]
    torch.testing.assert_close(scaling.jacobian_norm(scores.softmax(-1)), torch.stack(explicit))


def test_gradient_at_the_query_is_that_of_autograd():
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(1, 4, generator=generator), torch.randn(1, 6, 4, generator=generator)
    for divisor in (1.0, 2.0):
        explicit = torch.autograd.functional.jacobian(
            lambda x, divisor=divisor: (k[0] @ x / divisor).softmax(-1), q[0]
        )
        found = scaling.softmax_numbers(q, k, divisor)["query_gradient_median"]
        assert found == pytest.approx(explicit.norm().item(), rel=1e-4)


def test_raw_attention_is_the_softmax_of_undivided_products():
    q, k, v = torch.randn(3, 2, 1, 5, 8, generator=torch.Generator().manual_seed(0))
    raw = scaling.RawDotProductAttention()(q, k, v)
    torch.testing.assert_close(raw, (q @ k.transpose(-1, -2)).softmax(-1) @ v)
    torch.testing.assert_close(raw, ScaledDotProductAttention()(q * math.sqrt(8), k, v))


def test_variance_is_the_width_and_one_after_the_division():
    table = Table(scaling.measure(0, 500, widths=(2, 64)))
    for width in (2, 64):
        raw, scaled = (
            table.mean("value", measure="variance", width=width, softmax=softmax)
            for softmax in (scaling.RAW, scaling.SCALED)
        )
        assert raw == pytest.approx(width, rel=0.1)
        assert scaled == pytest.approx(raw / width, rel=1e-4)
    assert table == scaling.measure(0, 500, widths=(2, 64))


def test_networks_start_with_equal_weights_but_for_the_small_start():
    scaled, raw, small = (
        scaling.make_network(16, name, 0).body[1].to_queries.weight for name in scaling.TRAINED
    )
    assert scaled.equal(raw)
    torch.testing.assert_close(small, raw / 4)


def trained(scaled: float, raw: float) -> list[Row]:
    values = {scaling.SCALED: scaled, scaling.RAW: raw, scaling.TRAINED[2]: 0.5}
    return [
        {"seed": seed, "width": width, "softmax": name, "measure": "accuracy", "value": value}
        for seed in range(2)
        for width in scaling.TRAINED_WIDTHS
        for name, value in values.items()
    ]


def test_the_verdict_follows_the_links_and_the_last_is_the_gain_in_training():
    measured = [row for seed in range(2) for row in scaling.measure(seed, 200)]
    assert scaling.links(Table(measured + trained(0.9, 0.1))) == [True] * 5
    assert scaling.links(Table(measured + trained(0.5, 0.5))) == [True] * 4 + [False]
    partly = scaling.findings(Table(measured + trained(0.5, 0.5)), 100)
    assert partly.verdict is Verdict.PARTLY
    partly.draw(Figure())
