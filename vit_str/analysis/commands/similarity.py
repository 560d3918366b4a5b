"""``vit-str analyze similarity``: how alike layers are, of one model and of several."""

import argparse
import time

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.analysis import cli
from vit_str.analysis.figures.similarity import similarity_matrix
from vit_str.analysis.layers import layer_outputs
from vit_str.analysis.material import Material
from vit_str.analysis.similarity import LayerSimilarity, image_features, token_features
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import write_csv, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.pages.page import Page

_LEAD = """\
How alike the layers of one model or several are: linear centered kernel alignment (CKA) is 1 if \
one layer says what another does, turned, scaled or shifted, and 0 if they have nothing in \
common."""

_CAUTION = """\
CKA follows the few directions in which features vary most. Layers that are alike in them may \
differ in what little the decoder reads; and models that have learned nothing share what comes \
from the images themselves, so likeness of layers is judged against untrained models."""

Outputs = list[Float[Tensor, "batch dim row column"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser)
    cli.common(parser)
    parser.add_argument(
        "--examples",
        choices=("tokens", "images"),
        default="tokens",
        help="compare what layers say about every token (default), or about images, as means "
        "over their tokens",
    )


def run(options: argparse.Namespace) -> None:
    """Compare every two layers of all models and write what was found."""
    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    stream, models, material, images = _compare(subjects, options)
    unbiased, plain = stream.cka(), stream.cka(unbiased=False)
    write_csv(options.out / "similarity.csv", *_pairs(models, unbiased, plain, stream.examples))
    seconds = time.monotonic() - start
    counts = {"n": images, "examples": stream.examples}
    write_summary(options.out, options, subjects, material, seconds, **counts)
    page = Page("Similarity of layers", f"{_LEAD} Measured on {material.description}.")
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(unbiased.numpy(), models),
        "similarity",
        f"Linear CKA, unbiased, of n = {stream.examples:,} {options.examples} of {images:,} "
        "images.",
    )
    page.note(_CAUTION)
    cli.report(page.write(options.out), material)


@torch.no_grad()
def _compare(
    subjects: list[Subject], options: argparse.Namespace
) -> tuple[LayerSimilarity, list[tuple[str, int]], Material, int]:
    """Run all models on the same images, batch by batch; also names and depths of the models."""
    stream, images = LayerSimilarity(), 0
    materials = [material_for(subject, options) for subject in subjects]
    walks = [walk(*pair, options) for pair in zip(subjects, materials, strict=True)]
    depths: list[int] = []
    for batches in zip(*walks, strict=True):
        outputs: list[Outputs] = []
        for subject, (_, pixels) in zip(subjects, batches, strict=True):
            with layer_outputs(subject.recognizer.encoder) as found:
                subject.recognizer.encode(pixels)
            outputs.append(found)
        depths = [len(each) for each in outputs]
        stream.update(_examples([layer for each in outputs for layer in each], options.examples))
        images += len(batches[0][0])
    names = [subject.name for subject in subjects]
    return stream, list(zip(names, depths, strict=True)), materials[0], images


def _examples(outputs: Outputs, kind: str) -> list[Float[Tensor, "example dim"]]:
    if kind == "images":
        return image_features(outputs)
    rows = min(output.shape[2] for output in outputs)
    columns = min(output.shape[3] for output in outputs)
    return token_features(outputs, (rows, columns))


def _pairs(
    models: list[tuple[str, int]], unbiased: Tensor, plain: Tensor, examples: int
) -> tuple[list[str], list[list[object]]]:
    columns = ["model", "layer", "other model", "other layer", "cka", "cka plain", "n"]
    layers = [(name, layer) for name, depth in models for layer in range(1, depth + 1)]
    rows: list[list[object]] = [
        [*one, *other, float(unbiased[i, j]), float(plain[i, j]), examples]
        for i, one in enumerate(layers)
        for j, other in enumerate(layers)
    ]
    return columns, rows
