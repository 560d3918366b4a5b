"""What stands in for parts of models while their graphs are traced."""

import torch

from vit_str.export.graphs import ShownAttention
from vit_str.models.attention import ScaledDotProductAttention


def test_attention_that_shows_its_weights_minds_the_mask():
    generator = torch.Generator().manual_seed(0)
    queries, keys, values = (
        torch.randn(2, 3, tokens, 8, generator=generator) for tokens in (4, 5, 5)
    )
    mask = torch.rand(4, 5, generator=generator) > 0.4
    mask[:, 0] = True  # every query has something to attend to
    shown = ShownAttention()
    fused = ScaledDotProductAttention()
    for allowed in (None, mask):
        expected = fused(queries, keys, values, allowed)
        torch.testing.assert_close(shown(queries, keys, values, allowed), expected)
        weights = shown.shown.pop()
        torch.testing.assert_close(weights @ values, expected)
    assert (weights[..., ~mask] == 0).all()
