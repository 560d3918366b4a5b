"""Filters of the first layer, their principal components, how smooth they are.

The filters of a trained Vision Transformer resemble a basis for what patches look like (Dosovitskiy
et al. 2020, figure 7). That basis is known: the principal components of the patches themselves.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from torch import Tensor, nn

from vit_str.models import VisionTransformer

Filters = Float[Tensor, "filter channel height width"]

CHANCE_ROUGHNESS = 1.0
"""Roughness of noise."""
CHANCE_GRAY = 1 / 3
"""Share of gray in noise of three colors."""


def first_filters(encoder: nn.Module) -> Filters:
    """The filters that pixels meet first: of the patch embedding, or of the first convolution.

    Raises:
        ValueError: there is neither.
    """
    if isinstance(encoder, VisionTransformer) and not encoder.stem_widths:
        height, width = encoder.patch_size
        weight = encoder.embed_patches.weight.detach()
        return rearrange(
            weight, "filter (h w c) -> filter c h w", h=height, w=width
        ).cpu()
    for module in encoder.modules():
        if isinstance(module, nn.Conv2d):
            return module.weight.detach().float().cpu()
    raise ValueError(
        f"{type(encoder).__name__} has no patch embedding and no convolution"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Principal components, strongest first.

    Attributes:
        vectors: of length 1.
        shares: of the energy, the sum of squares; they sum to 1.
    """

    vectors: Float64[Tensor, "component channel height width"]
    shares: Float64[Tensor, " component"]

    @classmethod
    def of_filters(cls, filters: Filters) -> "Components":
        """Principal components of filters, about zero: filters have no order and no sign."""
        flat = filters.double().flatten(1)
        _, singular, directions = torch.linalg.svd(flat, full_matrices=False)
        energies = singular.square()
        return cls(
            directions.unflatten(1, filters.shape[1:]), energies / energies.sum()
        )

    def effective_number(self) -> float:
        """How many components of equal strength that is: exp of the entropy of the shares."""
        return float(torch.special.entr(self.shares).sum().exp())

    def captured(self, filters: Filters) -> Float64[Tensor, " component"]:
        """Share of the energy of filters within the first 1, 2, ... components."""
        flat = filters.double().flatten(1)
        products = flat @ self.vectors.flatten(1).T
        return products.square().sum(0).cumsum(0) / flat.square().sum()


class PatchCovariance:
    """Principal components of patches side by side, updated batch by batch.

    Args:
        size: height and width of a patch in pixels.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.patches = 0
        self._channels = 0
        self._sum: Tensor = torch.zeros(())
        self._products: Tensor = torch.zeros(())

    def update(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Add normalized images."""
        patches = F.unfold(images, self.size, stride=self.size)
        flat = rearrange(patches, "b pixel patch -> (b patch) pixel").cpu().double()
        self._channels = images.shape[1]
        self._sum = self._sum + flat.sum(0)
        self._products = self._products + flat.T @ flat
        self.patches += len(flat)

    def components(self) -> Components:
        """About the mean patch, strongest first."""
        mean = self._sum / self.patches
        covariance = self._products / self.patches - torch.outer(mean, mean)
        energies, directions = torch.linalg.eigh(covariance)
        energies = energies.flip(0).clamp(min=0)
        vectors = directions.T.flip(0).unflatten(1, (self._channels, *self.size))
        return Components(vectors, energies / energies.sum())


def low_frequency_share(filters: Filters) -> Float64[Tensor, " filter"]:
    """Share of the energy in the lower half of the frequencies down and across.

    Frequencies of the discrete cosine transform; `chance_low_frequency` is what noise has.
    """
    height, width = filters.shape[-2:]
    energies = (_cosines(height) @ filters.double() @ _cosines(width).T).square()
    low = energies[..., : _half(height), : _half(width)].sum((1, 2, 3))
    return low / energies.sum((1, 2, 3))


def chance_low_frequency(filters: Filters) -> float:
    """``low_frequency_share`` of noise."""
    height, width = filters.shape[-2:]
    return _half(height) * _half(width) / (height * width)


def roughness(filters: Filters) -> Float64[Tensor, " filter"]:
    """Mean squared difference of neighbors over that of noise of the same strength: 0 is flat."""
    pixels = filters.double()
    differences = [
        pixels.diff(dim=axis).square() for axis in (2, 3) if pixels.shape[axis] > 1
    ]
    total = sum(each.sum((1, 2, 3)) for each in differences)
    count = sum(each[0].numel() for each in differences)
    return total / count / (2 * pixels.square().mean((1, 2, 3)))


def gray_share(filters: Filters) -> Float64[Tensor, " filter"]:
    """Share of the energy that looks at brightness; the rest looks at color."""
    pixels = filters.double()
    gray = pixels.sum(1).square() / pixels.shape[1]
    return gray.sum((1, 2)) / pixels.square().sum((1, 2, 3))


def bank_means(filters: Filters) -> dict[str, float]:
    """The measures of a bank of filters, weighted by energy, and its number of components."""
    weights = filters.double().square().sum((1, 2, 3))
    weights = weights / weights.sum()
    return {
        "low_frequency_share": float(low_frequency_share(filters) @ weights),
        "roughness": float(roughness(filters) @ weights),
        "gray_share": float(gray_share(filters) @ weights),
        "effective_components": Components.of_filters(filters).effective_number(),
    }


def _cosines(length: int) -> Float64[Tensor, "frequency pixel"]:
    """Orthonormal basis of the discrete cosine transform, lowest frequency first."""
    index = torch.arange(length, dtype=torch.float64)
    angles = math.pi * torch.outer(index, index + 0.5) / length
    basis = angles.cos() * math.sqrt(2 / length)
    basis[0] /= math.sqrt(2)
    return basis


def _half(length: int) -> int:
    return max(1, length // 2)
