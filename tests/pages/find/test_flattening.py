"""Pages that are bent: how much their long lines tell, and reading them as if they were flat."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.characters.distances import edit_distance
from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.find.flattening import Bend, Middle, bend_of
from vit_str.pages.find.text_boxes import text_boxes
from vit_str.pages.page import Page, Word
from vit_str.pages.reader import load_page
from vit_str.pages.write.markdown import markdown

WIDTH, HEIGHT = 1200, 700
LINES = (
    "In the spring the town of Millport opened a library in the old customs house.",
    "The building had stood empty for eleven years; the roof leaked, and gulls nested",
    "under the beams. Nobody believed that readers would come, yet forty came at once.",
    "The first librarian kept a diary: a boy asked for a book about whales, she wrote,",
    "and we had none, so he drew one for us. She paid a lot for lamps and for the ink,",
    "and nothing at all for chairs, which came from a wrecked ship, all six of them.",
)


def arch(x: np.ndarray) -> np.ndarray:
    """How far a page of one bend has moved down, in pixels."""
    return 60 * np.sin(np.pi * x / WIDTH)


def gutter(x: np.ndarray) -> np.ndarray:
    """And one of two pages that rise to the gutter between them."""
    return -60 * np.exp(-np.abs(x / WIDTH - 0.5) / 0.15)


def middles(
    moves: Callable[[np.ndarray], np.ndarray],
    slope: float = 0.0,
    number: int = 8,
    sides: Sequence[tuple[int, int]] = ((60, 1140),),
) -> list[Middle]:
    """Lines of a page that is bent so, and tilted, or of several beside each other."""
    found = []
    for line, (start, end) in product(range(number), sides):
        x = np.linspace(start, end, 24)
        y = 100.0 + 60 * line + slope * x
        found.append(Middle(np.stack([x, y + moves(x)], 1), height=30.0))
    return found


def turned(lines: list[Middle]) -> list[Middle]:
    return [Middle(line.points[:, ::-1], line.height) for line in lines]


def from_straight(line: Middle, bend: Bend) -> float:
    """How far a line is from a straight one on the flattened page, in pixels."""
    along, across = (line.points[:, ::-1] if bend.runs_down else line.points).T
    places = np.stack([along, across], 1)
    flat = across - bend.moves(places)
    return float(np.abs(flat - np.polyval(np.polyfit(along, flat, 1), along)).max())


@pytest.mark.parametrize(
    ("moves", "sides"), [(arch, [(60, 1140)]), (gutter, [(60, 560), (640, 1140)])]
)
@pytest.mark.parametrize("slope", [0.0, 0.1])
@pytest.mark.parametrize("runs_down", [False, True])
def test_bent_lines_become_straight(moves, sides, slope, runs_down):
    lines = middles(moves, slope, sides=sides)
    lines = turned(lines) if runs_down else lines
    bend = bend_of(lines)
    assert bend is not None
    assert bend.runs_down == runs_down
    assert 20 < bend.margin < 100
    assert max(from_straight(line, bend) for line in lines) < 5


def waves(x: np.ndarray) -> np.ndarray:
    return 20 * np.sin(x / 5)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        middles(np.zeros_like),
        middles(np.zeros_like, slope=0.2),
        middles(arch, number=3),  # may be signs
        middles(waves),  # nothing that paper does
        [Middle(line.points, height=200.0) for line in middles(arch)],  # short
    ],
)
def test_other_pages_are_left_as_they_are(lines):
    assert bend_of(lines) is None


@pytest.mark.parametrize("height", [0.0, -1.0, np.nan, np.inf])
def test_lines_without_a_height_tell_nothing(height, capfd):
    """Not even to the linear algebra, which prints what it cannot solve."""
    bent = middles(arch)
    flat = [Middle(line.points, height) for line in bent]
    assert bend_of(flat) is None
    broken = [Middle(line.points * np.nan, 30.0) for line in bent]
    broken += [Middle(np.add(line.points, (0, np.inf)), 30.0) for line in bent]
    assert bend_of(broken) is None
    alone, among = bend_of(bent), bend_of([*flat, *broken, *bent])
    assert alone is not None and among is not None
    assert among.margin == alone.margin
    assert capfd.readouterr().out == ""


def test_lines_that_are_bent_in_several_ways_are_left():
    """As those of a round logo."""
    lines = middles(arch, number=4) + middles(lambda x: -arch(x), number=4)
    mixed = [
        Middle(line.points + np.array((0, 7 * n % 5)), 30.0)
        for n, line in enumerate(lines)
    ]
    assert bend_of(mixed) is None


@pytest.mark.parametrize("runs_down", [False, True])
def test_the_picture_is_flattened(runs_down):
    """Rows of ink become as thin as they were drawn."""
    page = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(page)
    lines = middles(arch)
    for line in lines:
        pen.line([tuple(point) for point in line.points], "black", width=6)
    if runs_down:
        page = page.transpose(Image.Transpose.TRANSPOSE)
        lines = turned(lines)
    bend = bend_of(lines)
    flat = bend.flattened(page)
    longer = (2 * bend.margin, 0) if runs_down else (0, 2 * bend.margin)
    assert flat.size == tuple(np.add(page.size, longer))
    ink = np.asarray(flat.convert("L")) < 128
    inked = ink.any(0) if runs_down else ink.any(1)
    assert 8 * 4 < inked.sum() < 8 * 12


def test_places_are_told_in_the_picture_that_was_given():
    bend = bend_of(middles(arch))
    box = (590.0, 200.0 + bend.margin, 610.0, 230.0 + bend.margin)
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    word = Word("it", 1.0, corners, (Character("i", 1.0, Box(*box)), Character("t", 1)))
    rule = ((0.0, top), (600.0, top))
    page = Page(WIDTH, HEIGHT + 2 * bend.margin, (((word,),),), None, (rule,))
    restored = bend.restored(page, WIDTH, HEIGHT)
    assert (restored.width, restored.height) == (WIDTH, HEIGHT)
    (found,) = restored.words
    moved = np.array(found.polygon) - corners
    assert np.abs(moved[:, 0]).max() == 0
    middle, edge = bend.moves(np.array([(600, 215), (60, 215)]))
    assert middle - edge > 40  # of 60, without the part that is a tilt
    assert np.allclose(moved[:, 1], middle - bend.margin, atol=2)
    first, second = found.characters
    assert np.allclose(first.box, np.add(box, (0, moved[0, 1], 0, moved[0, 1])), atol=2)
    assert second.box is None
    start, end = restored.rules[0]
    assert (start[0], end[0]) == (0, 600)
    assert end[1] - start[1] > 40


def test_the_middles_of_long_groups_are_told():
    """Also of those whose upright box is mostly empty."""
    pytest.importorskip("cv2")
    pytest.importorskip("pyclipper")
    x = np.arange(100, 1100)
    shares = np.zeros((HEIGHT, WIDTH), np.float32)
    for row in range(-4, 5):
        shares[(300 + arch(x)).astype(int) + row, x] = 0.9
    shares[600:640, 100:200] = 0.9  # no line
    boxes, (middle,) = text_boxes(shares)
    assert len(boxes) == 1
    across = middle.points[:, 1] - 300 - arch(middle.points[:, 0])
    assert np.abs(across).max() < 2
    assert 20 < middle.height < 30
    assert not middle.runs_down
    _, (down,) = text_boxes(shares.T.copy())
    assert down.runs_down
    assert np.allclose(down.points, middle.points[:, ::-1], atol=1)


@pytest.mark.parametrize("detector", ["rapidocr", "ours"])
@pytest.mark.parametrize("quarters", [0, 1])
def test_a_bent_page_is_read(quarters, detector, matplotlib_fonts):
    pytest.importorskip("rapidocr")
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSerif.ttf"), 26)
    flat = Image.new("RGB", (WIDTH, HEIGHT), "white")
    for number, text in enumerate(LINES):
        ImageDraw.Draw(flat).text((40, 150 + 38 * number), text, "black", letters)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    rows = (y - arch(x)).round().astype(int).clip(0, HEIGHT - 1)
    bent = Image.fromarray(np.asarray(flat)[rows, x])
    reader = load_page(detector=detector)
    reader.arranger = (
        None  # it sees the last pixel: rules tell whether both pages are one
    )
    page = reader.read(bent.rotate(90 * quarters, expand=True))
    wanted = " ".join(LINES)
    found = " ".join(page.text.split())
    assert edit_distance(found, wanted) < 0.01 * len(wanted)
    paragraphs = markdown([reader.read(flat)]).split("\n\n")
    assert len(markdown([page]).split("\n\n")) == len(paragraphs)
    if not quarters:
        tops = [word.box.top for word in page.words if word.text in ("In", "readers")]
        assert tops[1] - tops[0] > 100  # a line in the middle of the arch
