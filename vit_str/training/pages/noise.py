"""Pages as a browser set them, made as a reader finds them: places, sizes, strokes, losses."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.datasets.page_records import PageRecord

if TYPE_CHECKING:
    from jaxtyping import Float

DRAWN = "drawn"
"""The way of records of pages that nobody has captured."""

_TILT = 0.003  # radians that are left when a page is leveled
# As the reader measures 19,000 words of 100 pages, over the size of their font
_HEIGHT = (0.9, 1.2)
_RISE = (-0.05, 0.16)  # of the middle over that of the line of CSS
_BEARING = 0.035  # from where a word begins in CSS to its first stroke
_BOLDER = (1.04, 1.6)  # strokes of bold type over those of other type
_ROUGH = (0.02, 0.06)
_CHECKS_READ = 0.35  # share of boxes to tick that are taken for signs
_LOST = 0.006  # share of the words
_JUNK = 0.1  # share of the pages with something that is no word
_KEPT = {
    "rules": 0.75,
    "grounds": 0.6,
    "pictures": 0.6,
    "checks": 0.5,
}  # shares of the pages
_FOUND = 0.93  # share of the shapes of those


def noisy(page: PageRecord, random: np.random.Generator) -> PageRecord:
    """A page with the noise of finding and reading; of one that was read, shapes only are lost."""
    shapes: dict[str, Any] = {
        name: _some(getattr(page, name), name, random) for name in _KEPT
    }
    page = replace(page, **shapes)
    if page.way != DRAWN or not len(page.words):
        return page
    return _lost(_moved(page, random), random)


def _some(
    shapes: "Float[np.ndarray, 'shape number']", name: str, random: np.random.Generator
) -> "Float[np.ndarray, 'shape number']":
    """Those of the shapes that are found."""
    if random.random() > _KEPT[name]:
        return shapes[:0]
    return shapes[random.random(len(shapes)) < _FOUND]


def _moved(page: PageRecord, random: np.random.Generator) -> PageRecord:
    """Places that are not exact, sizes and strokes as they are measured in pixels."""
    count = len(page.words)
    along = page.polygons[:, 1] - page.polygons[:, 0]
    length = np.maximum(1e-3, np.linalg.norm(along, axis=1))
    along = (along / length[:, None])[:, None]
    across = np.stack([-along[..., 1], along[..., 0]], -1)
    middle = page.polygons.mean(1, keepdims=True)
    # Boxes of all words of a page are alike tight or loose, those of each a little off
    size = page.sizes
    half = random.uniform(*_HEIGHT) * size / 2
    rough = random.uniform(*_ROUGH)
    middle = middle - random.uniform(*_RISE) * size[:, None, None] * across
    up, down = half[:, None] + rough * size[:, None] * random.normal(
        0, 1, (2, count, 1)
    )
    ends = rough * size[:, None] * random.normal(0, 1, (2, count, 1))
    wide = length[:, None] / 2
    wide = np.maximum(wide - _BEARING * size[:, None], 0.1 * size[:, None])
    start = middle[:, 0] - along[:, 0] * (wide + ends[0])
    end = middle[:, 0] + along[:, 0] * (wide + ends[1])
    rise = across[:, 0]
    corners = [
        start - rise * up,
        end - rise * up,
        end + rise * down,
        start + rise * down,
    ]
    polygons = np.stack(corners, 1)
    tilt = random.normal(0, _TILT)
    polygons[..., 1] += tilt * polygons[..., 0]
    letters = np.array([len(word) for word in page.words])
    strokes = np.exp(random.normal(0, 0.06 + 0.1 / (2 + letters)))
    strokes[page.weights > 1] *= random.uniform(*_BOLDER)
    return replace(
        page,
        polygons=polygons,
        sizes=size * np.exp(random.normal(0, 0.06, count)),
        weights=strokes * (size / np.median(size)),
    )


def _lost(page: PageRecord, random: np.random.Generator) -> PageRecord:
    """Words that are not found, and now and then something that is no word."""
    lost = np.where([word in "☐☒" for word in page.words], 1 - _CHECKS_READ, _LOST)
    kept = random.random(len(page.words)) > lost
    chosen = np.flatnonzero(kept)
    if random.random() < _JUNK:
        chosen = np.append(chosen, random.choice(len(kept), random.integers(1, 4)))
    words = [page.words[k] for k in chosen.tolist()]
    block, place = page.word_block[chosen], page.word_place[chosen]
    polygons = page.polygons[chosen]
    for junk in range(int(kept.sum()), len(chosen)):
        words[junk] = str(random.choice(list(".-—|•oO0=~l:°")))
        block[junk] = place[junk] = -1
        # Anywhere on the page, as wide as high
        size = page.sizes[chosen[junk]]
        at = random.uniform(0, 1, 2) * (page.width, page.height)
        corners = np.array([(0, 0), (size, 0), (size, size), (0, size)])
        polygons[junk] = at + corners
    return replace(
        page,
        words=words,
        polygons=polygons,
        sizes=page.sizes[chosen],
        weights=page.weights[chosen],
        confidences=page.confidences[chosen],
        word_block=block,
        word_place=place,
    )
