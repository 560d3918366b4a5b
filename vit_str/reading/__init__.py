"""Images -> text: ``vit_str.load().read("word.png").text``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.reading.decoding import Source
    from vit_str.reading.reader import Reader, load
    from vit_str.reading.readings import Box, Character, Reading
    from vit_str.reading.writing import Search

__all__ = ["Box", "Character", "Reader", "Reading", "Search", "Source", "load"]


def __getattr__(name: str) -> object:
    """Import numpy at the first use only, so that the command line answers mistakes at once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vit_str.reading import decoding, reader

    return getattr(decoding if name == "Source" else reader, name)
