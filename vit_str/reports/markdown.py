"""Text and tables as Markdown."""

import re
from collections.abc import Sequence

from vit_str.files import one_line

# A bracket is a mark only before another one: it ends the text of a link.
_MARKS = re.compile(r"([\\`*_<>|~$]|\](?=[(\[:]))")


def piped(rows: Sequence[Sequence[str]], text_columns: int = 1) -> list[str]:
    """Rows of a table as lines of Markdown; the first row has the titles.

    Args:
        rows: cells as Markdown, see `plain` and `code`.
        text_columns: so many columns are set to the left, the others, numbers, to the right.
    """
    titles, *others = rows
    marks = ["---" if column < text_columns else "---:" for column in range(len(titles))]
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
