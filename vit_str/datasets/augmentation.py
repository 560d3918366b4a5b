"""Pictures of words changed at random, in ways that leave the word what it is."""

import os
import random
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from vit_str.machine import install_hint

WORKING_HEIGHT = 64
"""Height of a picture while it is changed, in pixels."""
_WIDEST = 8 * WORKING_HEIGHT  # pixels
_NARROWEST = WORKING_HEIGHT // 4  # pixels
_LARGEST_SEED = (1 << 63) - 1
# Cv2.BORDER_REPLICATE: a mirrored border would show parts of letters again
_REPLICATE = 1
# Pixels around a word, farther than the elastic transforms below move anything
_MARGIN = 8

# Of `still_legible`.
_REDUCTION = 4
_LEAST_CORRELATION = 0.8  # below it, words that were faint could not be read by eye
_LEAST_CONTRAST = 0.25


class Pipeline(NamedTuple):
    """The transforms of every picture, as lists for albumentations.

    Attributes:
        geometry: what moves pixels. The whole word has to stay in view, upright, unmirrored.
        appearance: what changes colors, sharpness or noise, and leaves every pixel in its place;
            undone where it makes a word illegible.
    """

    geometry: list[Any]
    appearance: list[Any]


def light() -> Pipeline:
    """For words photographed with care: about half of them look as they were taken."""
    A = _albumentations()  # noqa: N806 - as everybody writes it
    geometry = [
        A.OneOf(
            [
                _affine(rotate=(-6, 6), shear={"x": (-12, 12), "y": (-3, 3)}),
                _perspective(0.02, 0.06),
                _elastic(alpha=16),
            ],
            p=0.5,
        )
    ]
    appearance = [
        _holes(count=(1, 4), height=(2, 4), width=(2, 6), p=0.1),
        A.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.4, hue=0.05, p=0.4),
        A.InvertImg(p=0.05),
        A.OneOf(
            [
                A.GaussianBlur(sigma_limit=(0.5, 1.8), p=1),
                A.MotionBlur(blur_limit=(3, 7), allow_shifted=False, p=1),
            ],
            p=0.25,
        ),
        A.OneOf(
            [
                A.GaussNoise(std_range=(0.02, 0.06), p=1),
                A.ImageCompression(quality_range=(25, 80), p=1),
                _downscale(0.35, 0.8),
            ],
            p=0.25,
        ),
    ]
    return Pipeline(geometry, appearance)


def strong() -> Pipeline:
    """For words in the wild, and for sets of which every word is seen many times."""
    A = _albumentations()  # noqa: N806
    geometry = [
        A.OneOf(
            [
                _affine(rotate=(-20, 20), shear={"x": (-25, 25), "y": (-5, 5)}),
                _affine(
                    shear={"x": (-30, 30), "y": (0, 0)},
                    scale={"x": (0.7, 1.4), "y": (1, 1)},
                ),
                _perspective(0.04, 0.14),
            ],
            p=0.6,
        ),
        A.OneOf(
            [
                _elastic(alpha=30),
                A.GridDistortion(
                    num_steps=6,
                    distort_limit=(-0.25, 0.25),
                    border_mode=_REPLICATE,
                    normalized=True,
                    p=1,
                ),
            ],
            p=0.3,
        ),
    ]
    appearance = [
        _holes(count=(1, 8), height=(2, 5), width=(2, 8), p=0.25),
        A.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.6, hue=0.15, p=0.5),
        A.RandomToneCurve(scale=0.25, per_channel=True, p=0.15),
        A.PlasmaShadow(shadow_intensity_range=(0.2, 0.5), plasma_size=64, p=0.1),
        A.ToGray(num_output_channels=3, p=0.1),
        A.InvertImg(p=0.15),
        A.OneOf(
            [
                A.GaussianBlur(sigma_limit=(0.8, 3), p=1),
                A.MotionBlur(blur_limit=(5, 13), allow_shifted=False, p=1),
                A.Defocus(radius=(2, 4), p=1),
                _downscale(0.25, 0.6),
            ],
            p=0.4,
        ),
        A.OneOf(
            [
                A.GaussNoise(std_range=(0.03, 0.1), p=1),
                A.ISONoise(intensity=(0.1, 0.4), color_shift=(0.01, 0.08), p=1),
                A.ShotNoise(scale_range=(0.02, 0.08), p=1),
            ],
            p=0.4,
        ),
        A.ImageCompression(quality_range=(10, 60), p=0.3),
    ]
    return Pipeline(geometry, appearance)


def none() -> Pipeline:
    """Pictures stay as they are."""
    return Pipeline([], [])


PIPELINES: dict[str, Callable[[], Pipeline]] = {
    "none": none,
    "light": light,
    "strong": strong,
}
"""The pipelines of the package by name."""


def pipeline_of(name: str) -> Pipeline:
    """One of ``PIPELINES``, or what a function of the user's own returns.

    Args:
        name: ``light``, or where a function without arguments is: ``module.function``, the module
            installed or on ``PYTHONPATH``.

    Raises:
        ValueError: for a function that is not found, or returns something else.
    """
    function: Any = PIPELINES.get(name)
    if function is None:
        module, _, attribute = name.rpartition(".")
        try:
            function = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(
                f"no augmentation {name!r} ({error}); give one of "
                f"{', '.join(PIPELINES)} or module.function"
            ) from None
    pipeline = function()
    if not isinstance(pipeline, Pipeline):
        raise ValueError(
            f"augmentation {name} must return a "
            f"vit_str.datasets.augmentation.Pipeline, found {type(pipeline).__name__}"
        )
    return pipeline


