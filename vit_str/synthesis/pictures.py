"""Photographs of the user's own as backgrounds."""

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.files import find_files
from vit_str.runtime.images import SUFFIXES, UnreadableImage, load_image
from vit_str.runtime.preprocessing import Preprocessing

_SIZE = 128, 256  # height and width of a tile, in pixels
_MOST = 4096  # tiles, and files that are read
_MOST_TILES = 4  # of a picture, in each direction


def load_pictures(folders: Sequence[Path]) -> UInt8[Tensor, "picture 3 height width"]:
    """The pictures in some folders, those below them included, as tiles of one small size.

    A picture gives a tile for every 512 x 256 pixels that it has, at most 16, at least one. At
    most 4,096 tiles are kept, spread evenly over all in the order of their names: 400 MB. Files
    that cannot be read are skipped.

    Raises:
        ValueError: a folder is missing, or there is no picture that can be read.
    """
    paths: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(
                f"expected a folder of pictures, found no folder at {folder}"
            )
        paths += find_files(folder, SUFFIXES)
    paths.sort()
    tiles: list[Tensor] = []
    for path in paths[:: _step(len(paths))]:
        try:
            tiles += _tiles(load_image(path))
        except UnreadableImage:
            continue
    if not tiles:
        raise ValueError(f"found no readable picture in {', '.join(map(str, folders))}")
    return torch.stack(tiles[:: _step(len(tiles))])


def _step(count: int) -> int:
    """Step between the pictures to keep: at most ``_MOST`` of so many, spread evenly."""
    return max(1, math.ceil(count / _MOST))


def _tiles(image: Image.Image) -> list[Tensor]:
    """The parts of a picture, without a rest, from left to right and top to bottom."""
    tile_height, tile_width = _SIZE
    columns = _tile_count(image.width, tile_width)
    rows = _tile_count(image.height, tile_height)
    width = image.width / columns
    height = image.height / rows
    resize = Preprocessing(*_SIZE)
    tiles = []
    for row, column in product(range(rows), range(columns)):
        left = round(column * width)
        top = round(row * height)
        tile = image.crop((left, top, left + round(width), top + round(height)))
        tiles.append(resize.pixels(tile))
    return tiles


def _tile_count(side: int, tile: int) -> int:
    """Into how many tiles a side is cut: parts of it become at most half as large."""
    return min(max(side // (2 * tile), 1), _MOST_TILES)
