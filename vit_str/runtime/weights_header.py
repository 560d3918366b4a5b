"""The header of a weights file: is the file complete, and is it as it was written?"""

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, BinaryIO

from vit_str.console import one_line

CHECKSUM = "sha256"
"""Name of the checksum in the metadata of a weights file."""

_LARGEST_HEADER = 10_000_000  # bytes; golden images are in a tensor
_LARGEST_FILE = 1 << 32
_LONGEST_REASON = 300  # characters
_CHUNK = 1 << 20
_FOREIGN_STARTS = {
    # Four bytes: "PK" alone also begins a safetensors file whose header has 0x4B50 bytes.
    b"PK\x03\x04": "a PyTorch checkpoint or other zip; give the .safetensors file made for reading",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
}


def checksum(file: BinaryIO) -> str:
    """SHA-256 of all that a safetensors file holds: tensors and metadata, but for the checksum.

    Not of the bytes of the file: the order of its header is free.

    Args:
        file: open at its start, and complete (``check_size``).
    """
    return _digest(_header(file), file)


def is_intact(path: Path) -> bool | None:
    """Whether a weights file is as it was written; None without a checksum."""
    with path.open("rb") as file:
        header = _header(file)
        stored = header.get("__metadata__", {}).get(CHECKSUM)
        return None if stored is None else bool(stored == _digest(header, file))


def stored_dtypes(path: Path) -> list[str]:
    """Number formats of the tensors in a weights file, as safetensors calls them."""
    return sorted({entry["dtype"] for entry in _entries(path).values()})


def stored_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the tensors in a weights file, by their names."""
    return {name: tuple(entry["shape"]) for name, entry in _entries(path).items()}


def _entries(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        header = _header(file)
    return {name: entry for name, entry in header.items() if name != "__metadata__"}


def _header(file: BinaryIO) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return header


def _digest(header: dict[str, Any], data: BinaryIO) -> str:
    metadata = header.get("__metadata__", {})
    said = {name: value for name, value in metadata.items() if name != CHECKSUM}
    described = json.dumps(header | {"__metadata__": said}, sort_keys=True)
    digest = hashlib.sha256(described.encode())
    while chunk := data.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def unusable(path: Path, reason: str) -> ValueError:
    """The error that says in one line what is wrong with a weights file."""
    reason = one_line(reason)
    if len(reason) > _LONGEST_REASON:
        reason = f"{reason[: _LONGEST_REASON // 2]} ... {reason[-_LONGEST_REASON // 2 :]}"
    return ValueError(f"weights file {one_line(str(path))}: {reason}")


def check_size(path: Path) -> None:
    """Refuse a file that is no safetensors file, or cut short.

    Raises:
        ValueError: that, or it cannot be read. One line that says what to do.
    """
    try:
        status = path.stat()
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):  # a pipe could wait for ever
            raise unusable(path, "not a file; give a .safetensors file")
        with path.open("rb") as file:
            start = file.read(64)
            header_size = int.from_bytes(start[:8], "little")
            header = file.read(max(0, header_size - 56)) if header_size <= _LARGEST_HEADER else b""
    except FileNotFoundError:
        raise unusable(path, "no such file; check the path") from None
    except OSError as error:
        raise unusable(path, f"cannot be read ({error.strerror}); check the path") from None
    for foreign, what in _FOREIGN_STARTS.items():
        if start.startswith(foreign):
            raise unusable(path, what)
    if size == 0:
        raise unusable(path, "empty; download or export it again")
    if size > _LARGEST_FILE:
        raise unusable(path, f"larger than {_LARGEST_FILE:,} bytes; no model of vit-str is")
    if header_size > _LARGEST_HEADER or start[8:9] not in (b"{", b""):
        raise unusable(path, "not a safetensors file; give one that vit-str has written")
    needed = _needed_size(header_size, (start[8:] + header)[:header_size])
    if size < needed:
        reason = f"cut short, {size:,} of {needed:,} bytes; download or export it again"
        raise unusable(path, reason)


def _needed_size(header_size: int, header: bytes) -> int:
    """Bytes of the whole file, as far as the header tells."""
    if len(header) < header_size:
        return 8 + header_size
    try:
        entries = json.loads(header)
        ends = [entry["data_offsets"][1] for name, entry in entries.items() if name[:2] != "__"]
        return 8 + header_size + max(ends, default=0)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0  # safe_open says what is wrong with it
