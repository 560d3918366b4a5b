"""Muon: orthogonal updates of the matrices of Transformer blocks, AdamW for the rest."""

import pytest
import torch
from torch import nn
from torch.optim import AdamW, Muon

from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.training.module import RecognizerTraining
from vit_str.training.muon import MuonAdamW, transformer_matrices

pytestmark = pytest.mark.filterwarnings("default")


def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]


def module(muon_learning_rate: float | None = 0.002) -> RecognizerTraining:
    encoder = VisionTransformer(dim=16, depth=1, heads=2, patch_size=(8, 8))
    decoder = TransformerDecoder(
        charset_size=94, dim=16, depth=1, heads=2, maximum_length=5
    )
    return RecognizerTraining(
        Recognizer(encoder, decoder), muon_learning_rate=muon_learning_rate
    )


@pytest.mark.parametrize("shape", [(16, 16), (32, 16), (16, 48)])
def test_single_matrices_are_trained_as_torch_trains_them(shape):
    ours = parameters(shape)[0]
    theirs = parameters(shape)[0]
    vectors = parameters((4,), (4,))
    first = MuonAdamW([ours], [], [{"params": vectors[:1], "lr": 1e-3}], 2e-3, 0.05)
    second = Muon([theirs], 2e-3, 0.05, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    third = AdamW(vectors[1:], 1e-3, betas=(0.9, 0.98))
    before = ours.detach().clone()
    vectors[1].data.copy_(vectors[0].data)
    for seed in range(5):
        gradient = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        ours.grad = gradient.clone()
        theirs.grad = gradient.clone()
        vectors[0].grad = vectors[1].grad = gradient[0, :4].clone()
        for optimizer in (first, second, third):
            optimizer.step()
    # Theirs computes in bfloat16, whatever the processor.
    change = (ours - before).norm()
    assert (ours - theirs).norm() < 0.02 * change
    torch.testing.assert_close(vectors[0], vectors[1])


def test_keys_and_values_are_two_matrices():
    apart = parameters((8, 8), (8, 8))
    together = parameters((16, 8))
    together[0].data.copy_(torch.cat([matrix.data for matrix in apart]))
    gradients = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(2))
    gradients[1] *= 100  # as one matrix, the second half would be all of the update
    for matrix, gradient in zip(apart, gradients, strict=True):
        matrix.grad = gradient.clone()
    together[0].grad = gradients.flatten(0, 1)
    MuonAdamW(apart, [], [], 0.1, 0.0).step()
    MuonAdamW(together, [id(together[0])], [], 0.1, 0.0).step()
    torch.testing.assert_close(together[0], torch.cat(apart))


def test_matrices_of_blocks_and_nothing_else():
    training = module()
    matrices, stacked = transformer_matrices(training.recognizer)
    names = {
        id(parameter): name
        for name, parameter in training.recognizer.named_parameters()
    }
    expected = {
        name
        for name, parameter in training.recognizer.named_parameters()
        if "blocks" in name and parameter.ndim == 2
    }
    assert {names[id(matrix)] for matrix in matrices} == expected
    assert {names[one] for one in stacked} == {
        name for name in expected if "keys_values" in name
    }


@pytest.mark.parametrize("rate", [0.002, None])
def test_every_parameter_has_one_optimizer(rate):
    training = module(rate)
    optimizer = training.configure_optimizers()
    groups = optimizer.param_groups
    assert isinstance(optimizer, MuonAdamW) == (rate is not None) == (len(groups) == 3)
    optimized = [id(parameter) for group in groups for parameter in group["params"]]
    trained = {id(p) for p in training.parameters() if p.requires_grad or not p.numel()}
    trained -= {id(p) for p in training.average.parameters()}
    assert len(optimized) == len(set(optimized))
    assert set(optimized) == trained


def test_another_optimizer_than_that_of_the_checkpoint_is_refused(run, capsys):
    run("run", "--trainer.max_steps", "2")
    run("run", "--trainer.max_steps", "4", "--model.muon_learning_rate", "null", code=2)
    assert "--model.muon_learning_rate" in capsys.readouterr().err.splitlines()[-1]
