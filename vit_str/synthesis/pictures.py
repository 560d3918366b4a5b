"""Photographs of the user's own as backgrounds."""

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import UInt8
from torch import Tensor

from vit_str.images import SUFFIXES, Preprocessing, UnreadableImage, load_image

_SIZE = 128, 256
_MOST = 4096


def load_pictures(folders: Sequence[Path]) -> UInt8[Tensor, "picture 3 height width"]:
    """The pictures in some folders, those below them included, at one small size.

    At most 4,096 are kept, spread evenly over all in the order of their names: 400 MB. Files that
    cannot be read are passed over.

    Raises:
        ValueError: a folder is missing, or holds no picture that can be read.
    """
    paths: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"expected a folder of pictures, found no folder at {folder}")
        paths += [path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES]
    paths.sort()
    resize = Preprocessing(*_SIZE)
    pictures = []
    for path in paths[:: -(-len(paths) // _MOST) or 1]:
        try:
            pictures.append(resize.pixels(load_image(path)))
        except UnreadableImage:
            continue
    if not pictures:
        raise ValueError(f"found no readable picture in {', '.join(map(str, folders))}")
    return torch.stack(pictures)
