"""Pictures of parts of drawn pages, with what is where on them."""

from dataclasses import replace

import numpy as np

from vit_str.datasets.picture_records import PictureRecord
from vit_str.rendering.pages.making import PageOptions, design_of
from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.drawing import DrawnPage, draw_page

_SCALES = (0.7, 2.0)  # pixels for each one of CSS: 67 to 192 dots per inch
_SIDE = 640  # pixels of a side of a part at most: 0.4 million, about 25 kB
_TRIES = 8  # places of which the one with the most words is taken
_BOX_SIGNS = ("☐", "☒")
_SEED = 2  # parts the random numbers of a picture from those of its design


def make_picture(browser: Browser, number: int, options: PageOptions) -> PictureRecord:
    """A part of the picture of a page, at a random scale: all of it where that is small.

    Args:
        browser: sets the page.
        number: of the page, from 0.
        options: of all pages.
    """
    design = design_of(number, options)
    random = np.random.default_rng([options.seed, number, _SEED])
    scale = float(np.exp(random.uniform(*np.log(_SCALES))))
    page = draw_page(browser, design, scale, with_picture=True)
    return part_of(whole(page, number), random)


def whole(page: DrawnPage, number: int) -> PictureRecord:
    """The whole picture of a page that was drawn with it.

    Boxes to tick are no words of it.
    """
    assert page.picture is not None
    truth, scale = page.truth, page.scale
    is_text = np.array([word not in _BOX_SIGNS for word in truth.words], bool)
    rules = np.array([rule[:5] for rule in truth.rules], np.float32).reshape(-1, 5)
    checks = truth.checks[:, :5].copy()
    checks[:, :4] *= scale
    return PictureRecord(
        image=page.picture,
        family=page.design.family,
        number=number,
        boxes=truth.boxes[is_text] * scale,
        sizes=truth.sizes[is_text] * scale,
        turns=truth.turns[is_text],
        lines=truth.line_of[is_text],
        rules=rules * scale,
        pictures=truth.pictures * scale,
        checks=checks,
    )


def part_of(record: PictureRecord, random: np.random.Generator) -> PictureRecord:
    """A part that is no larger than asked for, at one of the places with the most words."""
    image = record.image
    size = np.minimum(_SIDE, image.size)
    room = np.array(image.size) - size
    middles = (record.boxes[:, :2] + record.boxes[:, 2:]) / 2
    places = np.floor(random.random((_TRIES, 2)) * (room + 1)).astype(int)
    inside = [
        ((middles >= place) & (middles < place + size)).all(1).sum() for place in places
    ]
    # Not always the fullest: empty corners are on pages too
    place = places[int(np.argmax(inside))] if random.random() < 0.7 else places[0]
    left, top = place.tolist()
    area = (left, top, left + int(size[0]), top + int(size[1]))
    words = _touch(record.boxes, area)
    is_near = _touch(_sorted(record.rules[:, :4]), area, record.rules[:, 4])
    return replace(
        record,
        image=image.crop(area),
        boxes=_moved(record.boxes[words], left, top),
        sizes=record.sizes[words],
        turns=record.turns[words],
        lines=record.lines[words],
        rules=_moved(record.rules[is_near], left, top),
        pictures=_moved(record.pictures[_touch(record.pictures, area)], left, top),
        checks=_moved(record.checks[_touch(record.checks, area)], left, top),
    )


def _touch(
    boxes: np.ndarray, area: tuple[int, int, int, int], slack: np.ndarray | int = 0
) -> np.ndarray:
    """Which boxes reach into an area."""
    left, top, right, bottom = boxes[:, :4].T
    return (
        (right + slack > area[0])
        & (bottom + slack > area[1])
        & (left - slack < area[2])
        & (top - slack < area[3])
    )


def _sorted(ends: np.ndarray) -> np.ndarray:
    x, y = ends[:, 0::2], ends[:, 1::2]
    return np.stack([x.min(1), y.min(1), x.max(1), y.max(1)], 1).reshape(-1, 4)


def _moved(boxes: np.ndarray, left: int, top: int) -> np.ndarray:
    """Boxes, or ends, with the corner of a part as the origin; what else is known stays."""
    moved = boxes.copy()
    moved[:, :4] -= (left, top, left, top)
    return moved
