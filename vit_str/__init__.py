"""Read the text in images of words, and on whole pages, with a Vision Transformer.

    >>> import vit_str
    >>> vit_str.load().read("word.png").text  # doctest: +SKIP
    >>> vit_str.read_document("invoice.pdf").markdown  # doctest: +SKIP

Importing this package is cheap: what reads comes with the first use of ``load``, ``Reader`` or
``Reading``, and needs onnxruntime; torch comes only where weights are opened with it.
"""

import os
from importlib import import_module

# For tools that check types: to import it from typing takes longer than all else
TYPE_CHECKING = False
if TYPE_CHECKING:
    from vit_str.decoding.readings import Reading
    from vit_str.decoding.search import Search
    from vit_str.images.refusals import UnreadableImage
    from vit_str.pages.document import (
        Document,
        DocumentPage,
        read_document,
        stream_pages,
    )
    from vit_str.pages.reader import PageReader, load_page
    from vit_str.reading.checking.checked import Checked
    from vit_str.reading.checking.checker import check
    from vit_str.words.reader import Reader, load

    __version__: str

__all__ = [
    "Checked",
    "Document",
    "DocumentPage",
    "PageReader",
    "Reader",
    "Reading",
    "Search",
    "UnreadableImage",
    "__version__",
    "check",
    "load",
    "load_page",
    "read_document",
    "stream_pages",
]

# From 1.29 on onnxruntime tells Microsoft which models run, and keeps a number of this machine in
# the user's cache folder, unless this is set before anything imports it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


_MODULES = {
    "Checked": "reading.checking.checked",
    "Document": "pages.document",
    "DocumentPage": "pages.document",
    "PageReader": "pages.reader",
    "Reader": "words.reader",
    "Reading": "decoding.readings",
    "Search": "decoding.search",
    "UnreadableImage": "images.refusals",
    "check": "reading.checking.checker",
    "load": "words.reader",
    "load_page": "pages.reader",
    "read_document": "pages.document",
    "stream_pages": "pages.document",
}


def __getattr__(name: str) -> object:
    """Import the public names at their first use (PEP 562)."""
    if name in _MODULES:
        return getattr(import_module(f"vit_str.{_MODULES[name]}"), name)
    if name == "__version__":
        return _version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "import_module", "os"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vit-str")
    except PackageNotFoundError:  # a checkout that was never installed
        return "0+unknown"
