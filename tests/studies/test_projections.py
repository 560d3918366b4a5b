import pytest
import torch
from matplotlib.figure import Figure

from studies.projections import (
    LENGTH,
    PROJECTIONS,
    UNEVEN,
    WIDTHS,
    SharedAttention,
    findings,
    make_network,
    own_weight,
)
from studies.study import Table, Verdict
from vit_str.models.attention import record_attention


def weight(kind: str, width: int = 64) -> float:
    return own_weight(kind, width, torch.Generator().manual_seed(0), 20)


def test_weight_of_a_token_on_itself():
    assert weight("none") == pytest.approx(0.97, abs=0.02)
    assert weight("tied") == pytest.approx(0.94, abs=0.04)
    assert weight("separate") == pytest.approx(1 / LENGTH, abs=0.02)
    assert weight("one") == pytest.approx(1 / LENGTH, abs=0.02)
    assert weight("none", 4) < 0.4 < weight("none", 16)
    assert weight(UNEVEN) < weight("none")


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
    net = make_network("none", 0)
    net(torch.randint(16, (2, 16, 1))).square().sum().backward()
    assert net.embed[0].weight.grad.abs().max() > 0


@pytest.mark.parametrize(
    ("dominates", "freed", "none", "separate", "verdict"),
    [
        (0.97, 0.03, 0.06, 0.99, Verdict.SUPPORTED),
        (0.97, 0.03, 0.5, 0.99, Verdict.PARTLY),
        (0.1, 0.5, 0.9, 0.8, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_verdict_follows_weights_and_accuracies(dominates, freed, none, separate, verdict):
    weights = dict.fromkeys((*PROJECTIONS, UNEVEN), 0.4) | {"none": dominates, "separate": freed}
    accuracies = dict.fromkeys(PROJECTIONS, 0.4) | {"none": none, "separate": separate}
    table = Table(
        {"seed": seed, "projections": name, "width": width, "measure": measure, "value": value}
        for seed in range(3)
        for measure, values, widths in (
            ("own weight", weights, WIDTHS),
            ("accuracy", accuracies, (64,)),
        )
        for name, value in values.items()
        for width in widths
    )
    found = findings(table, 100)
    assert found.verdict is verdict
    found.draw(Figure())
