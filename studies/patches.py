"""A ViT is the Transformer's encoder on patches of an image."""

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from vit_str.charset import PRINTABLE_ASCII, Charset
from vit_str.models import VisionTransformer
from vit_str.models.translation import TextTransformer
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_words import word_renderer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUND_TRIP, CONVOLUTION, BLOCKS = "patches put together", "strided convolution", "same blocks"
SHAPES = (
    ((32, 128), (8, 8)),
    ((32, 128), (4, 8)),
    ((32, 128), (16, 4)),
    ((48, 160), (16, 16)),
    ((24, 100), (3, 5)),
)
"""Sizes of images and patches, (height, width): hardly any of them square, on purpose."""
EXPECTED_EXACT = (ROUND_TRIP, BLOCKS)

# Products summed in another order differ by a few units in the last place of float64.
_ROUNDING = 1e-10
_CHARSET_SIZE = 94


class Patches(Study):
    """Takes patches apart and together, and gives a text encoder the weights of a ViT."""

    id = "patches"
    posts = "V"
    claim = (
        "A ViT hardly differs from the Transformer: the image is torn into patches that make a "
        "sequence, and only the encoder is used, not the decoder."
    )
    expectation = (
        "Exact: the patches put together again are the image, and the blocks of a ViT, given to "
        "the project's encoder of texts, compute the same numbers to the last bit. Only the "
        "embedding differs, and it is a convolution whose stride is its kernel."
    )
    experiment = (
        "Random images and weights of five sizes of image and patch. Patches are put together; "
        "the patch embedding is computed as a strided convolution in float64; the state of the "
        "ViT's blocks is loaded into a text encoder, and both run on the same tokens."
    )
    correction = (
        "Not much differs, but some things do, and not only in the input: the ViT (Dosovitskiy et "
        "al. 2020) normalizes before each sub-layer and not after it, has GELU in the place of "
        "ReLU, learns its positions and adds a class token. Encoder only is enough to name one "
        "class; to write a text of any length, the recognizers here put a decoder behind it, or "
        "read characters off the tokens."
    )

    def run(self, settings: Settings) -> Findings:
        """See `Study`."""
        shapes = SHAPES[:3] if settings.quick else SHAPES
        rows: list[Row] = []
        for seed in range(settings.seeds):
            for image_size, patch_size in shapes:
                rows += measure(image_size, patch_size, seed)
            settings.progress((seed + 1) / settings.seeds)
        worst = largest(rows)
        exact = max(worst[name] for name in EXPECTED_EXACT)
        encoder = _encoder((32, 128), (8, 8), 0)
        shared = sum(p.numel() for p in encoder.blocks.parameters())
        share = shared / sum(p.numel() for p in encoder.parameters())
        return Findings(
            rows=rows,
            summary=_summary(worst, encoder),
            verdict=judge(worst),
            measure="largest difference, of patches put together and of the shared blocks",
            value=exact,
            interval=(exact, exact),
            because=(
                f"Patches put together again give the image (difference {worst[ROUND_TRIP]:g}), "
                f"and a text encoder with the ViT's blocks computes what the ViT does (difference "
                f"{worst[BLOCKS]:g}); they are {share:.1%} of its parameters. The patch embedding "
                f"equals a strided convolution to {worst[CONVOLUTION]:.2g}."
            ),
            draw=lambda figure: _draw(figure, encoder),
            surprises=(
                "What makes patches into tokens is itself a convolution, with the largest stride "
                "that leaves nothing out: a ViT without any convolution exists in words only.",
            ),
        )


def measure(image_size: tuple[int, int], patch_size: tuple[int, int], seed: int) -> list[Row]:
    """The three comparisons, one row each."""
    encoder = _encoder(image_size, patch_size, seed)
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(2, 3, *image_size, generator=generator)
    text = _text_encoder(encoder)
    with torch.no_grad():
        patches = encoder.patches(images)
        tokens = encoder.embed_positions(encoder.embed_patches(patches))
        for block in text.blocks:
            tokens = block(tokens)
        found = {
            ROUND_TRIP: put_together(patches, encoder) - images,
            CONVOLUTION: _by_convolution(encoder, images) - _by_patches(encoder, images),
            BLOCKS: text.norm(tokens) - encoder(images),
        }
    height, width = image_size
    return [
        {
            "seed": seed,
            "image": f"{height} x {width}",
            "patch": f"{patch_size[0]} x {patch_size[1]}",
            "tokens": patches.shape[1],
            "check": name,
            "difference": float(difference.abs().max()),
        }
        for name, difference in found.items()
    ]


def put_together(
    patches: Float[Tensor, "batch token value"], encoder: VisionTransformer
) -> Float[Tensor, "batch 3 height width"]:
    """The image that patches were cut from."""
    (rows, _), (height, width) = encoder.grid, encoder.patch_size
    return rearrange(
        patches, "b (row col) (h w c) -> b c (row h) (col w)", row=rows, h=height, w=width, c=3
    )


def largest(rows: list[Row]) -> dict[str, float]:
    """Largest difference of every check."""
    found: dict[str, float] = {}
    for row in rows:
        name = str(row["check"])
        found[name] = max(found.get(name, 0.0), float(row["difference"]))
    return found


