"""Tables and text as CSV, JSON and Markdown, files written atomically."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.console import one_line
from vit_str.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

Table = tuple[list[str], list[list[object]]]
"""Names of the columns, and rows."""
# A bracket is a mark only before another one: it ends the text of a link.
_MARKS = re.compile(r"([\\`*_<>|~$]|\](?=[(\[:]))")


def write_frame(path: Path, frame: "pd.DataFrame") -> None:
    """Write a pandas table as CSV atomically, without its index."""
    with write_atomically(path) as file:
        text: dict[str, Any] = {"lineterminator": "\n", "errors": "backslashreplace"}
        frame.to_csv(file, index=False, float_format="%.6g", **text)


def write_csv(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
) -> None:
    """Write a table with a header atomically; None is an empty cell.

    Names of files may hold bytes that are not UTF-8: they are escaped.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    with write_atomically(path) as file:
        file.write_bytes(text.getvalue().encode(errors="backslashreplace"))


def write_json(path: Path, values: object) -> None:
    """Write values as JSON atomically; what JSON does not know becomes text.

    Names of files may hold bytes that are not UTF-8: they are escaped.
    """
    text = json.dumps(values, indent=1, ensure_ascii=False, default=str)
    with write_atomically(path) as file:
        file.write_bytes(f"{text}\n".encode(errors="backslashreplace"))


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def piped(rows: Sequence[Sequence[str]], text_columns: int = 1) -> list[str]:
    """Rows of a table as lines of Markdown; the first row has the titles.

    Args:
        rows: cells as Markdown, see `plain` and `code`.
        text_columns: so many columns are set to the left, the others, numbers, to the right.
    """
    titles, *others = rows
    marks = [
        "---" if column < text_columns else "---:" for column in range(len(titles))
    ]
    return [f"| {' | '.join(row)} |" for row in (titles, marks, *others)]


def plain(text: str) -> str:
    """A text as Markdown that shows it as it is, in one line, in a table too."""
    return _MARKS.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """A text as Markdown that shows it letter by letter, in one line, in a table too."""
    shown = one_line(text).replace("|", r"\|")
    if not shown:
        return "(nothing)"
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    # Spaces next to the fences are taken off, one on each side, unless there is nothing else.
    padded = shown.startswith(("`", " ")) or shown.endswith(("`", " "))
    shown = f" {shown} " if padded and shown.strip(" ") else shown
    return f"{fence}{shown}{fence}"
