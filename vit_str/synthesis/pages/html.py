"""Elements of HTML; plain text in them is escaped."""

from collections.abc import Callable
from functools import partial

from markupsafe import Markup, escape

Content = str | Markup | None
"""Text, which is escaped, or HTML, which is not; nothing."""
Maker = Callable[[], Markup]
"""Makes a part of a page when it is called."""
_VOID = frozenset(("br", "col", "hr", "img"))


def element(tag: str, *content: Content, **attributes: object) -> Markup:
    """An element.

    Args:
        tag: its name.
        content: what is in it.
        attributes: by their names with ``_`` for ``-``; ``class_`` for ``class``. Those that are
            None, False or empty are left out.
    """
    named = [
        f' {name.strip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False and value != ""
    ]
    start = f"<{tag}{''.join(named)}>"
    if tag in _VOID:
        return Markup(start)  # noqa: S704 - what is in it is escaped
    return Markup(f"{start}{joined(*content)}</{tag}>")  # noqa: S704


def joined(*content: Content) -> Markup:
    """Parts one after the other."""
    return Markup("").join(part for part in content if part is not None)


def lines(*content: Content) -> Markup:
    """Parts with line breaks between them."""
    return Markup("<br>").join(part for part in content if part is not None)


div = partial(element, "div")
span = partial(element, "span")
