"""One process that serves: uvicorn, with an end that keeps its promises."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from vit_str import console
from vit_str.serving.limits import Limits
from vit_str.serving.metrics import Metrics

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""That end a server."""
_FINISHING = 6  # seconds for requests in progress when the server stops
_CONNECTIONS = 1000
_FILES = 2 * _CONNECTIONS + 100


@dataclass(frozen=True, slots=True)
class Settings:
    """What a process needs to know to serve.

    Attributes:
        model: see ``vit_str.load``, as the next three.
        device: see there.
        backend: see there.
        effort: see there.
        limits: of requests.
        key: that requests have to carry, if any.
        origins: of web pages that may ask.
        hosts: names that it answers to, besides addresses and local names.
        log: whether to print a line for each request.
    """

    model: str
    device: str
    backend: str
    effort: str | None
    limits: Limits
    key: str | None
    origins: tuple[str, ...]
    hosts: tuple[str, ...]
    log: bool


class _Server(uvicorn.Server):
    """A server that tells the application when it stops, and closes connections without requests.

    Args:
        config: of uvicorn.
        state: of the application.
        on_start: is called when connections are accepted.
        patience: seconds that a connection may be silent before and between requests.
    """

    def __init__(
        self, config: uvicorn.Config, state: Any, on_start: Callable[[], None], patience: float
    ) -> None:
        super().__init__(config)
        self._state, self._on_start, self._patience = state, on_start, patience
        self._silent: dict[Any, tuple[object, float]] = {}
        self.was_interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, without uvicorn's raising the signal again at the end."""
        self.was_interrupted |= sig == signal.SIGINT
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self._state.draining = self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn, which waits for connections that were accepted while it closed others."""
        closing = asyncio.create_task(self._close_late())
        try:
            await super().shutdown(sockets)
        finally:
            closing.cancel()

    async def _close_late(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            for link in list(self.server_state.connections):
                link.shutdown()

    async def on_tick(self, counter: int) -> bool:
        """See uvicorn; called ten times a second."""
        if counter % 10 == 0:
            self._close_silent(time.monotonic())
        return await super().on_tick(counter)

    def _close_silent(self, now: float) -> None:
        """Close connections that have sent no whole request for too long."""
        silent = {}
        for link in self.server_state.connections:
            cycle = getattr(link, "cycle", None)
            if cycle is None or cycle.response_complete:
                before, since = self._silent.get(link, (cycle, now))
                silent[link] = (cycle, since if before is cycle else now)
                if now - silent[link][1] > self._patience and link.transport:
                    link.transport.abort()
        self._silent = silent


def serve_alone(settings: Settings, listener: socket.socket, on_start: Callable[[], None]) -> int:
    """Serve in this process; returns the exit code."""
    from vit_str.runtime import load
    from vit_str.serving.app import create_app
    from vit_str.serving.guard import LOG
    from vit_str.serving.service import ReadingService

    _allow_files()
    reader = load(settings.model, settings.device, effort=settings.effort, backend=settings.backend)
    service = ReadingService(reader, settings.limits, Metrics(), settings.effort)
    service.warm_up()
    name = Path(settings.model).stem
    app = create_app(service, name, settings.key, settings.origins, settings.hosts)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    LOG.setLevel(logging.INFO if settings.log else logging.WARNING)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_FINISHING,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    server = _Server(config, app.state, on_start, settings.limits.receive)
    server.run([listener])
    code = 130 if server.was_interrupted else 0
    if not service.close(1.0):  # nobody waits for what a thread still does
        console.flush()
        os._exit(code)
    return code


def _allow_files() -> None:
    """Let every connection have its file descriptor, where the system lets us."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
