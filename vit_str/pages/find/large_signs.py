"""Signs so large that a detector finds each by itself, as the digits of an instrument: one line."""

from collections.abc import Sequence

import numpy as np

from vit_str.pages.find.geometry import Quadrilateral, rectangle

_LARGE = 96  # pixels of height from which on signs are found one by one
_WIDE = 2.0  # width over height up to which a box holds one sign or two
_NARROW = 0.35  # and from which on it is no line that runs up or down
_MOST = 24  # lines of a picture that shows large signs
_NEAR = 0.2  # heights between two signs of a line
_BESIDE = 0.8  # share of the lower one that is beside the other


def with_large_signs_joined(found: Sequence[Quadrilateral]) -> list[Quadrilateral]:
    """Lines, of which large upright signs next to each other are one.

    Args:
        found: lines of a picture, in any order.
    """
    if len(found) > _MOST:
        return list(found)
    boxes = [np.concatenate([line.min(0), line.max(0)]) for line in found]
    signs = sorted(
        (k for k, box in enumerate(boxes) if _is_large_sign(box)),
        key=lambda k: boxes[k][0],
    )
    lines: list[list[int]] = []
    for sign in signs:
        before = next((line for line in lines if _follows(boxes, line, sign)), None)
        if before is None:
            lines.append([sign])
        else:
            before.append(sign)
    joined = [line for line in lines if len(line) > 1]
    parts = {sign for line in joined for sign in line}
    kept = [line for k, line in enumerate(found) if k not in parts]
    return kept + [_around([boxes[k] for k in line]) for line in joined]


def _is_large_sign(box: np.ndarray) -> bool:
    width, height = box[2:] - box[:2]
    is_sign = _NARROW * height <= width <= _WIDE * height
    return bool(height >= _LARGE and is_sign)


def _follows(boxes: Sequence[np.ndarray], line: Sequence[int], sign: int) -> bool:
    """Whether a sign is beside the last one of a line, to the right."""
    last = boxes[line[-1]]
    own = boxes[sign]
    heights = last[3] - last[1], own[3] - own[1]
    shared = min(last[3], own[3]) - max(last[1], own[1])
    near = own[0] - last[2] <= _NEAR * max(heights)
    return bool(near and shared >= _BESIDE * min(heights) and own[2] > last[2])


def _around(boxes: Sequence[np.ndarray]) -> Quadrilateral:
    left, top = np.min(boxes, 0)[:2]
    right, bottom = np.max(boxes, 0)[2:]
    return rectangle(left, top, right, bottom)
