"""Tools for assistants (Model Context Protocol): read files in some folders, and check texts."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

import vit_str
from vit_str.console import one_line
from vit_str.decoding.search import Search
from vit_str.images.headers import announced
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.document import stream_pages
from vit_str.pages.pictures import PAGE_SUFFIXES, PageOptions
from vit_str.pages.reader import PageReader, load_page
from vit_str.pages.write.document_pages import DocumentPage
from vit_str.pages.write.markdown import together
from vit_str.pages.write.spreadsheets import tables_as_csv
from vit_str.reading.checking.checker import PageChecker, load_checking_reader
from vit_str.reading.checking.texts import parse_text
from vit_str.serving.limits import MOST_CHECKED, Limits
from vit_str.words.reader import Reader, load

INSTRUCTIONS = (
    "Reads printed and photographed text on this machine, without a network. Paths are files in "
    "the folders that list_files names. Confidences are probabilities from 0 to 1; below 0.8 a "
    "text may be wrong. To see whether a text of your own says what a page says, use check_text."
)
MOST_PAGES = 10
"""Pages of a document in one answer."""
_MOST_FILES = 1000  # in a list
_LANGUAGES = 4  # whose readers are kept

Result = TypeVar("Result")
FilePath = Annotated[str, Field(description="of the file, as list_files gives it")]
Language = Annotated[
    str | None,
    Field(description="whose words and letters to expect, such as de, en+fr or ru"),
]
Password = Annotated[str | None, Field(description="of a locked PDF file")]
Pages = Annotated[
    str, Field(description="such as 3-5 or 1,7-; no more than ten of them are read")
]


class Readers:
    """Opens readers as they are asked for; they read in one thread.

    Args:
        model: see ``vit_str.load``.
        device: see ``vit_str.load``.
    """

    def __init__(self, model: str = "tiny", device: str = "auto") -> None:
        self._turn = anyio.CapacityLimiter(1)
        self.words: Callable[[str | None], Reader] = lru_cache(_LANGUAGES)(
            lambda language: load(model, device, search=_search(language))
        )
        self.pages: Callable[[str | None], PageReader] = lru_cache(_LANGUAGES)(
            lambda language: load_page(model, device, search=_search(language))
        )
        self.checkers: Callable[[str | None], PageChecker] = lru_cache(_LANGUAGES)(
            lambda language: PageChecker(
                load_checking_reader(model, device, search=_search(language))
            )
        )

    async def do(self, work: Callable[[], Result]) -> Result:
        """The result of some work, which waits for its turn.

        Raises:
            ToolError: a mistake, or a file that cannot be read, in one line for the assistant.
        """
        try:
            return await run_sync(work, limiter=self._turn)
        except UnreadableImage as error:  # without the folders above it
            name = one_line(Path(error.name).name)
            raise ToolError(f"{name}: {error.reason}") from None
        except ValueError as error:
            raise ToolError(str(error)) from None


class Folders:
    """The folders that may be read.

    Args:
        folders: on this machine.
        limits: of files and pictures, as of requests.

    Raises:
        ValueError: one of them is none.
    """

    def __init__(self, folders: Sequence[str | Path], limits: Limits) -> None:
        for folder in folders:
            if not os.path.isdir(folder):
                raise ValueError(f"{folder}: no such folder; check the path")
        self.folders = [Path(folder).resolve() for folder in folders]
        self._limits = limits

    def file(self, path: str) -> Path:
        """A file in one of them, wherever links lead; of a size that may be read.

        Raises:
            ValueError: there is none, it lies elsewhere, or is too large.
        """
        shown = one_line(path)
        candidates = (Path(os.path.realpath(folder / path)) for folder in self.folders)
        for found in candidates:
            if self._are_around(found) and found.is_file():
                self._check(found, shown)
                return found
        raise ValueError(f"{shown}: no file in the folders that may be read")

    def _are_around(self, path: str | Path) -> bool:
        """Whether a file lies in one of them, wherever links lead."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(folder) for folder in self.folders)

    def _check(self, path: Path, shown: str) -> None:
        if path.stat().st_size > self._limits.body:
            raise ValueError(f"{shown}: more than {self._limits.body:,} bytes")
        pixels, _ = announced(path)
        if pixels > self._limits.pixels:
            most = f"{self._limits.pixels:,}"
            raise ValueError(f"{shown}: more than {most} pixels; scale it down")

    def files(self) -> list[str]:
        """Pictures and documents in them, newest first."""
        found: list[tuple[float, str]] = []
        for folder in self.folders:
            for parent, folders, names in os.walk(folder):
                folders[:] = [name for name in folders if not name.startswith(".")]
                paths = (os.path.join(parent, name) for name in names)
                readable = filter(_is_readable, paths)
                wanted = filter(self._are_around, readable)
                found += ((os.stat(path).st_mtime, path) for path in wanted)
        return [path for _, path in sorted(found, reverse=True)][:_MOST_FILES]


