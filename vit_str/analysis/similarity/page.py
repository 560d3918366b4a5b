"""The answer of ``vit-str analyze similarity``."""

from itertools import product
from typing import Literal

from vit_str.analysis.results import Inspection
from vit_str.analysis.similarity.figures import similarity_matrix
from vit_str.analysis.similarity.measure import compare_layers

_LEAD = """\
How alike the layers of one model or several are: linear centered kernel alignment (CKA) is 1 if \
one layer says what another does, turned, scaled or shifted, and 0 if they have nothing in \
common."""

_CAUTION = """\
CKA follows the few directions in which features vary most. Layers that are alike in them may \
differ in what little the decoder reads; and models that have learned nothing share what comes \
from the images themselves, so likeness of layers is judged against untrained models."""


def answer(inspection: Inspection, unit: Literal["tokens", "images"]) -> int:
    """Compare every two layers of all models, and write a table and a page.

    Args:
        inspection: the models.
        unit: what layers are compared on.
    """
    subjects = inspection.subjects
    images = [inspection.load(subject) for subject in subjects]
    similarity, depths, n = compare_layers(subjects, images, unit, *inspection.how)
    unbiased, plain = similarity.cka(), similarity.cka(unbiased=False)
    models = list(zip((subject.name for subject in subjects), depths, strict=True))
    layers = [(name, layer) for name, depth in models for layer in range(1, depth + 1)]
    rows = [
        [*one, *other, float(unbiased[i, j]), float(plain[i, j]), similarity.examples]
        for (i, one), (j, other) in product(enumerate(layers), repeat=2)
    ]
    columns = ["model", "layer", "other model", "other layer", "cka", "cka plain", "n"]
    inspection.write_table("similarity.csv", columns, rows)
    page = inspection.page("Similarity of layers", _LEAD)
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(unbiased.numpy(), models),
        "similarity",
        f"Linear CKA, unbiased, of n = {similarity.examples:,} {unit} of {n:,} images.",
        vector=True,
    )
    page.note(_CAUTION)
    return inspection.finish(page, n=n, examples=similarity.examples)
