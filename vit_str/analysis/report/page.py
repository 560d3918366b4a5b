"""One page of HTML that holds everything: text, tables, figures; nothing is loaded from elsewhere.

It is opened by a double click, sent by mail, printed, and looks the same in ten years.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from PIL import Image

from vit_str.analysis.report.html_table import escaped, table_html
from vit_str.analysis.report.illustrations import Illustration, of_figure, of_picture
from vit_str.analysis.tables import write_whole

LARGEST_PAGE = 2_000_000
"""Bytes; pictures are made smaller until a page has less."""

_STYLE_SHEET = Path(__file__).with_name("page.css")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# Browsers that read this line load nothing, whatever the page says.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class _Figure(NamedTuple):
    number: int
    illustration: Illustration
    caption: str

    def html(self, with_picture: bool) -> str:
        uri = self.illustration.uri if with_picture else ""
        width, height = self.illustration.size
        text = escaped(self.caption)
        plate = "plate drawn" if self.illustration.drawn else "plate"
        return (
            f'<figure>\n<div class="{plate}" style="--width: {width}px" tabindex="0">'
            f'<img src="{uri}" width="{width}" height="{height}" alt="{text}"></div>\n'
            f"<figcaption><b>Figure {self.number}</b> {text}</figcaption>\n</figure>"
        )


class Page:
    """A report: written from top to bottom, then to a folder.

    All text is plain: what looks like HTML in it is shown, not obeyed.

    Args:
        title: of the page.
        lead: the paragraph under the title: what was done, in a sentence or two.
    """

    def __init__(self, title: str, lead: str) -> None:
        self._title, self._lead = title, lead
        self._parts: list[str | _Figure] = []
        self._headings: list[str] = []
        self._illustrations: dict[str, Illustration] = {}
        self._tables = 0

    def heading(self, text: str) -> None:
        """Begin a section; the table of contents lists it."""
        self._headings.append(text)
        self._parts.append(f'<h2 id="section-{len(self._headings)}">{escaped(text)}</h2>')

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self._parts.append(f"<p>{escaped(text)}</p>")

    def note(self, text: str) -> None:
        """Add a remark set apart, such as what a figure does not show."""
        self._parts.append(f'<p class="note" role="note">{escaped(text)}</p>')

    def figure(self, figure: Figure, name: str, caption: str) -> None:
        """Add a figure; `write` puts it beside the page too, as ``<name>.png``.

        Args:
            figure: from `figures.style.figure`, for instance; it is drawn here and now.
            name: letters, digits, ``-``, ``_`` and ``.``; another than all before.
            caption: what is seen, with units and n; also the text for those who cannot see it.

        Raises:
            ValueError: the name is taken, or no name for a file.
        """
        self._check(name)
        self._illustrate(name, of_figure(figure), caption)

    def picture(self, image: Image.Image, name: str, caption: str) -> None:
        """Add a picture, one of its pixels for a pixel of the page; otherwise like `figure`."""
        self._check(name)
        self._illustrate(name, of_picture(image), caption)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> None:
        """Add a table. Floats are shown with about four digits, None and NaN as a dash.

        Raises:
            ValueError: a row has more or fewer cells than there are columns.
        """
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(f"expected {len(columns)} cells in a row, found {len(row)}")
        self._tables += 1
        self._parts.append(table_html(columns, rows, f"Table {self._tables}", caption))

    def write(self, folder: Path) -> Path:
        """Write ``report.html`` and the pictures, each file whole or not at all.

        Args:
            folder: made if it is missing.

        Returns:
            Path of the page.

        Raises:
            ValueError: the page has 2 MB even with the smallest pictures.
        """
        page = self._fit()
        for name, illustration in self._illustrations.items():
            write_whole(folder / f"{name}.png", illustration.png)
        write_whole(folder / "report.html", page)
        return folder / "report.html"

    def _check(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a figure: use letters, digits, - and _")
        if name in self._illustrations:
            raise ValueError(f"there is a figure {name!r} already; give this one another name")

    def _illustrate(self, name: str, illustration: Illustration, caption: str) -> None:
        self._illustrations[name] = illustration
        self._parts.append(_Figure(len(self._illustrations), illustration, caption))

    def _fit(self) -> bytes:
        """The page; while it is too large, its largest picture is made smaller."""
        size = len(self._html(with_pictures=False))
        while True:
            sizes = {name: len(each.uri) for name, each in self._illustrations.items()}
            if size + sum(sizes.values()) < LARGEST_PAGE:
                return self._html()
            largest_first = sorted(sizes, key=lambda name: -sizes[name])
            if not any(self._illustrations[name].reduce() for name in largest_first):
                raise ValueError(
                    f"the page has {(size + sum(sizes.values())) / 1e6:.1f} MB with the smallest "
                    f"pictures, more than {LARGEST_PAGE / 1e6:.0f}: show fewer rows or pictures"
                )

    def _html(self, with_pictures: bool = True) -> bytes:
        parts = [
            part if isinstance(part, str) else part.html(with_pictures) for part in self._parts
        ]
        page = "\n".join([*self._head(), *parts, "</main>", "</body>", "</html>", ""])
        return page.encode()

    def _head(self) -> list[str]:
        return [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escaped(self._title)}</title>",
            f"<style>\n{_STYLE_SHEET.read_text(encoding='utf-8')}</style>",
            "</head>",
            "<body>",
            "<main>",
            "<header>",
            f"<h1>{escaped(self._title)}</h1>",
            f'<p class="lead">{escaped(self._lead)}</p>',
            "</header>",
            *self._contents(),
        ]

    def _contents(self) -> list[str]:
        if len(self._headings) < 2:
            return []
        items = (
            f'<li><a href="#section-{number}">{escaped(text)}</a></li>'
            for number, text in enumerate(self._headings, 1)
        )
        return ['<nav aria-label="Contents">', "<ol>", *items, "</ol>", "</nav>"]
