"""What a policy may do to the picture of a word, and how much of it, so that its label stays true.

Whatever is not named here is refused: a new release of the library cannot bring in a transform that
has not been looked at. Lengths are in pixels of pictures that are 64 high.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_REPLICATE = 1  # cv2.BORDER_REPLICATE: a mirrored border would show parts of letters again


@dataclass(frozen=True, slots=True)
class Limit:
    """Between which numbers every number of an argument has to lie, defaults included.

    Attributes:
        low: the lowest.
        high: the highest.
        whole: whether the numbers must be whole: a fraction would mean a share of the picture.
    """

    low: float
    high: float
    whole: bool = False

    def violation(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing."""
        found = list(_numbers(value))
        if self.whole and not all(isinstance(number, int) for number in found):
            return "must be whole numbers of pixels (of a picture 64 high)"
        if all(self.low <= number <= self.high for number in found):
            return ""
        return f"must stay within {self.low:g} and {self.high:g}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """How a transform may be used.

    Attributes:
        limits: of its arguments, given or not: the library's own default may be too much.
        fixed: arguments that have to be these.
        padded: whether a ``Pad`` has to come first, so that nothing is pushed out of the picture.
    """

    limits: Mapping[str, Limit] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    padded: bool = False


_BORDER = {"border_mode": _REPLICATE}
_WHOLE_VIEW = {"fit_output": True, **_BORDER}
_KERNEL = Limit(0, 21)
_LIGHT = Limit(-0.6, 0.6)
_FACTOR = Limit(0.3, 3)
_ANY = Allowed()
MARGIN = 8
"""Pixels of a ``Pad``: farther than an allowed elastic transform moves anything."""

MOVING: dict[str, Allowed] = {
    "Affine": Allowed(
        {
            "rotate": Limit(-45, 45),
            "shear": Limit(-30, 30),
            "scale": Limit(0.5, 2),
            "translate_percent": Limit(0, 0),
            "translate_px": Limit(0, 0),
        },
        _WHOLE_VIEW,
    ),
    "SafeRotate": Allowed({"limit": Limit(-45, 45)}, _BORDER),
    "Perspective": Allowed({"scale": Limit(0, 0.2)}, _WHOLE_VIEW),
    "ElasticTransform": Allowed({"alpha": Limit(0, 40), "sigma": Limit(5, 64)}, _BORDER, True),
    "GridDistortion": Allowed({"distort_limit": Limit(-0.4, 0.4)}, _BORDER | {"normalized": True}),
    "OpticalDistortion": Allowed({"distort_limit": Limit(-0.1, 0.1)}, _BORDER, True),
}
"""Transforms after which the whole picture is in view, and letters keep order and upright side."""

ALLOWED: dict[str, Allowed] = {
    **MOVING,
    "Pad": Allowed({"padding": Limit(MARGIN, 32)}, _BORDER),
    # Occlusion: too small to hide a character, a period or a hyphen as a whole.
    "CoarseDropout": Allowed(
        {
            "num_holes_range": Limit(1, 12, whole=True),
            "hole_height_range": Limit(1, 5, whole=True),
            "hole_width_range": Limit(1, 8, whole=True),
        }
    ),
    "PixelDropout": Allowed({"dropout_prob": Limit(0, 0.1)}),
    # Sharpness.
    "Blur": Allowed({"blur_limit": Limit(0, 9)}),
    "GaussianBlur": Allowed({"blur_limit": _KERNEL, "sigma_limit": Limit(0, 5)}),
    "AdvancedBlur": Allowed(
        {"blur_limit": _KERNEL, "sigma_x_limit": Limit(0, 5), "sigma_y_limit": Limit(0, 5)}
    ),
    "MedianBlur": Allowed({"blur_limit": Limit(0, 7)}),
    "MotionBlur": Allowed({"blur_limit": _KERNEL}, {"allow_shifted": False}),
    "Defocus": Allowed({"radius": Limit(1, 6)}),
    "Downscale": Allowed({"scale_range": Limit(0.25, 1)}),
    "Sharpen": _ANY,
    "UnsharpMask": _ANY,
    "Emboss": _ANY,
    "RingingOvershoot": _ANY,
    "ChromaticAberration": _ANY,
    # Noise and compression.
    "GaussNoise": Allowed({"std_range": Limit(0, 0.3), "mean_range": _LIGHT}),
    "ISONoise": Allowed({"intensity": Limit(0, 1)}),
    "ShotNoise": Allowed({"scale_range": Limit(0, 0.5)}),
    "MultiplicativeNoise": Allowed({"multiplier": _FACTOR}),
    "SaltAndPepper": Allowed({"amount": Limit(0, 0.1)}),
    "ImageCompression": Allowed({"quality_range": Limit(5, 100)}),
    # Light and color.
    "ColorJitter": Allowed({"brightness": _FACTOR, "contrast": _FACTOR}),
    "RandomBrightnessContrast": Allowed({"brightness_limit": _LIGHT, "contrast_limit": _LIGHT}),
    "RandomGamma": Allowed({"gamma_limit": Limit(30, 300)}),
    "RandomToneCurve": Allowed({"scale": Limit(0, 0.5)}),
    "HueSaturationValue": Allowed({"val_shift_limit": Limit(-100, 100)}),
    "RGBShift": Allowed({f"{channel}_shift_limit": Limit(-100, 100) for channel in "rgb"}),
    "PlanckianJitter": _ANY,
    "ChannelShuffle": _ANY,
    "ToGray": Allowed(fixed={"num_output_channels": 3}),
    "InvertImg": _ANY,
    "CLAHE": _ANY,
    "Illumination": Allowed({"intensity_range": Limit(0, 0.2)}),
    "PlasmaBrightnessContrast": Allowed({"brightness_range": _LIGHT, "contrast_range": _LIGHT}),
    "PlasmaShadow": Allowed({"shadow_intensity_range": Limit(0, 0.7)}),
}
"""Every transform of albumentations that a policy may name."""

GROUPS = ("OneOf", "SomeOf", "Sequential")
"""What holds further transforms."""

_FLIP = "mirrors or turns letters, and the label no longer says what is to be seen"
_CROP = "can cut characters off that stay in the label"
_HIDE = "can hide whole characters that stay in the label"
_MOVE = "moves pieces of the word, and the label no longer says what is to be seen"

REFUSED = {
    **dict.fromkeys(("HorizontalFlip", "VerticalFlip", "Transpose", "D4"), _FLIP),
    **dict.fromkeys(("SquareSymmetry", "RandomRotate90"), _FLIP),
    **dict.fromkeys(("Rotate", "ShiftScaleRotate"), f"{_CROP}: use Affine or SafeRotate"),
    **dict.fromkeys(("GridDropout", "XYMasking", "Erasing", "ChannelDropout"), _HIDE),
    **dict.fromkeys(("ConstrainedCoarseDropout", "MaskDropout"), _HIDE),
    **dict.fromkeys(("RandomGridShuffle", "Mosaic", "GridElasticDeform"), _MOVE),
    "TextImage": "writes other words into the picture",
}
"""Why some transforms are never allowed; those with "Crop" in their names cut."""


def why_refused(name: str) -> str:
    """Why a transform that the library has is not among those allowed."""
    if "Crop" in name:
        return _CROP
    return REFUSED.get(name, "is not known to leave the word as it is")


def _numbers(value: Any) -> Iterator[float]:
    """All numbers in nested lists and mappings."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
