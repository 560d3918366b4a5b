"""``vit-str mcp``: tools for assistants, over standard input and output."""

import argparse

from vit_str.console import positive
from vit_str.serving.limits import Limits

_EPILOG = """\
Assistants start this program themselves, and ask it over its standard input and output (Model
Context Protocol). It reads files in the folders that are named here and nowhere else, as large
as vit-str serve takes them, and needs no network. Its tools: list_files, read_image,
read_document, and check_text, which says of each word of a text whether a page says so.

examples:
  vit-str mcp ~/Documents ~/Downloads
  claude mcp add vit-str -- vit-str mcp ~/Documents

exit codes: 0 its standard input was closed; 2 wrong use; 130 interrupted with Ctrl-C."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str mcp``."""
    parser.description = (
        "Read pictures and documents for an assistant, and check texts against them."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "folders",
        nargs="+",
        metavar="FOLDER",
        help="with the files that may be read, also in folders within",
    )
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package, or a .safetensors file (default: tiny)",
    )
    parser.add_argument(
        "--max-body",
        type=positive,
        default=Limits().body,
        metavar="N",
        help=f"bytes of a file (default: {Limits().body:,})",
    )
    parser.add_argument(
        "--max-pixels",
        type=positive,
        default=Limits().pixels,
        metavar="N",
        help=f"pixels of a picture (default: {Limits().pixels:,})",
    )


def run(options: argparse.Namespace) -> int:
    """Answer until standard input is closed; returns the exit code."""
    import anyio

    from vit_str.serving.assistant import Folders, Readers, create_server

    limits = Limits(body=options.max_body, pixels=options.max_pixels)
    server = create_server(Folders(options.folders, limits), Readers(options.model))
    anyio.run(server.run_stdio_async)
    return 0
