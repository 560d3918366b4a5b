"""A small untrained model as a weights file."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from vit_str.charset import Charset
from vit_str.images import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.weights import save_weights


def make_weights(path: Path, seed: int = 0, **options: object) -> Path:
    """A weights file of a model with 2 layers of 2 heads over 4 x 8 tokens."""
    torch.manual_seed(seed)
    encoder = VisionTransformer(32, 2, 2, (16, 64), (4, 8), **options)  # type: ignore[arg-type]
    decoder = TransformerDecoder(dim=32, depth=1, heads=2, maximum_length=6)
    save_weights(path, Recognizer(encoder, decoder), Charset(), Preprocessing(16, 64), {})
    return path


@pytest.fixture
def small_weights(tmp_path: Path) -> Callable[..., Path]:
    """Write a weights file under a name; further arguments go to the encoder."""
    return lambda name="small", **options: make_weights(tmp_path / f"{name}.safetensors", **options)
