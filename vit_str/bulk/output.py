"""The folder that results go to: a record, the division into parts, and a file for each part."""

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, Self

from vit_str.bulk.parts import Kind, Part
from vit_str.bulk.rows import Format, unreadable

# Readers of whole folders, such as pandas, pass over what begins like these.
_RECORD = "_reading.json"
_PARTS = "_parts.jsonl.gz"
_LOCK = ".lock"
_FORMAT = "vit-str read"
_UNFINISHED = ".unfinished"
_MOST_SHOWN = 60


class OutputFolder:
    """Where the results of a run are, and what of it is done.

    The files of the parts say what is done: each is renamed into its place when it is whole, so
    there is no second truth to lose. A folder belongs to one run at a time.

    Args:
        path: the folder; it is made.
        file_format: of the files of the parts.
        settings: what else decides how the results look, plain values by name; a run that goes
            on must have the same.

    Raises:
        ValueError: the folder holds something else, was begun with other settings, or another run
            is at work in it.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, file_format: Format, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._name = re.compile(rf"part-(\d{{6,}})\.{file_format}")
        self._suffix = file_format
        _refuse_foreign(path)
        path.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(path)
        try:
            self._claim({"format": str(file_format), **settings})
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def divide(self, paths: list[str], divider: Callable[[Iterable[str]], Iterator[Part]]) -> None:
        """Divide the input, or keep the division that is here and add what came since.

        Args:
            paths: the whole input.
            divider: makes parts of paths.

        Raises:
            ValueError: an archive was changed since it was divided, or what ``divider`` raises.
            OSError: the division cannot be written.
        """
        known: set[str] = set()
        for part in self.parts():
            _check_size(part)
            known.update(part.names)
        new = divider(path for path in paths if path not in known)
        first = next(new, None)
        if first is not None:
            _write(self.path / _PARTS, _compressed(chain(self.parts(), [first], new)))

    def parts(self) -> Iterator[Part]:
        """All parts, in order; the place of a part is its number.

        Raises:
            ValueError: the file that lists them is damaged.
        """
        listed = self.path / _PARTS
        if not listed.exists():
            return
        try:
            with gzip.open(listed, "rb") as lines:
                yield from map(Part.from_json, lines)
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(
                f"{listed} is damaged ({error}); use a new --out, or bring it back"
            ) from error

    def done(self) -> set[int]:
        """Numbers of the parts that are written."""
        found = (self._name.fullmatch(entry.name) for entry in os.scandir(self.path))
        return {int(match[1]) for match in found if match}

    def write(self, number: int, data: bytes) -> None:
        """Write the file of a part, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        _write(self._file(number), [data])

    def unreadable(self, number: int) -> int:
        """How many images of a part that is done could not be read.

        Raises:
            ValueError: its file is damaged.
            OSError: its file cannot be read.
        """
        return unreadable(self._file(number))

    def close(self) -> None:
        """Let another run have the folder."""
        self._lock.close()

    def _claim(self, settings: dict[str, Any]) -> None:
        """Write the record, or compare with the one that is there."""
        record = self.path / _RECORD
        if record.exists():
            _compare(self.path, _settings_of(record), settings)
        else:
            text = json.dumps({"format": _FORMAT, "settings": settings}, indent=2) + "\n"
            _write(record, [text.encode()])
        for left in self.path.glob(f".*{_UNFINISHED}"):
            left.unlink()

    def _file(self, number: int) -> Path:
        return self.path / f"part-{number:06d}.{self._suffix}"


def _refuse_foreign(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; --out is a folder")
    if path.is_dir() and not (path / _RECORD).exists():
        ours = (_LOCK, _unfinished(path / _RECORD).name)
        if any(entry.name not in ours for entry in path.iterdir()):
            raise ValueError(f"{path} holds other files; give an empty or a new folder as --out")


def _lock(path: Path) -> IO[bytes]:
    """Hold a file that the system lets go when this process ends, whatever way it does."""
    file = (path / _LOCK).open("ab")
    with suppress(ImportError, OSError):  # not on Windows, nor on every network file system
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ValueError(f"another run writes into {path}; wait for it or stop it") from None
    return file


def _settings_of(record: Path) -> dict[str, Any]:
    try:
        values = json.loads(record.read_text(encoding="utf-8"))
        if values["format"] != _FORMAT:
            raise ValueError
        settings: dict[str, Any] = values["settings"]
        return dict(settings)
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"{record} does not describe a run of vit-str read; give another --out"
        ) from None


def _compare(path: Path, here: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in {**here, **asked}:
        before, now = here.get(name), asked.get(name)
        if before != now:
            raise ValueError(
                f"{path} was begun with {name} {_shown(before)}, not {_shown(now)}; "
                "take what it was begun with, or another --out"
            )


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _check_size(part: Part) -> None:
    """Refuse an archive that is another one now; one that is gone is noticed when it is read."""
    if part.kind is Kind.FILES:
        return
    with suppress(OSError):
        size = os.stat(part.names[0]).st_size
        if size != part.size:
            raise ValueError(
                f"{part.names[0]} was changed: {part.size} bytes when this run began, {size} now; "
                "bring it back, or use a new --out"
            )


def _compressed(parts: Iterable[Part]) -> Iterator[bytes]:
    """Lines of JSON as members of one gzip file, in pieces."""
    lines: list[str] = []
    for part in parts:
        lines.append(f"{part.to_json()}\n")
        if len(lines) == 64:
            yield gzip.compress("".join(lines).encode(), mtime=0)
            lines = []
    yield gzip.compress("".join(lines).encode(), mtime=0)


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file at once or not at all, and not only into the memory of the system."""
    unfinished = _unfinished(path)
    try:
        with unfinished.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}{_UNFINISHED}")
