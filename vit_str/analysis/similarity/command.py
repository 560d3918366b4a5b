"""``vit-str analyze similarity``: how alike layers are, of one model and of several."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models

_LEAD = """\
How alike the layers of one model or several are: linear centered kernel alignment (CKA) is 1 if \
one layer says what another does, turned, scaled or shifted, and 0 if they have nothing in \
common."""

_CAUTION = """\
CKA follows the few directions in which features vary most. Layers that are alike in them may \
differ in what little the decoder reads; and models that have learned nothing share what comes \
from the images themselves, so likeness of layers is judged against untrained models."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    parser.add_argument(
        "--examples",
        choices=("tokens", "images"),
        default="tokens",
        help="compare what layers say about every token (default), or about images, as means "
        "over their tokens",
    )


def run(options: argparse.Namespace) -> int:
    """Compare every two layers of all models and write a table and a page."""
    from vit_str.analysis.images import load_images
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.similarity.figures import similarity_matrix
    from vit_str.analysis.similarity.measure import compare_layers
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.page import Page
    from vit_str.pages.tables import write_csv

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    chosen = options.data, options.count, options.seed, options.fonts
    images = [load_images(subject, *chosen) for subject in subjects]
    how = options.examples, options.batch_size, options.device
    similarity, depths, n = compare_layers(subjects, images, *how)
    unbiased, plain = similarity.cka(), similarity.cka(unbiased=False)
    names = [subject.name for subject in subjects]
    layers = [
        (name, layer)
        for name, depth in zip(names, depths, strict=True)
        for layer in range(1, depth + 1)
    ]
    columns = ["model", "layer", "other model", "other layer", "cka", "cka plain", "n"]
    rows = [
        [*one, *other, float(unbiased[i, j]), float(plain[i, j]), similarity.examples]
        for i, one in enumerate(layers)
        for j, other in enumerate(layers)
    ]
    write_csv(options.out / "similarity.csv", columns, rows)
    seconds = time.monotonic() - start
    counts = {"n": n, "examples": similarity.examples}
    write_summary(options.out, vars(options), subjects, images[0], seconds, **counts)
    page = Page("Similarity of layers", f"{_LEAD} Measured on {images[0].description}.")
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(unbiased.numpy(), list(zip(names, depths, strict=True))),
        "similarity",
        f"Linear CKA, unbiased, of n = {similarity.examples:,} {options.examples} of {n:,} images.",
    )
    page.note(_CAUTION)
    return write_page(page, options.out, images[0])
