"""Paths -> `ReadingService`: the application that uvicorn runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import FastAPI, HTTPException, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    StreamingResponse,
)
from fastapi.security import APIKeyHeader
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from swagger_ui_bundle import swagger_ui_path

import vit_str
from vit_str.decoding.readings import json_line
from vit_str.decoding.search import Search
from vit_str.pages.pictures import PageOptions
from vit_str.pages.write.document_pages import unread_page
from vit_str.serving.documents import FORMATS, DocumentFormat
from vit_str.serving.forms import read_check, read_form
from vit_str.serving.guard import Guard
from vit_str.serving.limits import (
    Bodies,
    ClientDisconnected,
    Refusal,
    client_of,
    refused,
)
from vit_str.serving.page_readers import reads_pages
from vit_str.serving.page_records import PageOfUpload
from vit_str.serving.schemas import (
    CHECKED,
    DOCUMENTS,
    ERRORS,
    PICTURES,
    CheckQuery,
    CheckRecord,
    DocumentQuery,
    PageQuery,
    PageRecord,
    ReadQuery,
    SearchQuery,
    WordReadings,
)
from vit_str.serving.service import ReadingService
from vit_str.serving.uploads import Upload
from vit_str.serving.words import ReadOptions

WEB = Path(vit_str.__file__).parent / "web"
# Nothing of the page may come from elsewhere, or go there.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}

Result = TypeVar("Result")


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
    _add_reading(app, service)
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


def _add_reading(app: FastAPI, service: ReadingService) -> None:
    bodies = Bodies(service.limits)

    @app.post(
        "/v1/read",
        operation_id="read_words",
        summary="Read pictures of one word or short line each",
        openapi_extra=PICTURES,
        responses={200: {"model": WordReadings}, **ERRORS},
    )
    async def read(request: Request, query: Annotated[ReadQuery, Query()]) -> Response:
        async def work(body: bytearray) -> Response:
            uploads, lexicon = await _uploads(service, request, body)
            boxes = query.boxes or query.attention
            options = ReadOptions(_search(query, lexicon), boxes, query.attention)
            records = await service.words.read(
                uploads, options, client_of(request.scope)
            )
            lines = ", ".join(map(json_line, records))
            return Response(f'{{"readings": [{lines}]}}', media_type="application/json")

        return await answer(request, work)

    @app.post(
        "/v1/page",
        operation_id="read_page",
        summary="Find and read the words of a whole picture, or of a page of a PDF or TIFF file",
        openapi_extra=PICTURES,
        responses={200: {"model": PageRecord}, **ERRORS},
    )
    async def page(request: Request, query: Annotated[PageQuery, Query()]) -> Response:
        async def work(body: bytearray) -> Response:
            upload, lexicon = await _only_upload(service, request, body)
            search = _search(query, lexicon)
            client = client_of(request.scope)
            options = PageOfUpload(
                number=query.page,
                search=search,
                picture=query.picture,
                structure=query.structure,
                tables=query.tables,
            )
            record = await service.pages.read(upload, options, client)
            content = json.dumps(record, ensure_ascii=False)
            return Response(content, media_type="application/json")

        return await answer(request, work)

    @app.post(
        "/v1/document",
        operation_id="read_document",
        summary="Read all pages of a PDF or TIFF file, or a picture, as a document",
        openapi_extra=PICTURES,
        responses={200: DOCUMENTS, **ERRORS},
    )
    async def document(
        request: Request, query: Annotated[DocumentQuery, Query()]
    ) -> Response:
        async with AsyncExitStack() as stack:
            seconds = service.limits.deadline
            end = asyncio.get_running_loop().time() + seconds
            body = await stack.enter_async_context(bodies.received(request))
            asked = _asked(request, query, body)
            job = await _while_wanted(request, asked, end, seconds)
            pages = await stack.enter_async_context(aclosing(job.texts))
            first = await _while_wanted(request, _next(pages), end, seconds)
            # What is in progress ends with the last page, not with this function
            chunks = _chunks(job, first, seconds, stack.pop_all())
        return StreamingResponse(chunks, media_type=job.format.media_type)

    async def _asked(
        request: Request, query: DocumentQuery, body: bytearray
    ) -> _Document:
        upload, lexicon = await _only_upload(service, request, body)
        format_ = FORMATS[query.format]
        with refused():
            numbers = PageOptions.of(query.pages).numbers
        texts = service.pages.stream_document(
            upload,
            numbers,
            _search(query, lexicon),
            client_of(request.scope),
            format_.write,
        )
        return _Document(upload.name, format_, texts)

    async def answer(request: Request, work: Any) -> Response:
        """Receive the body and do the work, while there is time and somebody waits."""
        end = asyncio.get_running_loop().time() + service.limits.deadline
        async with bodies.received(request) as body:
            return await _while_wanted(
                request, work(body), end, service.limits.deadline
            )

    _add_checking(app, service, answer)


def _add_checking(
    app: FastAPI,
    service: ReadingService,
    answer: Callable[[Request, Any], Coroutine[Any, Any, Response]],
) -> None:
    @app.post(
        "/v1/check",
        operation_id="check_text",
        summary="Check a text that something else wrote against a picture, word by word",
        openapi_extra=CHECKED,
        responses={200: {"model": CheckRecord}, **ERRORS},
    )
    async def check(
        request: Request, query: Annotated[CheckQuery, Query()]
    ) -> Response:
        async def work(body: bytearray) -> Response:
            client = client_of(request.scope)
            kind = request.headers.get("content-type", "")
            if not kind.lower().startswith("multipart/"):
                raise Refusal(422, "send a form: a picture in 'files', words in 'text'")
            form = read_check, kind, bytes(body), query.format or None
            upload, given = await service.forms.do(client, *form)
            with refused():
                search = Search(language=query.language or None)
            options = PageOfUpload(query.page, search, query.picture)
            record = await service.pages.check(
                upload, options, given, client, query.html
            )
            return Response(json_line(record), media_type="application/json")

        return await answer(request, work)


class _Document(NamedTuple):
    """A document that is being read."""

    name: str
    format: DocumentFormat
    texts: AsyncGenerator[str, None]  # of its pages


async def _next(texts: AsyncGenerator[str, None]) -> str:
    """The text of the first page."""
    return await anext(texts)


async def _chunks(
    job: _Document, first: str, seconds: float, stack: AsyncExitStack
) -> AsyncIterator[str]:
    """A document as it is read; what goes wrong behind its first page is told in its place."""
    async with stack:
        yield job.format.head(job.name)
        text: str | None = first
        number = 1
        is_first = True
        while text is not None:
            if text:
                yield text if is_first else job.format.between + text
                is_first = False
            number += 1
            try:
                async with asyncio.timeout(seconds):
                    text = await anext(job.texts, None)
            except (Refusal, TimeoutError) as error:
                slow = f"not read within {seconds:g} seconds"
                reason = error.reason if isinstance(error, Refusal) else slow
                page = unread_page(job.name, number, reason)
                yield job.format.between + job.format.write(page)
                break
        yield job.format.end


def _search(query: SearchQuery, lexicon: tuple[str, ...]) -> Search:
    with refused():
        return Search(
            n_best=query.n_best,
            beams=query.beams or None,
            lexicon=lexicon or None,
            alphabet=query.alphabet or None,
            language=query.language or None,
        )


async def _while_wanted(
    request: Request, work: Coroutine[Any, Any, Result], end: float, seconds: float
) -> Result:
    """The result of some work; cancelled when the client leaves or the deadline is over."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    leaving = loop.create_task(_left(request))
    try:
        left = max(0.0, end - loop.time())
        await asyncio.wait(
            (task, leaving),
            timeout=left,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if task.done():
            return task.result()
        if leaving.done():
            raise ClientDisconnected
        raise Refusal(
            504, f"not read within {seconds:g} seconds; send less, or try again later"
        )
    finally:
        task.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _uploads(
    service: ReadingService, request: Request, body: bytearray
) -> tuple[list[Upload], tuple[str, ...]]:
    """The pictures of a request, and the words that may be read."""
    kind = request.headers.get("content-type", "")
    if kind.lower().startswith("multipart/"):
        client = client_of(request.scope)
        return await service.forms.do(client, read_form, kind, bytes(body))
    if not body:
        raise Refusal(
            422, "no picture: send one as the body, or files in the field 'files'"
        )
    return [Upload("image", bytes(body))], ()


async def _only_upload(
    service: ReadingService, request: Request, body: bytearray
) -> tuple[Upload, tuple[str, ...]]:
    """The one picture or file of a request, and the words that may be read."""
    uploads, lexicon = await _uploads(service, request, body)
    if len(uploads) > 1:
        raise Refusal(422, "a request reads one whole picture; send several requests")
    return uploads[0], lexicon


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
