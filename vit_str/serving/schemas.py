"""Schemas of requests and answers, for ``/docs``."""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

_LANGUAGE = r"[a-z]{2,4}(\*[0-9]{1,4})?"
_LANGUAGES = re.compile(rf"{_LANGUAGE}(\+{_LANGUAGE})*")


def of_codes(language: str) -> str:
    """Codes, never a file; the + between them is a space in the query of a URL."""
    codes = language.replace(" ", "+")
    if codes and not _LANGUAGES.fullmatch(codes):
        raise ValueError("give codes such as en, en+fr or en*8+de, or none")
    return codes


class SearchQuery(BaseModel):
    """Which readings a request asks for, see `Search`; nothing and 0 stand for its defaults."""

    model_config = ConfigDict(extra="forbid")  # an option that is misspelled

    n_best: int = Field(1, ge=1, le=10, description="likeliest texts to give")
    beams: int = Field(
        0,
        ge=0,
        le=20,
        description="texts to keep while writing; 0 for what fits",
    )
    alphabet: str = Field("", max_length=1000, description="read only these characters")
    language: str = Field(
        "",
        max_length=200,
        description="whose words to expect where the image leaves doubts, and whose "
        "letters: en, en+fr, ru, or none; as the model was trained if empty",
    )

    _of_codes = field_validator("language")(of_codes)


class ReadQuery(SearchQuery):
    """Options of a request for words."""

    boxes: bool = Field(False, description="say where each character is")
    attention: bool = Field(
        False, description="give boxes, and where the model looked for each character"
    )


class PageQuery(SearchQuery):
    """Options of a request for a whole picture."""

    page: int = Field(1, ge=1, le=1000, description="of a file with several pages")
    picture: bool = Field(False, description="give the page as a picture too")
    structure: bool = Field(
        False, description="give headings, paragraphs, items and tables too"
    )
    tables: bool = Field(False, description="give the tables as csv and xlsx too")


class DocumentQuery(SearchQuery):
    """Options of a request for a document."""

    format: Literal["json", "md", "html", "csv"] = Field(
        "json", description="what to give: csv has the tables alone"
    )
    pages: str = Field(
        "1-", max_length=200, description="which pages, such as 3-5 or 1,7-"
    )


