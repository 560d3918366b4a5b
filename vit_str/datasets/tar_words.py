"""Words in a tar archive: the files of one stem that follow each other."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from vit_str.datasets.label_lines import LABELS, BadLine, boxes_of, decoded, encoded, text_under
from vit_str.datasets.source import Reason, Skipped
from vit_str.datasets.tar_members import Bytes, Member, members
from vit_str.datasets.word import LabeledWord

_LABEL, _VALUES, _CLASS = ".txt", ".json", ".cls"
_LARGEST = 1 << 29
"""Most bytes of a file; no picture of a word has more."""


@cache
def _image_endings() -> frozenset[str]:
    from vit_str.images import SUFFIXES

    return frozenset(SUFFIXES)


@dataclass(slots=True)
class _Group:
    """Files of one stem: ending -> where they are, and what they hold once it is read."""

    stem: str
    start: int
    files: dict[str, Member] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    trouble: str = ""

    def image(self) -> str | None:
        """The ending of the image."""
        return next((ending for ending in self.files if ending in _image_endings()), None)

    @property
    def whole(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.image() is not None and not self.files.keys().isdisjoint({_LABEL, _VALUES})

    @property
    def is_word(self) -> bool:
        """Whether there is anything of a word."""
        labels = {_LABEL, _VALUES, _CLASS}
        return bool(self.trouble) or self.image() is not None or not labels.isdisjoint(self.files)


def words_of(file: Bytes, archive: str, start: int = 0) -> Iterator[LabeledWord | Skipped]:
    """The words of an archive from a place on, read from front to back.

    Args:
        file: the archive.
        archive: what to call it.
        start: where a word begins.
    """
    for group in _groups(file, start, with_content=True):
        yield _word(group, archive)


def starts_of(file: Bytes) -> Iterator[int]:
    """Where each word begins, and each part that cannot be read; only headers are read."""
    return (group.start for group in _groups(file, 0, with_content=False))


def _groups(file: Bytes, start: int, with_content: bool) -> Iterator[_Group]:
    group = None
    for member in members(file, start):
        if member.trouble:
            if group and group.whole and not _is_cut(group, file):
                yield group
                group = None
            yield _Group("", group.start if group else member.start, trouble=member.trouble)
            group = None
            continue
        stem, ending = os.path.splitext(member.name)
        if not member.name or os.path.basename(stem).startswith("."):
            continue  # a folder, or the ._ files that macOS leaves
        if group is None or stem != group.stem:
            if group and group.is_word:
                yield group
            group = _Group(stem, member.start)
        ending = ending.lower()
        group.files[ending] = member
        if with_content and ending != _CLASS:
            group.contents[ending] = file.read(member.data, min(member.size, _LARGEST))
    if group and group.is_word:
        yield group


def _is_cut(group: _Group, file: Bytes) -> bool:
    """Whether the archive ends inside the last file of a group."""
    ending, member = list(group.files.items())[-1]
    if ending in group.contents:
        return len(group.contents[ending]) < min(member.size, _LARGEST)
    return member.size > 0 and not file.read(member.data + member.size - 1, 1)


def _word(group: _Group, archive: str) -> LabeledWord | Skipped:
    if group.trouble:
        return Skipped(f"{archive}, byte {group.start:,}", Reason.DAMAGED, group.trouble)
    image = group.image()
    name = f"{archive}/{group.stem}{image or ''}"
    for ending, member in group.files.items():
        if len(group.contents.get(ending, b"")) < member.size and ending != _CLASS:
            why = "too large" if member.size > _LARGEST else "the archive ends inside"
            return Skipped(name, Reason.DAMAGED, f"{member.name}: {why}")
    if image is None:
        found = ", ".join(group.files)
        return Skipped(name, Reason.MISSING, f"found {found} and no image of this stem next to it")
    try:
        values = _json(group.contents.get(_VALUES))
        label = _label(group, values)
    except BadLine as error:
        return Skipped(name, error.reason, error.detail)
    return LabeledWord(group.contents[image], label, boxes_of(values), name)


def _label(group: _Group, values: dict[str, Any]) -> str:
    """From ``.txt``, or else from ``.json``; one end of line is no part of it."""
    if _LABEL in group.contents:
        line = group.contents[_LABEL]
        return decoded(line.removesuffix(b"\n").removesuffix(b"\r") if line[-1:] == b"\n" else line)
    text = text_under(values, LABELS)
    if text is not None:
        return decoded(encoded(text))
    if _VALUES in group.contents:
        raise BadLine(Reason.NO_LABEL, f"no text under {', '.join(LABELS)} in its .json")
    if _CLASS in group.files:
        raise BadLine(Reason.NO_LABEL, "a .cls holds the number of a class; give a .txt")
    raise BadLine(Reason.NO_LABEL, "no .txt or .json of this stem next to it")


def _json(content: bytes | None) -> dict[str, Any]:
    if content is None:
        return {}
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadLine(Reason.DAMAGED, f"its .json: {error}") from None
    return values if isinstance(values, dict) else {}
