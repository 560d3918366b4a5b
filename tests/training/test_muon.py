"""Muon: orthogonal updates of the matrices of Transformer blocks, AdamW for the rest."""

import pytest
import torch
from torch import nn
from torch.optim import AdamW, Muon
from torch.utils._python_dispatch import TorchDispatchMode

from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.training.module import RecognizerTraining
from vit_str.training.muon import MuonAdamW, orthogonalize, transformer_matrices

pytestmark = pytest.mark.filterwarnings("default")


def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]


def module(
    muon_learning_rate: float | None = 0.002, depth: int = 1
) -> RecognizerTraining:
    encoder = VisionTransformer(dim=16, depth=depth, heads=2, patch_size=(8, 8))
    decoder = TransformerDecoder(
        charset_size=94, dim=16, depth=1, heads=2, maximum_length=5
    )
    return RecognizerTraining(
        Recognizer(encoder, decoder), muon_learning_rate=muon_learning_rate
    )


@pytest.mark.usefixtures("number_format")
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


@pytest.mark.usefixtures("number_format")
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


def test_matrices_together_are_trained_as_one_by_one(monkeypatch):
    """Square, tall and wide ones, of several shapes and some of one, over several steps."""
    monkeypatch.setenv("VIT_STR_CPU_DTYPE", "float32")
    shapes = [(16, 16), (32, 16), (16, 16), (16, 48), (32, 16), (8, 16)]
    together = parameters(*shapes)
    alone = parameters(*shapes)
    keys_values = {id(matrix) for matrix in together if matrix.shape == (32, 16)}
    optimizer = MuonAdamW(together, keys_values, [], 0.02, 0.05)
    averages = [torch.zeros(shape) for shape in shapes]
    generator = torch.Generator().manual_seed(3)
    for step in range(4):
        optimizer.param_groups[0]["lr"] = rate = 0.02 / (step + 1)
        for ours, theirs, average in zip(together, alone, averages, strict=True):
            ours.grad = torch.randn(ours.shape, generator=generator)
            average.lerp_(ours.grad, 0.05)
            halves = 2 if id(ours) in keys_values else 1
            update = ours.grad.lerp(average, 0.95).chunk(halves)
            moved = [orthogonalize(half[None])[0] for half in update]
            size = 0.2 * max(moved[0].shape) ** 0.5
            with torch.no_grad():
                theirs.mul_(1 - rate * 0.05).sub_(torch.cat(moved), alpha=rate * size)
        optimizer.step()
    for ours, theirs in zip(together, alone, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


class Calls(TorchDispatchMode):
    """Counts operations that a GPU would be given, which views are not."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.count += not operation.is_view
        return operation(*args, **(kwargs or {}))


@pytest.mark.usefixtures("number_format")
def test_more_blocks_are_no_more_calls():
    counts = []
    for depth in (1, 3):
        training = module(depth=depth)
        optimizer = training.configure_optimizers()
        for parameter in training.recognizer.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()  # the first makes the state
        with Calls() as calls:
            optimizer.step()
        counts.append(calls.count)
    assert counts[0] == counts[1]


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
