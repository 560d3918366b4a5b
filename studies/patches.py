"""A ViT is the Transformer's encoder on patches of an image."""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS
from studies.reading import word_renderer
from studies.sequences import TextTransformer
from studies.study import Findings, Rows, Settings, Study, Values, Verdict
from studies.training import seeded
from vit_str.analysis.vit_paper.filters import first_filters
from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.models import VisionTransformer

STUDY = Study(
    posts="V",
    claim=(
        "A ViT hardly differs from the Transformer: the image is torn into patches "
        "that make a sequence, and only the encoder is used, not the decoder."
    ),
    expected=(
        "Exact: the patches put together again are the image, and the blocks of a "
        "ViT, given to the project's encoder of texts, compute the same numbers to "
        "the last bit. Only the embedding differs, and it is a convolution whose "
        "stride is its kernel."
    ),
    experiment=(
        "Random images and weights of five sizes of image and patch. Patches are "
        "put together; the patch embedding is computed as a strided convolution in "
        "float64; the state of the ViT's blocks is loaded into a text encoder, and "
        "both run on the same tokens."
    ),
    correction=(
        "Not much differs, but some things do, and not only in the input: the ViT "
        "(Dosovitskiy et al. 2020) normalizes before each sub-layer and not after "
        "it, has GELU in the place of ReLU, learns its positions and adds a class "
        "token. Encoder only is enough to name one class; to write a text of any "
        "length, the recognizers here put a decoder behind it, or read characters "
        "off the tokens."
    ),
    kind="identity in part: the blocks are shared by construction",
)

ROUND_TRIP = "patches put together"
CONVOLUTION = "strided convolution"
BLOCKS = "same blocks"
SHAPES = (
    ((32, 128), (8, 8)),
    ((32, 128), (4, 8)),
    ((32, 128), (16, 4)),
    ((48, 160), (16, 16)),
    ((24, 100), (3, 5)),
)
"""Sizes of images and patches, (height, width): hardly any of them square, on purpose."""
# Products summed in another order differ by a few units in the last place of float64.
_ROUNDING = 1e-10


def run(settings: Settings) -> Findings:
    """Take patches apart and together, and give a text encoder the weights of a ViT."""
    shapes = SHAPES[:3] if settings.quick else SHAPES

    def measure_all(seed: int) -> Rows:
        for image_size, patch_size in shapes:
            yield from measure(image_size, patch_size, seed)

    table = settings.repeat("seed image patch tokens check difference", measure_all)
    worst = {name: max(table.values(check=name)) for name in table.levels("check")}
    encoder = make_encoder((32, 128), (8, 8), 0)
    vit = _parameters(encoder)
    text = _parameters(_text_encoder(encoder))
    share = _count(encoder.blocks) / _count(encoder)
    rows = {
        f"{name}: difference": (f"{value:.2g}", "-") for name, value in worst.items()
    }
    rows |= {
        f"parameters: {part}": (f"{vit[part]:,}", f"{n:,}") for part, n in text.items()
    }
    return Findings(
        table=table,
        summary=[
            {"what": what, "ViT": of_vit, "text Transformer": of_text}
            for what, (of_vit, of_text) in rows.items()
        ],
        verdict=judge(worst),
        measure="largest difference, of patches put together and of the shared blocks",
        values=Values([max(worst[ROUND_TRIP], worst[BLOCKS])]),
        because=(
            "Patches put together again give the image (difference "
            f"{worst[ROUND_TRIP]:g}), and a text encoder with the ViT's blocks "
            f"computes what the ViT does (difference {worst[BLOCKS]:g}); they are "
            f"{share:.1%} of its parameters. The patch embedding equals a strided "
            f"convolution to {worst[CONVOLUTION]:.2g}."
        ),
        draw=lambda figure: _draw(figure, encoder),
    )


def measure(
    image_size: tuple[int, int], patch_size: tuple[int, int], seed: int
) -> Rows:
    """The three comparisons, one row each."""
    encoder = make_encoder(image_size, patch_size, seed).double()
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(2, 3, *image_size, generator=generator).double()
    text = _text_encoder(encoder).double()
    with torch.no_grad():
        patches = encoder.patches(images)
        tokens = encoder.embed_positions(encoder.embed_patches(patches))
        for block in text.blocks:
            tokens = block(tokens)
        embed = encoder.embed_patches
        maps = F.conv2d(
            images,
            first_filters(encoder),
            embed.bias,
            stride=encoder.patch_size,
        )
        differences = {
            ROUND_TRIP: put_together(patches, encoder) - images,
            CONVOLUTION: rearrange(maps, "b d row col -> b (row col) d")
            - embed(patches),
            BLOCKS: text.norm(tokens) - encoder(images),
        }
    image, patch = ("{} x {}".format(*size) for size in (image_size, patch_size))
    for name, difference in differences.items():
        yield seed, image, patch, patches.shape[1], name, float(difference.abs().max())


