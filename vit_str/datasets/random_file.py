"""A file that is read at any place, by any thread, and after a fork."""

import os
import threading
import weakref
from pathlib import Path


class RandomFile:
    """Bytes of a file by where they are.

    The file is opened when it is first read, and closed with this object. There is no position
    that processes or threads could move for each other. Pickled, it is only the path.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> Path:
        return self.path

    def __setstate__(self, path: Path) -> None:
        self.__init__(path)  # type: ignore[misc]

    def __len__(self) -> int:
        return os.fstat(self._open()).st_size

    def read(self, start: int, size: int) -> bytes:
        """At most ``size`` bytes; less only at the end of the file.

        Raises:
            OSError: it cannot be read.
        """
        parts = []
        while size > 0:
            part = self._read(start, size)
            if not part:
                break
            parts.append(part)
            start, size = start + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read(self, start: int, size: int) -> bytes:
        descriptor = self._open()
        if hasattr(os, "pread"):
            return os.pread(descriptor, size, start)
        with self._lock:  # Windows
            os.lseek(descriptor, start, os.SEEK_SET)
            return os.read(descriptor, size)

    def _open(self) -> int:
        with self._lock:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
                weakref.finalize(self, os.close, self._descriptor)
            return self._descriptor
