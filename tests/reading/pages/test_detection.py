"""Finding lines on pages that lie on their side."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.reading.pages.detection import find_lines
from vit_str.reading.pages.geometry import Quadrilateral, rectangle, upright

TURNS = Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270


def table(numbers: int) -> Image.Image:
    """Twenty bars for names, and others for numbers beside them."""
    page = Image.new("RGB", (400, 600), "white")
    pen = ImageDraw.Draw(page)
    for n in range(20):
        pen.rectangle((40, 40 + 20 * n, 140, 54 + 20 * n), "black")
        if n < numbers:
            pen.rectangle((240, 40 + 20 * n, 270, 54 + 20 * n), "black")
    return page


class Bars:
    """Finds bars; of a page on its side only a third of the short ones."""

    def __init__(self) -> None:
        self.looks = 0

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        self.looks += 1
        cv2 = pytest.importorskip("cv2")
        dark = (np.asarray(image.convert("L")) < 128).astype(np.uint8)
        _, _, boxes, _ = cv2.connectedComponentsWithStats(dark)
        found = [upright(rectangle(x, y, x + w, y + h)) for x, y, w, h, _ in boxes[1:]]
        if image.width < image.height:
            return found
        short = [line for line in found if np.ptp(line, axis=0).max() < 50]
        return [line for line in found if np.ptp(line, axis=0).max() > 50] + short[::3]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("numbers", "looks"), [(20, 2), (3, 1), (0, 1)])
def test_a_table_on_its_side_is_looked_at_from_its_side(turn, numbers, looks):
    """An article on its side, whose lines are long, is not."""
    detector = Bars()
    page = table(numbers).transpose(turn)
    found = find_lines(detector, page)
    assert detector.looks == looks
    assert len(found) == 20 + (numbers if looks == 2 else len(range(0, numbers, 3)))
    pixels = np.asarray(page.convert("L"))
    for line in found:
        (left, top), (right, bottom) = line[0].astype(int), line[2].astype(int)
        assert left < right
        assert top < bottom
        assert (pixels[top:bottom, left:right] == 0).all()


def test_an_upright_page_is_looked_at_once():
    detector = Bars()
    assert len(find_lines(detector, table(20))) == 40
    assert detector.looks == 1
