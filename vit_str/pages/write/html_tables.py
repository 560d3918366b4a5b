"""Tables as HTML that keep merged cells."""

from collections.abc import Sequence
from html import escape

from vit_str.pages.arrange.tables import Span


def _size(span: Span) -> str:
    """Attributes of a cell that covers several rows or columns."""
    rows = f' rowspan="{span.rows}"' if span.rows > 1 else ""
    columns = f' colspan="{span.columns}"' if span.columns > 1 else ""
    return rows + columns


def table_element(rows: Sequence[Sequence[str]], spans: Sequence[Span]) -> str:
    """Texts of cells as an element ``table``, with merged cells; the first row is the head."""
    firsts = {(span.row, span.column): span for span in spans}
    covered = {
        (row, column)
        for span in spans
        for row in range(span.row, span.row + span.rows)
        for column in range(span.column, span.column + span.columns)
    }
    lines = ["<table>"]
    for number, row in enumerate(rows):
        tag = "th" if number == 0 else "td"
        cells = ""
        for column, text in enumerate(row):
            place = number, column
            if place in covered and place not in firsts:
                continue
            size = _size(firsts[place]) if place in firsts else ""
            cells += f"<{tag}{size}>{escape(text, quote=False)}</{tag}>"
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</table>"])
