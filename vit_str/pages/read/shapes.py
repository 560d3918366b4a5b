"""Rules, grounds and boxes to tick of a page, for the network that arranges it."""

from collections.abc import Sequence

from PIL import Image

from vit_str.pages.arrange.blocks import Shapes
from vit_str.pages.find.grounds import find_grounds
from vit_str.pages.page import Page
from vit_str.pages.read.check_boxes import CheckBox


def shapes_on(
    page: Page,
    image: Image.Image,
    check_boxes: Sequence[CheckBox] = (),
    quarters: int | None = None,
) -> Shapes:
    """Ruled lines, grounds and boxes to tick.

    Args:
        page: with its ruled lines.
        image: of the page.
        check_boxes: that were found.
        quarters: by how many the page is turned to the right, if that is known.
    """
    return Shapes(
        rules=[(*start, *end) for start, end in page.rules],
        grounds=find_grounds(image),
        checks=[(*box.sides, float(box.is_ticked)) for box in check_boxes],
        quarters=quarters,
    )
