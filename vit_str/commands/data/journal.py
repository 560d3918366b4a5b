"""How far a conversion has come: a file beside the data set that it writes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from vit_str.datasets import LabeledWord, Reason, Skipped
from vit_str.datasets.growing import GrowingFile

_FORMAT = "vit-str data convert"


@dataclass(frozen=True, slots=True)
class Stage:
    """What was done when some more words had been written.

    Attributes:
        entries: words of the sources that were looked at so far.
        words: words that were written so far.
        digest: of the words that were written since the stage before.
        skipped: the words that were left out since then.
    """

    entries: int
    words: int
    digest: str
    skipped: tuple[Skipped, ...] = ()

    def line(self) -> str:
        """A line of the journal."""
        skipped = [[each.name, each.reason.name, each.detail] for each in self.skipped]
        return json.dumps([self.entries, self.words, self.digest, skipped])

    @classmethod
    def of_line(cls, line: bytes) -> Self:
        """Inverse of `line`."""
        entries, words, digest, skipped = json.loads(line)
        listed = tuple(Skipped(name, Reason[reason], detail) for name, reason, detail in skipped)
        return cls(entries, words, digest, listed)


class Journal:
    """Appends a stage whenever words have been written, and finds the last one after a cut.

    The data set itself says how many words it holds. The journal adds how many words of the
    sources that took, which differs as some are left out, so that a later run starts there
    instead of judging all of them again; and it keeps what was left out for the report, and
    digests to compare what was written with.

    Args:
        path: the file; made if it is not there.
        made_with: everything that decides which words are written.
        made_by: the program.

    Attributes:
        stages: as they are in the file.

    Raises:
        ValueError: the file is something else, or of a conversion with other arguments.
    """

    def __init__(self, path: Path, made_with: Mapping[str, Any], made_by: str) -> None:
        self.path = path
        header = {"format": _FORMAT, "made_by": made_by, "made_with": dict(made_with)}
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        if lines:
            differences = _differences(path, lines[0], header)
            if differences:
                raise ValueError(
                    f"{path} says that the conversion was begun with {differences}: give the same "
                    "arguments to go on, or another TARGET"
                )
        self.stages = [_stage(path, line) for line in lines[1:]]
        self._ends = _ends(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = GrowingFile(path, self._ends[-1] if lines else 0)
        if not lines:
            self._append(json.dumps(header, ensure_ascii=False))

    def go_back(self, words: int) -> Stage:
        """Forget stages with more words than the data set has; the last one that is left."""
        while self.stages and self.stages[-1].words > words:
            self.stages.pop()
            self._ends.pop()
        self._file.close()
        self._file = GrowingFile(self.path, self._ends[-1])
        return self.stages[-1] if self.stages else Stage(0, 0, "")

    def add(self, stage: Stage) -> None:
        """Write a stage."""
        self._append(stage.line())
        self.stages.append(stage)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: str) -> None:
        self._file.append(f"{line}\n".encode())
        self._ends.append(self._file.end)


def digest_of(words: Iterable[LabeledWord], boxes: bool) -> str:
    """Changes with any byte of an image, a label, or a box if there are some."""
    digest = hashlib.blake2b(digest_size=16)
    for word in words:
        label = word.label.encode("utf-8", "surrogatepass")
        digest.update(b"%d %d " % (len(label), len(word.image)))
        digest.update(label)
        digest.update(word.image)
        if boxes:
            digest.update(json.dumps(word.boxes).encode())
    return digest.hexdigest()


def _ends(lines: list[bytes]) -> list[int]:
    ends: list[int] = []
    for line in lines:
        ends.append((ends[-1] if ends else 0) + len(line) + 1)
    return ends


def _stage(path: Path, line: bytes) -> Stage:
    try:
        return Stage.of_line(line)
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} has been changed since it was written; write elsewhere") from None


def _differences(path: Path, line: bytes, header: dict[str, Any]) -> str:
    """What another conversion was made with, in words; empty if this is it."""
    try:
        old = json.loads(line)
        if old["format"] != _FORMAT:
            raise ValueError
        before = old["made_with"]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is no journal of {_FORMAT}; write elsewhere") from None
    now = json.loads(json.dumps(header["made_with"]))
    names = [*before, *(name for name in now if name not in before)]
    said = [
        f"{name} {_say(before.get(name))}, not {_say(now.get(name))}"
        for name in names
        if before.get(name) != now.get(name)
    ]
    return "; ".join(said)


def _say(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return "none" if value is None else text if len(text) < 80 else f"{text[:77]}..."
