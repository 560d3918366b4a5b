"""What the first layer looks for: its filters, their principal components, and how smooth they are.

The filters of a trained Vision Transformer resemble a basis for what patches look like (Dosovitskiy
et al. 2020, figure 7). That basis is known: the principal components of the patches themselves.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from torch import Tensor, nn

from vit_str.analysis.results import AnalysisRun
from vit_str.models import VisionTransformer
from vit_str.reports.style import INK, UNIFORM, figure, model_colors, plain, plain_lines, styled
from vit_str.reports.tables import write_csv

Filters = Float[Tensor, "filter channel height width"]

CHANCE_ROUGHNESS, CHANCE_GRAY = 1.0, 1 / 3


def first_filters(encoder: nn.Module) -> Filters:
    """The filters of the patch embedding, or of the first convolution.

    Raises:
        ValueError: there is neither.
    """
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

    def effective_number(self) -> float:
        """How many components of equal strength that is: exp of the entropy of the shares."""
        return float(torch.special.entr(self.shares).sum().exp())

    def captured(self, filters: Filters) -> Float64[Tensor, " component"]:
        """Share of the energy of filters within the first 1, 2, ... components."""
        products = filters.double().flatten(1) @ self.vectors.flatten(1).T
        return products.square().sum(0).cumsum(0) / filters.double().square().sum()


class PatchCovariance:
    """Principal components of patches side by side, updated batch by batch."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size, self.patches = size, 0
        self._sum: Tensor = torch.zeros(())
        self._products: Tensor = torch.zeros(())

    def update(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Add normalized images."""
        patches = F.unfold(images, self.size, stride=self.size)
        flat = rearrange(patches, "b pixel patch -> (b patch) pixel").double()
        self._shape = (images.shape[1], *self.size)
        self._sum = self._sum + flat.sum(0).cpu()
        self._products = self._products + (flat.T @ flat).cpu()
        self.patches += len(flat)

    def components(self) -> Components:
        """About the mean patch, strongest first."""
        mean = self._sum / self.patches
        covariance = self._products / self.patches - torch.outer(mean, mean)
        energies, directions = torch.linalg.eigh(covariance)
        vectors = directions.T.flip(0).unflatten(1, self._shape)
        return Components(vectors, energies.flip(0).clamp(min=0))


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
    differences = [pixels.diff(dim=axis).square() for axis in (2, 3) if pixels.shape[axis] > 1]
    total = sum(each.sum((1, 2, 3)) for each in differences)
    count = sum(each[0].numel() for each in differences)
    return total / count / (2 * pixels.square().mean((1, 2, 3)))


def gray_share(filters: Filters) -> Float64[Tensor, " filter"]:
    """Share of the energy that looks at brightness; the rest looks at color."""
    pixels = filters.double()
    gray = pixels.sum(1).square() / pixels.shape[1]
    return gray.sum((1, 2)) / pixels.square().sum((1, 2, 3))


def bank_means(filters: Filters) -> dict[str, float]:
    """The three measures of a bank of filters, weighted by energy, and its components."""
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


_LEAD = """\
The filters of the first layer, their principal components, and how these compare with the \
principal components of the patches of the images themselves: what training makes of random \
weights, and whether it is what the images look like."""

_MEASURES = """\
Low frequencies: share of the energy (sum of squared weights) in the lower half of the frequencies \
of the cosine transform down and across. Roughness: mean squared difference of \
neighboring weights over that of noise, 0 is flat. Gray: share that looks at brightness and not \
at color. Components: how many of equal strength the filters amount to. The last column is the \
share of their energy within the first tenth of the principal components of the patches."""

_COMPONENT_COLUMNS = (
    *("of", "component", "share", "low_frequency_share", "roughness", "gray_share"),
)
_MEAN_COLUMNS = (
    *("model", "filters", "low frequencies", "roughness", "gray", "components"),
    "in a tenth of the patches'",
)
_COLUMNS, _ROWS = 7, 4
_PIXEL, _ROOM = 8, 20  # of a weight, and between filters, in pixels
SHOWN = _COLUMNS * _ROWS
"""How many filters fit into one mosaic."""
Weights = Float[np.ndarray, "filter channel height width"]


def report(run: AnalysisRun) -> int:
    """Measure the filters of every model and the patches of the images; write tables and a page."""
    subjects = run.subjects
    banks = {subject.name: first_filters(subject.encoder) for subject in subjects}
    covariances = {size: PatchCovariance(size) for size in map(_size, banks.values())}
    for _, batch in run.batches(subjects[0]):
        for covariance in covariances.values():
            covariance.update(batch)
    patches = {size: covariance.components() for size, covariance in covariances.items()}
    components = {name: Components.of_filters(filters) for name, filters in banks.items()}
    components |= {f"patches {h} x {w}": found for (h, w), found in patches.items()}
    rows = [row for name, found in components.items() for row in _component_rows(name, found)]
    write_csv(run.folder / "components.csv", _COMPONENT_COLUMNS, rows)
    within = {
        name: patches[_size(filters)].captured(filters).tolist() for name, filters in banks.items()
    }
    means: list[list[object]] = [
        [name, len(filters), *bank_means(filters).values(), _first_tenth(within[name])]
        for name, filters in banks.items()
    ]
    noise = chance_low_frequency(next(iter(banks.values()))), CHANCE_ROUGHNESS, CHANCE_GRAY
    means.append(["noise", None, *noise, None, 0.1])
    write_csv(run.folder / "filters.csv", _MEAN_COLUMNS, means)
    page = run.page("Filters of the first layer", _LEAD)
    page.heading("Principal components")
    page.figure(
        mosaics({name: _strongest(found) for name, found in components.items()}),
        "components",
        f"The {SHOWN} strongest principal components and the share of the energy of each in "
        "percent; gray is zero.",
    )
    for size, found in patches.items():
        curves = {name: within[name] for name, filters in banks.items() if _size(filters) == size}
        page.figure(
            captured_by_patches(curves, found.shares.cumsum(0).tolist()),
            "captured-{}x{}".format(*size),
            "Share of the energy of the filters within the first principal components of patches "
            "of {} x {} px; chance is what random filters have.".format(*size),
        )
    page.heading("Filters")
    page.figure(
        mosaics({name: _norms(filters) for name, filters in banks.items()}),
        "filters",
        f"The {SHOWN} strongest filters and their norms.",
    )
    page.heading("In numbers")
    page.paragraph(_MEASURES)
    caption = "Means over filters, strong ones counting more, against noise"
    page.table(_MEAN_COLUMNS, means, caption)
    counts = {"{} x {}".format(*size): each.patches for size, each in covariances.items()}
    return run.finish(page, patches=counts)


def _size(filters: Filters) -> tuple[int, int]:
    return filters.shape[2], filters.shape[3]


def _component_rows(name: str, components: Components) -> list[list[object]]:
    """Every component: how strong, how smooth, how gray."""
    vectors = components.vectors.float()
    measured = [
        measure(vectors).tolist() for measure in (low_frequency_share, roughness, gray_share)
    ]
    values = zip(components.shares.tolist(), *measured, strict=True)
    return [[name, number, *each] for number, each in enumerate(values, 1)]


def _first_tenth(captured: list[float]) -> float:
    return captured[max(len(captured) // 10, 1) - 1]


def _strongest(components: Components) -> tuple[Weights, list[str]]:
    shares = [f"{100 * share:.1f}" for share in components.shares[:SHOWN].tolist()]
    return components.vectors[:SHOWN].numpy(), shares


def _norms(filters: Filters) -> tuple[Weights, list[str]]:
    norms = filters.flatten(1).norm(dim=1)
    strongest = norms.argsort(descending=True)[:SHOWN]
    return filters[strongest].numpy(), [f"{norm:.2f}" for norm in norms[strongest].tolist()]


@styled()
def mosaics(banks: Mapping[str, tuple[Weights, Sequence[str]]]) -> Figure:
    """The first filters of several banks with a remark over each, each scaled for itself."""
    columns = min(3, len(banks))
    rows = -(-len(banks) // columns)
    sheet = figure(3.5 * columns, 2.4 * rows)
    grid = sheet.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, (title, (bank, remarks)) in zip(grid.flat, banks.items(), strict=False):
        axes.set_title(plain_lines(title, 34))
        axes.imshow(_mosaic(bank[:SHOWN]), interpolation="nearest")
        height, width = (side * _PIXEL + _ROOM for side in bank.shape[2:])
        for place, remark in enumerate(remarks[: len(bank[:SHOWN])]):
            x, y = place % _COLUMNS * width + width / 2, place // _COLUMNS * height + _ROOM - 3
            axes.text(x, y, plain(remark), fontsize=5.5, ha="center", va="bottom")
    return sheet


def _mosaic(bank: Weights) -> np.ndarray:
    """All filters in one picture, framed, with room above each.

    The largest weight of a filter is as far from gray as colors go.
    """
    largest = np.abs(bank).max((1, 2, 3), keepdims=True)
    colors = 0.5 + 0.5 * bank / np.where(largest > 0, largest, 1)
    pixels = colors.repeat(_PIXEL, 2).repeat(_PIXEL, 3)
    framed = np.pad(pixels, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=0.3)
    beside = (_ROOM // 2 - 1, _ROOM // 2 - 1)
    room = ((0, SHOWN - len(bank)), (0, 0), (_ROOM - 2, 0), beside)
    cells = np.pad(framed, room, constant_values=1.0)
    return rearrange(cells, "(row column) c h w -> (row h) (column w) c", row=_ROWS)


@styled()
def captured_by_patches(curves: Mapping[str, Sequence[float]], patches: Sequence[float]) -> Figure:
    """Share of the energy of filters, and of patches, within 1, 2, ... components of patches."""
    sheet = figure(7.5, 4.2)
    axes = sheet.subplots()
    numbers = np.arange(1, len(patches) + 1)
    axes.plot(numbers, patches, color=INK, linewidth=1.1, linestyle=":", label="patches")
    for model, color in model_colors(curves).items():
        axes.plot(numbers, curves[model], color=color, label=plain(model))
    axes.plot(numbers, numbers / len(patches), label="chance", **UNIFORM)
    axes.set(xlim=(1, len(patches)), ylim=(0, 1.02), xscale="log")
    axes.set_xticks([tick for tick in (1, 3, 10, 30, 100, 300) if tick <= len(patches)])
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("first principal components of the patches (number, logarithmic)")
    axes.set_ylabel("share of energy within them")
    axes.legend(loc="center left", frameon=True, framealpha=0.9, edgecolor="none")
    return sheet
