"""Pages of random designs, set by a browser, with what is on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.families import FAMILIES, HELD_OUT
from vit_str.synthesis.pages.families.slips import SLIPS
from vit_str.synthesis.pages.filling import (
    ENDING,
    Filler,
    is_held_out,
    size_of,
    templates,
)
from vit_str.synthesis.pages.other_looks import other_looks
from vit_str.synthesis.pages.style import Style
from vit_str.synthesis.pages.texts import Texts
from vit_str.synthesis.pages.truth import Truth, truth_of

_MIXTURES = (
    "mixture",
    "mixture with a sidebar",
    "nested",
    "nested",
    "columns of sections",
)
_TIMES = 80  # as often as any other: more than a quarter of the pages
_SLIPS = 0.2  # slips of a till to find lines on, for each other page


@dataclass(frozen=True)
class PageDesign:
    """A page as HTML, and the window that it is made for."""

    html: str
    width: int
    height: int
    family: str
    language: str


@dataclass(frozen=True)
class DrawnPage:
    """A page that a browser has set.

    Attributes:
        design: what was set.
        truth: what is on it.
        picture: how it looks; None if nobody asked.
        scale: pixels of the picture for each one of CSS.
    """

    design: PageDesign
    truth: Truth
    picture: Image.Image | None
    scale: float


def trained_families() -> list[str]:
    """Families and templates to train on, the mixtures of parts several times."""
    names = [name for name in FAMILIES if name not in HELD_OUT]
    trained = [name for name in templates() if not is_held_out(name)]
    return names + [*_MIXTURES] * (_TIMES - 1) + trained


def held_out_families() -> list[str]:
    """Families and templates that nothing is trained on."""
    return [*HELD_OUT, *filter(is_held_out, templates())]


def families_to_find() -> list[str]:
    """Families that the network that finds is trained on: slips, which are hard, many times."""
    names = trained_families()
    return names + [*SLIPS] * round(len(names) * _SLIPS / len(SLIPS))


def design_page(
    seed: int,
    number: int,
    families: Sequence[str] | None = None,
    language: str | None = None,
) -> PageDesign:
    """A page as HTML: the same numbers make the same page.

    Args:
        seed: of all pages.
        number: of this page, from 0.
        families: those to choose from; `trained_families` if None.
        language: of the texts; None for any.
    """
    random = Choices(f"{seed} {number}")
    name = random.choice(families or trained_families())
    if name in templates():
        template = templates()[name]
        varied = not is_held_out(name)
        return fill_template(seed, number, name, template, language, varied=varied)
    family = FAMILIES[name]
    size = random.choice(family.sizes) if family.sizes else None
    style = Style(random, size, family.text)
    design = Design(random, style, Texts(random, language))
    html = design.html(*family.make(design))
    return PageDesign(html, style.width, style.height, name, design.texts.language)


def fill_template(
    seed: int,
    number: int,
    name: str,
    template: str,
    language: str | None = None,
    *,
    varied: bool = False,
) -> PageDesign:
    """A page of a template as HTML: the same numbers make the same page.

    Args:
        seed: of all pages.
        number: of this page, from 0.
        name: of the template.
        template: as HTML, see `vit_str.synthesis.pages.filling`.
        language: of the texts; None for any.
        varied: change lengths, rules and faces on many pages, see `other_looks`.

    Raises:
        ValueError: the template is wrong; one line that names it.
    """
    random = Choices(f"{seed} {number} {name}")
    try:
        style = Style(random, size_of(template, random))
        texts = Texts(random, language)
        looks = other_looks(random) if varied else ""
        html = Filler(random, style, texts).html(template, looks)
    except ValueError as error:
        raise ValueError(f"{name}{ENDING}: {error}") from error
    return PageDesign(html, style.width, style.height, name, texts.language)


def draw_page(
    browser: Browser,
    design: PageDesign,
    scale: float = 1.0,
    *,
    with_picture: bool = False,
) -> DrawnPage:
    """Set a page and read from it what is on it.

    Args:
        browser: sets it.
        design: what to set.
        scale: pixels of the picture for each one of CSS: 150 dots per inch are 1.5625.
        with_picture: also take a picture.
    """
    browser.show(design.html, design.width, design.height, scale)
    truth = truth_of(browser, design.height)
    picture = None
    if with_picture:
        if truth.height > design.height:
            browser.resize(design.width, truth.height, scale)
        picture = browser.picture()
    return DrawnPage(design, truth, picture, scale)
