"""Records of pages: as a browser set them, or as the reader found them on a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.datasets.page_records import PageRecord
from vit_str.rendering.pages.matching import match_words
from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.capture import (
    Picture,
    sample_capture,
    take_picture,
    to_page_places,
)
from vit_str.synthesis.pages.drawing import (
    DrawnPage,
    PageDesign,
    design_page,
    draw_page,
    fill_template,
)
from vit_str.synthesis.pages.filling import ENDING
from vit_str.synthesis.pages.truth import ROLES, Truth

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from vit_str.pages.reader import PageReader

_SHEET = (794, 1123)  # pixels of CSS: A4
_BOLD = 600  # weight of a font from which on strokes are wider
_WIDER = 1.42  # by so much


@dataclass(frozen=True)
class PageOptions:
    """Which pages to make; values of JSON.

    Attributes:
        seed: same seed, same pages.
        families: to draw.
        language: of the texts; None for any.
        read: share of the pages that are captured and read.
        html: pages of the user's own to draw instead, in turns: name and text of each.
        find: make pictures of their parts instead, see `PictureRecord`.
    """

    seed: int
    families: tuple[str, ...]
    language: str | None
    read: float
    html: tuple[tuple[str, str], ...] = ()
    find: bool = False


def make_page(browser: Browser, number: int, options: PageOptions) -> PageRecord:
    """A page of a number.

    Args:
        browser: sets it.
        number: from 0.
        options: of all pages.
    """
    design = design_of(number, options)
    random = np.random.default_rng([options.seed, number])
    if random.random() >= options.read:
        return as_drawn(draw_page(browser, design), number)
    capture = sample_capture(random)
    page = draw_page(browser, design, capture.scale, with_picture=True)
    assert page.picture is not None
    return as_read(page, take_picture(page.picture, capture), capture.way, number)


def design_of(number: int, options: PageOptions) -> PageDesign:
    """The HTML of a page: of a family, or of the user's own."""
    if not options.html:
        return design_page(options.seed, number, options.families, options.language)
    name, html = options.html[number % len(options.html)]
    if name.endswith(ENDING):
        return fill_template(
            options.seed, number, name.removesuffix(ENDING), html, options.language
        )
    width, height = _SHEET
    return PageDesign(html, width, height, name, options.language or "")


def as_drawn(page: DrawnPage, number: int) -> PageRecord:
    """A record of the words of the DOM: what a reader would find that misses nothing."""
    truth = page.truth
    left, top, right, bottom = truth.boxes.T
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], 1)
    count = len(truth.words)
    return PageRecord(
        family=page.design.family,
        way="drawn",
        number=number,
        width=truth.width,
        height=truth.height,
        words=truth.words,
        polygons=_in_direction(corners.reshape(-1, 4, 2), truth.turns),
        sizes=truth.sizes,
        weights=np.where(truth.weights >= _BOLD, _WIDER, 1.0),
        confidences=np.ones(count),
        word_block=truth.block_of,
        word_place=np.arange(count),
        blocks=_blocks(truth),
        rules=np.array([rule[:4] for rule in truth.rules]).reshape(-1, 4),
        grounds=truth.grounds,
        pictures=truth.pictures,
        checks=truth.checks,
    )


def as_read(page: DrawnPage, picture: Picture, way: str, number: int) -> PageRecord:
    """A record of what the reader finds on a picture of the page."""
    truth = page.truth
    found = _reader().read(picture.image)
    words = found.words
    polygons = np.array([word.polygon for word in words], float).reshape(-1, 4, 2)
    places = to_page_places(picture.to_page, polygons)
    boxes = np.concatenate([places.min(1), places.max(1)], 1).reshape(-1, 4)
    matches = match_words(
        [word.text for word in words], boxes, truth.words, truth.boxes
    )
    place = matches.place
    block = np.full(len(place), -1, np.int32)
    block[place >= 0] = truth.block_of[place[place >= 0]]
    from_page = np.linalg.inv(picture.to_page)
    return PageRecord(
        family=page.design.family,
        way=way,
        number=number,
        width=picture.image.width,
        height=picture.image.height,
        words=[word.text for word in words],
        polygons=polygons,
        sizes=np.array([word.size for word in words]),
        weights=np.array([word.weight for word in words]),
        confidences=np.array([word.confidence for word in words]),
        word_block=block,
        word_place=place,
        blocks=_blocks(truth),
        rules=np.array(found.rules, float).reshape(-1, 4),
        grounds=_moved(truth.grounds, from_page),
        pictures=_moved(truth.pictures, from_page),
        checks=_moved(truth.checks, from_page),
        missed=int((~matches.is_found & ~_are_checks(truth.words)).sum()),
    )


def _are_checks(words: Sequence[str]) -> "Bool[np.ndarray, ' word']":
    """Which words are boxes to tick, that a reader may pass over."""
    return np.array([word in ("☐", "☒") for word in words], bool)


@cache
def _reader() -> "PageReader":
    """One that reads lines as a whole: words where they are, in a third of the time."""
    from vit_str.pages.reader import load_page

    return load_page("line")


def _blocks(truth: Truth) -> np.ndarray:
    rows: list[Sequence[Any]] = []
    for role, *others in truth.blocks:
        rows.append((ROLES.index(str(role)), *others))
    return np.array(rows, np.int32).reshape(-1, 7)


def _in_direction(corners: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Corners of words from where their text begins, which may be turned by quarters."""
    turned = corners.copy()
    for degrees in (90, 180, 270):
        turned[turns == degrees] = np.roll(corners[turns == degrees], -degrees // 90, 1)
    return turned


def _moved(
    areas: "Float[np.ndarray, 'area number']", to_picture: np.ndarray
) -> "Float[np.ndarray, 'area number']":
    """Areas of a page as upright boxes in a picture; what else is known of them stays."""
    left, top, right, bottom = areas[:, :4].T
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], 1)
    places = to_page_places(to_picture, corners.reshape(-1, 4, 2))
    around = np.concatenate([places.min(1), places.max(1)], 1).reshape(-1, 4)
    return np.concatenate([around, areas[:, 4:]], 1)
