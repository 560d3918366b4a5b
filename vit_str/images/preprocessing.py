"""RGB images -> the pixels of a model, the same in training and in reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8
    from torch import Tensor

TALL = 1.5
"""Height over width above which a line of text more likely runs down or up than along."""

# Of mean and std: their absolute values lie below it, those of std above its inverse
_LARGEST = 1000.0


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """From an RGB image to the input of a model.

    Attributes:
        height: of every image, in pixels.
        width: of every image, in pixels; of lines the largest.
        mean: what is taken from red, green and blue, on the scale 0 to 1.
        std: what they are divided by then.
        turn_above: height over width above which an image is turned by a quarter to the left
            before it is resized, so that lines that run down run along; none is if None.
        reread_below: confidence below which an image is read again, also with test-time
            augmentation; never if 0.
        width_step: images keep their shape as nearly as a width allows that is a multiple of it;
            if 0, all have ``width``.

    Raises:
        ValueError: a number is outside its range.
    """

    height: int = 32
    width: int = 128
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    turn_above: float | None = None
    reread_below: float = 0.0
    width_step: int = 0

    def __post_init__(self) -> None:
        if min(self.height, self.width) < 1:
            raise ValueError(
                f"images need 1 x 1 pixels or more, not {self.height} x {self.width}"
            )
        for values in (self.mean, self.std):
            if len(values) != 3 or not all(abs(value) <= _LARGEST for value in values):
                raise ValueError(
                    f"mean and std are three numbers of at most {_LARGEST:g} each, "
                    f"found {values}"
                )
        if not all(abs(value) >= 1 / _LARGEST for value in self.std):
            raise ValueError(
                f"std divides the pixels and must be {1 / _LARGEST:g} or more, found "
                f"{self.std}"
            )
        if self.turn_above is not None and not self.turn_above > 0:
            raise ValueError(f"turn_above must be above 0, found {self.turn_above}")
        if not 0 <= self.reread_below <= 1:
            raise ValueError(
                f"reread_below must be from 0 to 1, found {self.reread_below}"
            )

    def turns(self, height: int, width: int) -> bool:
        """Whether an image of this size is turned by a quarter to the left."""
        return self.turn_above is not None and height > self.turn_above * width

    def pixels(self, image: Image.Image) -> UInt8[Tensor, "channel height width"]:
        """As ``array``, in torch and its order."""
        import torch

        return torch.from_numpy(self.array(image)).permute(2, 0, 1).contiguous()

    def array(self, image: Image.Image) -> UInt8[np.ndarray, "height width channel"]:
        """Turn a tall RGB image if asked, and resize it: bicubic, antialiased.

        An image of the right size keeps its pixels.

        Raises:
            ValueError: for an image that is not RGB.
        """
        if image.mode != "RGB":
            raise ValueError(
                f"expected an RGB image, found {image.mode}: open it with load_image"
            )
        if self.turns(image.height, image.width):
            image = image.transpose(Image.Transpose.ROTATE_90)
        size = self.width_of(image), self.height
        if image.size != size:
            image = image.resize(size, Image.Resampling.BICUBIC)
        return np.array(image)

    def width_of(self, image: Image.Image) -> int:
        """The width that an image is brought to."""
        if not self.width_step:
            return self.width
        steps = round(image.width / image.height * self.height / self.width_step)
        return min(self.width, max(1, steps) * self.width_step)

    def normalize(
        self, images: UInt8[Tensor, "*batch channel height width"]
    ) -> Float[Tensor, "*batch channel height width"]:
        """(pixels / 255 - mean) / std in float32, on the device of the pixels."""
        scaled = images.float() / 255
        mean = scaled.new_tensor(self.mean).view(3, 1, 1)
        std = scaled.new_tensor(self.std).view(3, 1, 1)
        return (scaled - mean) / std

    def normalize_array(
        self, images: UInt8[np.ndarray, "*batch channel height width"]
    ) -> Float[np.ndarray, "*batch channel height width"]:
        """As ``normalize``, in NumPy."""
        mean = np.array(self.mean, np.float32).reshape(3, 1, 1)
        std = np.array(self.std, np.float32).reshape(3, 1, 1)
        return (images.astype(np.float32) / 255 - mean) / std

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"mean": list(self.mean), "std": list(self.std)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Preprocessing:
        """Inverse of ``to_dict``.

        Raises:
            ValueError: for other names, or values that are no numbers.
        """
        names = [field.name for field in fields(cls)]
        # Files without these turn no image, read none again and bring all to one width.
        values = {"turn_above": None, "reread_below": 0.0, "width_step": 0, **values}
        try:
            if sorted(values) != sorted(names):
                raise ValueError(
                    f"preprocessing needs {', '.join(names)}, found {values}"
                )
            mean = tuple(map(float, values["mean"]))
            std = tuple(map(float, values["std"]))
            turn_above = values["turn_above"]
            if turn_above is not None:
                turn_above = float(turn_above)
            size = int(values["height"]), int(values["width"])
            again = float(values["reread_below"])
            step = int(values["width_step"])
            return cls(*size, mean, std, turn_above, again, step)  # type: ignore[arg-type]
        except TypeError as error:
            raise ValueError(
                f"preprocessing needs numbers, found {values!r}"
            ) from error
