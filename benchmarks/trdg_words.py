"""Words as TRDG draws them; see trdg_worker.py."""

import contextlib
import io
import random
from typing import Any

import numpy as np
from rendering_worker import HEIGHT
from trdg.data_generator import FakeTextDataGenerator

_NOISE = 0
_QUASICRYSTAL = 2
_PICTURE = 3
_BACKGROUNDS = {
    "plain": [_NOISE],
    "noise": [_NOISE, _PICTURE],
    "everything": [_NOISE, _QUASICRYSTAL, _PICTURE],
}


def draw(word: str, given: dict[str, Any]) -> np.ndarray | None:
    """One picture, 32 pixels high; None where TRDG finds too little contrast or no glyphs."""
    try:
        # It prints what it thinks of colors
        with contextlib.redirect_stdout(io.StringIO()):
            return _draw(word, given)
    # A font without any of the glyphs gives a picture without a height
    except ValueError:
        return None


def _draw(word: str, given: dict[str, Any]) -> np.ndarray | None:
    rich = given["style"] != "plain"
    image = FakeTextDataGenerator.generate(
        index=0,
        text=word,
        font=random.choice(given["fonts"]),
        out_dir=None,
        size=HEIGHT,
        extension=None,
        skewing_angle=8 if rich else 0,
        random_skew=rich,
        blur=1 if rich else 0,
        random_blur=rich,
        background_type=random.choice(_BACKGROUNDS[given["style"]]),
        distorsion_type=random.randrange(4) if rich else 0,
        distorsion_orientation=random.randrange(3) if rich else 0,
        is_handwritten=False,
        name_format=0,
        width=-1,
        alignment=1,
        text_color="#000000,#ffffff" if rich else "#282828",
        orientation=0,
        space_width=1.0,
        character_spacing=random.randrange(4) if rich else 0,
        margins=(2, 2, 2, 2),
        fit=rich,
        output_mask=0,
        word_split=False,
        image_dir=given["pictures"],
        stroke_width=random.choice([0, 0, 0, 1]) if rich else 0,
        stroke_fill=f"#{random.randrange(1 << 24):06x}" if rich else "#282828",
    )
    return None if image is None else np.asarray(image.convert("RGB"))
