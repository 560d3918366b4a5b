import pytest
import torch

from vit_str.pages.style import figure, styled
from vit_str.models.attention import record_attention
from studies.projections import (
    KINDS,
    LENGTH,
    UNEVEN,
    WIDTHS,
    SharedAttention,
    _findings,
    judge,
    network,
    own_weight,
)
from studies.study import Verdict


def weight(kind: str, width: int = 64) -> float:
    return own_weight(kind, width, torch.Generator().manual_seed(0), 20)


def test_weight_of_a_token_on_itself():
    assert weight("none") == pytest.approx(0.97, abs=0.02)
    assert weight("tied") == pytest.approx(0.94, abs=0.04)
    assert weight("separate") == pytest.approx(1 / LENGTH, abs=0.02)
    assert weight("one") == pytest.approx(1 / LENGTH, abs=0.02)
    assert weight("none", 4) < 0.4 < weight("none", 16)
    assert weight(UNEVEN) < weight("none")
    assert weight("none") == weight("none")


@pytest.mark.parametrize("kind", ["none", "tied", "one", "separate"])
def test_attention_without_projections_is_the_formula(kind):
    torch.manual_seed(0)
    attention = SharedAttention(8, kind)
    x = torch.randn(2, 5, 8)
    core = attention.attention
    queries = x if kind in ("none", "one") else core.to_queries(x)
    keys = queries if kind in ("none", "tied") else core.to_keys_values(x)[..., :8]
    scores = queries @ keys.transpose(1, 2)
    with record_attention(attention) as maps:
        attention(x)
    torch.testing.assert_close(maps["attention"][0][:, 0], (scores / 8**0.5).softmax(-1))
    # Scores of a shared projection are symmetric: what is missing is freedom.
    symmetric = torch.allclose(scores, scores.transpose(1, 2), atol=1e-5)
    assert symmetric == (kind in ("none", "tied"))


def test_the_gradient_reaches_the_embedding_without_projections():
    net = network("none", 0)
    net(torch.randint(16, (2, 16, 1))).square().sum().backward()
    assert net.embed[0].weight.grad.abs().max() > 0


def test_verdicts():
    def verdict(dominates: float, freed: float, none: float, separate: float) -> Verdict:
        own = [{("none", 64): dominates, ("separate", 64): freed}] * 3
        return judge(own, [{"none": none, "separate": separate}] * 3)

    assert verdict(0.97, 0.03, 0.06, 0.99) is Verdict.SUPPORTED
    assert verdict(0.97, 0.03, 0.5, 0.99) is Verdict.PARTLY
    assert verdict(0.1, 0.5, 0.9, 0.8) is Verdict.NOT_SUPPORTED


def test_one_table_and_a_figure():
    own = [{(kind, width): 0.5 for kind in (*KINDS, UNEVEN) for width in WIDTHS}] * 2
    findings = _findings(own, [dict.fromkeys(KINDS, 0.5)] * 2, 100)
    assert len({tuple(row) for row in findings.rows}) == 1
    assert len({tuple(row) for row in findings.summary}) == 1
    with styled():
        sheet = figure(7.5, 3)
        findings.draw(sheet)
        sheet.canvas.draw()
