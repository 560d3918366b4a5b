import math

import pytest
import torch
from torch import nn

from vit_str.models.attention import (
    KeyValueCache,
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
    record_attention,
)


def test_weights_are_the_textbook_formula():
    """Worked by hand: two keys, scores 1/sqrt(2) and 0."""
    queries = torch.tensor([[1.0, 0.0]])
    keys = torch.tensor([[1.0, 5.0], [0.0, 7.0]])
    first = math.exp(1 / math.sqrt(2)) / (math.exp(1 / math.sqrt(2)) + 1)
    torch.testing.assert_close(
        attention_weights(queries, keys), torch.tensor([[first, 1 - first]])
    )


@pytest.mark.parametrize("masked", [False, True])
def test_fused_equals_explicit(masked):
    queries, keys, values = torch.randn(3, 2, 4, 7, 8).unbind(0)
    mask = torch.ones(7, 7, dtype=torch.bool).tril() if masked else None
    attend = ScaledDotProductAttention()
    fused = attend(queries, keys, values, mask)
    explicit = attention_weights(queries, keys, mask) @ values
    torch.testing.assert_close(fused, explicit)
    training = attend(queries.clone().requires_grad_(), keys, values, mask)
    torch.testing.assert_close(training, explicit)


def test_agrees_with_the_attention_of_torch():
    ours = MultiHeadAttention(16, 4)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.to_queries.weight, ours.to_keys_values.weight])
        )
        theirs.in_proj_bias.copy_(
            torch.cat([ours.to_queries.bias, ours.to_keys_values.bias])
        )
        theirs.out_proj.weight.copy_(ours.to_output.weight)
        theirs.out_proj.bias.copy_(ours.to_output.bias)
    x = torch.randn(2, 5, 16)
    source = torch.randn(2, 9, 16)
    torch.testing.assert_close(
        ours(x, ours.project_keys_values(source)), theirs(x, source, source)[0]
    )


def test_cache_gives_what_a_full_pass_gives():
    attention = MultiHeadAttention(16, 2)
    x = torch.randn(3, 6, 16)
    full = attention(x, mask=torch.ones(6, 6, dtype=torch.bool).tril())
    cache = KeyValueCache(capacity=6)
    for position in range(6):
        token = x[:, position : position + 1]
        new = attention.project_keys_values(token)
        cache.append(new)
        assert cache.length == position + 1
        step = attention(token, cache.keys_values)
        torch.testing.assert_close(step[:, 0], full[:, position])


def test_recorder_changes_nothing_and_hears_everything():
    attention = MultiHeadAttention(16, 2).eval()
    x = torch.randn(3, 6, 16)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    model = nn.ModuleDict({"inner": attention})
    silent = attention(x, mask=mask)
    with record_attention(model) as maps:
        torch.testing.assert_close(attention(x, mask=mask), silent, rtol=0, atol=0)
    assert list(maps) == ["inner"]
    (weights,) = maps["inner"]
    assert weights.shape == (3, 2, 6, 6)
    assert (weights[..., ~mask] == 0).all()
    attention(x)
    assert len(maps["inner"]) == 1, "the recorder must be gone"


def test_an_empty_recording_is_an_error():
    with (
        pytest.raises(ValueError, match="no attention was recorded"),
        record_attention(MultiHeadAttention(16, 2)),
    ):
        pass
    with (
        pytest.raises(ValueError, match="holds no attention"),
        record_attention(nn.Linear(2, 2)),
    ):
        pass


def test_dim_must_be_a_multiple_of_heads():
    with pytest.raises(ValueError, match="multiple of heads"):
        MultiHeadAttention(10, 3)
