"""``vit-str serve`` as uvicorn runs it, in one process or several."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from vit_str import console
from vit_str.machine import THREADS, cpu_count
from vit_str.serving.guard import FOLDER, LOG, Metrics
from vit_str.serving.limits import Limits, site_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from vit_str.words.reader import Reader

KEY = "VIT_STR_KEY"
"""Environment variable: what requests have to carry."""
STARTING = 60
"""Seconds that a process may take to answer the one that started it."""
# Environment variable, for the processes that uvicorn starts
_SETTINGS = "VIT_STR_SERVE"
_FINISHING = 6  # seconds for requests in progress when the server stops
# Of them, in which a request that was on its way is taken on a connection that is kept
_LINGERING = 1.0
_CONNECTIONS = 500  # open at once, in a process
# Beside connections, pipes and files; where fewer may be open, as 256 on macOS, three addresses
# could hold all that there are
_OPEN_FILES = 2 * _CONNECTIONS
_CONNECTIONS_OF_ONE = 100  # of them, from one address that is no proxy
# Lines in what comes at once, which is up to 256 kB: chunks of a body have two each, and take time
_MOST_LINES = 500
_PART = 1 << 10  # bytes of more lines that are handed on in a turn
# Bytes of an answer that a client takes in the time that its request may take, or all of it
_LEAST_TAKEN = 1 << 16
_TOO_MANY = (
    "too many connections from your address are open; close some, or use them again"
)
_LOCAL = {"localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a process that serves."""

    model: str
    device: str
    backend: str
    effort: str | None
    limits: Limits
    origins: tuple[str, ...]
    hosts: tuple[str, ...]
    proxies: tuple[str, ...]
    log: bool


