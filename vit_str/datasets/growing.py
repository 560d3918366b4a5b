"""A file that grows by whole pieces and is never left with a part of one."""

import os
from pathlib import Path


class GrowingFile:
    """Appends to a file after what is known to be whole.

    Nothing is buffered: what has been appended survives the end of the process, whatever its kind.

    Args:
        path: the file; made if it is not there.
        end: where its whole part ends, in bytes; what follows is cut off.
    """

    def __init__(self, path: Path, end: int) -> None:
        if not path.exists():
            path.touch()
        self._file = path.open("r+b", buffering=0)
        self.end = end
        self._cut()

    def append(self, data: bytes) -> None:
        """Write a piece."""
        self._write(data)
        self.end += len(data)

    def close(self, tail: bytes = b"") -> None:
        """Cut off a piece that was not written whole, and write the ``tail`` of the file."""
        try:
            self._cut()
            self._write(tail)
        finally:
            self._file.close()

    def _cut(self) -> None:
        if self._file.seek(0, os.SEEK_END) > self.end:
            self._file.truncate(self.end)
        self._file.seek(self.end)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]


def whole_lines(path: Path, most: int | None = None) -> tuple[int, int, bytes]:
    """Number of lines that end, where the last of them ends, and that line.

    Args:
        path: the file; without one there are no lines.
        most: lines to look at.
    """
    count = end = 0
    last = b""
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or count == most:
                    break
                count, end, last = count + 1, end + len(line), line
    return count, end, last
