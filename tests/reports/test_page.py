"""The page holds everything and obeys nothing that it shows."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from vit_str.reports.images import figure_image, on_hover
from vit_str.reports.page import Page
from vit_str.reports.style import figure, plain, styled

HOSTILE = (
    "</title></style><script>alert(1)</script>\"'><img src=x onerror=alert(2)> & 文字"
)


class Parsed(HTMLParser):
    """Tags, attributes that load or link, and text by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.alternatives: list[str] = []
        self.attributes: set[str] = set()
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = {name: value or "" for name, value in attrs}
        self.attributes |= values.keys()
        loading = (
            "src",
            "href",
            "srcset",
            "poster",
            "data",
            "action",
            "background",
            "xlink:href",
        )
        self.references += [values[name] for name in loading if name in values]
        self.references += _addresses(values.get("style", ""))
        self.alternatives += [values["alt"]] if tag == "img" else []
        if tag not in ("meta", "link", "img"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "tags must be closed in order"

    def handle_data(self, data: str) -> None:
        tag = self._open[-1] if self._open else ""
        self.texts.setdefault(tag, []).append(data)
        if tag == "style":
            self.references += _addresses(data)


def _addresses(css: str) -> list[str]:
    return re.findall(r"url\(\s*['\"]?([^'\")]*)", css) + re.findall(
        r"@import\s+(\S+)", css
    )


def draw(seed: int = 0) -> Figure:
    sheet = figure(6, 3)
    with styled():
        axes = sheet.subplots()
        axes.plot(np.random.default_rng(seed).normal(size=20).cumsum())
        axes.set(xlabel="layer", ylabel="distance (px)", title="tiny")
    return sheet


def noise() -> Figure:
    """A figure with a picture of many colors."""
    sheet = figure(6.4, 1.6)
    values = np.random.default_rng(0).integers(0, 256, (200, 800, 3), dtype=np.uint8)
    sheet.subplots().imshow(values)
    return sheet


def report(folder: Path) -> Path:
    """A page with one of everything."""
    page = Page("How far heads look", "A few words about what was measured.")
    page.heading("Figures")
    page.paragraph("What a reader should see in it. " * 8)
    page.figure(draw(), "lines", "A line, n = 20.")
    page.note("Attention is not explanation.")
    page.heading("Numbers")
    page.table(
        ["model", "layer", "mean (px)"], [["tiny", 1, 31.5]] * 40, "Means, n = 20."
    )
    page.figure(noise(), "picture", "Noise.")
    return page.write(folder)


def test_pictures_in_colors_keep_all_of_them():
    """As filters: few enough pixels that they are no photograph, more colors than a palette."""
    sheet = figure(4, 2)
    values = np.random.default_rng(0).integers(0, 256, (20, 40, 3), dtype=np.uint8)
    sheet.subplots().imshow(values, interpolation="nearest")
    image = figure_image(sheet)
    assert image.mode == "RGB"
    assert 256 < len(image.getcolors(1 << 20)) < 20_000
    assert figure_image(draw()).mode == "P"


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    text = report(tmp_path).read_text("utf-8")
    assert '<meta http-equiv="Content-Security-Policy"' in text
    parsed = Parsed(text)
    assert "img" in parsed.tags
    assert not {"script", "iframe", "object", "embed", "base", "form"} & set(
        parsed.tags
    )
    assert all(reference.startswith(("#", "data:")) for reference in parsed.references)
    assert parsed.tags.count("link") == 1, (
        "the empty icon, so that browsers ask for none"
    )


def test_hostile_text_is_shown_not_obeyed(tmp_path):
    page = Page(HOSTILE, HOSTILE)
    for number in range(2):
        page.heading(f"{number} {HOSTILE}")
    page.paragraph(HOSTILE)
    page.note(HOSTILE)
    page.figure(draw(), "figure", HOSTILE)
    page.figure(noise(), "picture", HOSTILE)
    page.table([HOSTILE], [[HOSTILE]], HOSTILE)
    parsed = Parsed(page.write(tmp_path).read_text("utf-8"))
    assert "script" not in parsed.tags
    assert parsed.tags.count("img") == 2
    assert not any(name.startswith("on") for name in parsed.attributes)
    assert parsed.alternatives == [HOSTILE, HOSTILE], (
        "those who cannot see get the caption"
    )
    for tag, times in {
        "title": 1,
        "h1": 1,
        "h2": 2,
        "a": 2,
        "p": 3,
        "th": 1,
        "td": 1,
    }.items():
        assert sum(HOSTILE in text for text in parsed.texts[tag]) == times, tag
    assert sum(HOSTILE in text for text in parsed.texts["figcaption"]) == 3


def test_every_figure_lands_beside_the_page(tmp_path):
    path = report(tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "report.html"
    names = {file.name for file in path.parent.iterdir()}
    forms = ("pdf", "png", "svg")
    figures = {f"{name}.{form}" for name in ("lines", "picture") for form in forms}
    assert names == figures | {"report.html"}
    with Image.open(path.parent / "lines.png") as lines:
        assert lines.format == "PNG"
        assert lines.size == (6 * 96 * 2, 3 * 96 * 2), "two pixels for each of the page"
    page = path.read_text("utf-8")
    assert page.count("data:image/png") == 1, "lines have few colors"
    assert page.count("data:image/webp") == 1, "photographs have many"


def test_vector_figures_are_in_the_page_and_beside_it(tmp_path):
    def write(folder):
        page, sheet = Page("lines", "A line."), draw()
        on_hover(sheet.axes[0].lines[0], HOSTILE)
        page.figure(sheet, "lines", HOSTILE, vector=True)
        page.write(folder)
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    files = write(tmp_path / "1")
    assert files.keys() == {"lines.pdf", "lines.png", "lines.svg", "report.html"}
    assert files["lines.pdf"].startswith(b"%PDF")
    parsed = Parsed(files["report.html"].decode())
    assert {"svg"} == {"svg", "img", "script"} & set(parsed.tags)
    assert HOSTILE in parsed.texts["title"], "what the pointer shows"
    assert all(reference.startswith(("#", "data:")) for reference in parsed.references)
    assert write(tmp_path / "2") == files


def test_contents_list_the_headings_of_pages_that_have_several(tmp_path):
    page = Page("title", "lead")
    page.heading("one")
    assert "nav" not in Parsed(page.write(tmp_path).read_text("utf-8")).tags
    page.heading("two")
    parsed = Parsed(page.write(tmp_path).read_text("utf-8"))
    assert parsed.texts["a"] == ["one", "two"]
    assert {"#section-1", "#section-2"} <= set(parsed.references)


def test_numbers_in_tables_line_up(tmp_path):
    page = Page("title", "lead")
    rows = [
        ["a", 1, 31.5, 0.00123, None],
        ["b", None, 4.25, 200.0, np.float32(0.5)],
        ["c", 200, float("nan"), 0.0, 1.0],
    ]
    page.table(["name", "n", "px", "wide", "share"], rows, "caption")
    cells = Parsed(page.write(tmp_path).read_text("utf-8")).texts["td"]
    columns = [cells[place::5] for place in range(5)]
    assert columns[0] == ["a", "b", "c"]
    assert columns[1] == ["1", "–", "200"]
    assert columns[2] == ["31.50", "4.25", "–"]
    assert columns[3] == ["0.00123", "200", "0"], "small numbers do not vanish"
    assert columns[4] == ["–", "0.500", "1.000"]


def test_drawing_leaves_matplotlib_as_it_was(tmp_path):
    with matplotlib.rc_context({"font.size": 31.0, "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        report(tmp_path)
        assert dict(matplotlib.rcParams) == before
        ours = draw().axes[0]
    assert ours.xaxis.label.get_fontsize() == 9, "and is not touched by it"
    code = (
        "import sys, vit_str.reports.page; sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "text", ["文字 عربي हिन्दी 😀", "a\udcffb", "\x00\x1b", "$a$ $\\frac$", "_a", ""]
)
def test_any_letter_can_be_drawn(tmp_path, text):
    sheet = draw()
    with styled():
        sheet.axes[0].set_title(plain(text))
        sheet.axes[0].plot([1, 2], label=plain(text))
        sheet.axes[0].legend()
    page = Page("title", "lead")
    page.figure(sheet, "figure", text)
    page.write(tmp_path)
