"""Paths -> `ReadingService`: the application that uvicorn runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.security import APIKeyHeader
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from swagger_ui_bundle import swagger_ui_path

import vit_str
from vit_str.serving.guard import Guard
from vit_str.serving.limits import ClientDisconnected, Refusal
from vit_str.serving.page_readers import reads_pages
from vit_str.serving.reading_requests import add_reading
from vit_str.serving.service import ReadingService

WEB = Path(vit_str.__file__).parent / "web"
# Nothing of the page may come from elsewhere, or go there.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def create_app(
    service: ReadingService,
    model: str,
    key: str | None = None,
    origins: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
) -> FastAPI:
    """The application.

    Args:
        service: what reads.
        model: its name, for clients.
        key: that requests for readings and metrics must bring; None for no key.
        origins: of pages of other sites that may ask.
        hosts: names with a dot that this server may be asked by; without a key only.
    """
    # `Guard` checks the key; this lets one type it in at /docs.
    asks_for_key = [Security(APIKeyHeader(name="X-API-Key", auto_error=False))]
    app = FastAPI(
        title="vit-str",
        version=vit_str.__version__,
        description="Reads the text in pictures.",
        docs_url=None,
        redoc_url=None,
        dependencies=asks_for_key if key else [],
    )
    app.openapi_version = "3.0.3"  # what the pages of /docs understand
    add_reading(app, service)
    _add_state(app, service, model)
    _add_pages(app)
    for error in (
        Refusal,
        ClientDisconnected,
        RequestValidationError,
        StarletteHTTPException,
        Exception,
    ):
        app.add_exception_handler(error, _answer_error)
    capacities = {
        "/v1/read": service.words.capacity,
        "/v1/page": service.pages.capacity,
        "/v1/document": service.pages.capacity,
        "/v1/check": service.pages.capacity,
    }
    app.add_middleware(
        Guard,
        metrics=service.metrics,
        capacities=capacities,
        key=key,
        hosts=hosts,
        origins=origins,
    )
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "x-api-key"],
        )
    return app


def _add_state(app: FastAPI, service: ReadingService, model: str) -> None:
    @app.head("/health", include_in_schema=False)
    @app.get("/health", operation_id="health", summary="Whether the process is alive")
    async def health() -> dict[str, str]:
        return {"status": "alive"}

    @app.head("/ready", include_in_schema=False)
    @app.get(
        "/ready",
        operation_id="ready",
        summary="Whether the model is warm and requests are welcome: 503 if not",
    )
    async def ready() -> JSONResponse:
        stuck = service.stuck()
        if not stuck:
            return JSONResponse({"status": "ready"})
        seconds = service.limits.deadline
        reason = f"{' and '.join(stuck)}: busy for over {seconds:g} seconds; ask another server"
        return JSONResponse({"status": "busy", "error": reason}, 503)

    @app.get("/metrics", operation_id="metrics", summary="Numbers for Prometheus")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get(
        "/v1/model",
        operation_id="describe_model",
        summary="What reads here, and its limits",
    )
    async def describe() -> dict[str, Any]:
        reader = service.reader.describe()
        return {
            "name": model,
            "version": vit_str.__version__,
            "characters": reader.characters,
            "maximum_length": reader.maximum_length,
            "image_size": list(reader.image_size),
            "boxes": reader.has_boxes,
            "pages": reads_pages(),
            "other_languages": service.weights.other_languages(),
            "limits": asdict(service.limits),
        }


def _add_pages(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url="openapi.json",
            title="vit-str",
            swagger_js_url="docs/swagger-ui-bundle.js",
            swagger_css_url="docs/swagger-ui.css",
            swagger_favicon_url="data:,",
        )

    app.mount("/docs", StaticFiles(directory=swagger_ui_path))

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB / "index.html", headers=_PAGE_HEADERS)

    app.mount("/web", _PageFiles(directory=WEB, check_dir=False))


class _PageFiles(StaticFiles):
    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers.update(_PAGE_HEADERS)
        return response


async def _answer_error(request: Request, error: Exception) -> Response:
    """One sentence that says what to do."""
    if isinstance(error, ClientDisconnected):
        return Response(status_code=499)
    headers: dict[str, str] = {}
    status = 500
    reason = "something broke while this was read; try again, and report it"
    if isinstance(error, Refusal):
        status = error.status
        reason = error.reason
        if error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
    elif isinstance(error, RequestValidationError):
        first = error.errors()[0]
        status = 422
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            problem = "no option of such requests; /docs lists what there is"
        reason = (
            f"{first['loc'][-1]}: {problem}, found {str(first.get('input'))[:50]!r}"
        )
    elif isinstance(error, HTTPException | StarletteHTTPException):
        status = error.status_code
        headers = dict(error.headers or {})
        reason = f"{request.method} {request.url.path}: {error.detail}; /docs lists what there is"
    return JSONResponse({"error": reason}, status, headers)
