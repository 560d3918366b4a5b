from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def labeled_set(word_image) -> Callable[..., Path]:
    """Makes a folder with one image per label; those named missing.png are left out."""

    def make(folder: Path, labels: dict[str, str], images: str = "images") -> Path:
        (folder / images).mkdir(parents=True)
        for file, label in labels.items():
            if file != "missing.png":
                word_image(label).save(folder / images / file)
        rows = "".join(f"{file}\t{label}\n" for file, label in labels.items())
        (folder / "labels.tsv").write_text(rows, encoding="utf-8")
        return folder

    return make
