"""The ingredients of a rendered word, by name, each with a strength."""

from dataclasses import dataclass, field, fields, replace
from typing import Any


def ingredient(share: float = 1.0, hard: bool = False) -> Any:
    """The strength of an effect.

    Args:
        share: of the words that it changes at strength 1, as in the table of docs/rendering.md;
            of effects that change all words, and of those with shares of their own, 1.
        hard: whether it makes a word harder to read, and so comes in slowly in training.
    """
    return field(default=1.0, metadata={"share": share, "hard": hard})


@dataclass(frozen=True, slots=True)
class Ingredients:
    """How strong each effect is: 1 is the standard mix, 0 switches it off.

    A strength scales how far an effect goes, or, where that has no scale, how often it occurs.

    Attributes:
        spacing: letters pushed together or pulled apart.
        jitter: letters above and below the baseline, each tilted a little.
        raised: some letters smaller and higher or lower, as in prices and formulas.
        small_capitals: all letters of a word in capitals but the first one smaller, at times apart.
        machine: readings, clocks, counters, stamped dates and lines of passports in segments, dots,
            on wheels and in the faces that machines read; the share is of such texts.
        struck: a stroke through the word.
        baseline_rule: a line under the letters, through those that reach below and beside `_`.
        subtitle: white or yellow letters with a dark border.
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

    spacing: float = ingredient(0.34)
    jitter: float = ingredient(0.1, hard=True)
    raised: float = ingredient(0.03, hard=True)
    small_capitals: float = ingredient(0.04)
    machine: float = ingredient(0.65)
    struck: float = ingredient(0.012, hard=True)
    baseline_rule: float = ingredient(0.015)
    subtitle: float = ingredient(0.012)
    stacked: float = ingredient(0.02, hard=True)
    turned: float = ingredient(0.05, hard=True)
    rotation: float = ingredient(hard=True)
    shear: float = ingredient(hard=True)
    perspective: float = ingredient(0.5, hard=True)  # walls beside the camera: 0.3
    curve: float = ingredient(0.3, hard=True)
    margin: float = ingredient(hard=True)
    weight: float = ingredient(0.1)
    hollow: float = ingredient(0.05, hard=True)
    gradient: float = ingredient(0.35)
    pattern: float = ingredient(0.05)
    # Of two materials that meet; stains are in all
    texture: float = ingredient(0.15, hard=True)
    clutter: float = ingredient(0.04, hard=True)  # for each of three kinds
    picture: float = ingredient(0.4)
    outline: float = ingredient(0.1)
    shadow: float = ingredient(0.16)
    extrusion: float = ingredient(0.05, hard=True)
    emboss: float = ingredient(0.05, hard=True)
    neon: float = ingredient(0.03, hard=True)
    faint: float = ingredient(0.06, hard=True)
    neighbors: float = ingredient(0.22, hard=True)
    underline: float = ingredient(0.04)
    frame: float = ingredient(0.1)
    occlusion: float = ingredient(0.025, hard=True)  # for each of two kinds
    glare: float = ingredient(0.05, hard=True)
    blur: float = ingredient(hard=True)
    motion: float = ingredient(0.12, hard=True)
    low_resolution: float = ingredient(0.8, hard=True)
    noise: float = ingredient(0.6, hard=True)
    gamma: float = ingredient(hard=True)
    contrast: float = ingredient(0.6, hard=True)
    illumination: float = ingredient(hard=True)
    compression: float = ingredient(0.35, hard=True)

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) < 0:
                raise ValueError(f"strength of {name} must be 0 or more")

    def at(self, difficulty: float) -> "Ingredients":
        """The same mix, with what makes reading hard scaled by 0 (clean words) to 1 (as it is)."""
        hard = [part.name for part in fields(self) if part.metadata["hard"]]
        return replace(
            self, **{name: getattr(self, name) * difficulty for name in hard}
        )


def share_of(name: str, strength: float = 1.0) -> float:
    """Share of words that an ingredient changes which is more frequent where it is stronger."""
    share: float = Ingredients.__dataclass_fields__[name].metadata["share"]
    return min(1.0, share * strength)
