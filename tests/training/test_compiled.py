"""The compiled losses: one graph, and the same losses and gradients as without compiling."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from vit_str import configuration
from vit_str.characters.charset import PADDING
from vit_str.models import (
    ColumnEncoder,
    ConvolutionalEncoder,
    CtcDecoder,
    ParallelDecoder,
    PermutedDecoder,
    PlainConvolutionalEncoder,
    Recognizer,
    RecurrentDecoder,
    RecurrentEncoder,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.decoders import ctc
from vit_str.training.module import RecognizerTraining, has_recurrent_layers
from vit_str.training.parts import build_parts

pytestmark = pytest.mark.filterwarnings("default")

CONFIGS = Path(__file__).parents[2] / "configs"
RECURRENT = {"conv_attention", "conv_seq2seq", "crnn_ctc"}
"""PyTorch does not compile the kernels of recurrent layers: the graph ends at each."""
MOST_BREAKS = 7  # of these, with recurrent layers in the encoder and in the decoder
ALWAYS = {"vit_ctc", "vit_parallel", "vit_tiny_transformer"}
NOT_MODELS = {"recipe", "finetune", "arrange"}
NAMES = sorted({path.stem for path in CONFIGS.glob("*.yaml")} - NOT_MODELS)


@pytest.fixture(autouse=True)
def _compiled_as_outside_of_tests(without_shape_checks: None) -> Iterator[None]:
    yield
    torch._dynamo.reset()


def batch_for(training: RecognizerTraining) -> tuple[Tensor, Tensor, Tensor]:
    """Two images with labels of different lengths, one with a character twice in a row."""
    generator = torch.Generator().manual_seed(1)
    height, width = training.image_size
    shape = (2, 3, height, width)
    images = torch.randint(256, shape, generator=generator, dtype=torch.uint8)
    labels = torch.tensor([[1, 2, 2, 3], [4, PADDING, PADDING, PADDING]])
    tokens = torch.randint(
        5, (2, training.grid[0] * training.grid[1]), generator=generator
    )
    return images, labels, tokens


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in ALWAYS else pytest.mark.slow) for n in NAMES],
)
def test_losses_are_one_graph(name: str) -> None:
    training = build_parts(
        configuration.load(CONFIGS / f"{name}.yaml")
    ).training.train()
    explained = torch._dynamo.explain(training._losses_of_one_length)(
        *batch_for(training)
    )
    reasons = [reason.reason for reason in explained.break_reasons]
    assert has_recurrent_layers(training.recognizer) == (name in RECURRENT)
    if name in RECURRENT:
        assert explained.graph_break_count <= MOST_BREAKS, reasons
    else:
        assert explained.graph_break_count == 0, reasons


def test_graphs_end_at_recurrent_layers_alone() -> None:
    columns = PlainConvolutionalEncoder((8, 32), (1, 1), ((4, 4), (8, 4)))
    encoder = RecurrentEncoder(columns, depth=2)
    recognizer = Recognizer(encoder, CtcDecoder(10, encoder.dim, maximum_length=6))
    training = RecognizerTraining(recognizer, "0123456789").train()
    assert has_recurrent_layers(recognizer)
    explained = torch._dynamo.explain(training._losses_of_one_length)(
        *batch_for(training)
    )
    reasons = [reason.reason for reason in explained.break_reasons]
    assert 0 < explained.graph_break_count <= MOST_BREAKS, reasons


def vit() -> VisionTransformer:
    stem = {"stem_widths": (8,), "stem_depths": (1,)}
    return VisionTransformer(16, 1, 2, patch_size=(8, 8), class_token=True, **stem)


def convolutions() -> ConvolutionalEncoder:
    return ConvolutionalEncoder(widths=(8, 16), depths=(0, 1), strides=((4, 4), (2, 2)))


MODELS: dict[str, Callable[[], Recognizer]] = {
    "transformer": lambda: Recognizer(
        vit(), TransformerDecoder(10, 16, 1, 2, maximum_length=6, draft_grid=(4, 16))
    ),
    "permuted": lambda: Recognizer(vit(), PermutedDecoder(10, 16, 2, maximum_length=6)),
    "parallel": lambda: Recognizer(vit(), ParallelDecoder(10, 16, maximum_length=6)),
    "ctc": lambda: Recognizer(
        ColumnEncoder(convolutions()), CtcDecoder(10, 16, maximum_length=6)
    ),
    "attention": lambda: Recognizer(
        convolutions(), RecurrentDecoder(10, 16, maximum_length=6)
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_compiled_losses_and_gradients_are_those_without_compiling(name: str) -> None:
    torch.manual_seed(0)
    training = RecognizerTraining(MODELS[name](), "0123456789").train()
    batch = batch_for(training)
    compiled = torch.compile(
        training._losses_of_one_length, backend="aot_eager", dynamic=False
    )
    expected = gradients(training, training._losses_of_one_length, batch)
    found = gradients(training, compiled, batch)
    assert found.keys() == expected.keys()
    for parameter, gradient in expected.items():
        torch.testing.assert_close(found[parameter], gradient, msg=parameter)


def test_in_bfloat16_on_a_gpu_it_is_one_graph_too(monkeypatch):
    """With the loss of the draft as a GPU computes it, column by column."""
    torch.manual_seed(0)
    training = RecognizerTraining(MODELS["transformer"](), "0123456789").train()
    batch = batch_for(training)
    exact = gradients(training, training._losses_of_one_length, batch)
    compiled = torch.compile(
        training._losses_of_one_length,
        backend="aot_eager",
        dynamic=False,
        fullgraph=True,
    )
    with torch.autocast("cpu", torch.bfloat16):
        expected = gradients(training, training._losses_of_one_length, batch)
        monkeypatch.setattr(ctc, "_is_on_gpu", lambda _: True)
        found = gradients(training, compiled, batch)
    for name in ("loss", "auxiliary"):
        torch.testing.assert_close(found[name], exact[name], rtol=0.01, atol=0.01)
    assert found.keys() == expected.keys()
    for parameter, gradient in expected.items():
        difference = (found[parameter] - gradient).norm()
        assert difference <= 0.02 * gradient.norm() + 1e-3, parameter


def gradients(
    training: RecognizerTraining,
    losses: Callable[..., tuple[Tensor, Tensor]],
    batch: tuple[Tensor, Tensor, Tensor],
) -> dict[str, Tensor]:
    """Of all parameters that have one, and the two losses."""
    torch.manual_seed(0)  # of the orders that a permuted decoder draws
    training.zero_grad(set_to_none=True)
    loss, auxiliary = losses(*batch)
    (loss + auxiliary).backward()
    named = {n: p.grad for n, p in training.named_parameters() if p.grad is not None}
    return named | {"loss": loss.detach(), "auxiliary": auxiliary.detach()}
