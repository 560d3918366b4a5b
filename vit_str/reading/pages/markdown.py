"""Pages as Markdown."""

import re
from collections.abc import Iterator, Sequence

from vit_str.reading.pages.page import Page, Word
from vit_str.reading.pages.structure import Heading, Item, Paragraph, Part, Running, parts_of
from vit_str.reading.pages.tables import Row, Table


def markdown(pages: Sequence[Page]) -> str:
    """The text of pages, which are set apart by a rule, without what runs above and below it."""
    texts = ("\n\n".join(_marked(parts)) for parts in parts_of(pages))
    return "\n\n---\n\n".join(texts) + "\n"


def _marked(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Heading):
            yield f"{'#' * part.level} {_joined(part.rows)}"
        elif isinstance(part, Item):
            mark = part.mark if part.mark[0].isdigit() else "-"
            yield f"{mark} {_joined(part.rows)}"
        elif isinstance(part, Table):
            yield _table(part)
        elif isinstance(part, Paragraph):
            yield _joined(part.rows)
        else:
            assert isinstance(part, Running)


def _joined(rows: Sequence[Row]) -> str:
    """Lines as one; a word that was cut at the end of a line is whole again."""
    text = ""
    for row in rows:
        added = _text(row.words)
        if text.endswith("-") and added[:1].islower():
            text = text[:-1] + added
        else:
            text = f"{text} {added}" if text else added
    return f"\\{text}" if text[:1] in ("#", "+") else text


def _table(table: Table) -> str:
    """The first row is the head, which Markdown's tables have."""
    head, *rows = (f"| {' | '.join(map(_text, row))} |" for row in table.rows)
    return "\n".join([head, f"|{'---|' * len(table.rows[0])}", *rows])


def _text(words: Sequence[Word]) -> str:
    """Words with a space between them; what Markdown would obey is escaped."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(word.text for word in words))
