"""Words as SynthTIGER draws them; see synthtiger_worker.py."""

import random
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from rendering_worker import HEIGHT
from synthtiger import components as parts
from synthtiger import layers

_LEAST_CONTRAST = 40


class SceneText:
    """A word on a background.

    Args:
        words: for the text behind.
        fonts: font files.
        pictures: folder of textures; plain colors if None.
    """

    def __init__(
        self, words: list[str], fonts: list[str], pictures: str | None
    ) -> None:
        self.words = words
        self.font = parts.BaseFont(fonts, [1] * len(fonts), size=(36, 64), bold=0.3)
        self.color = parts.RGB(grayscale=0.3)
        self.texture = (
            parts.BaseTexture([pictures], [1], crop=1, grayscale=0.2)
            if pictures
            else None
        )
        self.distortion = parts.Switch(
            parts.ElasticDistortion(alpha=(8, 15), sigma=(3, 4)), 0.3
        )
        self.layout = parts.Selector(
            [
                parts.FlowLayout(space=(-2, 12), line_align=("bottom",)),
                parts.CurveLayout(curve=(4, 24), space=(-2, 8)),
            ],
            weights=[3, 1],
        )
        effects = [
            parts.TextBorder(size=(1, 5), grayscale=0.2),
            parts.TextShadow(distance=(1, 6), alpha=(0.4, 1)),
            parts.TextExtrusion(length=(2, 8), grayscale=0.2),
        ]
        self.effect = parts.Switch(parts.Selector(effects), 0.4)
        views = [
            parts.Perspective(percents=((0.75, 1), (0.75, 1), (0.75, 1), (0.75, 1))),
            parts.Trapezoidate(percent=(0.6, 1)),
            parts.Skew(angle=(-20, 20)),
            parts.Rotate(angle=(-8, 8)),
        ]
        self.view = parts.Switch(parts.Selector(views), 0.7)
        self.after = parts.Iterator(
            [
                parts.Switch(parts.Shadow(intensity=(0, 128)), 0.15),
                parts.Switch(parts.Brightness(), 0.3),
                parts.Switch(parts.Contrast(), 0.3),
                parts.Switch(parts.MotionBlur(k=(3, 7)), 0.15),
                parts.Switch(parts.GaussianBlur(sigma=(0, 2)), 0.3),
                parts.Switch(parts.Resample(size=(0.4, 0.9)), 0.2),
                parts.Switch(parts.MedianBlur(k=(1, 1)), 0.1),
                parts.Switch(parts.AdditiveGaussianNoise(scale=(4, 24)), 0.4),
                parts.Switch(parts.JpegCompression(compression=(40, 80)), 0.4),
            ]
        )

    def draw(self, word: str) -> np.ndarray | None:
        """One picture, 32 pixels high; None where ink and background are too much alike."""
        ink = self.color.sample()
        ground = self.color.sample()
        if abs(_brightness(ink["rgb"]) - _brightness(ground["rgb"])) < _LEAST_CONTRAST:
            return None
        text = self._text(word, ink)
        left, top, right, bottom = (
            random.uniform(-0.02, 0.25) * text.height for _ in range(4)
        )
        size = text.width + left + right, text.height + top + bottom
        box = np.round([text.left - left, text.top - top, *size])
        background = layers.RectLayer(box[2:])
        background.topleft = box[:2]
        self._fill(background, ground, texture=0.5)
        stack = [text, background]
        if random.random() < 0.2:
            stack.insert(1, self._behind(text))
        picture = layers.Layer(layers.Group(stack).output(box))
        self.after.apply([picture])
        return _to_height(picture.image)

    def _text(self, word: str, ink: dict[str, Any]) -> Any:
        """The word alone, in its place."""
        font = self.font.sample()
        arguments = {"path": font["path"], "size": font["size"], "bold": font["bold"]}
        characters: Sequence[Any] = [
            layers.TextLayer(each, **arguments) for each in word
        ]
        for character in characters:
            self.distortion.apply([character])
        self.layout.apply(characters)
        text = layers.Group(characters).merge()
        self._fill(text, ink, texture=0.15)
        self.effect.apply([text])
        self.view.apply([text])
        return layers.Group([text]).merge()

    def _fill(self, layer: Any, color: dict[str, Any], texture: float) -> None:
        """Its color, for a share of the words with a texture that lets the color through."""
        self.color.apply([layer], color)
        if self.texture is not None and random.random() < texture:
            self.texture.apply([layer], {"alpha": random.uniform(0.3, 0.8)})

    def _behind(self, text: Any) -> Any:
        """Another word, above or below this one."""
        other = self._text(random.choice(self.words), self.color.sample())
        other.centerx = text.centerx
        other.centery = text.centery + random.choice([-1, 1]) * 0.9 * text.height
        return other


def _brightness(color: Sequence[int]) -> float:
    red, green, blue = color
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _to_height(image: np.ndarray) -> np.ndarray:
    height, width = image.shape[:2]
    size = max(1, round(width * HEIGHT / height)), HEIGHT
    smaller = cv2.resize(image[..., :3], size, interpolation=cv2.INTER_AREA)
    return smaller.clip(0, 255).astype(np.uint8)
