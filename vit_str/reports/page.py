"""One page of HTML that holds everything: text, tables, figures; nothing is loaded from elsewhere.

It is opened by a double click, sent by mail, printed, and looks the same in ten years.
"""

import base64
import hashlib
import math
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.figure import Figure
from PIL import Image

from vit_str.files import write_atomically
from vit_str.reports.images import SHARPNESS, data_uri, figure_image, pdf, png, svg
from vit_str.reports.style import printable

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_LONG = 40  # letters of a cell that may be broken into lines


class Page:
    """A report: written from top to bottom, then to a folder.

    All text is plain: what looks like HTML in it is shown, not obeyed.
    """

    def __init__(self, title: str, lead: str) -> None:
        self._title = title
        self._lead = lead
        self._parts: list[dict[str, Any]] = []
        self._files: dict[str, bytes] = {}

    def heading(self, text: str) -> None:
        """Begin a section; the table of contents lists it."""
        self._add("heading", text)

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self._add("paragraph", text)

    def note(self, text: str) -> None:
        """Add a remark set apart, such as what a figure does not show."""
        self._add("note", text)

    def figure(
        self,
        figure: Figure,
        name: str,
        caption: str,
        vector: bool = False,
    ) -> None:
        """Add a figure; `write` puts it next to the page too, as PNG, and SVG and PDF for papers.

        Args:
            figure: from `style.figure`, for instance; it is drawn here and now.
            name: of the files, another than all before.
            caption: what is seen, with units and n; also the text for those who cannot see it.
            vector: in the page as SVG, with the texts of `images.on_hover`; not for figures of
                many pictures, which are smaller as pixels.
        """
        image = figure_image(figure)
        # Finding a place for everything takes longer than drawing: once is enough
        figure.set_layout_engine("none")
        drawing = Markup(svg(figure))  # noqa: S704 - of matplotlib, which escapes what it is given
        png_file = png(image)
        self._files |= {
            f"{name}.png": png_file,
            f"{name}.svg": drawing.encode(),
            f"{name}.pdf": pdf(figure),
        }
        width, height = (side // SHARPNESS for side in image.size)
        self._add(
            "figure",
            caption,
            uri=None if vector else data_uri(image, png_file),
            svg=drawing if vector else None,
            width=width,
            height=height,
        )

    def picture(self, image: Image.Image, caption: str) -> None:
        """Add an image as it is."""
        width, height = image.size
        self._add(
            "figure",
            caption,
            uri=data_uri(image),
            svg=None,
            width=width,
            height=height,
        )

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        caption: str,
        sortable: bool = False,
    ) -> None:
        """Add a table. Floats are shown with about four digits, None and NaN as a dash.

        Args:
            columns: their titles.
            rows: their cells; one that is `Markup` is shown as it is, such as a small drawing.
            caption: what the table shows, with units and n.
            sortable: in a browser by a click on a title, with a field that filters rows.
        """
        shown = [_column([row[index] for row in rows]) for index in range(len(columns))]
        self._add(
            "table",
            caption,
            columns=columns,
            sortable=sortable,
            classes=[css for css, _ in shown],
            rows=list(zip(*(cells for _, cells in shown), strict=True)),
        )

    def write(self, folder: Path) -> Path:
        """Write ``report.html`` and the figures, each file atomically.

        Returns:
            Path of the page.
        """
        environment = Environment(
            loader=PackageLoader("vit_str.reports", "."),
            autoescape=True,
            finalize=_printable,
        )
        template = environment.get_template("page.html")
        source = environment.loader.get_source(environment, "page.js")[0]  # type: ignore[union-attr]
        script = source if any(part.get("sortable") for part in self._parts) else ""
        html = template.render(
            title=self._title,
            lead=self._lead,
            parts=self._parts,
            script=Markup(script),  # noqa: S704 - of this package
            policy=_policy(script),
        )
        folder.mkdir(parents=True, exist_ok=True)
        files = {**self._files, "report.html": f"{html}\n".encode()}
        for name, content in files.items():
            with write_atomically(folder / name) as path:
                path.write_bytes(content)
        return folder / "report.html"

    def _add(self, part: str, text: str, **values: Any) -> None:
        number = 1 + sum(other["type"] == part for other in self._parts)
        self._parts.append({"type": part, "number": number, "text": text, **values})


def _policy(script: str) -> str:
    """The policy for browsers, which load and run nothing but this script."""
    if not script:
        return _POLICY
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"{_POLICY}; script-src 'sha256-{digest}'"


def _printable(value: object) -> object:
    """Text without what UTF-8 or HTML cannot hold."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return printable(str(value), "\t\n") if plain else value


def _column(cells: Sequence[object]) -> tuple[str, list[str]]:
    """Class of a column in the style sheet, and its cells as they are shown."""
    if any(isinstance(cell, Markup) for cell in cells):
        return "cell-drawing", [_shown(cell, "") for cell in cells]
    numbers = [cell for cell in cells if isinstance(cell, Real)]
    form = _number_format(
        [float(cell) for cell in numbers if not isinstance(cell, Integral)]
    )
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
    if isinstance(cell, Markup):
        return cell
    return "–" if cell is None else str(cell)
