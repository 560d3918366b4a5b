"""Images -> text: ``vit_str.load().read("word.png").text``."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.runtime.boxes import Box
    from vit_str.runtime.image_decoding import Source
    from vit_str.runtime.reader import Reader, load
    from vit_str.runtime.readings import Character, Reading
    from vit_str.runtime.search import Search

__all__ = ["Box", "Character", "Reader", "Reading", "Search", "Source", "load"]

_MODULES = {
    "Box": "boxes",
    "Character": "readings",
    "Reader": "reader",
    "Reading": "readings",
    "Search": "search",
    "Source": "image_decoding",
    "load": "reader",
}


def __getattr__(name: str) -> object:
    """Import numpy at the first use only, so that the command line answers mistakes at once."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"vit_str.runtime.{_MODULES[name]}"), name)
