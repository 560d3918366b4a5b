"""Finds lines of print with the network of this package, those of photographs with another one.

Our network has learned from drawn pages. It finds print about as well as that of ``rapidocr`` in a
third of the time, but in photographs it takes tiles and clothes for text. A first look at half the
size tells which of both a picture is for; photographs take a sixteenth longer with it.
"""

from collections.abc import Callable

from PIL import Image

from vit_str.engines.opened_once import OpenedOnce
from vit_str.pages.find.detection import LineDetector
from vit_str.pages.find.geometry import Quadrilateral
from vit_str.pages.find.own_detector import FinderDetector


class DetectorByKind:
    """Chooses a detector for each picture.

    Args:
        finder: for print.
        open_other: opens the one for all else, at the first such picture; None if there is none:
            ``finder`` then takes all.

    Attributes:
        lacking: number of pictures that had to be left to ``finder`` though they are no print.
    """

    def __init__(
        self, finder: FinderDetector, open_other: Callable[[], LineDetector] | None
    ) -> None:
        self._finder = finder
        self._other = OpenedOnce(open_other) if open_other else None
        self.lacking = 0

    def for_image(self, image: Image.Image) -> LineDetector:
        """The detector for an RGB image, and for its parts."""
        if self._finder.sees_print(image):
            return self._finder
        if self._other is None:
            self.lacking += 1
            return self._finder
        return self._other()

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        return self.for_image(image).lines(image)
