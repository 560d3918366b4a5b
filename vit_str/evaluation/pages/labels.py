"""Labels of pictures: a polygon and a text for every word or line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from vit_str.files import find_files, read_text
from vit_str.images.headers import upright_size
from vit_str.images.loading import SUFFIXES
from vit_str.pages.page import Page

_UNJUDGED = "###"


@dataclass(frozen=True, slots=True)
class Label:
    """A word or line that people have labeled; ``###`` is not judged.

    Attributes:
        polygon: its corners, x and y in pixels.
        text: what is written there.
    """

    polygon: Float[np.ndarray, "4 2"]
    text: str

    @property
    def is_judged(self) -> bool:
        """Whether it has to be found."""
        return self.text != _UNJUDGED


def labeled_pictures(folder: Path) -> list[tuple[Path, Path]]:
    """Pictures in a folder's ``images``, and the files of the same name in its ``labels``.

    Raises:
        ValueError: no pictures, or one without labels.
    """
    pictures = find_files(folder / "images", SUFFIXES)
    if not pictures:
        raise ValueError(
            f"expected pictures in {folder / 'images'}, found none; labels of whole "
            "pictures are a folder with images/ and labels/"
        )
    files = find_files(folder / "labels", (".txt", ".csv"))
    labels = {path.stem: path for path in files}
    missing = [path.name for path in pictures if path.stem not in labels]
    if missing:
        raise ValueError(f"found no labels of {missing[0]} in {folder / 'labels'}")
    return [(path, labels[path.stem]) for path in pictures]


def read_labels(path: Path) -> list[Label]:
    """Labels of one picture: eight corner coordinates and a text in every line, with commas.

    Raises:
        ValueError: a file that cannot be read, or a line that is no label.
    """
    labels = []
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read labels from {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        *corners, text = line.split(",", 8)
        try:
            polygon = np.array(corners, float).reshape(4, 2)
            if not np.isfinite(polygon).all():
                raise ValueError
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: expected eight numbers and a text, with "
                "commas between"
            ) from None
        labels.append(Label(polygon, text.strip()))
    return labels


def on_page(labels: Sequence[Label], picture: Path, page: Page) -> list[Label]:
    """Labels in pixels of the page as it was read: huge pictures are decoded at half their size.

    Args:
        labels: in pixels of the picture, upright.
        picture: the file that was read.
        page: what was read in it.
    """
    height, width = upright_size(picture) or (page.height, page.width)
    scale = np.array([page.width / width, page.height / height])
    return [replace(label, polygon=label.polygon * scale) for label in labels]
