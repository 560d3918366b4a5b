"""Archives of word images, as users have them."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def png(word_image) -> Callable[[str], bytes]:
    """A word as the bytes of a PNG file."""

    def encode(text: str) -> bytes:
        file = io.BytesIO()
        word_image(text, size=(60, 24)).save(file, "PNG")
        return file.getvalue()

    return encode


@pytest.fixture
def tar_of() -> Callable[..., Path]:
    """Writes an archive of (name, bytes)."""

    def write(path: Path, members: list[tuple[str, bytes]], **options: object) -> Path:
        with tarfile.open(path, "w", **options) as archive:
            for name, data in members:
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        return path

    return write
