"""Read the text in cropped word images with a Vision Transformer.

    >>> import vit_str
    >>> vit_str.load().read("word.png").text  # doctest: +SKIP

Importing this package is cheap: torch comes with the first use of ``load``, ``Reader`` or
``Reading``.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.reading.pages.reader import load_page
    from vit_str.runtime import Reader, Reading, Search, load

    __version__: str

__all__ = ["Reader", "Reading", "Search", "__version__", "load", "load_page"]

# From 1.29 on onnxruntime tells Microsoft which models run, and keeps a number of this machine in
# the user's cache folder, unless this is set before anything imports it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def __getattr__(name: str) -> object:
    """Import the public names at their first use (PEP 562)."""
    if name in {"Reader", "Reading", "Search", "load"}:
        from vit_str import runtime

        return getattr(runtime, name)
    if name == "load_page":
        from vit_str.reading.pages.reader import load_page

        return load_page
    if name == "__version__":
        return _version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "os"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vit-str")
    except PackageNotFoundError:  # a checkout that was never installed
        return "0+unknown"