class BoundedConnection(H11Protocol):
    """HTTP of uvicorn, closed where a request does not begin, with all of its head, in time.

    Uvicorn closes what is silent after an answer, and the application what does not send its body;
    nobody else waits for the first request, or for a head that comes byte by byte. So is one whose
    client does not take its answers. Of many short chunks little is handed on in a turn, so that
    they do not hold up all others. One address has a share of the connections, but for a proxy,
    which brings those of others.
    """

    seconds = 20.0
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._closing: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._was_taken = False  # much of an answer, since the last look
        self._rest = bytearray()  # of what came, that is not handed on yet
        self._turn: asyncio.Handle | None = None
        self._is_ending = False
        self.site: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        self._look_again()
        self.site = site_of(self.client[0]) if self.client else None
        if self._is_one_too_many():
            transport.write(_refusal(429, _TOO_MANY))
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._rest += data
        if self._turn is None:
            self._hand_on()
        else:
            self.transport.pause_reading()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is before or self.cycle is None:
            return
        names = {name for name, _ in self.cycle.scope["headers"]}
        # Two lengths of a body, of which a proxy may believe the other (RFC 9112, 6.3)
        if self._is_ending or {b"content-length", b"transfer-encoding"} <= names:
            self._close_after_answer()

    def shutdown(self) -> None:
        """The server ends: answers say that no other follows, also to what is on its way now."""
        self._is_ending = True
        if self.cycle is not None and not self.cycle.response_complete:
            self._close_after_answer()
        self.loop.call_later(_LINGERING, super().shutdown)

    def _close_after_answer(self) -> None:
        """Close the connection after the answer to this request, which says so."""
        self.cycle.keep_alive = False
        scope = self.cycle.scope
        scope["headers"] = [*scope["headers"], CLOSE_HEADER]

    def resume_writing(self) -> None:
        super().resume_writing()
        self._was_taken = True

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        for handle in (self._looking, self._turn):
            if handle is not None:
                handle.cancel()
        super().connection_lost(exc)

    def _hand_on(self) -> None:
        """Hand on what came; of many short chunks a part, and the rest in the next turn."""
        self._turn = None
        if self.transport.is_closing():
            self._rest.clear()
            return
        is_long = self._rest.count(b"\r\n") > _MOST_LINES
        most = _PART if is_long else len(self._rest)
        part = bytes(self._rest[:most])
        del self._rest[:most]
        super().data_received(part)
        self._watch()
        if self._rest:
            self.transport.pause_reading()
            self._turn = self.loop.call_soon(self._hand_on)
        elif not self.flow.read_paused:
            self.transport.resume_reading()

    def _is_one_too_many(self) -> bool:
        if self.client is None or self._is_proxy(self.client[0]):
            return False
        sites = [getattr(connection, "site", None) for connection in self.connections]
        return sites.count(self.site) > _CONNECTIONS_OF_ONE

    def _is_proxy(self, address: str) -> bool:
        found = ip_address(address)
        return any(found in network for network in self.proxies)

    def _watch(self) -> None:
        """Wait for the rest of a head; stop waiting when a request is in progress."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._closing is None:
            self._closing = self.loop.call_later(self.seconds, self.transport.close)

    def _look_again(self) -> None:
        """Look after a while whether the client has taken of what is waiting for it now."""
        waiting = self.transport.get_write_buffer_size()
        self._was_taken = False
        self._looking = self.loop.call_later(self.seconds, self._look, waiting)

    def _look(self, before: int) -> None:
        waiting = self.transport.get_write_buffer_size()
        is_stuck = before and waiting > max(0, before - _LEAST_TAKEN)
        if is_stuck and not self._was_taken:
            self.transport.abort()  # to close it would wait until all is taken
        else:
            self._look_again()

    def _stop_watching(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


def _refusal(status: int, reason: str) -> bytes:
    """An answer to a request that was not read."""
    body = json.dumps({"error": reason}).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Retry-After: 1\r\n"
        "Connection: close\r\n"
        "\r\n"
    )
    return head.encode() + body


def serve(settings: Settings, host: str, port: int, workers: int) -> int:
    """Serve until a signal comes; returns the exit code."""
    # Uvicorn raises them again when it has ended
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    port = _free_port(host, port)
    os.environ[_SETTINGS] = json.dumps(asdict(settings))
    threading.Thread(target=_announce, args=(settings, host, port), daemon=True).start()
    several = workers > 1
    shared = (
        tempfile.TemporaryDirectory(prefix="vit-str-") if several else nullcontext()
    )
    with shared as folder:
        if folder:
            _load(settings)  # a mistake is told once
            os.environ[FOLDER] = folder
            os.environ.setdefault(THREADS, str(max(1, cpu_count() // workers)))
        uvicorn.run(
            "vit_str.serving.server:create",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            http="vit_str.serving.server:BoundedConnection",
            ws="none",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=list(settings.proxies),
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_FINISHING,
            timeout_worker_healthcheck=STARTING,
        )
    return 0


def create() -> FastAPI:
    """The application of one process, its model warm, for the settings in the environment."""
    from vit_str.serving.app import create_app
    from vit_str.serving.service import ReadingService

    values = json.loads(os.environ[_SETTINGS])
    values["limits"] = Limits(**values["limits"])
    settings = Settings(**values)
    BoundedConnection.seconds = settings.limits.receive
    proxies = (ip_network(proxy, strict=False) for proxy in settings.proxies)
    BoundedConnection.proxies = tuple(proxies)
    _end_with_parent()
    _allow_open_files()
    service = ReadingService(
        _load(settings), settings.limits, Metrics(), settings.effort, settings.model
    )
    service.warm_up()
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    # It would print a line for each form that cannot be understood
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    LOG.setLevel(logging.INFO if settings.log else logging.WARNING)
    return create_app(
        service,
        Path(settings.model).stem,
        key=os.environ.get(KEY),
        origins=tuple(settings.origins),
        hosts=tuple(settings.hosts),
    )


def _end_with_parent() -> None:
    """Stop when the process that started this one is killed; nobody else would end it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _allow_open_files() -> None:
    """Raise the limit of open files of this process, as far as the system lets it."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _OPEN_FILES
        if most != resource.RLIM_INFINITY:
            wanted = min(wanted, most)
        if now != resource.RLIM_INFINITY and now < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _load(settings: Settings) -> Reader:
    from vit_str.words.reader import load

    return load(
        settings.model,
        settings.device,
        effort=settings.effort,
        backend=settings.backend,
    )


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: an exception raised while a library is being imported would become another."""
    os._exit(130 if number == signal.SIGINT else 0)


def _free_port(host: str, port: int) -> int:
    """A port to listen on; 0 stands for any."""
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.create_server(address, family=family) as listener:
            return int(listener.getsockname()[1])
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"cannot listen on {host}, port {port} ({reason}); give another --host "
            "or --port, or stop what listens there"
        ) from None


def _announce(settings: Settings, host: str, port: int) -> None:
    """Print where to ask as soon as somebody answers there."""
    while True:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            break
        time.sleep(0.1)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if KEY not in os.environ and not host.startswith("127.") and host not in _LOCAL:
        console.warn(f"others can reach this without a key: set {KEY}", "serve")
    line = f"reading with {settings.model} at {url} (requests: {url}/docs)"
    try:
        console.write(line)
    # Closed, or a full disk; requests are answered all the same
    except OSError as error:
        console.drop_output()
        console.warn(f"{line}; standard output: {error.strerror}", "serve")
