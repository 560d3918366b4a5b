"""What a GPU would do, without one: tensors say they are on ``cuda`` and hold nothing.

Every operation on tensors of two devices is an error under ``FakeTensorMode``. Whatever would make
the program wait for the GPU (a value or a size that is only known there, a copy that is not
asynchronous) is counted by function.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from vit_str.characters.charset import Charset
from vit_str.models import (
    Decoder,
    ParallelDecoder,
    PermutedDecoder,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.synthesis import random_numbers
from vit_str.synthesis.degrade import degrade
from vit_str.synthesis.glyphs import HEIGHT, GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Typesetter
from vit_str.synthesis.legibility import keep_legible
from vit_str.synthesis.paint import paint
from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.view import sample_view
from vit_str.synthesis.warp import character_boxes, crop_mask, token_characters
from vit_str.torch_runtime import engine
from vit_str.torch_runtime.engine import generate
from vit_str.training import muon
from vit_str.training.module import RecognizerTraining

# Copies of modules look at where their values would be.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the data pointer")

BATCH = 6
LONGEST = 5
FONTS = 3
ATEN = torch.ops.aten
GPU = torch.device("cuda", 0)


class Waits(TorchDispatchMode):
    """Counts what a GPU would be waited for, and makes up the values that nobody knows."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
        on_gpu = any(one.device.type == "cuda" for one in given)
        if func is ATEN._local_scalar_dense.default:
            self._count(on_gpu)
            return getattr(args[0], "made_up", 3)
        if func is ATEN.nonzero.default:
            self._count(on_gpu)
            return some_rows(args[0])
        if func is ATEN.repeat_interleave.Tensor and kwargs.get("output_size") is None:
            self._count(on_gpu)
            return args[0].new_empty(4 * len(args[0]), dtype=torch.int64)
        if func in (ATEN.index.Tensor, ATEN.index_put_.default, ATEN.index_put.default):
            known = [one is None or one.dtype != torch.bool for one in args[1]]
            self._count(on_gpu, known.count(False))
            parts = zip(known, args[1], strict=True)
            where = [
                (one,) if is_known else some_rows(one).unbind(1)
                for is_known, one in parts
            ]
            args = (args[0], [one for part in where for one in part], *args[2:])
        if (
            func is ATEN._to_copy.default
            and "device" in kwargs
            and not kwargs.get("non_blocking")
        ):
            self._count({kwargs["device"].type, args[0].device.type} == {"cpu", "cuda"})
        result = func(*args, **kwargs)
        # Some rows have ended, not all of them
        if func in (ATEN.any.default, ATEN.all.default):
            result.made_up = func is ATEN.any.default
        elif (
            isinstance(result, Tensor)
            and result.ndim == 0
            and result.is_floating_point()
        ):
            result.made_up = 3.0
        return result

    def _count(self, waits: bool, times: int = 1) -> None:
        frame: Any = sys._getframe()
        while frame and "vit_str" not in frame.f_globals.get("__name__", ""):
            frame = frame.f_back
        if waits and times and frame:
            name = frame.f_globals["__name__"].rpartition(".")[2]
            self.found[f"{name}.{frame.f_code.co_name}"] += times


