"""``vit-str serve``: answer over HTTP."""

import argparse
import os
import re
from functools import partial
from ipaddress import ip_network

from vit_str.console import positive, whole_number
from vit_str.serving.limits import Limits
from vit_str.words.options import add_model_arguments

_KEY = "VIT_STR_KEY"
_NUMBERS = "PROMETHEUS_MULTIPROC_DIR"
_MOST_WORKERS = 1024  # more than any machine has processors to use
# Field of `Limits` -> option and what it is.
_LIMITS = {
    "body": ("--max-body", "bytes of a request"),
    "pixels": ("--max-pixels", "pixels of a picture"),
    "queue": (
        "--queue",
        "pictures of words in progress for a client, and the most in a request",
    ),
    "pages": (
        "--page-queue",
        "whole pictures in progress, half of them for one client",
    ),
    "deadline": ("--deadline", "seconds from a request to its answer"),
    "receive": ("--receive-deadline", "seconds in which a request has to arrive"),
}
_EPILOG = f"""\
GET / is a web page to drop pictures on, /docs describes the requests, /ready says whether the model
is warm, /metrics is for Prometheus. If the environment variable {_KEY} is set, requests must
carry that key. Limits of requests and queues apply to each process.

examples:
  vit-str serve
  curl --data-binary @word.png http://127.0.0.1:8000/v1/read
  curl -F files=@a.png -F files=@b.png 'http://127.0.0.1:8000/v1/read?boxes=1'
  vit-str serve --host 0.0.0.0 --port 80 --workers 4

exit codes: 0 stopped by SIGTERM; 2 wrong use; 130 interrupted with Ctrl-C."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str serve``."""
    parser.description = "Read the pictures that come over HTTP."
    parser.epilog = _EPILOG
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 lets other machines in (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=partial(whole_number, end=65536),
        default=8000,
        metavar="N",
        help="port to listen on; 0 takes a free one (default: 8000)",
    )
    parser.add_argument(
        "--workers",
        type=partial(whole_number, least=1, end=_MOST_WORKERS + 1),
        default=1,
        metavar="N",
        help="processes (default: 1)",
    )
    add_model_arguments(parser)
    parser.add_argument(
        "--log",
        action="store_true",
        help="print a line for each request: time, client, its X-Request-ID or one by chance, "
        "method, path, status, milliseconds",
    )
    _add_trusted(parser)
    limits = parser.add_argument_group("limits")
    for name, (option, text) in _LIMITS.items():
        default = getattr(Limits(), name)
        limits.add_argument(
            option,
            dest=name,
            type=positive,
            default=default,
            metavar="N",
            help=f"{text} (default: {default:,})",
        )


def _add_trusted(parser: argparse.ArgumentParser) -> None:
    """Add what says which web pages, names and proxies are believed."""
    parser.add_argument(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="allow requests from web pages of this origin, such as "
        "https://example.com",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer to this host name, such as text.example.com; by "
        "default, a server without a key answers only to addresses and "
        "local names",
    )
    parser.add_argument(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="trust X-Forwarded-For, which names the clients, from a proxy at "
        "this address or in this network, such as 127.0.0.1",
    )


def _check_names(options: argparse.Namespace) -> None:
    """Refuse origins and names that no request can ever have."""
    for origin in options.cors:
        if origin != "*" and not re.fullmatch(r"[a-z][\w+.-]*://[^/]+/?", origin, re.I):
            raise ValueError(
                f"--cors takes an origin such as https://example.com, found {origin!r}"
            )
    for name in options.allow_host:
        if not name or set(name) & set("/:@ "):
            raise ValueError(
                "--allow-host takes a name such as text.example.com, without https:// "
                f"and port, found {name!r}"
            )


def _check_key(key: str | None) -> None:
    """Refuse keys that are guessed, or that no request can carry."""
    if key is None:
        return
    if len(key) < 8:
        raise ValueError(
            f"the key in {_KEY} is shorter than 8 characters; choose a longer one"
        )
    if key != key.strip() or not key.isprintable():
        raise ValueError(
            f"the key in {_KEY} begins or ends with a space, or holds a line break or the like, "
            "which no request can carry; choose another"
        )


def _check_numbers(folder: str | None) -> None:
    """Refuse a folder for numbers, which programs of others may have set, that is none."""
    if folder is None or (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        return
    raise ValueError(
        f"{_NUMBERS} is {folder!r}, where nothing can be written: make that folder, or unset "
        "the variable"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    from vit_str.images.refusals import MAX_PIXELS
    from vit_str.serving.server import Settings, serve

    if options.pixels > MAX_PIXELS:
        raise ValueError(
            f"--max-pixels can be {MAX_PIXELS:,} at most, found {options.pixels:,}"
        )
    for address in options.proxy:
        try:
            ip_network(address, strict=False)
        except ValueError:
            raise ValueError(
                "--proxy takes an address such as 127.0.0.1 or a network, found "
                f"{address!r}"
            ) from None
    _check_names(options)
    _check_key(os.environ.get(_KEY))
    if options.workers == 1:
        _check_numbers(os.environ.get(_NUMBERS))
    settings = Settings(
        model=options.model,
        device=options.device,
        backend=options.backend,
        effort=options.effort,
        limits=Limits(**{name: getattr(options, name) for name in _LIMITS}),
        # As browsers say it
        origins=tuple(origin.lower().rstrip("/") for origin in options.cors),
        hosts=tuple(name.lower() for name in options.allow_host),
        proxies=tuple(options.proxy),
        log=options.log,
    )
    return serve(settings, options.host, options.port, options.workers)
