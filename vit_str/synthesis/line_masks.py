"""Lines of a few words as masks of ink, with where each word is: the parts of scenes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.view import View, sample_view
from vit_str.synthesis.warp import crop_mask

POINTS = 7
"""Of a strip along its word, so that it follows an arc."""
_SIZE = 64, 512  # height and width of a mask, in pixels
_LETTERS = 44 / 48  # height from tallest to deepest letters over that of the atlas
_SPACE = " "


class LineMask(NamedTuple):
    """A line of words.

    Attributes:
        ink: how much each pixel holds, 0 to 255; as wide as all masks, whatever the line.
        aspect: width over height that it has in truth.
        strips: points along each word, above and below it, from 0 to 1 over the mask.
    """

    ink: UInt8[Tensor, "row column"]
    aspect: float
    strips: Float[Tensor, "word point 2 2"]


class LineDrawer:
    """Draws lines in the fonts of a renderer.

    Args:
        renderer: its fonts and the strengths of its ingredients. Lines stand upright and frontal:
            how a scene is seen is not theirs to say.
    """

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._strengths = replace(
            renderer.ingredients, stacked=0.0, turned=0.0, rotation=0.0, perspective=0.3
        )
        self._noise = noise_bank(renderer.device)
        self.has_space = _SPACE in renderer.charset.characters

    @torch.no_grad()
    def draw(self, texts: Sequence[str], seed: int) -> list[LineMask]:
        """Draw lines, words parted by single spaces; the same seed draws the same."""
        renderer = self._renderer
        ids = renderer.charset.encode_batch(list(texts))
        random = Random(seed, len(texts), self._noise)
        styles = renderer.typesetter.styles.sample(
            list(texts), self._strengths, seed, _SIZE[1]
        )
        lines = renderer.typesetter.set(ids, self._strengths, random, styles)
        view = sample_view(lines, self._strengths, random, _SIZE)
        ink = (crop_mask(lines, view, _SIZE)[:, 0].clamp(0, 1) * 255).to(torch.uint8)
        aspects = view.crop_aspects.tolist()
        found = []
        for place, text in enumerate(texts):
            strips = _strips(lines, view, place, _words(text, ids[place]))
            found.append(LineMask(ink[place], aspects[place], strips))
        return found


def _words(text: str, ids: Int64[Tensor, " position"]) -> list[slice]:
    """Where the words of a text are among its characters."""
    words = []
    start = 0
    for word in text.split(_SPACE):
        words.append(slice(start, start + len(word)))
        start += len(word) + 1
    assert start - 1 == int((ids != PADDING).sum())
    return words


def _strips(
    lines: Lines, view: View, place: int, words: Sequence[slice]
) -> Float[Tensor, "word point 2 2"]:
    """Strips of the words of one line; those without ink are left out."""
    boxes = lines.boxes[place]
    has_ink = boxes[:, 2] > boxes[:, 0]
    spans = []
    for word in words:
        inked = boxes[word][has_ink[word]]
        if len(inked):
            spans.append((float(inked[:, 0].min()), float(inked[:, 2].max())))
    if not spans:
        return torch.zeros(0, POINTS, 2, 2)
    left, right = torch.tensor(spans).T[:, :, None]
    x = left + (right - left) * torch.linspace(0, 1, POINTS)
    x = x / float(lines.widths[place]) * 2 - 1
    y = torch.tensor([-_LETTERS, _LETTERS])
    points = torch.stack(
        [x[..., None].expand(-1, -1, 2), y.expand(len(spans), POINTS, 2)], -1
    )
    alone = _one(view, place)
    return alone.forward(points.reshape(1, -1, 2)).reshape(-1, POINTS, 2, 2)


def _one(view: View, place: int) -> View:
    """The view of one of several lines."""
    at = slice(place, place + 1)
    return View(
        homography=view.homography[at],
        arc=view.arc[at],
        aspect=view.aspect[at],
        corner=view.corner[at],
        size=view.size[at],
        turned=view.turned[at],
    )
