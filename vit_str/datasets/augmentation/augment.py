"""A picture and a number -> the picture changed, always in the same way for the same number."""

import random
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from vit_str.datasets.augmentation.policy import build, library, load_policy, split

WORKING_HEIGHT = 64
"""Height of a picture while it is changed, in pixels."""
_WIDEST = 8 * WORKING_HEIGHT
_NARROWEST = WORKING_HEIGHT // 4
_LARGEST = (1 << 63) - 1

# Of `still_legible`.
_REDUCTION = 4
_LEAST_LIKENESS = 0.8
_LEAST_CONTRAST = 0.25


class Augmentation:
    """Changes pictures of words at random: places, sharpness, light, color, noise, small holes.

    The result depends on the policy, the seed and the number alone: not on the process, nor on
    what was changed before. A picture is scaled to a height of ``WORKING_HEIGHT`` first, keeping
    its aspect up to 8 to 1, so that a blur of 5 pixels or a hole of 4 means the same for a word of
    12 pixels as for one of 1,200, and takes the same time. That is twice the height at which models
    read: what is drawn finer than that would be lost. It may grow when it is turned or sheared:
    the whole picture stays in view. Where a faint word is lost in noise or in the dark, see
    `still_legible`, only its places are changed.

    Args:
        policy: one of ``POLICIES``, or the path of a YAML file, see `load_policy`.
        seed: of all numbers.

    Raises:
        ValueError: the policy cannot be used, see `load_policy`; or a negative seed.
    """

    def __init__(self, policy: str | Path = "light", seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"the seed must be 0 or more, found {seed}")
        self.steps = load_policy(policy)
        self.seed = seed
        self._places: Any = None
        self._looks: Any = None

    def __call__(self, image: Image.Image, number: int) -> Image.Image:
        """Change an upright RGB picture.

        Args:
            image: the picture; it stays as it is.
            number: from 0 on; another one gives another change.

        Returns:
            An RGB picture, of another size as a rule.

        Raises:
            ValueError: the picture is not RGB.
        """
        if image.mode != "RGB":
            raise ValueError(f"expected an RGB image, found {image.mode}: open it with load_image")
        if not self.steps:
            return image
        if self._places is None:
            self._places, self._looks = (
                library().Compose([build(step) for step in steps]) for steps in split(self.steps)
            )
        generator = np.random.Generator(np.random.PCG64((self.seed, number)))
        chance = random.Random(int(generator.integers(_LARGEST)))
        for pipeline in (self._places, self._looks):
            pipeline.set_random_state(generator, chance)
        placed = self._places(image=_scaled(image))["image"]
        changed = self._looks(image=placed)["image"]
        return Image.fromarray(changed if still_legible(placed, changed) else placed)

    def __getstate__(self) -> dict[str, Any]:
        """Another process builds the transforms anew."""
        return {**self.__dict__, "_places": None, "_looks": None}


def _scaled(image: Image.Image) -> np.ndarray:
    """A picture of the working height."""
    width = round(image.width * WORKING_HEIGHT / image.height)
    size = (min(max(width, _NARROWEST), _WIDEST), WORKING_HEIGHT)
    if image.size != size:
        image = image.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    return np.array(image)


def still_legible(
    before: UInt8[np.ndarray, "height width 3"], after: UInt8[np.ndarray, "height width 3"]
) -> bool:
    """Whether the shapes in a picture are still there, whatever their colors are now.

    Both are reduced to a quarter of their size, where noise averages out as far as it does for a
    model. Then the channel with most contrast before has to be correlated, or anticorrelated, with
    one of those after: by 0.8, below which words that were faint could not be read by eye. And a
    quarter of the contrast has to be left. Pictures of another size are not compared: True.
    """
    if before.shape != after.shape:
        return True
    old, new = _reduced(before), _reduced(after)
    contrasts, contrast = old.std(0), new.std(0).max()
    if contrast < _LEAST_CONTRAST * contrasts.max():
        return False
    shapes = old[:, contrasts.argmax()]
    likeness = np.abs(shapes @ new) / len(new)
    return bool((likeness >= _LEAST_LIKENESS * shapes.std() * new.std(0)).any())


def _reduced(picture: UInt8[np.ndarray, "height width 3"]) -> Float[np.ndarray, "pixel 3"]:
    """Pixels of a quarter of the picture, each channel around 0."""
    image = Image.fromarray(picture)
    size = max(1, image.width // _REDUCTION), max(1, image.height // _REDUCTION)
    pixels = np.asarray(image.resize(size, Image.Resampling.BOX), np.float32).reshape(-1, 3)
    return pixels - pixels.mean(0)