class CheckQuery(BaseModel):
    """Options of a request to check a text."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(1, ge=1, le=1000, description="of a file with several pages")
    format: Literal["", "text", "markdown", "html", "hocr", "jsonl"] = Field(
        "", description="of the text; as it looks if empty"
    )
    language: str = Field(
        "",
        max_length=200,
        description="whose letters to expect: en, en+fr, ru, or none",
    )
    picture: bool = Field(False, description="give the page as a picture too")
    html: bool = Field(
        False, description="give a page of HTML that shows the text beside the picture"
    )

    _of_codes = field_validator("language")(of_codes)


class Error(BaseModel):
    """Why there is no answer."""

    error: str = Field(
        examples=["too many pictures are in progress; try again in a second"]
    )


class Character(BaseModel):
    """A character that was read; the box is left, top, right, bottom, in pixels."""

    character: str
    confidence: float
    box: list[float] | None = None
    attention: list[list[float]] | None = None


class Record(BaseModel):
    """A picture of a word or short line; of one that cannot be read, only path and error."""

    path: str = Field(examples=["word.png"])
    text: str | None = Field(examples=["of"])
    confidence: float | None = Field(examples=[0.981204])
    characters: list[Character] = []
    error: str | None = None


class WordReadings(BaseModel):
    """A record for each picture, in their order."""

    readings: list[Record]


class Word(BaseModel):
    """A word of a whole picture; the polygon has its four corners, in pixels."""

    text: str
    confidence: float
    polygon: list[tuple[float, float]]
    block: int
    line: int
    struck: bool
    characters: list[Character]


class Span(BaseModel):
    """A cell that covers several rows or columns."""

    row: int
    column: int
    rows: int
    columns: int


class Block(BaseModel):
    """A part of a page; words are places among those of the page, from 0."""

    role: Literal["heading", "paragraph", "item", "table", "running"]
    text: str
    confidence: float
    box: list[float]
    words: list[int]
    level: int | None = Field(
        None, description="of a heading from 1, the largest; of an item from 0"
    )
    mark: str | None = Field(None, description="of an item")
    rows: list[list[str]] | None = Field(None, description="of a table")
    spans: list[Span] | None = Field(None, description="of a table: merged cells")


class PageRecord(BaseModel):
    """A whole picture, or a page of a file."""

    path: str
    width: int
    height: int
    text: str
    words: list[Word]
    error: str | None
    page: int
    pages: int | None = Field(None, description="how many pages a PDF file has")
    structure: list[Block] | None = Field(
        None, description="headings, paragraphs and tables, if they were asked for"
    )
    picture: str | None = Field(
        None,
        description="data: URL of a JPEG, if it was asked for",
    )
    csv: str | None = Field(
        None, description="the tables, if they were asked for and there are some"
    )
    xlsx: str | None = Field(
        None,
        description="data: URL of the tables, a sheet each, where openpyxl is installed",
    )


class DocumentPageRecord(BaseModel):
    """A page of a document; of one that cannot be read, only path, page and error."""

    path: str
    page: int
    error: str | None
    text: str | None
    words: list[Word]
    structure: list[Block]
    width: int | None = None
    height: int | None = None


class DocumentRecord(BaseModel):
    """All pages of a file."""

    path: str
    pages: list[DocumentPageRecord]


class CheckedWord(BaseModel):
    """A word of the text, or one that it lacks; boxes are left, top, right, bottom, in pixels."""

    text: str
    verdict: Literal["confirmed", "doubtful", "contradicted", "absent", "missing"]
    probability: float = Field(description="that the page says so")
    page: int | None
    boxes: list[list[float]]
    found: str | None = Field(description="what is read there")
    likelihood: float | None = Field(description="of the text, given the pixels")
    found_likelihood: float | None = Field(description="of what is read there")
    read_by: list[str] = Field(description="readers that agree: line, words")
    typography: bool = Field(
        description="whether only quotes, dashes and the like differ"
    )
    start: int | None = Field(description="first character in the text")
    end: int | None


class CheckRecord(BaseModel):
    """A text, word by word."""

    path: str
    page: int
    width: int | None = None
    height: int | None = None
    right: bool | None = Field(
        None, description="nothing contradicted, absent or missing"
    )
    expected_errors: float | None = None
    interval: list[float] | None = Field(
        None, description="of 95 % of numbers of errors"
    )
    words: list[CheckedWord]
    picture: str | None = None
    html: str | None = None
    error: str | None


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": description}
    for status, description in {
        400: "A form that cannot be understood",
        401: "The key is missing or wrong",
        403: "Web pages of this site may not ask",
        408: "The request took too long to arrive",
        413: "Too many bytes",
        421: "Not a name of this server",
        422: "Too many pixels, or options that do not fit the model",
        429: "Too much of yours is in progress; try again after Retry-After seconds",
        501: "This server reads no whole pictures",
        503: "Too much is in progress; try again after Retry-After seconds",
        504: "Not read before the deadline",
    }.items()
}

_TEXT = {"schema": {"type": "string"}}
DOCUMENTS: dict[str, Any] = {
    "model": DocumentRecord,
    "description": "The document; with format=md, html or csv as text",
    "content": {"text/markdown": _TEXT, "text/html": _TEXT, "text/csv": _TEXT},
}

_FILE = {"type": "string", "format": "binary"}
_FORM = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "items": _FILE},
        "lexicon": {
            "type": "string",
            "description": "read only these words, one a line",
        },
    },
}
PICTURES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": _FORM},
            "image/*": {"schema": _FILE},
            "application/octet-stream": {"schema": _FILE},
        },
    }
}

CHECKED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files", "text"],
                    "properties": {
                        "files": {"type": "array", "items": _FILE, "maxItems": 1},
                        "text": {
                            "type": "string",
                            "description": "what the picture should say",
                        },
                    },
                }
            }
        },
    }
}
