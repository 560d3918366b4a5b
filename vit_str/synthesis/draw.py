"""The random source of the renderer: small draws on the CPU, the same for every device."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

_PIXELS_OF_NOISE = 1 << 21
_STRIDE = 61


def noise_bank(device: torch.device | str) -> Float[Tensor, " pixel"]:
    """Normal numbers to cut pixel noise from: a copy takes an eighth of the time of new ones."""
    generator = torch.Generator().manual_seed(20_201_022)
    return torch.randn(_PIXELS_OF_NOISE, generator=generator).to(device)


class Draw:
    """Random parameters for ``count`` images.

    Every number comes from a CPU generator and is then moved, so that a seed means the same
    images on a CPU and on a GPU.

    Args:
        seed: decides every draw.
        count: number of images.
        bank: pixel noise, from `noise_bank`; its device is where the draws go.
    """

    def __init__(self, seed: int, count: int, bank: Float[Tensor, " pixel"]) -> None:
        self.count, self.device = count, bank.device
        self._bank = bank
        self._generator = torch.Generator().manual_seed(seed)

    def uniform(self, low: float, high: float, *shape: int) -> Float[Tensor, "count ..."]:
        """Uniform numbers between ``low`` and ``high``, ``shape`` of them for each image."""
        numbers = torch.rand(self.count, *shape, generator=self._generator)
        return (numbers * (high - low) + low).to(self.device)

    def normal(self, deviation: float, *shape: int) -> Float[Tensor, "count ..."]:
        """Normal numbers of mean 0, ``shape`` of them for each image."""
        numbers = torch.randn(self.count, *shape, generator=self._generator)
        return (numbers * deviation).to(self.device)

    def integers(self, high: int, *shape: int) -> Int64[Tensor, "count ..."]:
        """Integers from 0 up to, without, ``high``."""
        return torch.randint(high, (self.count, *shape), generator=self._generator).to(self.device)

    def some(self, share: float, *shape: int) -> Float[Tensor, "count ..."]:
        """1 for about this share of the images, else 0."""
        numbers = torch.rand(self.count, *shape, generator=self._generator)
        return (numbers < share).float().to(self.device)

    def subset(self, share: float) -> Int64[Tensor, " chosen"]:
        """Indices of about this share of the images: known on the CPU, so nothing waits."""
        numbers = torch.rand(self.count, generator=self._generator)
        return (numbers < share).nonzero()[:, 0].to(self.device)

    def permutation(self) -> Int64[Tensor, " count"]:
        """The images in another order."""
        return torch.randperm(self.count, generator=self._generator).to(self.device)

    def pixels(self, *shape: int) -> Float[Tensor, "count ..."]:
        """Standard normal noise of a picture's shape for each image."""
        size = int(torch.tensor(shape).prod())
        windows = self._bank.unfold(0, size, _STRIDE)
        return windows[self.integers(len(windows))].reshape(self.count, *shape)
