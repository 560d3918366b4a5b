"""Tables as HTML, and plain text as HTML that shows it letter by letter."""

import html
import math
import unicodedata
from collections.abc import Sequence
from numbers import Integral, Real

_LONG = 40  # letters of a cell that may be broken into lines


def escaped(text: str) -> str:
    """HTML that shows the text, letter by letter; what cannot be written in UTF-8 shows as �."""
    letters = (
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\t\n"
        else letter
        for letter in text
    )
    return html.escape("".join(letters))


def table_html(
    columns: Sequence[str], rows: Sequence[Sequence[object]], number: str, caption: str
) -> str:
    """A figure of HTML with a table that scrolls in its frame, the caption above it.

    Floats are shown with about four digits, None and NaN as a dash.

    Args:
        columns: their names.
        rows: a cell for every column each.
        number: how the text calls it, such as "Table 1".
        caption: plain text.
    """
    by_column = [_column([row[place] for row in rows]) for place in range(len(columns))]
    classes = [kind for kind, _ in by_column]
    head = _cells("th", columns, classes)
    cells = zip(*(shown for _, shown in by_column), strict=True)
    body = "\n".join(f"<tr>{_cells('td', row, classes)}</tr>" for row in cells)
    text = escaped(caption)
    return (
        f'<figure class="table">\n<figcaption><b>{number}</b> {text}</figcaption>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text}">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        "</div>\n</figure>"
    )


def _cells(tag: str, row: Sequence[str], classes: Sequence[str]) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    attributes = [f'{scope} class="{kind}"' if kind else scope for kind in classes]
    return "".join(
        f"<{tag}{attribute}>{escaped(cell)}</{tag}>"
        for cell, attribute in zip(row, attributes, strict=True)
    )


def _column(cells: Sequence[object]) -> tuple[str, list[str]]:
    """Class of a column in the style sheet, and its cells as they are shown."""
    numbers = [cell for cell in cells if isinstance(cell, Real)]
    form = _number_format([float(cell) for cell in numbers if not isinstance(cell, Integral)])
    shown = [_shown(cell, form) for cell in cells]
    if numbers and all(cell is None or isinstance(cell, Real) for cell in cells):
        return "number", shown
    return "long" if max(map(len, shown), default=0) > _LONG else "", shown


def _number_format(numbers: Sequence[float]) -> str:
    """Four digits for the largest, and the point in line unless the smallest would vanish."""
    sizes = [abs(number) for number in numbers if number and math.isfinite(number)]
    if not sizes or max(sizes) > 1000 * min(sizes):
        return ".4g"
    return f".{max(0, 3 - math.floor(math.log10(max(sizes))))}f"


def _shown(cell: object, form: str) -> str:
    if isinstance(cell, Real) and not isinstance(cell, Integral):
        return "–" if math.isnan(cell) else f"{float(cell):{form}}"
    return "–" if cell is None else str(cell)
