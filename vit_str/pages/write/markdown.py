"""Pages as Markdown."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from vit_str.pages.arrange.parts import Heading, Item, Paragraph, Part, Running
from vit_str.pages.arrange.structure import parts_of
from vit_str.pages.arrange.tables import Row, Table
from vit_str.pages.page import Page, Word, text_of

_LINE_BREAK = "  \n"  # which all kinds of Markdown know; some take a backslash for text
_NESTING = "    "  # before an item that is in another one, also in one of numbers
# Of lists of tasks
_BOXES = {"□": "[ ]", "☐": "[ ]", "[x]": "[x]", "☑": "[x]", "☒": "[x]"}
_SIGNS = re.compile(r"([\\`*_\[\]<>|~])")
_MARKED = re.compile(r"[#+]|[-=]+$")  # what Markdown takes for the mark of a line


def markdown(pages: Sequence[Page]) -> str:
    """The text of pages, which are set apart by a rule, without what runs above and below it."""
    return together(map(markdown_of, parts_of(pages)))


def together(texts: Iterable[str]) -> str:
    """Pages as one text."""
    return "\n\n---\n\n".join(texts) + "\n"


def markdown_of(parts: Sequence[Part]) -> str:
    """Parts with an empty line between them, but between the items of a list."""
    text = ""
    before: Part | None = None
    for part in parts:
        if isinstance(part, Running):
            continue
        are_items = isinstance(before, Item) and isinstance(part, Item)
        gap = "\n" if are_items else "\n\n"
        text += gap + _marked(part) if text else _marked(part)
        before = part
    return text


def _marked(part: Heading | Item | Paragraph | Table) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {_joined(part.rows)}"
    if isinstance(part, Item):
        return f"{part.depth * _NESTING}{_mark(part.mark)} {_joined(part.rows)}"
    if isinstance(part, Table):
        return _table(part)
    if part.keeps_lines:
        return _LINE_BREAK.join(_joined([row]) for row in part.rows)
    return _joined(part.rows)


def _mark(mark: str) -> str:
    """The mark of an item: Markdown has numbers and bullets, letters and boxes stand behind one."""
    if mark[0].isdigit():
        return mark
    if mark in _BOXES:
        return f"- {_BOXES[mark]}"
    return f"- {mark}" if any(map(str.isalnum, mark)) else "-"


def joined(lines: Iterable[str]) -> str:
    """Lines as one; a word that was cut at the end of a line is whole again."""
    text = ""
    for line in lines:
        if text.endswith("-") and line[:1].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text


def _joined(rows: Sequence[Row]) -> str:
    text = joined(_text(row.words) for row in rows)
    return f"\\{text}" if _MARKED.match(text) else text


def _table(table: Table) -> str:
    """The first row is the head, which Markdown's tables have."""
    head, *rows = (f"| {' | '.join(map(_text, row))} |" for row in table.rows)
    return "\n".join([head, f"|{'---|' * len(table.rows[0])}", *rows])


def _text(words: Sequence[Word]) -> str:
    """Words with a space between them; what Markdown would obey is escaped."""
    return text_of(words, partial(_SIGNS.sub, r"\\\1"))