class Augmentation:
    """Changes pictures of words at random: places, sharpness, light, color, noise, small holes.

    The result depends on the pipeline, the seed and the number alone: not on the process, nor on
    what was changed before. A picture is scaled to a height of ``WORKING_HEIGHT`` first, keeping
    its aspect up to 8 to 1, so that a blur of 5 pixels means the same for a word of 12 pixels as
    for one of 1,200. That is twice the height at which models read: what is drawn finer would be
    lost. Where a faint word is lost in noise or in the dark, see `still_legible`, only its
    geometry is changed.

    Raises:
        ValueError: the seed is negative, or there is no such pipeline.
    """

    def __init__(self, name: str = "light", seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"the seed must be 0 or more, found {seed}")
        self.name = name
        self.seed = seed
        self._pipeline = pipeline_of(name)
        self._composed: list[Any] | None = None

    def __call__(self, image: Image.Image, number: int) -> Image.Image:
        """Change an upright RGB picture; another number, from 0 on, gives another change.

        Returns:
            An RGB picture, of another size as a rule.
        """
        if image.mode != "RGB":
            raise ValueError(
                f"expected an RGB image, found {image.mode}: open it with load_image"
            )
        if not any(self._pipeline):
            return image
        if self._composed is None:
            self._composed = [
                _albumentations().Compose(steps) for steps in self._pipeline
            ]
        generator = np.random.Generator(np.random.PCG64((self.seed, number)))
        chance = random.Random(int(generator.integers(_LARGEST_SEED)))
        for composed in self._composed:
            composed.set_random_state(generator, chance)
        geometry, appearance = self._composed
        moved = geometry(image=_scaled(image))["image"]
        changed = appearance(image=moved)["image"]
        return Image.fromarray(changed if still_legible(moved, changed) else moved)

    def __getstate__(self) -> dict[str, Any]:
        """Another process builds the transforms anew."""
        return {"name": self.name, "seed": self.seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def still_legible(
    before: UInt8[np.ndarray, "height width 3"],
    after: UInt8[np.ndarray, "height width 3"],
) -> bool:
    """Whether the shapes in a picture are still there, whatever their colors are now.

    Both are reduced to a quarter of their size, where noise averages out as far as it does for a
    model. Then the channel with most contrast before has to be correlated, or anticorrelated, with
    one of those after, and a quarter of the contrast has to be left. Pictures of another size are
    not compared: True.
    """
    if before.shape != after.shape:
        return True
    old = _reduced(before)
    new = _reduced(after)
    contrasts = old.std(0)
    contrast = new.std(0).max()
    if contrast < _LEAST_CONTRAST * contrasts.max():
        return False
    shapes = old[:, contrasts.argmax()]
    correlation = np.abs(shapes @ new) / len(new)
    least = _LEAST_CORRELATION * shapes.std() * new.std(0)
    return bool((correlation >= least).any())


@cache
def _albumentations() -> Any:
    """The library, without its look for a newer release over the network.

    OpenCV below it works in the thread that calls it: a loader has a process for every core.
    """
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # read once, when it is imported
    try:
        library = import_module("albumentations")
        import_module("cv2").setNumThreads(1)
    except ImportError as error:
        raise ValueError(
            f"needs albumentations ({error}), run: {install_hint('train')}, or use none"
        ) from None
    return library


def _affine(**arguments: Any) -> Any:
    return _albumentations().Affine(
        **arguments,
        fit_output=True,
        border_mode=_REPLICATE,
        p=1,
    )


def _perspective(least: float, most: float) -> Any:
    return _albumentations().Perspective(
        scale=(least, most), fit_output=True, border_mode=_REPLICATE, p=1
    )


def _elastic(alpha: float) -> Any:
    """Padded first, so that nothing is pushed out of the picture."""
    A = _albumentations()  # noqa: N806
    pad = A.Pad(padding=_MARGIN, border_mode=_REPLICATE, p=1)
    return A.Sequential(
        [pad, A.ElasticTransform(alpha=alpha, sigma=5, border_mode=_REPLICATE, p=1)],
        p=1,
    )


def _holes(
    count: tuple[int, int], height: tuple[int, int], width: tuple[int, int], p: float
) -> Any:
    """Too small, of 64 pixels, to hide a character, a period or a hyphen as a whole."""
    return _albumentations().CoarseDropout(
        num_holes_range=count,
        hole_height_range=height,
        hole_width_range=width,
        fill="random_uniform",
        p=p,
    )


def _downscale(least: float, most: float) -> Any:
    # Cv2.INTER_AREA, cv2.INTER_LINEAR
    area_down_linear_up = {"downscale": 3, "upscale": 1}
    return _albumentations().Downscale(
        scale_range=(least, most), interpolation_pair=area_down_linear_up, p=1
    )


def _scaled(image: Image.Image) -> np.ndarray:
    """A picture of the working height."""
    width = round(image.width * WORKING_HEIGHT / image.height)
    size = (min(max(width, _NARROWEST), _WIDEST), WORKING_HEIGHT)
    if image.size != size:
        image = image.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    return np.array(image)


def _reduced(
    picture: UInt8[np.ndarray, "height width 3"],
) -> Float[np.ndarray, "pixel 3"]:
    """Pixels of a quarter of the picture, each channel around 0."""
    image = Image.fromarray(picture)
    size = max(1, image.width // _REDUCTION), max(1, image.height // _REDUCTION)
    pixels = np.asarray(image.resize(size, Image.Resampling.BOX), np.float32).reshape(
        -1, 3
    )
    return pixels - pixels.mean(0)
