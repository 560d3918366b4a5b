"""Tables as text for a terminal."""

import math
from collections.abc import Sequence

TableRow = Sequence[str]


def percent(value: float, interval: Sequence[float]) -> str:
    """A share and its interval for a table."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def aligned(rows: Sequence[TableRow]) -> list[str]:
    """Rows of a table as lines, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
