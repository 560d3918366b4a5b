"""The note beside a data set that is being written, by which the same command goes on with it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from vit_str import console
from vit_str.datasets.rules import SkipReport
from vit_str.datasets.source import DatasetWriter, LabeledWord, Layout
from vit_str.files import exclusive

_LONGEST_VALUE = 60  # characters of an argument in a message


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a data set is written."""

    words: int = 0  # that are written
    # Of the writer, after these words
    position: Mapping[str, int] = field(default_factory=dict)
    # Of the `SkipReport`, about the words that were left out before and between these
    report: Mapping[str, Any] = field(default_factory=dict)


class Unfinished:
    """A file beside a data set, while it is not finished: what makes it, and how far it is.

    A line of JSON with the arguments, then one for each `Progress`. Lines are only ever appended,
    so that a process that is killed leaves the one before.

    Attributes:
        progress: how far the run before came; None in the first.
    """

    def __init__(self, path: Path, made_with: Mapping[str, Any]) -> None:
        self.path = path
        lines = _lines(path)
        self.progress: Progress | None = None
        if lines:
            _refuse_other(path, lines[0], json.loads(json.dumps(dict(made_with))))
            self.progress = Progress(**lines[-1]) if len(lines) > 1 else Progress()
        self._file = path.open("ab")
        if not lines:
            self._file.truncate(0)
            self._append(dict(made_with))

    @classmethod
    @contextmanager
    def beside(
        cls, target: Path, writer: type[DatasetWriter], made_with: Mapping[str, Any]
    ) -> Iterator[Self]:
        """The note beside a data set; it is removed when the block ends without an error.

        Args:
            target: the path of the data set.
            writer: what is to write it.
            made_with: all that decides which words it holds, as values of JSON.

        Raises:
            ValueError: a finished data set is there, or one that was begun with something else, or
                another process writes it.
        """
        refuse_finished(target, writer)
        path = note_of(target)
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(path):
            note = cls(path, made_with)
            if note.progress is not None:
                console.warn(f"{target}: going on after {note.progress.words:,} words")
            try:
                yield note
            finally:
                note._file.close()
        path.unlink()

    def writer(
        self,
        writer: type[DatasetWriter],
        target: Path,
        layout: Layout,
    ) -> DatasetWriter:
        """A writer that continues the data set from where it stands."""
        if self.progress is None:
            return writer(target, layout)
        return writer(target, layout, self.progress.position, self.progress.words)

    def fill(
        self,
        writer: DatasetWriter,
        batches: Iterable[Sequence[LabeledWord]],
        report: SkipReport | None = None,
    ) -> None:
        """Write words and note after each batch how far the data set is.

        Args:
            writer: of the data set.
            batches: the words that are not there yet.
            report: holds the words that were left out before and between those of each batch.

        Raises:
            OSError: if it cannot be written, as on a full disk; it names the file.
        """
        written = writer.done
        try:
            for words in batches:
                writer.add(words)
                position = writer.position()
                if position is not None:
                    written = writer.done
                    left_out = report.state() if report else {}
                    self._append(asdict(Progress(written, position, left_out)))
        except KeyboardInterrupt:
            console.warn(
                f"{writer.path}: stopped after {written:,} words; the same command "
                "goes on"
            )
            raise
        except OSError as error:
            if error.filename is not None or error.errno is None:
                raise
            raise OSError(error.errno, error.strerror, str(writer.path)) from error

    def _append(self, values: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(values).encode() + b"\n")
            self._file.flush()
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def note_of(target: Path) -> Path:
    """Where the note of a data set is while it is not finished."""
    return target.with_name(f"{target.name}.unfinished")


def refuse_finished(target: Path, writer: type[DatasetWriter]) -> None:
    """Raise a ValueError if there is something that was not left unfinished."""
    if not note_of(target).exists():
        writer.refuse_existing(target)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a note; the last may be cut."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    try:
        # All but the first and the last of maybe thousands are of no interest.
        lines = whole.splitlines()
        ends = lines if len(lines) < 2 else [lines[0], lines[-1]]
        return [json.loads(line) for line in ends]
    except (ValueError, RecursionError):
        raise ValueError(
            f"{path}: damaged; remove it and what it stands beside"
        ) from None


def _refuse_other(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    other = [
        f"{name} {_shown(before.get(name))}, not {_shown(now.get(name))}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]
    if other:
        target = path.with_suffix("")
        raise ValueError(
            f"{target} was begun with {'; '.join(other)}: give the same to go on "
            f"with it, or remove it and {path.name} to begin anew"
        )


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
