"""The attention lab: a folder for each analysis of ``vit-str analyze``, and what they share.

    >>> from vit_str.analysis import attention_distance
    >>> attention_distance("tiny", "photos/").plot()  # doctest: +SKIP

Importing this package is cheap: torch comes with the first use of a function.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.analysis.distance.api import attention_distance
    from vit_str.analysis.distance.result import AttentionDistance
    from vit_str.analysis.geometry import TokenGrid
    from vit_str.analysis.libraries.text_attention import text_attention
    from vit_str.analysis.probe import register_attention

__all__ = [
    "AttentionDistance",
    "TokenGrid",
    "attention_distance",
    "register_attention",
    "text_attention",
]

_ROOMS = {
    "AttentionDistance": "distance.result",
    "TokenGrid": "geometry",
    "attention_distance": "distance.api",
    "register_attention": "probe",
    "text_attention": "libraries.text_attention",
}


def __getattr__(name: str) -> object:
    """Import the public names at their first use (PEP 562)."""
    if name in _ROOMS:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
