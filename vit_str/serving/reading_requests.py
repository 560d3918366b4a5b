"""Requests for readings: a body and a query -> what `ReadingService` reads, as an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from vit_str.decoding.readings import json_line
from vit_str.decoding.search import Search
from vit_str.pages.pictures import PageOptions
from vit_str.pages.write.document_pages import unread_page
from vit_str.serving.documents import FORMATS, DocumentFormat
from vit_str.serving.forms import read_check, read_form
from vit_str.serving.limits import (
    Bodies,
    ClientDisconnected,
    Refusal,
    client_of,
    refused,
)
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

Result = TypeVar("Result")


def add_reading(app: FastAPI, service: ReadingService) -> None:
    """Have an application answer requests for words, pages, documents and checks.

    Args:
        app: gets the paths.
        service: what reads.
    """
    requests = _ReadingRequests(service)
    app.post(
        "/v1/read",
        operation_id="read_words",
        summary="Read pictures of one word or short line each",
        openapi_extra=PICTURES,
        responses={200: {"model": WordReadings}, **ERRORS},
    )(requests.read)
    app.post(
        "/v1/page",
        operation_id="read_page",
        summary="Find and read the words of a whole picture, or of a page of a PDF or TIFF file",
        openapi_extra=PICTURES,
        responses={200: {"model": PageRecord}, **ERRORS},
    )(requests.page)
    app.post(
        "/v1/document",
        operation_id="read_document",
        summary="Read all pages of a PDF or TIFF file, or a picture, as a document",
        openapi_extra=PICTURES,
        responses={200: DOCUMENTS, **ERRORS},
    )(requests.document)
    app.post(
        "/v1/check",
        operation_id="check_text",
        summary="Check a text that something else wrote against a picture, word by word",
        openapi_extra=CHECKED,
        responses={200: {"model": CheckRecord}, **ERRORS},
    )(requests.check)


class _ReadingRequests:
    """Answers each kind of request; the summaries in `add_reading` say what they ask for."""

    def __init__(self, service: ReadingService) -> None:
        self._service = service
        self._bodies = Bodies(service.limits)

    async def read(
        self, request: Request, query: Annotated[ReadQuery, Query()]
    ) -> Response:
        async def work(body: bytearray) -> Response:
            uploads, lexicon = await self._uploads(request, body)
            boxes = query.boxes or query.attention
            options = ReadOptions(_search(query, lexicon), boxes, query.attention)
            records = await self._service.words.read(
                uploads, options, client_of(request.scope)
            )
            lines = ", ".join(map(json_line, records))
            return Response(f'{{"readings": [{lines}]}}', media_type="application/json")

        return await self._answer(request, work)

    async def page(
        self, request: Request, query: Annotated[PageQuery, Query()]
    ) -> Response:
        async def work(body: bytearray) -> Response:
            upload, lexicon = await self._only_upload(request, body)
            search = _search(query, lexicon)
            client = client_of(request.scope)
            options = PageOfUpload(
                number=query.page,
                search=search,
                picture=query.picture,
                structure=query.structure,
                tables=query.tables,
            )
            record = await self._service.pages.read(upload, options, client)
            content = json.dumps(record, ensure_ascii=False)
            return Response(content, media_type="application/json")

        return await self._answer(request, work)

    async def document(
        self, request: Request, query: Annotated[DocumentQuery, Query()]
    ) -> Response:
        async with AsyncExitStack() as stack:
            seconds = self._service.limits.deadline
            end = asyncio.get_running_loop().time() + seconds
            body = await stack.enter_async_context(self._bodies.received(request))
            asked = self._document(request, query, body)
            job = await _while_wanted(request, asked, end, seconds)
            pages = await stack.enter_async_context(aclosing(job.texts))
            first = await _while_wanted(request, _next(pages), end, seconds)
            # What is in progress ends with the last page, not with this function
            chunks = _chunks(job, first, seconds, stack.pop_all())
        return StreamingResponse(chunks, media_type=job.format.media_type)

    async def check(
        self, request: Request, query: Annotated[CheckQuery, Query()]
    ) -> Response:
        async def work(body: bytearray) -> Response:
            client = client_of(request.scope)
            kind = request.headers.get("content-type", "")
            if not kind.lower().startswith("multipart/"):
                raise Refusal(422, "send a form: a picture in 'files', words in 'text'")
            form = read_check, kind, bytes(body), query.format or None
            upload, given = await self._service.forms.do(client, *form)
            with refused():
                search = Search(language=query.language or None)
            options = PageOfUpload(query.page, search, query.picture)
            record = await self._service.pages.check(
                upload, options, given, client, query.html
            )
            return Response(json_line(record), media_type="application/json")

        return await self._answer(request, work)

    async def _answer(
        self,
        request: Request,
        work: Callable[[bytearray], Coroutine[Any, Any, Response]],
    ) -> Response:
        """Receive the body and do the work, while there is time and somebody waits."""
        seconds = self._service.limits.deadline
        end = asyncio.get_running_loop().time() + seconds
        async with self._bodies.received(request) as body:
            return await _while_wanted(request, work(body), end, seconds)

    async def _document(
        self, request: Request, query: DocumentQuery, body: bytearray
    ) -> _Document:
        upload, lexicon = await self._only_upload(request, body)
        format_ = FORMATS[query.format]
        with refused():
            numbers = PageOptions.of(query.pages).numbers
        texts = self._service.pages.stream_document(
            upload,
            numbers,
            _search(query, lexicon),
            client_of(request.scope),
            format_.write,
        )
        return _Document(upload.name, format_, texts)

    async def _uploads(
        self, request: Request, body: bytearray
    ) -> tuple[list[Upload], tuple[str, ...]]:
        """The pictures of a request, and the words that may be read."""
        kind = request.headers.get("content-type", "")
        if kind.lower().startswith("multipart/"):
            client = client_of(request.scope)
            return await self._service.forms.do(client, read_form, kind, bytes(body))
        if not body:
            raise Refusal(
                422, "no picture: send one as the body, or files in the field 'files'"
            )
        return [Upload("image", bytes(body))], ()

    async def _only_upload(
        self, request: Request, body: bytearray
    ) -> tuple[Upload, tuple[str, ...]]:
        """The one picture or file of a request, and the words that may be read."""
        uploads, lexicon = await self._uploads(request, body)
        if len(uploads) > 1:
            raise Refusal(
                422, "a request reads one whole picture; send several requests"
            )
        return uploads[0], lexicon


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
