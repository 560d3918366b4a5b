"""Pages of HTML as flat OpenDocument files, which Writer and Calc of LibreOffice set.

The HTML is that of ``benchmarks/documents``: headings, paragraphs, lists, tables, two columns,
figures, notes, and what runs above and below a page. ``<html class="sheet">`` is a sheet.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

_WIDTH = 170.0  # millimeters between the margins of a page
_LETTER = 0.21  # millimeters of a letter for each point of its size, on average
_PADDING = 6.0  # millimeters of a cell beside its text
_LONGEST = 34  # letters of a line of a cell
_NAMESPACES = {
    "office": "office:1.0",
    "style": "style:1.0",
    "text": "text:1.0",
    "table": "table:1.0",
    "fo": "xsl-fo-compatible:1.0",
    "svg": "svg-compatible:1.0",
}
_RULE = "0.8pt solid #333333"
_HEADING_SIZES = {1: 1.52, 2: 1.34, 3: 1.18}
"""Over the size of the text, as in an empty document of Writer."""


def flat_document(html: str, face: str, size: float) -> tuple[str, str]:
    """The ending and the text of a flat OpenDocument file.

    Args:
        html: of one page.
        face: name of the font of the text.
        size: of the text, in points.
    """
    root = ElementTree.fromstring(html.replace("<br>", "<br/>"))  # noqa: S314 - our own
    make = _Sheet if root.get("class") == "sheet" else _Text
    return make(root, face, size).file()


class Placed(NamedTuple):
    """A cell of a table: where it begins, and how many rows and columns it covers."""

    element: Element
    row: int
    column: int
    rows: int
    columns: int


def placed_cells(table: Element) -> list[Placed]:
    """The cells of a table, each at its row and column."""
    taken: set[tuple[int, int]] = set()
    cells = []
    for row, line in enumerate(table.iter("tr")):
        column = 0
        for element in line:
            while (row, column) in taken:
                column += 1
            rows = int(element.get("rowspan", "1"))
            columns = int(element.get("colspan", "1"))
            taken |= {
                (row + r, column + c) for r in range(rows) for c in range(columns)
            }
            cells.append(Placed(element, row, column, rows, columns))
            column += columns
    return cells


class _Document:
    """What texts and sheets have in common."""

    ending = ""
    kind = ""

    def __init__(self, root: Element, face: str, size: float) -> None:
        body = root.find("body")
        assert body is not None
        self.body = body
        self.face = face
        self.size = size
        self.styles: list[str] = []  # of the tables
        self.running = {
            name: next(
                (each for each in body.iter("div") if each.get("class") == name), None
            )
            for name in ("head", "foot", "notes")
        }

    def file(self) -> tuple[str, str]:
        """Its ending and its text."""
        content = "".join(self.content())  # also makes styles
        spaces = " ".join(
            f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{urn}"'
            for name, urn in _NAMESPACES.items()
        )
        kind = f"application/vnd.oasis.opendocument.{self.kind}"
        return self.ending, (
            f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces}'
            f' office:version="1.3" office:mimetype="{kind}">'
            f"<office:font-face-decls>{self._fonts()}</office:font-face-decls>"
            f"<office:styles>{''.join(self.named_styles())}</office:styles>"
            f"<office:automatic-styles>{self._page()}{''.join(self.styles)}"
            f"</office:automatic-styles>"
            f"<office:master-styles>{self._master()}</office:master-styles>"
            f"<office:body><office:{self.kind}>{content}</office:{self.kind}></office:body>"
            f"</office:document>"
        )

    def content(self) -> Iterator[str]:
        raise NotImplementedError

    def named_styles(self) -> Iterator[str]:
        raise NotImplementedError

    def blocks(self) -> Iterator[Element]:
        """The children of the body that are no running heads, footers or notes."""
        running = [each for each in self.running.values() if each is not None]
        yield from (each for each in self.body if each not in running)

    def inline(self, element: Element | None) -> str:
        """Text with its marks."""
        if element is None:
            return ""
        marked = (self._marked(child) + escape(child.tail or "") for child in element)
        return escape(element.text or "") + "".join(marked)

    def _marked(self, element: Element) -> str:
        if element.tag == "br":
            return "<text:line-break/>"
        if element.tag == "span":
            return self.inline(element)
        if element.tag in ("div", "p"):  # within a cell
            return f"{self.inline(element)}<text:line-break/>"
        note = None
        if element.tag == "sup":
            note = self._note(element.text or "")
        if note is not None:
            return (
                f'<text:note text:note-class="footnote">'
                f"<text:note-citation>{element.text}</text:note-citation><text:note-body>"
                f"{paragraph('Note', note)}</text:note-body></text:note>"
            )
        name = {
            "b": "Bold",
            "strong": "Bold",
            "em": "Italic",
            "i": "Italic",
            "sup": "Raised",
        }
        style = name[element.tag]
        return (
            f'<text:span text:style-name="{style}">{self.inline(element)}</text:span>'
        )

    def _note(self, number: str) -> str | None:
        """The text of a note at the foot of the page, without its number."""
        notes = self.running["notes"]
        if notes is None:
            return None
        texts = (self.inline(each).partition(" ") for each in notes)
        return next(
            (text for mark, _, text in texts if mark.rstrip(".") == number), None
        )

    def _fonts(self) -> str:
        return "".join(
            f'<style:font-face style:name={quoteattr(face)} svg:font-family="{escape(face)}"/>'
            for face in dict.fromkeys((self.face, "Liberation Sans"))
        )

    def _page(self) -> str:
        size = 'fo:page-width="210mm" fo:page-height="297mm"'
        return (
            f'<style:page-layout style:name="A4"><style:page-layout-properties {size}'
            f' fo:margin="9mm 20mm 9mm 20mm" fo:margin-left="20mm" fo:margin-right="20mm"'
            f' fo:margin-top="9mm" fo:margin-bottom="9mm"/>'
            f'<style:header-style><style:header-footer-properties fo:min-height="12mm"'
            f' fo:margin-bottom="5mm"/></style:header-style>'
            f'<style:footer-style><style:header-footer-properties fo:min-height="10mm"'
            f' fo:margin-top="5mm"/></style:footer-style></style:page-layout>'
        )

    def _master(self) -> str:
        name = "Default" if self.kind == "spreadsheet" else "Standard"
        return (
            f'<style:master-page style:name="{name}" style:page-layout-name="A4">'
            f"<style:header>{self._running('head')}</style:header>"
            f"<style:footer>{self._running('foot')}</style:footer></style:master-page>"
        )

    def _running(self, name: str) -> str:
        element = self.running[name]
        if element is None:
            return paragraph("Running", "")
        parts = [self.inline(each) for each in element] or [self.inline(element)]
        return paragraph(
            "Running" if len(parts) > 1 else "Centered", "<text:tab/>".join(parts)
        )


class _Text(_Document):
    """A document of Writer."""

    ending = ".fodt"
    kind = "text"

    def content(self) -> Iterator[str]:
        # Writer knows these as automatic styles only.
        self.styles += cell_styles()
        self.styles.append(
            '<style:style style:name="Columns" style:family="section"><style:section-properties'
            ' text:dont-balance-text-columns="false"><style:columns fo:column-count="2"'
            ' fo:column-gap="8mm"/></style:section-properties></style:style>'
        )
        for block in self.blocks():
            yield self._block(block)

    def _block(self, element: Element) -> str:
        makers: dict[str, Callable[[Element], str]] = {
            "h1": self._heading,
            "h2": self._heading,
            "h3": self._heading,
            "ul": self._list,
            "ol": self._list,
            "table": self._table,
            "div": self._division,
            "blockquote": self._division,
            "figure": self._figure,
        }
        return makers.get(element.tag, self._paragraph)(element)

    def _paragraph(self, element: Element) -> str:
        styles = {"right": "Right", "address": "Address"}
        return paragraph(
            styles.get(element.get("class", ""), "Body"), self.inline(element)
        )

    def _heading(self, element: Element) -> str:
        level = element.tag[1]
        return (
            f'<text:h text:style-name="Heading{level}" text:outline-level="{level}">'
            f"{self.inline(element)}</text:h>"
        )

    def _list(self, element: Element) -> str:
        items = "".join(map(self._item, element))
        style = "Numbers" if element.tag == "ol" else "Bullets"
        return f'<text:list text:style-name="{style}">{items}</text:list>'

    def _item(self, element: Element) -> str:
        """An item of a list; lists within it come last."""
        inner = [each for each in element if each.tag in ("ul", "ol")]
        own = copy(element)
        for each in inner:
            own.remove(each)
        lists = "".join(map(self._list, inner))
        text = paragraph("Item", self.inline(own))
        return f"<text:list-item>{text}{lists}</text:list-item>"

    def _division(self, element: Element) -> str:
        inside = "".join(map(self._block, element))
        if element.get("class") != "columns":
            return inside
        names = 'text:style-name="Columns" text:name="columns"'
        return f"<text:section {names}>{inside}</text:section>"

    def _figure(self, element: Element) -> str:
        caption = self.inline(element.find("figcaption"))
        return paragraph("Figure", "") + paragraph("Caption", caption)

    def _table(self, element: Element) -> str:
        number = len(self.styles)
        widths = column_widths([element], self.size)
        self.styles.append(
            f'<style:style style:name="T{number}" style:family="table"><style:table-properties'
            f' style:width="{sum(widths):.1f}mm" table:align="left" fo:margin-top="2mm"'
            f' fo:margin-bottom="4mm" style:may-break-between-rows="false"/></style:style>'
        )
        columns = []
        for place, width in enumerate(widths):
            name = f"T{number}.{place}"
            self.styles.append(
                f'<style:style style:name="{name}" style:family="table-column">'
                f'<style:table-column-properties style:column-width="{width:.1f}mm"/></style:style>'
            )
            columns.append(f'<table:table-column table:style-name="{name}"/>')
        rows = "".join(
            f"<table:table-row>{''.join(row)}</table:table-row>"
            for row in self._rows(element)
        )
        return (
            f'<table:table table:name="T{number}" table:style-name="T{number}">'
            f"{''.join(columns)}{rows}</table:table>"
        )

    def _rows(self, table: Element) -> list[list[str]]:
        rows = len(list(table.iter("tr")))
        return cells_of_rows(
            table, lambda cell: cell_style(table, cell, rows), self._cell_text
        )

    def _cell_text(self, element: Element) -> str:
        is_number = element.get("class") == "number"
        style = (
            f"{'Head' if element.tag == 'th' else 'Cell'}{'Right' if is_number else ''}"
        )
        return paragraph(style, self.inline(element))

    def named_styles(self) -> Iterator[str]:
        size = self.size
        yield text_style(
            "Body", self.face, size, 'fo:margin-bottom="2.2mm" fo:line-height="115%"'
        )
        yield text_style(
            "Right", self.face, size, 'fo:margin-bottom="4mm" fo:text-align="end"'
        )
        yield text_style("Address", self.face, size, 'fo:margin-bottom="9mm"')
        yield text_style("Item", self.face, size, 'fo:margin-bottom="1mm"')
        yield text_style(
            "Note", self.face, 0.83 * size, 'fo:margin-left="5mm" fo:text-indent="-5mm"'
        )
        yield text_style("Caption", self.face, 0.9 * size, 'fo:margin-bottom="3mm"')
        gray = (
            'fo:background-color="#ccd6dd" fo:line-height="22mm" fo:margin-bottom="1mm"'
        )
        yield text_style("Figure", self.face, size, gray)
        tabs = (
            f'<style:tab-stops><style:tab-stop style:position="{_WIDTH}mm" style:type="right"/>'
            f"</style:tab-stops>"
        )
        yield text_style("Running", self.face, 0.85 * size, "", tabs)
        yield text_style("Centered", self.face, 0.85 * size, 'fo:text-align="center"')
        yield text_style("Cell", self.face, size, "")
        yield text_style("CellRight", self.face, size, 'fo:text-align="end"')
        yield text_style("Head", self.face, size, "", bold=True)
        yield text_style("HeadRight", self.face, size, 'fo:text-align="end"', bold=True)
        for level, larger in _HEADING_SIZES.items():
            apart = 'fo:margin-top="4.2mm" fo:margin-bottom="2.1mm" fo:keep-with-next="always"'
            yield text_style(
                f"Heading{level}", "Liberation Sans", larger * size, apart, bold=True
            )
        yield from character_styles()
        yield list_style(
            "Bullets",
            '<text:list-level-style-bullet text:level="1" text:bullet-char="•">',
            "text:list-level-style-bullet",
        )
        yield list_style(
            "Numbers",
            '<text:list-level-style-number text:level="1"'
            ' style:num-format="1" style:num-suffix=".">',
            "text:list-level-style-number",
        )
        yield (
            '<text:notes-configuration text:note-class="footnote" style:num-format="1"'
            ' style:num-suffix=". " text:start-value="0" text:footnotes-position="page"'
            ' text:start-numbering-at="document"/>'
        )


class _Sheet(_Document):
    """A sheet of Calc: what is no table overflows the first cell of its row."""

    ending = ".fods"
    kind = "spreadsheet"

    def content(self) -> Iterator[str]:
        blocks = list(self.blocks())
        tables = [each for each in blocks if each.tag == "table"]
        yield '<table:table table:name="Sheet1">'
        for place, width in enumerate(column_widths(tables, self.size)):
            self.styles.append(
                f'<style:style style:name="C{place}" style:family="table-column">'
                f'<style:table-column-properties style:column-width="{width:.1f}mm"/></style:style>'
            )
            yield f'<table:table-column table:style-name="C{place}"/>'
        for block in blocks:
            if block.tag == "table":
                rows = len(list(block.iter("tr")))
                for row in self._rows(block, rows):
                    yield f"<table:table-row>{''.join(row)}</table:table-row>"
            else:
                style = {"h1": "TitlePlain", "h2": "HeadingPlain"}.get(
                    block.tag, "CellPlain"
                )
                yield f"<table:table-row>{self._cell(style, block)}</table:table-row>"
            yield "<table:table-row><table:table-cell/></table:table-row>"
        yield "</table:table>"

    def _rows(self, table: Element, rows: int) -> list[list[str]]:
        def style(cell: Placed) -> str:
            kind = "Head" if cell.element.tag == "th" else "Cell"
            side = "Right" if cell.element.get("class") == "number" else ""
            return f"{kind}{side}{cell_style(table, cell, rows)}"

        return cells_of_rows(
            table, style, lambda element: paragraph("", self.inline(element))
        )

    def _cell(self, style: str, element: Element) -> str:
        return (
            f'<table:table-cell table:style-name="{style}" office:value-type="string">'
            f"{paragraph('', self.inline(element))}</table:table-cell>"
        )

    def named_styles(self) -> Iterator[str]:
        yield from character_styles()
        for kind, larger, weight in (
            ("Cell", 1.0, "normal"),
            ("Head", 1.0, "bold"),
            ("Heading", 1.2, "bold"),
            ("Title", 1.6, "bold"),
        ):
            letters = (
                f"<style:text-properties style:font-name={quoteattr(self.face)}"
                f' fo:font-size="{larger * self.size:.1f}pt" fo:font-weight="{weight}"/>'
            )
            for side, align in (("", "start"), ("Right", "end")):
                for border, properties in _BORDERS.items():
                    yield (
                        f'<style:style style:name="{kind}{side}{border}" style:family="table-cell">'
                        f"<style:table-cell-properties {properties}"
                        f' style:text-align-source="fix"/>'
                        f'<style:paragraph-properties fo:text-align="{align}"/>{letters}'
                        f"</style:style>"
                    )


def cells_of_rows(
    table: Element, style: Callable[[Placed], str], text: Callable[[Element], str]
) -> list[list[str]]:
    """Rows of cells; those that lie under one that covers several are covered."""
    places = placed_cells(table)
    columns = max(cell.column + cell.columns for cell in places)
    count = len(list(table.iter("tr")))
    rows = [["<table:covered-table-cell/>"] * columns for _ in range(count)]
    for cell in places:
        rows[cell.row][cell.column] = (
            f'<table:table-cell table:style-name="{style(cell)}"'
            f' table:number-rows-spanned="{cell.rows}"'
            f' table:number-columns-spanned="{cell.columns}" office:value-type="string">'
            f"{text(cell.element)}</table:table-cell>"
        )
    return rows


def column_widths(tables: list[Element], size: float) -> list[float]:
    """Widths of columns in millimeters, by the letters of their cells; no more than the page."""
    letters: dict[int, int] = {}
    for table in tables:
        for cell in placed_cells(table):
            if cell.columns == 1:
                longest = min(_LONGEST, len("".join(cell.element.itertext())))
                letters[cell.column] = max(letters.get(cell.column, 1), longest)
    widths = [_PADDING + _LETTER * size * letters[column] for column in sorted(letters)]
    is_wide = any("wide" in table.get("class", "").split() for table in tables)
    room = 0.99 * _WIDTH  # borders need some
    scale = room / sum(widths) if is_wide or sum(widths) > room else 1.0
    return [scale * width for width in widths]


_BORDERS = {
    "Plain": 'fo:padding="0.97mm" fo:border="none"',
    "Ruled": f'fo:padding="1.2mm" fo:border="{_RULE}"',
    "First": f'fo:padding="0.97mm" fo:border-top="1.2pt solid #000000" fo:border-bottom="{_RULE}"',
    "Last": 'fo:padding="0.97mm" fo:border-bottom="1.2pt solid #000000"',
    "Airy": 'fo:padding="0.97mm" fo:padding-bottom="5mm" fo:border="none"',
}
"""Of cells, by the name of their style."""


def cell_style(table: Element, cell: Placed, rows: int) -> str:
    """The name of the border of a cell of a table of so many rows."""
    classes = table.get("class", "").split()
    if "ruled" in classes:
        return "Ruled"
    if "airy" in classes:
        return "Airy"
    if "levels" in classes:
        return {0: "First", rows - 1: "Last"}.get(cell.row, "Plain")
    return "Plain"


def cell_styles() -> Iterator[str]:
    """Styles of the cells of Writer."""
    for name, properties in _BORDERS.items():
        yield (
            f'<style:style style:name="{name}" style:family="table-cell">'
            f"<style:table-cell-properties {properties}/></style:style>"
        )


def character_styles() -> Iterator[str]:
    """Styles of words."""
    for name, properties in (
        ("Bold", 'fo:font-weight="bold"'),
        ("Italic", 'fo:font-style="italic"'),
        ("Raised", 'style:text-position="super 58%"'),
    ):
        yield (
            f'<style:style style:name="{name}" style:family="text">'
            f"<style:text-properties {properties}/></style:style>"
        )


def list_style(name: str, start: str, tag: str) -> str:
    """A style of lists."""
    return (
        f'<text:list-style style:name="{name}">{start}<style:list-level-properties'
        f' text:list-level-position-and-space-mode="label-alignment">'
        f'<style:list-level-label-alignment text:label-followed-by="listtab"'
        f' fo:text-indent="-6mm" fo:margin-left="12mm"/></style:list-level-properties></{tag}>'
        f"</text:list-style>"
    )


def text_style(
    name: str,
    face: str,
    size: float,
    paragraph_: str,
    inside: str = "",
    *,
    bold: bool = False,
) -> str:
    """A style of paragraphs."""
    weight = "bold" if bold else "normal"
    return (
        f'<style:style style:name="{name}" style:family="paragraph">'
        f"<style:paragraph-properties {paragraph_}>{inside}</style:paragraph-properties>"
        f"<style:text-properties style:font-name={quoteattr(face)}"
        f' fo:font-size="{size:.1f}pt" fo:font-weight="{weight}"/></style:style>'
    )


def paragraph(style: str, text: str) -> str:
    """A paragraph of a style."""
    name = f' text:style-name="{style}"' if style else ""
    return f"<text:p{name}>{text}</text:p>"
