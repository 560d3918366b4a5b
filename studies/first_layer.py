"""From which layer on a token can see the whole image, in a ViT and in convolutions."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from studies.drawing import draw_lines, panels
from studies.reading import word_renderer
from studies.study import Findings, Row, Rows, Settings, Study, Table, Verdict
from studies.training import seeded
from vit_str import models
from vit_str.analysis.receptive_field.gradients import GradientFields
from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.engines.weights_contents import resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.torch_runtime.weights_file import load_weights

STUDY = Study(
    posts="V",
    claim=(
        "To take in patterns between pixels, convolutions had to be stacked; in a "
        "ViT, interaction between pixels is there from the first multi-head "
        "attention layer on."
    ),
    expected=(
        "True by architecture, also without training: after the first attention "
        "layer the gradient of a token is nonzero at every pixel, and in a "
        "convolution within its window only. How much each pixel matters is another "
        "question: most should still be near the token."
    ),
    experiment=(
        "A ViT of 8 x 8 patches and two convolutional encoders, untrained, on "
        "rendered words of 32 x 128 pixels: the share of pixels with a nonzero "
        "gradient to the token in the middle, after every layer, and how much of "
        "the gradient is within 8 px of its middle. The bundled recognizer, which "
        "is trained, is beside them. The image of each seed is another one."
    ),
    correction=(
        "It is patches that interact, not pixels: the pixels of a patch are mixed "
        "by the patch embedding, before any attention, and from there on go "
        "together. That every pixel can matter says nothing of learning, as it "
        "holds for random weights."
    ),
    kind="identity",
    over="seeds; in the row of tiny, batches of words, one model",
    weights=("tiny",),
)

VIT = "ViT"
RESIDUAL = "residual convolution"
PLAIN = "plain convolution"
TRAINED = "tiny, trained"
Images = Float[Tensor, "batch 3 height width"]
_WHOLE = 0.999  # of the pixels: gradients of single pixels may be zero by chance
_WINDOW = 0.1  # a window is a small part of an image
# Pixels down and across: the token's own patch of 8 x 8 and half of those around it
_NEAR = 8


def run(settings: Settings) -> Findings:
    """Count the pixels that a token depends on, layer by layer, with every seed."""
    count = 2 if settings.quick else 16
    renderer = word_renderer(Charset(PRINTABLE_ASCII))
    trained = load_weights(resolve("tiny"))

    def measure_all(seed: int) -> Rows:
        pixels = renderer.batch(count, seed=1, index=seed).images
        encoders = untrained(seed) | {TRAINED: trained.recognizer.encoder}
        for name, encoder in encoders.items():
            preprocessing = Preprocessing()
            if name == TRAINED:
                preprocessing = trained.preprocessing
            images = preprocessing.normalize(pixels)
            yield from ((seed, name, *row) for row in measure(encoder, images, seed))

    table = settings.repeat("seed system layer seen near", measure_all)
    layers = {}
    seen = {}
    whole = {}
    for name in table.levels("system"):
        of_system = table.where(system=name)
        layers[name] = of_system.levels("layer")
        seen[name] = {n: of_system.mean("seen", layer=n) for n in layers[name]}
        all_seen = (str(n) for n, share in seen[name].items() if share >= _WHOLE)
        whole[name] = next(all_seen, "never")
    first = table.values("seen", system=VIT, layer=1)
    windows = [
        *table.values("seen", system=RESIDUAL, layer=1),
        *table.values("seen", system=PLAIN, layer=1),
    ]
    summary: list[Row] = []
    for name, own in layers.items():
        near = table.text("near", system=name, layer=1)
        row: Row = {
            "system": name,
            "layers": own[-1],
            "seen after layer 1": table.text("seen", system=name, layer=1),
            "seen after the last": table.text("seen", system=name, layer=own[-1]),
            "whole image from layer": whole[name],
            f"gradient within {_NEAR} px, layer 1": near,
        }
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(first, windows),
        measure="share of the pixels that a ViT's token depends on after its first attention",
        values=first,
        because=(
            f"Before attention a token depends on {seen[VIT][0]:.1%} of the pixels, "
            f"its own patch, and after the first layer on {seen[VIT][1]:.1%}; "
            f"convolutions begin with at most {max(windows):.1%} and come to "
            f"{max(seen[RESIDUAL].values()):.0%} (residual) and "
            f"{max(seen[PLAIN].values()):.0%} (plain) with all of their layers."
        ),
        draw=lambda figure: _draw(figure, table),
    )


def untrained(seed: int) -> dict[str, models.Encoder]:
    """Three encoders with random weights."""
    with seeded(seed):
        return {
            VIT: models.VisionTransformer(dim=64, depth=6, heads=4, patch_size=(8, 8)),
            RESIDUAL: models.ConvolutionalEncoder(widths=(16, 32, 64)),
            PLAIN: models.PlainConvolutionalEncoder(widths=(16, 32, 64, 64, 64)),
        }


def measure(encoder: models.Encoder, images: Images, seed: int) -> Rows:
    """Layer, share of pixels seen and of gradient near; layer 0 of a ViT is its embedding."""
    fields = GradientFields(encoder, queries=1, seed=seed)
    fields.update(images)
    sides = [cell[1] for cell in fields.middle_cells()]
    layers = list(enumerate(zip(fields.centered, sides, strict=True), 1))
    if isinstance(encoder, models.VisionTransformer):
        layers.insert(0, (0, (embedding_field(encoder, images), sides[0])))
    for layer, (field, (top, left, bottom, right)) in layers:
        y = round((top + bottom) / 2)
        x = round((left + right) / 2)
        around = field[max(0, y - _NEAR) : y + _NEAR, max(0, x - _NEAR) : x + _NEAR]
        yield layer, float((field > 0).double().mean()), float(around.sum())


def embedding_field(
    encoder: models.VisionTransformer, images: Images
) -> Float[Tensor, "height width"]:
    """What the token in the middle depends on before any attention, as a share."""
    images = images.detach().requires_grad_()
    rows, columns = encoder.grid
    token = rows // 2 * columns + columns // 2
    embedded = encoder.embed_patches(encoder.patches(images))[:, token]
    (gradients,) = torch.autograd.grad(embedded.square().sum(), images)
    field = gradients.double().norm(dim=1).sum(0)
    return field / field.sum()


def judge(first: Sequence[float], window: Sequence[float]) -> Verdict:
    """From the seen shares after the first layer: of the ViT, and of the convolutions.

    Half of the image would be far more than a window, but not what "from the first layer" says.
    """
    return Verdict.graded(
        max(window) <= _WINDOW and min(first) >= 0.5, min(first) >= _WHOLE
    )


def _draw(figure: Figure, table: Table) -> None:
    seen, near = panels(figure, ["what a token can see", "how much of it is near"])
    names = (VIT, TRAINED, RESIDUAL, PLAIN)
    for axes, column in ((seen, "seen"), (near, "near")):
        style: dict[str, Any] = {
            "column": column,
            "scale": 100,
            "marker": "o",
            "markersize": 3,
        }
        draw_lines(axes, table, "layer", "system", names, **style)
        axes.set_xlabel("layer (0: patch embedding)")
    seen.set_ylabel("pixels with a gradient (%)")
    near.set(ylabel=f"gradient within {_NEAR} px (%)", ylim=(0, 105))
    near.legend()
