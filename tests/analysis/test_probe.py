"""The probe passes on what the model computes."""

import pytest
import torch
from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import probe
from vit_str.analysis.statistics import METRICS, AttentionStatistics
from vit_str.models import VisionTransformer
from vit_str.models.attention import record_attention


def encoder(**options: object) -> VisionTransformer:
    return VisionTransformer(32, 3, 4, (16, 48), (4, 8), **options).eval()


@pytest.mark.parametrize("options", [{}, {"class_token": True, "registers": 2}])
def test_statistics_of_a_running_encoder_are_those_of_its_maps(options):
    model, images = encoder(**options), torch.randn(5, 3, 16, 48)
    grid = TokenGrid.of(model)
    probed, expected = AttentionStatistics(grid), AttentionStatistics(grid)
    with torch.no_grad(), record_attention(model) as maps, probe(model, probed.update):
        with_probe = model(images)
    for name, (weights,) in maps.items():
        expected.update_maps(name, weights)
    assert len(probed.layers) == 3
    for metric in METRICS:
        for found, value in zip(
            probed.values(metric), expected.values(metric), strict=True
        ):
            torch.testing.assert_close(found, value, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        assert torch.equal(with_probe, model(images))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same_numbers():
    model, images = encoder(), torch.randn(2, 3, 16, 48)
    here, there = (AttentionStatistics(TokenGrid.of(model)) for _ in range(2))
    with torch.no_grad(), probe(model, here.update):
        model(images)
    model = model.cuda()
    with torch.no_grad(), probe(model, there.update):
        model(images.cuda())
    for metric in METRICS:
        for found, value in zip(there.values(metric), here.values(metric), strict=True):
            torch.testing.assert_close(found, value, atol=1e-3, rtol=1e-3)


def test_the_hooks_are_gone_afterwards():
    model = encoder()
    with pytest.raises(RuntimeError, match="stop"), probe(model, lambda *_: None):
        raise RuntimeError("stop")
    assert not any(module._forward_hooks for module in model.modules())


def test_nothing_to_probe():
    with (
        pytest.raises(ValueError, match="supported"),
        probe(nn.Linear(2, 2), lambda *_: None),
    ):
        pass
    with (
        pytest.raises(ValueError, match="run the model"),
        probe(encoder(), lambda *_: None),
    ):
        pass
