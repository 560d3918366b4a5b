"""What a library does to images for one of its models, up to what is normalized."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.images import Preprocessing


@dataclass(frozen=True, slots=True)
class LibraryPreprocessing(Preprocessing):
    """`Preprocessing` whose ``transform`` resizes and crops: RGB image to pixels, channel first."""

    transform: Callable[[Image.Image], Any] | None = None

    def pixels(self, image: Image.Image) -> UInt8[Tensor, "channel height width"]:
        """Resize and crop as the library does, before it normalizes.

        Raises:
            ValueError: the result is of another size than this model's images.
        """
        if self.transform is None:
            return Preprocessing.pixels(self, image)
        pixels = torch.as_tensor(self.transform(image))
        if tuple(pixels.shape) != (3, self.height, self.width):
            raise ValueError(
                f"preprocessing made {tuple(pixels.shape)} of an image of {image.height} x "
                f"{image.width}, the model takes (3, {self.height}, {self.width})"
            )
        return pixels.to(torch.uint8)
