"""From which layer on a token can see the whole image: a ViT beside convolutions."""

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.analysis.gradient_fields import GradientFields
from vit_str.charset import PRINTABLE_ASCII, Charset
from vit_str.images import Preprocessing
from vit_str.models import (
    ConvolutionalEncoder,
    Encoder,
    PlainConvolutionalEncoder,
    VisionTransformer,
)
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_words import word_renderer
from vit_str.weights import load_weights, resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIT, RESIDUAL, PLAIN = "ViT", "residual convolution", "plain convolution"
TRAINED = "tiny, trained"

_WHOLE = 0.999  # of the pixels: gradients of single pixels may be zero by chance
_WINDOW = 0.1  # a window is a small part of an image
_NEAR = 8  # pixels down and across: the token's own patch of 8 x 8 and half of those around it


class FirstLayer(Study):
    """Counts the pixels that a token depends on, layer by layer."""

    id = "first-layer"
    posts = "V"
    claim = (
        "To take in patterns between pixels, convolutions had to be stacked; in a ViT, "
        "interaction between pixels is there from the first multi-head attention layer on."
    )
    expectation = (
        "True by architecture, also without training: after the first attention layer the gradient "
        "of a token is nonzero at every pixel, and in a convolution within its window only. How "
        "much each pixel matters is another question: most should still be near the token."
    )
    experiment = (
        "A ViT of 8 x 8 patches and two convolutional encoders, untrained, on rendered words of "
        "32 x 128 pixels: the share of pixels with a nonzero gradient to the token in the middle, "
        "after every layer, and how much of the gradient is within 8 px of its middle. The bundled "
        "recognizer, which is trained, is beside them. The image of each seed is another one."
    )
    correction = (
        "It is patches that interact, not pixels: the pixels of a patch are mixed by the patch "
        "embedding, before any attention, and from there on go together. That every pixel can "
        "matter says nothing of learning, as it holds for random weights."
    )

    def run(self, settings: Settings) -> Findings:
        """See `Study`."""
        rows: list[Row] = []
        count = 2 if settings.quick else 16
        renderer = word_renderer(Charset(PRINTABLE_ASCII))
        trained = load_weights(resolve("tiny"))
        for seed in range(settings.seeds):
            pixels = renderer.batch(count, seed=1, index=seed).images
            images = Preprocessing().normalize(pixels)
            systems: dict[str, Encoder] = untrained(seed)
            systems[TRAINED] = trained.recognizer.encoder
            for name, encoder in systems.items():
                own = trained.preprocessing.normalize(pixels) if name == TRAINED else images
                rows += measure(name, encoder, own, seed)
            settings.progress((seed + 1) / settings.seeds)
        return _findings(rows)


