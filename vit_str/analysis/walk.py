"""Going through images with a model: on its device, with progress, in its own preprocessing."""

import argparse
from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm

from vit_str.analysis.material import Batch, Material, load_material
from vit_str.analysis.subjects import Subject
from vit_str.devices import choose_device


def material_for(subject: Subject, options: argparse.Namespace) -> Material:
    """The images that the command line asks for, as this model takes them."""
    return load_material(
        options.data,
        options.count,
        subject.preprocessing,
        subject.charset,
        options.seed,
        options.fonts,
    )


def walk(
    subject: Subject, material: Material, options: argparse.Namespace
) -> Iterator[tuple[Batch, Float[Tensor, "batch channel height width"]]]:
    """Every batch and its normalized images, on the device of the command line.

    The model is moved there.

    Raises:
        ValueError: no image could be read.
    """
    device = choose_device(options.device)
    subject.recognizer.to(device)
    seen = 0
    with tqdm(total=material.count, unit="image", desc=subject.name, disable=None) as bar:
        for batch in material.batches(options.batch_size):
            yield batch, subject.preprocessing.normalize(batch.pixels.to(device))
            seen += len(batch)
            bar.update(len(batch))
    if not seen:
        raise ValueError(f"none of {material.description} could be read")
