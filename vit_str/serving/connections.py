"""Connections over which no request comes."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedConnection(H11Protocol):
    """HTTP of uvicorn, closed where a request does not begin, with all of its head, in time.

    Uvicorn closes what is silent after an answer, and the application what does not send its body;
    nobody else waits for the first request, or for a head that comes byte by byte.

    Attributes:
        seconds: for the head of a request; set before the server starts.
    """

    seconds = 20.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait for the rest of a head; stop waiting when a request is in progress."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._closing is None:
            self._closing = self.loop.call_later(self.seconds, self.transport.close)

    def _stop_watching(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