def put_together(
    patches: Float[Tensor, "batch token value"], encoder: VisionTransformer
) -> Float[Tensor, "batch 3 height width"]:
    """The image that patches were cut from."""
    rows, _ = encoder.grid
    height, width = encoder.patch_size
    return rearrange(
        patches,
        "b (row col) (h w c) -> b c (row h) (col w)",
        row=rows,
        h=height,
        w=width,
        c=3,
    )


def judge(worst: dict[str, float]) -> Verdict:
    """All equal: supported. Patches lose nothing but the blocks differ: partly."""
    patches = worst[ROUND_TRIP] == 0 and worst[CONVOLUTION] <= _ROUNDING
    return Verdict.graded(patches, worst[BLOCKS] == 0)


def make_encoder(
    image_size: tuple[int, int], patch_size: tuple[int, int], seed: int
) -> VisionTransformer:
    """A ViT with random weights."""
    with seeded(seed):
        return VisionTransformer(64, 2, 4, image_size, patch_size).eval()


def _text_encoder(encoder: VisionTransformer) -> TextTransformer:
    """An encoder of texts that has the blocks of a ViT; loading fails if one has other parts."""
    with seeded(0):
        text = TextTransformer(94, encoder.dim, encoder.depth, encoder.heads, 64).eval()
    text.blocks.load_state_dict(encoder.blocks.state_dict())
    text.norm.load_state_dict(encoder.norm.state_dict())
    return text


def _count(part: nn.Module) -> int:
    return sum(p.numel() for p in part.parameters())


def _parameters(encoder: VisionTransformer | TextTransformer) -> dict[str, int]:
    """Parameters of the parts of an encoder."""
    shared = _count(encoder.blocks) + _count(encoder.norm)
    return {"embedding": _count(encoder) - shared, "blocks and norm": shared}


def _draw(figure: Figure, encoder: VisionTransformer) -> None:
    renderer = word_renderer(Charset(PRINTABLE_ASCII))
    image = renderer.render(["patches"], seed=3, difficulty=0.0).images.float() / 255
    figure.set_size_inches(7.5, 4.4)
    upper, middle, lower = figure.subplots(3, 1, height_ratios=[2, 0.9, 1.4])
    upper.imshow(image[0].permute(1, 2, 0).numpy(), interpolation="nearest")
    for line, size in ((upper.axhline, 32), (upper.axvline, 128)):
        for edge in range(8, size, 8):
            line(edge - 0.5, color=COLORS[1], linewidth=0.8)
    upper.set(title="an image in 4 x 16 patches", xlabel="x (px)", ylabel="y (px)")
    canvas = torch.ones(8, 16, 10, 3)  # a gap of two pixels after each patch
    canvas[:, :, :8] = rearrange(
        encoder.patches(image)[0, 16:32], "token (h w c) -> h token w c", h=8, w=8
    )
    middle.imshow(canvas.flatten(1, 2).numpy(), interpolation="nearest")
    middle.set_xticks(
        [10 * i + 3.5 for i in range(16)], [str(16 + i) for i in range(16)]
    )
    middle.set(
        title="its second row as tokens",
        xlabel="place in the sequence",
        yticks=[],
    )
    both = [_parameters(_text_encoder(encoder)), _parameters(encoder)]
    for y, parts in enumerate(both):
        shared = parts["blocks and norm"]
        own = parts["embedding"]
        lower.barh(y, shared, color=COLORS[0], height=0.6)
        lower.barh(y, own, left=shared, color=COLORS[1], height=0.6)
        lower.text(
            shared / 2,
            y,
            "blocks: the same",
            color="white",
            ha="center",
            va="center",
        )
        lower.text(shared + own, y, " embedding", color=COLORS[1], va="center")
    lower.set_yticks([0, 1], ["text Transformer", "ViT"])
    lower.margins(x=0.14)
    lower.set(title="where they differ", xlabel="parameters")
    for axes, without in ((upper, "both"), (middle, "both"), (lower, "y")):
        axes.grid(visible=False, axis=without)
