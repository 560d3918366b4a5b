"""Pages as HTML: headings, paragraphs, lists and tables that keep merged cells."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from vit_str.pages.write.document_pages import Block, DocumentPage

_STYLE = "table {border-collapse: collapse} th, td {border: 1px solid; padding: 0.2em}"


def html_document(title: str, pages: Sequence[DocumentPage]) -> str:
    """A page of HTML with a section for every page that could be read.

    What runs above and below the text, as numbers of pages, is left out.
    """
    sections = (html_section(page) for page in pages if page.error is None)
    return f"{html_head(title)}{''.join(sections)}{HTML_END}"


def html_head(title: str) -> str:
    """HTML before the sections."""
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )


HTML_END = "</body>\n</html>\n"
"""HTML behind the sections."""


def html_section(page: DocumentPage) -> str:
    """A page as an element ``section``."""
    shown = [block for block in page.blocks if block.role != "running"]
    parts: list[str] = []
    for is_list, group in groupby(shown, lambda block: block.role == "item"):
        blocks = list(group)
        parts += _list(blocks) if is_list else map(_element, blocks)
    body = "\n".join(parts)
    return f'<section id="page-{page.number}">\n{body}\n</section>\n'


def _element(block: Block) -> str:
    if block.table is not None:
        return block.table.to_html()
    text = escape(block.text, quote=False).replace("\n", "<br>\n")
    tag = f"h{block.level}" if block.role == "heading" else "p"
    return f"<{tag}>{text}</{tag}>"


def _list(items: Sequence[Block]) -> Iterator[str]:
    """Items as lists, those that are within others inside these."""
    open_lists: list[str] = []  # tags, outermost first
    for item in items:
        tag = "ol" if item.mark[:1].isdigit() else "ul"
        while len(open_lists) > item.level + 1:
            yield f"</li></{open_lists.pop()}>"
        if len(open_lists) == item.level + 1:
            yield "</li>"
        if open_lists and len(open_lists) == item.level + 1 and open_lists[-1] != tag:
            yield f"</{open_lists.pop()}>"
        if len(open_lists) < item.level + 1:
            open_lists.append(tag)
            yield _start_of_list(tag, item.mark)
        yield f"<li>{escape(item.text, quote=False)}"
    while open_lists:
        yield f"</li></{open_lists.pop()}>"


def _start_of_list(tag: str, mark: str) -> str:
    """A list begins with the number that its first item has."""
    number = "".join(filter(str.isascii, filter(str.isdigit, mark)))
    is_other = tag == "ol" and number not in ("", "1")
    return f'<{tag} start="{int(number)}">' if is_other else f"<{tag}>"
