"""The type of a family of pages."""

from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design


class Family(NamedTuple):
    """Pages of one kind.

    Attributes:
        make: the parts of a page, in the order of reading.
        sizes: of pages, one of which is taken; sheets of paper if empty.
        text: size of the text in pixels, from the least to the most.
    """

    make: Callable[[Design], list[Markup | None]]
    sizes: tuple[tuple[int, int], ...] = ()
    text: tuple[float, float] = (10.5, 16.0)
