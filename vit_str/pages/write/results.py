"""The folder or file that the texts of pages go to, and how its files came about."""

import json
import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from vit_str.files import shortened

ENDINGS = {
    "text": ".txt",
    "jsonl": ".jsonl",
    "hocr": ".hocr",
    "tsv": ".tsv",
    "md": ".md",
    "html": ".html",
    "csv": ".csv",
    "xlsx": ".xlsx",
    "pdf": ".pdf",
}
"""Names of formats, and how the names of such files end."""

OF_TABLES = ("csv", "xlsx")
"""Formats that hold tables alone."""

BINARY = ("xlsx", "pdf")
"""Formats that are no text."""

_RECORD = ".vit-str-pages.jsonl"
# bytes, which leave room for the number of a page, the suffix and `.partial`
_LONGEST_NAME = 200


class OneFile:
    """The file that the text of the only picture goes to; it is written anew by every run."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path

    def target(self, source: str) -> Path:
        """The file, whatever it is made from."""
        return self.path


class PageFolder:
    """A folder with a file for each picture, and a record of what each of them was made from.

    Raises:
        ValueError: the path is a file.
    """

    def __init__(self, path: Path, suffix: str, options: Mapping[str, Any]) -> None:
        if path.exists() and not path.is_dir():
            raise ValueError(
                f"{path} is a file; give a folder, which gets a file for each picture"
            )
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.record = path / _RECORD
        self._suffix = suffix
        self._options = dict(options)
        self._known = {row["source"]: row for row in self._rows()}
        self._names = {
            _seen(row["name"]): source for source, row in self._known.items()
        }

    def name(self, source: str) -> str:
        """The name of a picture in folders of results: that of its file, if no other has it.

        Long names end in a hash. Names that differ in capitals only count as the same.
        """
        source = os.path.abspath(source)
        whole = source.strip(os.sep).replace(os.sep, "__")
        names = chain([Path(source).name, whole], (f"{whole}-{n}" for n in count(2)))
        short = (shortened(name, _LONGEST_NAME) for name in names)
        free = (each for each in short if self._is_free(each, source))
        name: str = self._known.get(source, {}).get("name") or next(free)
        self._names[_seen(name)] = source
        return name

    def _is_free(self, name: str, source: str) -> bool:
        """Whether no other picture is called so."""
        return self._names.get(_seen(name), source) == source

    def target(self, source: str) -> Path:
        """The file that its text goes to."""
        return self.path / (self.name(source) + self._suffix)

    def state(self, source: str) -> dict[str, Any]:
        """A key of all that its text depends on: the options, and the time of the picture."""
        return {
            "source": os.path.abspath(source),
            "name": self.name(source),
            "size and time": stamp(source),
            "options": self._options,
        }

    def is_done(self, source: str) -> bool:
        """Whether its text is there, and still what would be written now."""
        known = self._known.get(os.path.abspath(source), {})
        is_same = all(
            known.get(key) == value for key, value in self.state(source).items()
        )
        return is_same and self.target(source).exists()

    def note(self, state: Mapping[str, Any]) -> None:
        """Remember that a text was written from this state.

        Raises:
            OSError: the record cannot be written; names it.
        """
        try:
            with self.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(state) + "\n")
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(self.record)) from error

    def _rows(self) -> Iterator[dict[str, Any]]:
        with (
            suppress(FileNotFoundError),
            self.record.open(encoding="utf-8", errors="replace") as lines,
        ):
            for line in lines:
                # Cut by a kill
                with suppress(ValueError, TypeError, KeyError, RecursionError):
                    row = json.loads(line)
                    named = isinstance(row["source"], str), isinstance(row["name"], str)
                    if all(named):
                        yield row


def format_of(name: str | Path) -> str | None:
    """The format that the ending of a file name says; None if it is none of them."""
    suffix = Path(name).suffix.lower()
    return next((each for each, ending in ENDINGS.items() if ending == suffix), None)


def _seen(name: object) -> str:
    """A name as the file systems of macOS and Windows see it."""
    return unicodedata.normalize("NFC", str(name)).casefold()


def stamp(path: str | Path) -> list[int] | None:
    """Size and time of a file, by which a replaced one is told; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