def create_server(folders: Folders, readers: Readers) -> MCPServer:
    """The server, with its tools."""
    server = MCPServer(
        name="vit-str", version=vit_str.__version__, instructions=INSTRUCTIONS
    )

    @server.tool()
    async def list_files() -> list[str]:
        """List pictures and documents that may be read, newest first."""
        return await readers.do(folders.files)

    @server.tool()
    async def read_image(
        path: FilePath,
        kind: Annotated[
            Literal["page", "word"],
            Field(description="a whole picture, or a crop of one word or short line"),
        ] = "page",
        language: Language = None,
    ) -> dict[str, Any]:
        """Read the text in a picture: with every word, its confidence and its box in pixels."""
        read = _read_word if kind == "word" else _read_picture
        return await readers.do(partial(read, folders, readers, path, language))

    @server.tool()
    async def read_document(
        path: FilePath,
        pages: Pages = "1-",
        format: Annotated[  # noqa: A002 - as others call it
            Literal["markdown", "csv"],
            Field(description="markdown, or the tables alone as csv"),
        ] = "markdown",
        language: Language = None,
        password: Password = None,
    ) -> str:
        """Read a PDF or TIFF file, or a picture: headings, paragraphs, lists and tables."""

        def work() -> str:
            file = folders.file(path)
            found = stream_pages(
                file,
                pages=pages,
                password=password,
                reader=readers.pages(language),
            )
            # One more, which tells that there are others
            read = list(islice(found, MOST_PAGES + 1))
            return _document(read[:MOST_PAGES], format, has_more=len(read) > MOST_PAGES)

        return await readers.do(work)

    @server.tool()
    async def check_text(
        path: FilePath,
        text: Annotated[
            str,
            Field(description="what the pages should say; plain, Markdown or HTML"),
        ],
        pages: Pages = "1-",
        language: Language = None,
        password: Password = None,
    ) -> dict[str, Any]:
        """Check a text against a picture or document, by its pixels: which words it confirms.

        Lists the words that it does not: contradicted (found is what the page says), absent (no
        page has it), missing (only the page has it), doubtful; with page, box and probability.
        """
        check = partial(_check, folders, readers, path, text, pages, language, password)
        return await readers.do(check)

    return server


def _read_word(
    folders: Folders, readers: Readers, path: str, language: str | None
) -> dict[str, Any]:
    reading = readers.words(language).read(folders.file(path))
    return {"text": reading.text, "confidence": round(reading.confidence, 4)}


def _read_picture(
    folders: Folders, readers: Readers, path: str, language: str | None
) -> dict[str, Any]:
    page = readers.pages(language).read(folders.file(path))
    words = [
        {
            "text": word.text,
            "confidence": round(word.confidence, 4),
            "box": [round(side) for side in word.box],
        }
        for word in page.words
    ]
    return {
        "text": page.text,
        "width": page.width,
        "height": page.height,
        "words": words,
    }


def _check(
    folders: Folders,
    readers: Readers,
    path: str,
    text: str,
    pages: str,
    language: str | None,
    password: str | None,
) -> dict[str, Any]:
    file = folders.file(path)
    options = PageOptions.of(pages, password=password)
    first = options.first(MOST_PAGES)
    given = parse_text(text)
    if len(given.words) > MOST_CHECKED:
        raise ValueError(f"a text may hold {MOST_CHECKED:,} words; send fewer")
    checked = readers.checkers(language).check(file, given, first)
    answer = checked.summary()
    del answer["pages"]
    shown = [row for row in checked.rows() if row["verdict"] != "confirmed"]
    answer["unconfirmed"] = [_unconfirmed(row) for row in shown]
    others = next(islice(options.numbers, MOST_PAGES, None), None)
    if others and len(checked.pages) + len(checked.errors) == MOST_PAGES:
        advice = f"check the text of others with pages {others}-"
        answer["note"] = f"{MOST_PAGES} pages were looked at; {advice}"
    return answer


def _unconfirmed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A word that is not confirmed, as an assistant gets it."""
    boxes = [[round(side) for side in box] for box in row["boxes"]]
    return {
        "text": None if row["verdict"] == "missing" else row["text"],
        "verdict": row["verdict"],
        "found": row["found"],
        "probability": round(row["probability"], 4),
        "page": row["page"],
        "box": boxes[0] if boxes else None,
    }


def _document(pages: Sequence[DocumentPage], format_: str, has_more: bool) -> str:
    """Pages as text, with what is missing in them."""
    if format_ == "csv":
        text = tables_as_csv(pages)
    else:
        text = together(page.markdown for page in pages if page.error is None)
    missing = [f"page {page.number}: {page.error}" for page in pages if page.error]
    if has_more:
        number = pages[-1].number + 1
        missing.append(f"there are more pages: ask for pages {number}-")
    return "\n".join([text, *missing])


def _is_readable(path: str) -> bool:
    name = os.path.basename(path)
    is_kind = name.lower().endswith(PAGE_SUFFIXES) and not name.startswith(".")
    return is_kind and os.path.isfile(path)


def _search(language: str | None) -> Search | None:
    return Search(language=language) if language else None
