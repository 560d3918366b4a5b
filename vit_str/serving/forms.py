"""Forms -> pictures and a lexicon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from vit_str.reading.checking.texts import GivenText, parse_text
from vit_str.serving.limits import MOST_WORDS, Refusal, refused
from vit_str.serving.schemas import CheckQuery, DocumentQuery, PageQuery, ReadQuery
from vit_str.serving.uploads import Upload

_LEXICON = "lexicon"  # the field
_TEXT = "text"  # the field of what is checked
_PATHS = {_LEXICON: "/v1/read", _TEXT: "/v1/check"}
_LEXICON_BYTES = 1 << 20  # of a part of a form, such as a lexicon
_MOST_FIELDS = 10  # of a form, besides files


def read_form(kind: str, body: bytes) -> tuple[list[Upload], tuple[str, ...]]:
    """The pictures of a form, and the words that may be read.

    Names and words are in UTF-8, whatever the type of the content says: some codecs of Python take
    minutes for a megabyte, and one only raises.

    Args:
        kind: the type of the content, with the boundary.
        body: the form.
    """
    files, words = _parsed(kind, body, _LEXICON)
    lexicon = tuple(
        sorted({word.strip() for word in words.split("\n") if word.strip()})
    )
    if len(lexicon) > MOST_WORDS:
        raise Refusal(422, f"a lexicon may hold {MOST_WORDS:,} words; send fewer")
    return files, lexicon


def read_check(kind: str, body: bytes, format_: str | None) -> tuple[Upload, GivenText]:
    """The picture of a form, and the text that it should say.

    Args:
        kind: the type of the content, with the boundary.
        body: the form.
        format_: of the text, see `parse_text`.
    """
    files, text = _parsed(kind, body, _TEXT)
    if len(files) > 1:
        raise Refusal(422, "a request checks one picture; send several requests")
    if not text.strip():
        raise Refusal(
            422, "no text: send what the picture should say in the field 'text'"
        )
    with refused():
        return files[0], parse_text(text, format_)


def _parsed(kind: str, body: bytes, field: str) -> tuple[list[Upload], str]:
    files, text = asyncio.run(_parse(kind, body, field))
    if not files:
        raise Refusal(422, "no picture: send files in the field 'files'")
    return files, text


async def _parse(kind: str, body: bytes, field: str) -> tuple[list[Upload], str]:
    """The files of a form, and what a field holds."""
    boundary = parse_options_header(kind)[1].get(b"boundary")
    if not boundary:
        raise Refusal(
            400, "the form cannot be understood: its content type has no boundary"
        )
    content_type = b'multipart/form-data; boundary="%b"' % boundary
    headers = Headers(raw=[(b"content-type", content_type)])
    parser = MultiPartParser(
        headers, _once(body), max_fields=_MOST_FIELDS, max_part_size=_LEXICON_BYTES
    )
    parser.spool_max_size = len(body) + 1  # no files on the disk
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise Refusal(400, f"the form cannot be understood: {error.message}") from None
    try:
        uploads = [
            Upload(value.filename or "image", await value.read())
            for name, value in form.multi_items()
            if isinstance(value, UploadFile) and name != field
        ]
        _refuse_options(form, _PATHS[field])
        return uploads, await _content(form.get(field), field)
    finally:
        await form.close()


def _refuse_options(form: FormData, path: str) -> None:
    """Refuse fields that are named as an option: nobody would look at them."""
    queries = (ReadQuery, PageQuery, DocumentQuery, CheckQuery)
    options = {name for query in queries for name in query.model_fields}
    for name in form:
        if name in options:
            raise Refusal(
                422,
                f"{name} is no field of a form; ask for it as {path}?{name}=...",
            )


async def _content(field: UploadFile | str | None, name: str) -> str:
    """The value of a field, which may be sent as a file too."""
    if not isinstance(field, UploadFile):
        return field or ""
    try:
        return (await field.read()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refusal(422, f"{name}: not UTF-8 text; save it as UTF-8") from None


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body
