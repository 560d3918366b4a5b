"""Members of a tar archive one after the other, around what is damaged."""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

_BLOCK = tarfile.BLOCKSIZE
# Fields of a header (POSIX.1-1988).
_SIZE, _SUM, _KIND = slice(124, 136), slice(148, 156), slice(156, 157)
_MAGIC, _PREFIX = slice(257, 263), slice(345, 500)
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_ABOUT_THE_NEXT = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(*_PAX, tarfile.XGLTYPE),
)
_LONGEST_HEADER, _LARGEST, _DIGITS = 1 << 20, 1 << 50, 18


class Bytes(Protocol):
    """What members are read from."""

    def read(self, start: int, size: int) -> bytes:
        """At most ``size`` bytes from a place on; less only at the end."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, or a part of the archive that cannot be read.

    Attributes:
        name: of the file; empty for anything else, such as a folder.
        start: where its header begins, in bytes.
        data: where its content begins.
        size: of its content.
        trouble: why this part cannot be read, in one line; empty for a member.
    """

    name: str
    start: int
    data: int
    size: int
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Header:
    name: bytes
    size: int
    kind: bytes


class _End(Exception):  # noqa: N818
    """The empty block that closes an archive."""


class _Cut(Exception):  # noqa: N818
    """The archive ends where a header should be."""


class _Damaged(Exception):  # noqa: N818
    """This is no header."""


def members(file: Bytes, start: int = 0) -> Iterator[Member]:
    """Members from a place on; their content is not read.

    After a damaged header, the next one that is whole is looked for. An archive that ends without
    empty blocks was cut, even between two members.

    Args:
        file: the archive.
        start: where a member begins.
    """
    while True:
        try:
            member, start = _member(file, start)
        except _End:
            return
        except _Cut:
            yield Member("", start, start, 0, f"cut at its end, after byte {start:,}")
            return
        except _Damaged:
            after = _next_header(file, start + _BLOCK)
            lost = "to the end" if after is None else f"to {after:,}"
            yield Member("", start, start, 0, f"damaged from byte {start:,} {lost}")
            if after is None:
                return
            start = after
        else:
            yield member


def _member(file: Bytes, start: int) -> tuple[Member, int]:
    """A member and where the next one begins."""
    place, name, size = start, None, None
    while True:
        header = _header(file.read(place, _BLOCK))
        data = place + _BLOCK
        place = data + -(-header.size // _BLOCK) * _BLOCK
        if header.kind not in _ABOUT_THE_NEXT:
            break
        if header.size > _LONGEST_HEADER:
            raise _Damaged
        content = file.read(data, header.size)
        if header.kind == tarfile.GNUTYPE_LONGNAME:
            name = content.rstrip(b"\0")
        elif header.kind in _PAX:
            values = _pax(content)
            name, size = values.get(b"path", name), values.get(b"size", size)
    length = header.size if size is None else _number(size, 10)
    place = data + -(-length // _BLOCK) * _BLOCK
    name = header.name if name is None else name
    plain = header.kind in _FILES and not name.endswith(b"/")
    text = name.decode("utf-8", "surrogateescape") if plain else ""
    return Member(text, start, data, length), place


def _header(block: bytes) -> _Header:
    """What a block says, if it adds up. ``TarInfo`` reads ten times as much of it."""
    if len(block) < _BLOCK:
        raise _Cut
    if block.count(0) == _BLOCK:
        raise _End
    field = block[_SUM]
    # The field itself counts as eight spaces.
    if _number(field, 8) != sum(block) - sum(field) + 8 * ord(" "):
        raise _Damaged
    name = block[:100].partition(b"\0")[0]
    prefix = block[_PREFIX].partition(b"\0")[0] if block[_MAGIC] == b"ustar\0" else b""
    return _Header(prefix + b"/" + name if prefix else name, _number(block[_SIZE], 8), block[_KIND])


def _number(field: bytes, base: int) -> int:
    """Digits, or bytes after a mark if there are too many of them."""
    try:
        many = field[:1] == b"\x80"
        value = int.from_bytes(field[1:]) if many else int(field.strip(b" \0") or b"0", base)
    except ValueError:
        raise _Damaged from None
    if not 0 <= value < _LARGEST:
        raise _Damaged
    return value


def _pax(content: bytes) -> dict[bytes, bytes]:
    """Records ``length key=value``, where the length counts all of a record (POSIX.1-2001)."""
    values = {}
    while content:
        digits, space, _ = content.partition(b" ")
        length = _number(digits[:_DIGITS], 10)
        if not space or not len(digits) < length <= len(content):
            raise _Damaged
        key, _, value = content[len(digits) + 1 : length - 1].partition(b"=")
        values[key] = value
        content = content[length:]
    return values


def _next_header(file: Bytes, start: int) -> int | None:
    """Where the next header begins, in whole blocks from ``start`` on; None without any."""
    while block := file.read(start, _BLOCK):
        if block[_MAGIC].startswith(b"ustar"):
            try:
                _header(block)
            except (_Damaged, _Cut):
                pass
            else:
                return start
        start += _BLOCK
    return None
