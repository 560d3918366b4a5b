"""The ingredients of a rendered word, by name, each with a strength."""

from dataclasses import dataclass, fields, replace

_HARD = (
    *("jitter", "raised", "stacked", "turned", "rotation", "shear", "perspective", "curve"),
    *("margin", "texture", "clutter", "hollow", "extrusion", "emboss", "neon", "faint"),
    *("neighbors", "occlusion", "glare", "blur", "motion", "low_resolution", "noise", "gamma"),
    *("contrast", "illumination", "compression"),
)
"""What makes a word harder to read, and comes in slowly at the start of training."""

SHARES = {
    "spacing": 0.34,
    "jitter": 0.10,
    "raised": 0.03,
    "stacked": 0.02,
    "turned": 0.05,
    "curve": 0.3,
    "weight": 0.1,
    "hollow": 0.05,
    "gradient": 0.35,
    "pattern": 0.05,
    "texture": 0.15,  # two materials that meet; stains and grain are everywhere
    "clutter": 0.04,  # for each of three kinds
    "picture": 0.4,
    "outline": 0.1,
    "shadow": 0.16,
    "extrusion": 0.05,
    "emboss": 0.05,
    "neon": 0.03,
    "faint": 0.06,
    "neighbors": 0.22,
    "underline": 0.04,
    "frame": 0.1,
    "occlusion": 0.025,  # for each of two kinds
    "glare": 0.05,
    "motion": 0.12,
    "low_resolution": 0.8,
    "noise": 0.6,
    "compression": 0.35,
}
"""Shares of words that ingredients change at strength 1, as in the table of docs/rendering.md."""


@dataclass(frozen=True, slots=True)
class Ingredients:
    """How strong each effect is: 1 is the standard mix, 0 switches it off.

    A strength scales how far an effect goes, or, where that has no scale, how often it occurs.

    Attributes:
        spacing: letters pushed together or pulled apart.
        jitter: letters above and below the baseline, each tilted a little.
        raised: some letters smaller and higher or lower, as in prices and formulas.
        stacked: letters below each other; the crop is turned so that they follow each other.
        turned: lines that run down or up, and words upside down or at any angle.
        rotation: the word turned in the plane.
        shear: the word slanted.
        perspective: the word seen from the side.
        curve: the baseline bent to an arc.
        margin: how tight or loose the crop is.
        weight: letters made bolder or thinner than their font has them.
        hollow: only the edges of the letters.
        gradient: ink whose color changes over the word.
        pattern: stripes, dots or patches inside the letters.
        texture: backgrounds with low-frequency and grainy patterns.
        clutter: strokes, bars and large letters behind the word.
        picture: photographs as backgrounds, where there are some.
        outline: a border of another color around the letters.
        shadow: a shadow beside the letters.
        extrusion: letters that stand out from the wall, their sides in view.
        emboss: letters pressed into or out of their background, lit from one side.
        neon: letters that glow.
        faint: ink nearly as bright as what lies around it.
        neighbors: parts of other lines at the edges.
        underline: a line under the word.
        frame: a box around or behind the word.
        occlusion: thin or small things in front of the word.
        glare: light reflected into the camera.
        blur: out of focus.
        motion: blurred in one direction.
        low_resolution: fewer pixels, scaled up.
        noise: sensor noise.
        gamma: tone curve.
        contrast: flat or harsh, dark or bright.
        illumination: light that falls off over the word.
        compression: JPEG blocks.
    """

    spacing: float = 1.0
    jitter: float = 1.0
    raised: float = 1.0
    stacked: float = 1.0
    turned: float = 1.0
    rotation: float = 1.0
    shear: float = 1.0
    perspective: float = 1.0
    curve: float = 1.0
    margin: float = 1.0
    weight: float = 1.0
    hollow: float = 1.0
    gradient: float = 1.0
    pattern: float = 1.0
    texture: float = 1.0
    clutter: float = 1.0
    picture: float = 1.0
    outline: float = 1.0
    shadow: float = 1.0
    extrusion: float = 1.0
    emboss: float = 1.0
    neon: float = 1.0
    faint: float = 1.0
    neighbors: float = 1.0
    underline: float = 1.0
    frame: float = 1.0
    occlusion: float = 1.0
    glare: float = 1.0
    blur: float = 1.0
    motion: float = 1.0
    low_resolution: float = 1.0
    noise: float = 1.0
    gamma: float = 1.0
    contrast: float = 1.0
    illumination: float = 1.0
    compression: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise ValueError(f"strength of {field.name} must be 0 or more")

    def at(self, difficulty: float) -> "Ingredients":
        """The same mix, with what makes reading hard scaled by 0 (clean words) to 1 (as it is)."""
        return replace(self, **{name: getattr(self, name) * difficulty for name in _HARD})


def share_of(name: str, strength: float) -> float:
    """Share of words that an ingredient changes which is more frequent where it is stronger."""
    return min(1.0, SHARES[name] * strength)
