"""Other lengths, rules and faces for a page of a template, so that a design is many.

Only what leaves labels true: nothing changes its place in the order of reading, and no text its
ground.
"""

from vit_str.synthesis.pages.choices import Choices

LOOKS = (
    "td, th { padding: [[0..9]]px [[2..22]]px !important }",
    "td, th { border-color: transparent !important }",
    "td, th { border: [[1|1|2]]px solid [[gray|ink|color|#bbb]] !important }",
    "td, th { border-left: 0 !important; border-right: 0 !important }",
    "td, th { vertical-align: [[top|middle|bottom]] !important }",
    "table { width: auto !important }",
    "tr:nth-child(even) td { background: rgba(120, 120, 120, .12) }",
    "td { line-height: [[1.0..1.5]] !important }",
    "p { margin-bottom: [[1..16]]px !important }",
    "p { text-align: justify }",
    "p { text-indent: [[8..26]]px }",
    "li { margin-bottom: [[0..10]]px !important }",
    "h2, h3, h4 { margin-top: [[8..30]]px !important; margin-bottom: [[0..14]]px !important }",
    "h1, h2 { text-align: [[left|center]] !important }",
    "h2, h3 { letter-spacing: [[0.5..2.5]]px }",
    "body, table { line-height: [[1.05..1.7]] }",
    "body, p, td, li { font-family: [[serif|sans|sans|mono]] !important }",
    "h1, h2, h3 { font-family: [[serif|sans]] !important }",
    "body * { column-gap: [[8..44]]px !important }",
    "body * { row-gap: [[2..26]]px !important }",
    "div, section, article, aside { border-color: transparent !important }",
    "div, section, article, aside { border-radius: [[0..14]]px !important }",
)
"""Rules of CSS with choices as templates have them."""

_PAGES = 0.6  # share of the pages with some
_EACH = 0.15  # share of those for each


def other_looks(random: Choices) -> str:
    """Rules to put behind those of a template: CSS with choices, of none for many pages."""
    if not random.chance(_PAGES):
        return ""
    return " ".join(look for look in LOOKS if random.chance(_EACH))
