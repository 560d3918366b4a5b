"""The random source of the renderer: drawn on the CPU in blocks, the same for every device."""

import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor

Range = tuple[float, float]
"""The least and the most that `Random.uniform` gives."""

SEED_BITS = 62
"""Of a seed that another generator draws: torch takes integers below 2 ** 63."""

_PIXELS_OF_NOISE = 1 << 21  # 8 MB
_STRIDE = 61  # pixels between places where a window may begin
_BLOCK = 64  # numbers of an image that are made at once
_FIELD = 24  # numbers of an image from which on they are cut from the bank
_BANK_SEED = 20_201_022
_NORMAL = 0x5DEE_CE66  # parts the seed of normal numbers from that of uniform ones
_FORK = (
    0x2545_F491  # times its number, parts the seed of a fork from that of its source
)


def noise_bank(device: torch.device | str) -> Float[Tensor, " pixel"]:
    """Normal numbers to cut noise from: a copy takes an eighth of the time of new ones."""
    generator = torch.Generator().manual_seed(_BANK_SEED)
    return torch.randn(_PIXELS_OF_NOISE, generator=generator).to(device)


class Random:
    """Random parameters for ``count`` images.

    All numbers come from CPU generators, so that a seed means the same images on a CPU and on a
    GPU. They are drawn in blocks and a block is moved at once, without waiting: a few copies for
    all the parameters of a chunk. What is made of the numbers on the device is exact there too
    (one multiplication, addition or comparison at a time).
    """

    def __init__(self, seed: int, count: int, bank: Float[Tensor, " pixel"]) -> None:
        self.count = count
        self._seed = seed
        self.device = bank.device
        self._bank = bank
        self._uniform = _Blocks(seed, torch.rand, self.device)
        self._normal = _Blocks(seed ^ _NORMAL, torch.randn, self.device)

    def fork(self, number: int) -> "Random":
        """Another source for the same images, which takes nothing from this one."""
        return Random(self._seed ^ _FORK * number, self.count, self._bank)

    def uniform(
        self,
        low: float,
        high: float,
        *shape: int,
    ) -> Float[Tensor, "count ..."]:
        """Uniform numbers between ``low`` and ``high``, ``shape`` of them for each image."""
        numbers, _ = self._uniform.take(self.count, *shape)
        return numbers * (high - low) + low

    def normal(self, deviation: float, *shape: int) -> Float[Tensor, "count ..."]:
        """Normal numbers of mean 0, ``shape`` of them for each image; many come from the bank."""
        if math.prod(shape) > _FIELD:
            return self.pixels(*shape) * deviation
        numbers, _ = self._normal.take(self.count, *shape)
        return numbers * deviation

    def integers(self, high: int, *shape: int) -> Int64[Tensor, "count ..."]:
        """Integers from 0 up to, without, ``high``, which is at most 2 ** 24."""
        numbers, _ = self._uniform.take(self.count, *shape)
        return (numbers * high).long().clamp(max=high - 1)

    def bernoulli(self, share: float, *shape: int) -> Float[Tensor, "count ..."]:
        """1 for about this share of the images, else 0."""
        numbers, _ = self._uniform.take(self.count, *shape)
        return (numbers < share).float()

    def subset(self, share: float) -> Int64[Tensor, " chosen"]:
        """Indices of about this share of the images: known on the CPU, so nothing waits."""
        _, known = self._uniform.take(self.count)
        return upload((known < share).nonzero()[:, 0], self.device)

    def permutation(self) -> Int64[Tensor, " count"]:
        """The images in another order."""
        numbers, _ = self._uniform.take(self.count)
        return numbers.argsort(stable=True)

    def pixels(self, *shape: int) -> Float[Tensor, "count ..."]:
        """Standard normal noise of a picture's shape for each image."""
        windows = self._bank.unfold(0, math.prod(shape), _STRIDE)
        return windows[self.integers(len(windows))].reshape(self.count, *shape)


class _Blocks:
    """A stream of numbers, made on the CPU and moved a block at a time."""

    def __init__(self, seed: int, make: object, device: torch.device) -> None:
        self._make = make
        self._device = device
        self._generator = torch.Generator().manual_seed(seed)
        self._known = torch.empty(0)
        self._moved = self._known
        self._used = 0

    def take(self, count: int, *shape: int) -> tuple[Tensor, Tensor]:
        """The next numbers, ``shape`` for each of ``count`` images: on the device and here."""
        size = count * math.prod(shape)
        if self._used + size > len(self._known):
            self._refill(max(size, count * _BLOCK))
        place = slice(self._used, self._used + size)
        self._used += size
        here = self._known[place].view(count, *shape)
        return self._moved[place].view(count, *shape), here

    def _refill(self, size: int) -> None:
        pinned = self._device.type == "cuda"
        self._known = torch.empty(size, pin_memory=pinned)
        self._make(
            size,
            generator=self._generator,
            out=self._known,
        )  # type: ignore[operator]
        self._moved = upload(self._known, self._device)
        self._used = 0


def upload(values: Tensor, device: torch.device) -> Tensor:
    """Copy to the device without waiting; the memory is kept until the copy is done."""
    if device.type != "cuda":
        return values.to(device)
    if not values.is_pinned():
        values = values.pin_memory()
    return values.to(device, non_blocking=True)
