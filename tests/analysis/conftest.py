"""A small untrained model as a weights file, and what is measured of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.images import batches_of, load_images
from vit_str.analysis.subjects import load_subject
from vit_str.characters.charset import Charset
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.torch_runtime.weights_file import save_weights


def make_weights(path: Path, seed: int = 0, **options: object) -> Path:
    """A weights file of a model with 2 layers of 2 heads over 4 x 8 tokens."""
    torch.manual_seed(seed)
    sizes = {
        "dim": 32,
        "depth": 2,
        "heads": 2,
        "image_size": (16, 64),
        "patch_size": (4, 8),
    }
    encoder = VisionTransformer(**sizes | options)
    decoder = TransformerDecoder(dim=32, depth=1, heads=2, maximum_length=6)
    save_weights(
        path, Recognizer(encoder, decoder), Charset(), Preprocessing(16, 64), {}
    )
    return path


@pytest.fixture
def small_weights(tmp_path) -> Callable[..., Path]:
    """Write a weights file under a name; further arguments go to the encoder."""
    return lambda name="small", **options: make_weights(
        tmp_path / f"{name}.safetensors", **options
    )


@pytest.fixture
def measured(labeled_folder) -> Callable[..., DistanceAnalysis]:
    """Measure the attention of a model over the labelled images."""

    def measure(name: str) -> DistanceAnalysis:
        subject = load_subject(name)
        analysis = DistanceAnalysis(subject.name, subject.encoder)
        for _, pixels in batches_of(
            subject, load_images(subject, str(labeled_folder), 10), 2
        ):
            analysis.update(pixels)
        return analysis

    return measure