def untrained(seed: int) -> dict[str, Encoder]:
    """Three encoders with random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return {
            VIT: VisionTransformer(dim=64, depth=6, heads=4, patch_size=(8, 8)),
            RESIDUAL: ConvolutionalEncoder(widths=(16, 32, 64)),
            PLAIN: PlainConvolutionalEncoder(widths=(16, 32, 64, 64, 64)),
        }


def measure(
    name: str, encoder: Encoder, images: Float[Tensor, "batch 3 height width"], seed: int
) -> list[Row]:
    """One row for each layer; layer 0 of a ViT is what it has before its first attention."""
    fields = GradientFields(encoder, queries=1, seed=seed)
    fields.update(images)
    sides = [cell[1] for cell in fields.middle_cells()]
    layers = zip(fields.centered, sides, strict=True)
    found = [_row(name, seed, layer, *each) for layer, each in enumerate(layers, 1)]
    if isinstance(encoder, VisionTransformer):
        found.insert(0, _row(name, seed, 0, embedding_field(encoder, images), sides[0]))
    return found


def embedding_field(
    encoder: VisionTransformer, images: Float[Tensor, "batch 3 height width"]
) -> Float[Tensor, "height width"]:
    """What the token in the middle depends on before any attention, as a share."""
    images = images.detach().requires_grad_()
    rows, columns = encoder.grid
    token = rows // 2 * columns + columns // 2
    embedded = encoder.embed_patches(encoder.patches(images))[:, token]
    (gradients,) = torch.autograd.grad(embedded.square().sum(), images)
    field = gradients.double().norm(dim=1).sum(0)
    return field / field.sum()


def judge(first: list[float], window: list[float]) -> Verdict:
    """From the seen shares after the first layer: of the ViT, and of the convolutions.

    Half of the image would be far more than a window, but not what "from the first layer" says.
    """
    if max(window) > _WINDOW:
        return Verdict.NOT_SUPPORTED
    if min(first) >= _WHOLE:
        return Verdict.SUPPORTED
    return Verdict.PARTLY if min(first) >= 0.5 else Verdict.NOT_SUPPORTED


def _row(
    name: str,
    seed: int,
    layer: int,
    field: Float[Tensor, "height width"],
    sides: tuple[float, float, float, float],
) -> Row:
    top, left, bottom, right = sides
    y, x = round((top + bottom) / 2), round((left + right) / 2)
    around = field[max(0, y - _NEAR) : y + _NEAR, max(0, x - _NEAR) : x + _NEAR]
    return {
        "seed": seed,
        "system": name,
        "layer": layer,
        "seen": float((field > 0).double().mean()),
        "near": float(around.sum()),
    }


def _values(rows: list[Row], name: str, layer: int, what: str = "seen") -> list[float]:
    return [float(r[what]) for r in rows if (r["system"], r["layer"]) == (name, layer)]


def _layers(rows: list[Row], name: str) -> list[int]:
    return sorted({int(row["layer"]) for row in rows if row["system"] == name})


def _findings(rows: list[Row]) -> Findings:
    first = _values(rows, VIT, 1)
    windows = _values(rows, RESIDUAL, 1) + _values(rows, PLAIN, 1)
    value, interval = mean_interval(first)
    last = {
        name: max(mean_interval(_values(rows, name, layer))[0] for layer in _layers(rows, name))
        for name in (RESIDUAL, PLAIN)
    }
    before = mean_interval(_values(rows, VIT, 0))[0]
    return Findings(
        rows=rows,
        summary=_summary(rows),
        verdict=judge(first, windows),
        measure="share of the pixels that a ViT's token depends on after its first attention",
        value=value,
        interval=interval,
        because=(
            f"Before attention a token depends on {before:.1%} of the pixels, its own patch, and "
            f"after the first layer on {value:.1%}; convolutions begin with at most "
            f"{max(windows):.1%} and come to {last[RESIDUAL]:.0%} (residual) and "
            f"{last[PLAIN]:.0%} (plain) with all of their layers."
        ),
        draw=lambda figure: _draw(figure, rows),
        surprises=_surprises(rows),
    )


def _surprises(rows: list[Row]) -> tuple[str, ...]:
    first = _values(rows, VIT, 1, "near")
    last = {name: _values(rows, name, _layers(rows, name)[-1], "near") for name in (VIT, RESIDUAL)}
    area = (2 * _NEAR) ** 2 / (32 * 128)
    found = [
        f"Seeing is not looking: after the first layer of the untrained ViT, "
        f"{with_interval(first, 2)} of the gradient is still within {_NEAR} px of the token's "
        f"middle, which is {area:.1%} of the image."
    ]
    if mean_interval(last[VIT])[0] > mean_interval(last[RESIDUAL])[0]:
        found.append(
            f"In the end the untrained convolution is spread wider than the untrained ViT: "
            f"{with_interval(last[RESIDUAL], 2)} of its gradient is as near as that, and "
            f"{with_interval(last[VIT], 2)} of the ViT's."
        )
    return tuple(found)


def _summary(rows: list[Row]) -> list[Row]:
    found: list[Row] = []
    for name in dict.fromkeys(str(row["system"]) for row in rows):
        layers = _layers(rows, name)
        whole = [n for n in layers if mean_interval(_values(rows, name, n))[0] >= _WHOLE]
        found.append(
            {
                "system": name,
                "layers": layers[-1],
                "seen after layer 1": with_interval(_values(rows, name, 1)),
                "seen after the last": with_interval(_values(rows, name, layers[-1])),
                "whole image from layer": str(whole[0]) if whole else "never",
                f"gradient within {_NEAR} px, layer 1": with_interval(
                    _values(rows, name, 1, "near")
                ),
            }
        )
    return found


def _draw(figure: "Figure", rows: list[Row]) -> None:
    from studies.drawing import COLORS, draw_mean, panels

    seen, near = panels(figure, ["what a token can see", "how much of it is near"])
    for color, name in zip(COLORS, (VIT, TRAINED, RESIDUAL, PLAIN), strict=False):
        layers = _layers(rows, name)
        for axes, what in ((seen, "seen"), (near, "near")):
            runs = zip(*(_values(rows, name, layer, what) for layer in layers), strict=True)
            draw_mean(
                axes,
                layers,
                [[100 * v for v in run] for run in runs],
                name,
                color,
                marker="o",
                markersize=3,
            )
    seen.set(xlabel="layer (0: patch embedding)", ylabel="pixels with a gradient (%)")
    near.set(
        xlabel="layer (0: patch embedding)", ylabel=f"gradient within {_NEAR} px (%)", ylim=(0, 105)
    )
    near.legend()
