"""Photographs of the user's own as backgrounds."""

import math
from collections.abc import Sequence
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.files import find_files
from vit_str.images.loading import SUFFIXES, load_image
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage

_SIZE = 128, 256  # height and width of a tile, in pixels
_MOST = 4096  # tiles, and files that are read
_MOST_TILES = 4  # of a picture, in each direction
_JPEG_QUALITY = 80  # 6 kB a tile

Tile = UInt8[Tensor, "3 height width"]


def load_pictures(folders: Sequence[Path]) -> UInt8[Tensor, "picture 3 height width"]:
    """The pictures in some folders as tiles of one small size, see `picture_tiles`: 400 MB at most.

    Raises:
        ValueError: a folder is missing, or there is no picture that can be read.
    """
    return torch.stack(list(map(decoded, picture_tiles(folders))))


def picture_tiles(folders: Sequence[Path]) -> list[bytes]:
    """The pictures in some folders, those below them included, as small tiles in JPEG.

    A picture gives a tile for every 512 x 256 pixels that it has, at most 16, at least one. At
    most 4,096 tiles are kept, spread evenly over all in the order of their names: 23 MB. Files
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
    tiles: list[bytes] = []
    for path in paths[:: _step(len(paths))]:
        try:
            tiles += map(_encoded, _tiles(load_image(path)))
        except UnreadableImage:
            continue
    if not tiles:
        raise ValueError(f"found no readable picture in {', '.join(map(str, folders))}")
    return tiles[:: _step(len(tiles))]


def _encoded(tile: Tile) -> bytes:
    """A tile as JPEG."""
    file = BytesIO()
    image = Image.fromarray(tile.permute(1, 2, 0).numpy())
    image.save(file, "JPEG", quality=_JPEG_QUALITY)
    return file.getvalue()


def decoded(jpeg: bytes) -> Tile:
    """The tile of a JPEG file of our own."""
    image = Image.open(BytesIO(jpeg))
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


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