def some_rows(mask: Tensor) -> Tensor:
    """For ``mask.nonzero()``: as if about half were true."""
    return mask.new_empty((len(mask) // 2 + 1, mask.ndim), dtype=torch.int64)


@contextmanager
def fake_gpu() -> Iterator[Waits]:
    with FakeTensorMode(), Waits() as waits:
        yield waits


def made_up_array(tensor: Tensor) -> np.ndarray:
    """Scores on the CPU, of which nobody knows the values."""
    return np.zeros(tensor.float().cpu().shape, np.float32)


def features(dim: int = 24, tokens: int = 64) -> Tensor:
    return torch.empty(BATCH, tokens, dim, device=GPU)


def labels() -> Tensor:
    return torch.zeros(BATCH, LONGEST, dtype=torch.int64, device=GPU)


DECODERS: dict[str, Callable[[], Decoder]] = {
    "transformer": lambda: TransformerDecoder(11, 24, 2, 2, maximum_length=LONGEST),
    "permuted": lambda: PermutedDecoder(11, 24, 2, maximum_length=LONGEST),
    "parallel": lambda: ParallelDecoder(11, 24, LONGEST),
}


def test_a_mixture_of_devices_is_an_error_and_waits_are_seen():
    with fake_gpu() as waits:
        with pytest.raises(RuntimeError, match="device"):
            torch.empty(2, device=GPU) + torch.empty(2)
        numbers = torch.empty(4, device=GPU)
        numbers.sum().item(), numbers[numbers > 0], torch.tensor([1.0], device=GPU)
    assert sum(waits.found.values()) == 0, "nothing of vit_str waits here"


@pytest.mark.parametrize("decoder", ["transformer", "permuted"])
def test_training_steps_wait_for_nothing(decoder, monkeypatch):
    monkeypatch.setattr(muon, "fastest_dtype", lambda _: torch.bfloat16)
    with fake_gpu() as waits:
        with GPU:
            stem = {"stem_widths": (8,), "stem_depths": (1,)}
            recognizer, copied = (
                Recognizer(
                    VisionTransformer(24, 1, 2, patch_size=(8, 8), **stem),
                    DECODERS[decoder](),
                )
                for _ in range(2)
            )
            training = RecognizerTraining(
                recognizer, "abcdefghijk", muon_learning_rate=0.002
            )
            # A copy has another fake mode
            training.average.module = copied.requires_grad_(False)
        optimizer = training.configure_optimizers()
        waits.found.clear()
        for _ in range(2):
            images = torch.empty(BATCH, 3, 32, 128, dtype=torch.uint8, device=GPU)
            tokens = torch.zeros(BATCH, 64, dtype=torch.int64, device=GPU)
            loss, auxiliary = training.losses(images, labels(), tokens)
            assert (loss + auxiliary).device == GPU
            for parameter in training.parameters():  # autograd needs a real device
                parameter.grad = (
                    torch.empty_like(parameter) if parameter.requires_grad else None
                )
            training.configure_gradient_clipping(optimizer, 1.0)
            optimizer.step()
            training.average.update(training.recognizer)
        assert {p.device for p in training.parameters()} == {GPU}
    # The first update asks whether there is an average. Means and deviations of pixels, and masks
    # of orders, which are drawn on the CPU, are copied in each of the two steps.
    allowed = Counter(
        {"module.update": 1, "preprocessing.normalize": 4, "permuted.loss": 2}
    )
    assert waits.found <= allowed, waits.found


@pytest.mark.parametrize(
    ("decoder", "most"),
    [
        ("transformer", 4 * (LONGEST + 1)),
        ("permuted", 4 * (LONGEST + 1)),
        ("parallel", 4),
    ],
)
def test_decoding_waits_a_few_times_for_each_character(decoder, most, monkeypatch):
    monkeypatch.setattr(engine, "_array", made_up_array)
    with fake_gpu() as waits:
        with GPU:
            model = DECODERS[decoder]().eval()
        waits.found.clear()
        assert generate(model, features()).labels.device == GPU
    assert 0 < sum(waits.found.values()) <= most, waits.found


def fake_atlas(charset: Charset) -> GlyphAtlas:
    shape = (FONTS, len(charset))
    columns = 400
    return GlyphAtlas(
        columns=torch.empty(columns, HEIGHT, dtype=torch.uint8, device=GPU),
        starts=torch.zeros(shape, dtype=torch.int64, device=GPU),
        widths=torch.zeros(shape, dtype=torch.int64, device=GPU),
        bearings=torch.empty(shape, device=GPU),
        advances=torch.empty(shape, device=GPU),
        is_correct=torch.ones(shape, dtype=torch.bool, device=GPU),
        names=["a", "b", "c"],
        charset=charset,
    )


def test_the_renderer_waits_a_few_times_for_each_chunk(monkeypatch):
    empty = torch.empty
    # Memory that a GPU fetches from by itself is only there with one.
    monkeypatch.setattr(
        random_numbers.torch, "empty", lambda *a, pin_memory=False, **k: empty(*a, **k)
    )
    monkeypatch.setattr(
        random_numbers, "upload", lambda v, device: v.to(device, non_blocking=True)
    )
    with fake_gpu() as waits:
        strengths = Ingredients()
        typesetter = Typesetter(fake_atlas(Charset("abc")))
        random = Random(1, BATCH, noise_bank(GPU))
        pictures = torch.empty(4, 3, 64, 256, dtype=torch.uint8, device=GPU)
        by_stage: dict[str, Counter[str]] = {}

        def stage(name, function, *arguments):
            waits.found.clear()
            result = function(*arguments)
            by_stage[name] = Counter(waits.found)
            return result

        lines = stage("set", typesetter.set, labels(), strengths, random)
        view = stage("view", sample_view, lines, strengths, random)
        mask = stage("warp", crop_mask, lines, view, (32, 128))
        clean = stage("paint", paint, mask, strengths, random, pictures)
        lengths = torch.full((BATCH,), LONGEST, device=GPU)
        degraded = stage(
            "degrade", degrade, clean, view.crop_aspects, lengths, strengths, random
        )
        image = stage("legibility", keep_legible, degraded, clean, mask)
        tokens = stage("tokens", token_characters, lines, view, (4, 16))
        boxes = stage("boxes", character_boxes, lines, view, (32, 128))
        assert {one.device for one in (image, tokens, boxes, mask)} == {GPU}
        assert image.shape == (BATCH, 3, 32, 128) and tokens.shape == (BATCH, 64)
    most = {"set": 3, "view": 5, "warp": 2, "paint": 40, "degrade": 20, "legibility": 8}
    for name, found in by_stage.items():
        assert sum(found.values()) <= most.get(name, 2), (name, found)
