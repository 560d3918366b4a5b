"""Figures as vector graphics: files that a paper can take over, and text that appears on hover."""

import io
from xml.etree import ElementTree

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from vit_str.reports.style import plain, ready_to_draw

_HOVER = "hover:"
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def on_hover(artist: Artist, text: str) -> None:
    """Make a browser show a text while the pointer is on a part of a figure."""
    artist.set_gid(_HOVER + plain(text).replace(r"\$", "$"))


def svg(figure: Figure) -> str:
    """A figure as an ``<svg>`` element, letters as outlines, with the texts of `on_hover`."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(_saved(figure, "svg"))  # noqa: S314 - made here
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for number, group in enumerate(root.iter(f"{{{_SVG}}}g")):
        name = group.get("id", "")
        if name.startswith(_HOVER):
            group.set("id", f"part-{number}")
            title = ElementTree.Element(f"{{{_SVG}}}title")
            title.text = name.removeprefix(_HOVER)
            group.insert(0, title)
    return ElementTree.tostring(root, encoding="unicode")


def pdf(figure: Figure) -> bytes:
    """A figure as a PDF file, letters as text."""
    return _saved(figure, "pdf")


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    date = "Date" if form == "svg" else "CreationDate"
    with ready_to_draw(figure):
        figure.savefig(file, format=form, metadata={date: None})
    return file.getvalue()