def judge(worst: dict[str, float]) -> Verdict:
    """All equal: supported. Patches lose nothing but the blocks differ: partly."""
    if worst[ROUND_TRIP] > 0 or worst[CONVOLUTION] > _ROUNDING:
        return Verdict.NOT_SUPPORTED
    return Verdict.SUPPORTED if worst[BLOCKS] == 0 else Verdict.PARTLY


def _encoder(
    image_size: tuple[int, int], patch_size: tuple[int, int], seed: int
) -> VisionTransformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return VisionTransformer(64, 2, 4, image_size, patch_size).eval()


def _text_encoder(encoder: VisionTransformer) -> TextTransformer:
    """An encoder of texts that has the blocks of a ViT; loading fails if one has other parts."""
    with torch.random.fork_rng(devices=[]):
        text = TextTransformer(_CHARSET_SIZE, encoder.dim, encoder.depth, encoder.heads).eval()
    text.blocks.load_state_dict(encoder.blocks.state_dict())
    text.norm.load_state_dict(encoder.norm.state_dict())
    return text


def _by_patches(encoder: VisionTransformer, images: Tensor) -> Float[Tensor, "batch token dim"]:
    weight, bias = encoder.embed_patches.weight, encoder.embed_patches.bias
    return F.linear(encoder.patches(images).double(), weight.double(), bias.double())


def _by_convolution(encoder: VisionTransformer, images: Tensor) -> Float[Tensor, "batch token dim"]:
    height, width = encoder.patch_size
    kernel = rearrange(
        encoder.embed_patches.weight.double(), "d (h w c) -> d c h w", h=height, w=width
    )
    bias = encoder.embed_patches.bias.double()
    maps = F.conv2d(images.double(), kernel, bias, stride=encoder.patch_size)
    return rearrange(maps, "b d row col -> b (row col) d")


def _parts(encoder: VisionTransformer | TextTransformer) -> dict[str, int]:
    """Parameters of the parts of an encoder."""
    shared = sum(p.numel() for part in (encoder.blocks, encoder.norm) for p in part.parameters())
    return {
        "embedding": sum(p.numel() for p in encoder.parameters()) - shared,
        "blocks and norm": shared,
    }


def _summary(worst: dict[str, float], encoder: VisionTransformer) -> list[Row]:
    rows: list[Row] = [
        {"what": f"{name}: difference", "ViT": f"{value:.2g}", "text Transformer": "-"}
        for name, value in worst.items()
    ]
    vit, text = _parts(encoder), _parts(_text_encoder(encoder))
    rows += [
        {"what": f"parameters: {name}", "ViT": f"{vit[name]:,}", "text Transformer": f"{count:,}"}
        for name, count in text.items()
    ]
    return rows


def _draw(figure: "Figure", encoder: VisionTransformer) -> None:
    from studies.drawing import COLORS

    renderer = word_renderer(Charset(PRINTABLE_ASCII))
    image = renderer.render(["patches"], seed=3, difficulty=0.0).images.float() / 255
    figure.set_size_inches(7.5, 4.4)
    upper, middle, lower = figure.subplots(3, 1, height_ratios=[2, 0.9, 1.4])
    _show(upper, image)
    for axis, sizes, step in ((upper.axhline, 32, 8), (upper.axvline, 128, 8)):
        for place in range(step, sizes, step):
            axis(place - 0.5, color=COLORS[1], linewidth=0.8)
    upper.set(title="an image in 4 x 16 patches", xlabel="x (px)", ylabel="y (px)")
    row = encoder.patches(image)[0].view(4, 16, 8, 8, 3)[1]
    canvas = torch.ones(8, 16 * 10, 3)
    for place, patch in enumerate(row):
        canvas[:, place * 10 : place * 10 + 8] = patch
    _show(middle, canvas.permute(2, 0, 1)[None])
    middle.set_xticks([place * 10 + 3.5 for place in range(16)], [str(16 + n) for n in range(16)])
    middle.set(title="its second row as tokens", xlabel="place in the sequence", yticks=[])
    for place, counts in enumerate((_parts(_text_encoder(encoder)), _parts(encoder))):
        lower.barh(place, counts["blocks and norm"], color=COLORS[0], height=0.6)
        lower.barh(
            place, counts["embedding"], left=counts["blocks and norm"], color=COLORS[1], height=0.6
        )
        lower.text(
            counts["blocks and norm"] / 2,
            place,
            "blocks: the same",
            color="white",
            ha="center",
            va="center",
        )
        lower.text(sum(counts.values()), place, " embedding", color=COLORS[1], va="center")
    lower.set_yticks([0, 1], ["text Transformer", "ViT"])
    lower.margins(x=0.14)
    lower.set(title="where they differ", xlabel="parameters")
    lower.grid(visible=False, axis="y")


def _show(axes: "Axes", image: Float[Tensor, "1 3 height width"]) -> None:
    axes.imshow(image[0].permute(1, 2, 0).numpy(), interpolation="nearest")
    axes.grid(visible=False)
