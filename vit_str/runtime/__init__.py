"""Images -> text: ``vit_str.load().read("word.png").text``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.runtime.boxes import Box
    from vit_str.runtime.image_decoding import Source
    from vit_str.runtime.reader import Character, Reader, Reading, load
    from vit_str.runtime.search import Search

__all__ = ["Box", "Character", "Reader", "Reading", "Search", "Source", "load"]


def __getattr__(name: str) -> object:
    """Import numpy at the first use only, so that the command line answers mistakes at once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vit_str.runtime import image_decoding, reader

    return getattr(image_decoding if name == "Source" else reader, name)
