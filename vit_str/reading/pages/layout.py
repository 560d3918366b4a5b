"""Reading order: words to lines, lines to blocks; columns before rows."""

from collections.abc import Sequence

import numpy as np

BoxArray = np.ndarray
"""Left, top, right, bottom."""

_COLUMN_GAP = 1.0  # white between two columns, over the height of a line
_ROW_GAP = 0.9  # white between two blocks, over the height of a line
_TEXT_WIDTH = 6.0  # a column of text has lines at least so wide, over their height
_SAME_ROW = 0.5  # share of the lower one of two lines that is beside the other
_MOST_ACROSS = 0.25  # of the lines may lie across columns


def reading_order(boxes: Sequence[BoxArray]) -> list[list[list[int]]]:
    """Blocks of rows of indices, in the order in which a person would read them.

    Recursive X-Y cut (Nagy and Seth 1984): the page is cut at white columns if what lies on both
    sides is running text, even if a few lines such as headings lie across, else at white rows.
    Short pieces on both sides of a white column, as names and prices on a receipt, belong to the
    same rows.
    """
    if not len(boxes):
        return []
    sides = np.asarray(boxes, float)
    height = float(np.median(sides[:, 3] - sides[:, 1]))
    return [_rows(sides, block) for block in _blocks(sides, np.arange(len(sides)), height)]


def _blocks(sides: np.ndarray, chosen: np.ndarray, height: float) -> list[np.ndarray]:
    parts = _columns(sides, chosen, _COLUMN_GAP * height)
    if len(parts) == 1:
        parts = _cut(sides, chosen, 1, _ROW_GAP * height)
    if len(parts) == 1:
        return parts
    return [block for part in parts for block in _blocks(sides, part, height)]


def _columns(sides: np.ndarray, chosen: np.ndarray, gap: float) -> list[np.ndarray]:
    """Columns of running text, and the few lines across them, such as headings, where they come."""
    left, _, right, _ = sides[chosen].T
    across = (left < right[:, None] + gap) & (right > right[:, None])  # the gap beside each line
    counts = across.sum(1)
    for index in np.argsort(counts, kind="stable"):
        if counts[index] > _MOST_ACROSS * len(chosen):
            break
        columns = _cut(sides, chosen[~across[index]], 0, gap)
        if len(columns) > 1 and all(_is_text(sides[column]) for column in columns):
            return _in_bands(sides, columns, chosen[across[index]])
    return [chosen]


def _in_bands(sides: np.ndarray, columns: list[np.ndarray], across: np.ndarray) -> list[np.ndarray]:
    """Parts of columns above, between and below the lines across them, and those, from the top."""
    middles = sides[:, 1] + sides[:, 3]
    across = across[np.argsort(middles[across], kind="stable")]
    parts = []
    for band in range(len(across) + 1):
        bands = (np.searchsorted(middles[across], middles[column]) for column in columns)
        parts += [column[number == band] for column, number in zip(columns, bands, strict=True)]
        parts.append(across[band : band + 1])
    return [part for part in parts if len(part)]


def _cut(sides: np.ndarray, chosen: np.ndarray, axis: int, gap: float) -> list[np.ndarray]:
    """Groups of boxes between which a band of at least ``gap`` pixels is white."""
    order = chosen[np.argsort(sides[chosen, axis], kind="stable")]
    reach = np.maximum.accumulate(sides[order, axis + 2])
    cuts = np.flatnonzero(sides[order[1:], axis] - reach[:-1] > gap) + 1
    return np.split(order, cuts)


def _is_text(sides: np.ndarray) -> bool:
    """Whether some lines lie below each other that are wide for their height."""
    width, height = sides[:, 2] - sides[:, 0], sides[:, 3] - sides[:, 1]
    return len(sides) > 1 and float(np.median(width / height.clip(1))) > _TEXT_WIDTH


def _rows(sides: np.ndarray, chosen: np.ndarray) -> list[list[int]]:
    """Boxes of one block as rows from the top, each from the left."""
    rows: list[list[int]] = []
    for index in chosen[np.argsort(sides[chosen, 1] + sides[chosen, 3], kind="stable")]:
        top, bottom = sides[index, 1], sides[index, 3]
        for row in rows[-3:]:
            low, high = sides[row[-1], 1], sides[row[-1], 3]
            shared = min(bottom, high) - max(top, low)
            near = shared > _SAME_ROW * min(bottom - top, high - low)
            if near and not _lie_above_each_other(sides[row], sides[index]):
                row.append(int(index))
                break
        else:
            rows.append([int(index)])
    return [sorted(row, key=lambda index: sides[index, 0]) for row in rows]


def _lie_above_each_other(row: np.ndarray, box: np.ndarray) -> bool:
    """Whether a box shares most of its columns, or of theirs, with one of a row."""
    shared = np.minimum(row[:, 2], box[2]) - np.maximum(row[:, 0], box[0])
    return bool((shared > _SAME_ROW * np.minimum(row[:, 2] - row[:, 0], box[2] - box[0])).any())
