"""Whether a word can still be seen after light, color and noise have changed."""

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

_REDUCTION = 4
_LEAST_LIKENESS = 0.8
_LEAST_CONTRAST = 0.25


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
