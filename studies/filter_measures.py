"""What the first layer looks for: its filters, their principal components, and how smooth they are.

The filters of a trained Vision Transformer resemble a basis for what patches look like (Dosovitskiy
et al. 2020, figure 7). That basis is known: the principal components of the patches themselves.
"""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from scipy.fft import dctn
from torch import Tensor, nn

from vit_str.models import VisionTransformer

Filters = Float[Tensor, "filter channel height width"]


def first_filters(encoder: nn.Module) -> Filters:
    """The filters of the patch embedding, or of the first convolution."""
    if isinstance(encoder, VisionTransformer) and not encoder.stem_widths:
        height, width = encoder.patch_size
        weight = encoder.embed_patches.weight.detach()
        return rearrange(weight, "filter (h w c) -> filter c h w", h=height, w=width).cpu()
    for module in encoder.modules():
        if isinstance(module, nn.Conv2d):
            return module.weight.detach().cpu()
    raise ValueError(f"{type(encoder).__name__} has no patch embedding and no convolution")


class Components:
    """Principal components, strongest first: unit vectors and their shares of the energy."""

    def __init__(
        self,
        vectors: Float64[Tensor, "component channel height width"],
        energies: Float64[Tensor, " component"],
    ) -> None:
        self.vectors = vectors
        self.shares = energies / energies.sum()

    @classmethod
    def of_filters(cls, filters: Filters) -> "Components":
        """Of a bank of filters, about zero: filters have no order and no sign."""
        flat = filters.double().flatten(1)
        _, singular, directions = torch.linalg.svd(flat, full_matrices=False)
        return cls(directions.unflatten(1, filters.shape[1:]), singular.square())

    @classmethod
    def of_patches(
        cls, images: Float[Tensor, "batch channel height width"], size: tuple[int, int]
    ) -> "Components":
        """Of all patches of normalized images side by side, about their mean."""
        patches = F.unfold(images, size, stride=size)
        flat = rearrange(patches, "b pixel patch -> (b patch) pixel").double()
        energies, directions = torch.linalg.eigh(torch.cov(flat.T, correction=0))
        vectors = directions.T.flip(0).unflatten(1, (images.shape[1], *size))
        return cls(vectors, energies.flip(0).clamp(min=0))

    def effective_number(self) -> float:
        """How many components of equal strength that is: exp of the entropy of the shares."""
        return float(torch.special.entr(self.shares).sum().exp())

    def captured(self, filters: Filters) -> Float64[Tensor, " component"]:
        """Share of the energy of filters within the first 1, 2, ... components."""
        products = filters.double().flatten(1) @ self.vectors.flatten(1).T
        return products.square().sum(0).cumsum(0) / filters.double().square().sum()


def low_frequency_share(filters: Filters) -> Float64[Tensor, " filter"]:
    """Share of the energy in the lower half of the frequencies down and across.

    Frequencies of the discrete cosine transform; `chance_low_frequency` is what noise has.
    """
    height, width = filters.shape[-2:]
    cosines = dctn(filters.double().numpy(), axes=(-2, -1), norm="ortho")
    energies = torch.from_numpy(cosines).square()
    low = energies[..., : _half(height), : _half(width)].sum((1, 2, 3))
    return low / energies.sum((1, 2, 3))


def chance_low_frequency(filters: Filters) -> float:
    """``low_frequency_share`` of noise."""
    height, width = filters.shape[-2:]
    return _half(height) * _half(width) / (height * width)


def roughness(filters: Filters) -> Float64[Tensor, " filter"]:
    """Mean squared difference of neighbors over that of noise of the same strength: 0 is flat."""
    pixels = filters.double()
    differences = [pixels.diff(dim=axis).square() for axis in (2, 3) if pixels.shape[axis] > 1]
    total = sum(each.sum((1, 2, 3)) for each in differences)
    count = sum(each[0].numel() for each in differences)
    return total / count / (2 * pixels.square().mean((1, 2, 3)))


def bank_means(filters: Filters) -> dict[str, float]:
    """The two measures of a bank of filters, weighted by energy, and its components."""
    weights = filters.double().square().sum((1, 2, 3))
    weights = weights / weights.sum()
    return {
        "low_frequency_share": float(low_frequency_share(filters) @ weights),
        "roughness": float(roughness(filters) @ weights),
        "effective_components": Components.of_filters(filters).effective_number(),
    }


def _half(length: int) -> int:
    return max(1, length // 2)
