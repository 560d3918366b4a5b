"""Pictures of screens with the places of their words, for ``page_reading.py``.

    python benchmarks/screenshots.py FOLDER
    python benchmarks/page_reading.py FOLDER/*

Ten screens of ``benchmarks/screens`` (an editor, a terminal, messages, mail, a dashboard, a
spreadsheet, ...), drawn by Chromium in four looks: bright and dark at one pixel a point, dark at
two, and at 1.25 as a JPEG, as programs for messages send it. No rule was made with them, and no
threshold chosen. Chromium tells the places of the words. Fonts are Inter, JetBrains Mono, Noto
Serif and Roboto, or what the system has in their place.
"""

import argparse
import html
import io
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from page_structure import program
from PIL import Image
from tqdm.auto import tqdm

SCREENS = Path(__file__).with_name("screens")
_QUALITY = 70  # of JPEG
# Words, with what follows them without a gap, where they can be seen
_TELL_WORDS = """
<script>
const words = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const range = document.createRange();
let word = null;
for (let node; node = walker.nextNode();)
  for (let i = 0; i < node.data.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getBoundingClientRect();
    const there = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    if (box.bottom > document.body.clientHeight) throw "too small";
    if (/\\s/.test(node.data[i]) || !box.width || !node.parentElement.contains(there)) {
      word = null;
      continue;
    }
    const [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    if (!word || Math.abs(left - word.box[2]) > 2 || Math.abs(bottom - word.box[3]) > 4)
      words.push(word = {text: "", box: [left, top, right, bottom]});
    word.text += node.data[i];
    word.box[1] = Math.min(word.box[1], top);
    word.box[2] = right;
    word.box[3] = Math.max(word.box[3], bottom);
  }
document.body.textContent = JSON.stringify(words);
</script>
"""


class Look(NamedTuple):
    """How a screen is shown and kept."""

    name: str
    scale: float  # pixels a point
    is_dark: bool
    is_jpeg: bool = False


LOOKS = (
    Look("bright", scale=1, is_dark=False),
    Look("dark", scale=1, is_dark=True),
    Look("dark-2x", scale=2, is_dark=True),
    Look("jpeg-1.25x", scale=1.25, is_dark=False, is_jpeg=True),
)


def main() -> None:
    """Draw the screens that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    if folder.is_file():
        parser.error(f"{folder} is a file, expected a folder")
    sources = sorted(SCREENS.glob("*.html"))
    shown = [(source, look) for look in LOOKS for source in sources]
    for source, look in tqdm(shown, unit="screen", desc="drawing"):
        draw(source, look, folder / look.name)


def draw(source: Path, look: Look, folder: Path) -> None:
    """A picture of a screen in ``images/``, and its words in ``labels/``."""
    ending = "jpg" if look.is_jpeg else "png"
    picture = folder / "images" / f"{source.stem}.{ending}"
    labels = folder / "labels" / f"{source.stem}.txt"
    if picture.exists():
        return
    for file in (picture, labels):
        file.parent.mkdir(parents=True, exist_ok=True)
    page = source.read_text("utf-8")
    lines = "".join(f"{line}\n" for line in words_of(page, look))
    labels.write_text(lines, "utf-8")
    image = Image.open(io.BytesIO(shot(page, look))).convert("RGB")
    image.save(picture, quality=_QUALITY)


def words_of(page: str, look: Look) -> Iterator[str]:
    """Lines of labels: the four corners of a word in pixels, and its text."""
    # Headless, a window has room for bars that no picture shows
    document = browse(page + _TELL_WORDS, look, "--dump-dom", bars=200).decode()
    told = document.partition("<body>")[2].partition("</body>")[0]
    try:
        words = json.loads(html.unescape(told))
    except ValueError:  # the text itself is still there
        raise SystemExit(
            "screenshots.py: a screen is too small for its words"
        ) from None
    for word in words:
        left, top, right, bottom = (round(side * look.scale) for side in word["box"])
        corners = left, top, right, top, right, bottom, left, bottom
        yield f"{','.join(map(str, corners))},{word['text']}"


def shot(page: str, look: Look) -> bytes:
    """The picture of a page as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "screen.png")
        browse(page, look, f"--screenshot={picture}")
        return picture.read_bytes()


def browse(page: str, look: Look, action: str, bars: int = 0) -> bytes:
    """What Chromium writes of a page that it shows in a window of the size of the screen."""
    browser = program("Chromium", "chromium", "chromium-browser", "google-chrome")
    width, height = (
        int(page.partition(f'data-{side}="')[2].partition('"')[0])
        for side in ("width", "height")
    )
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--window-size={width},{height + bars}",
        f"--force-device-scale-factor={look.scale}",
        action,
    ]
    rules = (SCREENS / "style.css").read_text("utf-8")
    style = f"{rules} body {{ width: {width}px; height: {height}px }}"
    shade = "dark" if look.is_dark else "bright"
    head = f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>'
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(head + page.replace("<html", f'<html class="{shade}"', 1))
        file.flush()
        address = Path(file.name).as_uri()
        done = subprocess.run([*command, address], check=True, capture_output=True)
    return done.stdout


if __name__ == "__main__":
    main()
