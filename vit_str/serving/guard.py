"""Around the application: what is refused at once, numbers for Prometheus, and a log."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from starlette.responses import JSONResponse

from vit_str.console import one_line
from vit_str.serving.limits import (
    Capacity,
    Refusal,
    check_host,
    check_origin,
    client_of,
    is_allowed,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("vit_str.serving")
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable: where processes that serve together keep their numbers."""
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_PATHS = {"/v1/read", "/v1/page", "/v1/document", "/v1/check", "/v1/model"}
_PATHS |= {"/health", "/ready", "/metrics"}
_NO_KEY = "the key is missing or wrong; send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"
_REQUEST_ID = b"x-request-id"
_NAME = re.compile(r"[\w.:+/=-]{1,64}", re.ASCII)
_STOPPING = "the server stops; send this again, to another one"


def _name_of(scope: Scope) -> str:
    """An identifier of a request: that of the program before this server, or a random one."""
    given = dict(scope["headers"]).get(_REQUEST_ID, b"").decode("latin-1")
    return given if _NAME.fullmatch(given) else secrets.token_hex(4)


class Metrics:
    """Counters of a server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        self.requests = counter(
            "vit_str_requests", "Requests by outcome.", ["path", "status"]
        )
        self.seconds = histogram(
            "vit_str_request_seconds",
            "Time from request to answer.",
            ["path"],
            buckets=_SECONDS,
        )
        self.pictures = counter("vit_str_pictures", "Pictures by outcome.", ["outcome"])
        self.queue = Gauge(
            "vit_str_queue",
            "Pictures in progress: waiting, being decoded or read.",
            ["lane"],
            multiprocess_mode="livesum",
            registry=self._registry,
        )
        self.batches = histogram(
            "vit_str_batch_pictures",
            "Pictures that the model read at once.",
            buckets=(1, 2, 4, 8, 16, 32),
        )

    def text(self) -> bytes:
        """All metrics in the format of Prometheus, over all processes."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        from prometheus_client.multiprocess import MultiProcessCollector

        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


class Guard:
    """Checks the key, refuses what there is no room for, and counts requests."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        capacities: Mapping[str, Capacity],
        key: str | None,
        hosts: tuple[str, ...],
        origins: tuple[str, ...],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._capacities = capacities
        self._key = key
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        path = scope["path"]
        status = 0

        name = _name_of(scope)

        async def remember(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = (_REQUEST_ID, name.encode("ascii"))
                message = {**message, "headers": [*message.get("headers", ()), own]}
            await send(message)

        try:
            self._check(path, scope)
            await self._app(scope, receive, remember)
        except Refusal as refusal:
            await _answer(refusal)(scope, receive, remember)
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            if status:
                raise
            await _answer(Refusal(503, _STOPPING, 1))(scope, receive, remember)
        finally:
            seconds = time.perf_counter() - started
            label = path if path in _PATHS else "other"
            self._metrics.requests.labels(label, status or 500).inc()
            self._metrics.seconds.labels(label).observe(seconds)
            shown = one_line(path)  # what a client has sent, with %0A as a line break
            LOG.info(
                "%s %s %s %s %s %d %.0f ms",
                time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                (scope.get("client") or ("-",))[0],
                name,
                scope["method"],
                shown,
                status,
                1000 * seconds,
            )

    def _check(self, path: str, scope: Scope) -> None:
        """Before anything of the body is looked at."""
        headers = dict(scope["headers"])
        if self._key is None:
            check_host(headers.get(b"host", b"").decode("latin-1"), self._hosts)
        check_origin(headers, self._origins)
        needs_key = self._key is not None and path.startswith(("/v1/", "/metrics"))
        if needs_key and not is_allowed(headers, self._key or ""):
            raise Refusal(401, _NO_KEY)
        if path in self._capacities:
            self._capacities[path].check(client_of(scope))


def _answer(refusal: Refusal) -> JSONResponse:
    headers = {}
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    if refusal.retry_after is not None:
        headers["retry-after"] = str(refusal.retry_after)
    return JSONResponse({"error": refusal.reason}, refusal.status, headers)
