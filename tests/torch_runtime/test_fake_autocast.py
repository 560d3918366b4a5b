"""Training, reading and analysis in bfloat16 on a GPU that is not there: which types come out.

Tensors of ``FakeTensorMode`` have a device, a shape and a type and hold nothing, so that a product
of two types or of two devices is an error, as it would be on a GPU.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import probe
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.models import (
    ColumnEncoder,
    ConvolutionalEncoder,
    CtcDecoder,
    Encoder,
    LineTransformer,
    ParallelDecoder,
    PermutedDecoder,
    PlainConvolutionalEncoder,
    Recognizer,
    RecurrentDecoder,
    RecurrentEncoder,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.torch_runtime import engine
from vit_str.torch_runtime.engine import generate
from vit_str.training.module import RecognizerTraining

# Copies of modules look at where their values would be.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Accessing the data pointer"),
    pytest.mark.usefixtures("without_shape_checks"),
]

GPU = torch.device("cuda", 0)
BATCH = 3
LONGEST = 5
DIM = 24


@contextmanager
def autocast() -> Iterator[None]:
    """``torch.autocast("cuda", torch.bfloat16)``, which does nothing where there is no GPU."""
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    torch.set_autocast_enabled("cuda", True)
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.clear_autocast_cache()


def vit() -> VisionTransformer:
    stem = {"stem_widths": (8,), "stem_depths": (1,)}
    return VisionTransformer(DIM, 2, 2, patch_size=(8, 8), class_token=True, **stem)


def convolutions() -> ConvolutionalEncoder:
    return ConvolutionalEncoder(
        widths=(8, DIM), depths=(1, 1), strides=((4, 4), (2, 2))
    )


def plain_convolutions() -> PlainConvolutionalEncoder:
    return PlainConvolutionalEncoder((8, 16, DIM), (1, 1, 1), ((4, 2), (4, 2), (2, 1)))


def line() -> LineTransformer:
    return LineTransformer(DIM, 2, 2)


ENCODERS: dict[str, Callable[[], Encoder]] = {
    "vit": vit,
    "convolutions": convolutions,
    "plain convolutions": plain_convolutions,
    "columns": lambda: ColumnEncoder(convolutions()),
    "line": line,
    "recurrent": lambda: RecurrentEncoder(convolutions()),
}
DECODERS: dict[str, Callable[[Encoder], nn.Module]] = {
    "transformer": lambda of: TransformerDecoder(
        11, of.dim, 2, 2, maximum_length=LONGEST
    ),
    "transformer with draft": lambda of: TransformerDecoder(
        11, of.dim, 2, 2, maximum_length=LONGEST, draft_grid=of.grid
    ),
    "permuted": lambda of: PermutedDecoder(11, of.dim, 2, maximum_length=LONGEST),
    "parallel": lambda of: ParallelDecoder(11, of.dim, LONGEST),
    "additive attention": lambda of: RecurrentDecoder(
        11, of.dim, maximum_length=LONGEST
    ),
    "dot attention": lambda of: RecurrentDecoder(
        11, of.dim, attention="dot", maximum_length=LONGEST
    ),
    "context vector": lambda of: RecurrentDecoder(
        11, of.dim, attention="none", maximum_length=LONGEST
    ),
    "ctc": lambda of: CtcDecoder(11, of.dim, LONGEST),
}
RECURRENT = ("additive attention", "dot attention", "context vector")
# All that a decoder knows of an encoder's products is the type of the features
TYPES = {"plain convolutions": torch.float32, "line": torch.bfloat16}
DRAFTS = "transformer with draft"
PAIRS = [
    *((encoder, DRAFTS) for encoder in ENCODERS),
    *product(TYPES, [decoder for decoder in DECODERS if decoder != DRAFTS]),
]


@cache
def has_fake_gru_cell() -> bool:
    """Whether this torch knows the shapes of a GRU cell on a GPU; before 2.15 it does not."""
    with FakeTensorMode(), GPU:
        try:
            nn.GRUCell(2, 2)(torch.zeros(1, 2))
        except (NotImplementedError, RuntimeError):
            return False
    return True


@pytest.mark.parametrize("name", TYPES)
def test_decoders_get_features_of_both_types(name: str) -> None:
    with FakeTensorMode():
        with GPU:
            encoder = ENCODERS[name]()
            images = torch.empty(BATCH, 3, *encoder.image_size)
        with autocast():
            assert encoder(images).dtype == TYPES[name]


@pytest.mark.parametrize(("encoder", "decoder"), PAIRS)
def test_losses_are_float32_and_products_bfloat16(
    encoder: str, decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if decoder in RECURRENT and not has_fake_gru_cell():
        pytest.skip("this torch has no fake GRU cell")
    # On a GPU losses are compiled: the size of the tables of CTC is not known here either.
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    with FakeTensorMode():
        with GPU:
            eyes = ENCODERS[encoder]()
            recognizer, copied = (
                Recognizer(eyes, DECODERS[decoder](eyes)) for _ in range(2)
            )
            training = RecognizerTraining(recognizer, "abcdefghijk")
            # A copy has another fake mode
            training.average.module = copied.requires_grad_(False)
            height, width = training.image_size
            images = torch.empty(BATCH, 3, height, width, dtype=torch.uint8)
            labels = torch.zeros(BATCH, LONGEST, dtype=torch.int64)
            tokens = torch.zeros(BATCH, eyes.grid[0] * eyes.grid[1], dtype=torch.int64)
        types = product_types(recognizer)
        with autocast():
            losses = training.losses(images, labels, tokens)
        for loss in losses:
            assert loss.dtype == torch.float32
            assert loss.device == GPU
        assert types == {torch.bfloat16}


READERS = [
    *((encoder, "transformer") for encoder in ENCODERS),
    *(("columns", decoder) for decoder in DECODERS if decoder != "transformer"),
]


@pytest.mark.parametrize(("encoder", "decoder"), READERS)
def test_texts_are_written_under_autocast(
    encoder: str, decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As validation does during training."""
    if decoder in RECURRENT and not has_fake_gru_cell():
        pytest.skip("this torch has no fake GRU cell")
    scored: list[Tensor] = []

    def made_up(scores: Tensor) -> np.ndarray:
        scored.append(scores)
        return np.zeros(tuple(scores.shape), np.float32)

    monkeypatch.setattr(engine, "_array", made_up)
    with FakeTensorMode():
        with GPU:
            eyes = ENCODERS[encoder]()
            recognizer = Recognizer(eyes, DECODERS[decoder](eyes)).eval()
            images = torch.empty(BATCH, 3, *eyes.image_size)
        types = product_types(recognizer)
        with autocast():
            written = generate(recognizer.decoder, recognizer.encode(images))
        assert written.labels.device == GPU
        assert len(written.labels) == BATCH
        assert scored
        assert all(scores.device == GPU for scores in scored)
    assert types == {torch.bfloat16}


def product_types(model: nn.Module) -> set[torch.dtype]:
    """What linear layers and convolutions put out, filled while the model runs."""
    types: set[torch.dtype] = set()

    def note(_module: nn.Module, _inputs: object, output: Tensor) -> None:
        types.add(output.dtype)

    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            module.register_forward_hook(note)
    return types


def test_distances_of_half_precision_are_worked_out_in_float32_or_better() -> None:
    with FakeTensorMode():
        with GPU:
            encoder = vit().eval()
            images = torch.empty(BATCH, 3, 32, 128)
        statistics = AttentionStatistics(TokenGrid.of(encoder))
        given: set[torch.dtype] = set()
        with (
            autocast(),
            probe(
                encoder,
                statistics.update,
                lambda _, queries, *__: given.add(queries.dtype),
            ),
        ):
            encoder(images)
        assert given == {torch.bfloat16}
        for layer in statistics.values("distance"):
            assert layer.dtype == torch.float64
            assert layer.shape == (BATCH, 2)
