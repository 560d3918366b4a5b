"""Where pooled keys truly lie.

A convolution as wide as its stride takes the mean place of the tokens that it covers; a wider one
that is centered on every second token stays at these tokens.
"""

from vit_str.analysis.geometry import TokenGrid

_LINEAR_KEYS = 7  # rows and columns that the linear kind of PVT v2 pools all tokens to


def first_grid(image_size: tuple[int, int], stride: tuple[int, int]) -> TokenGrid:
    """The tokens of the first stage, which divide the image evenly.

    Raises:
        ValueError: they do not divide it evenly.
    """
    (height, width), (down, across) = image_size, stride
    if height % down or width % across:
        raise ValueError(
            f"images of {height} x {width} do not divide into tokens of {down} x "
            f"{across} pixels"
        )
    return TokenGrid(height // down, width // across, (down, across))


def pooled_keys(grid: TokenGrid, ratio: int) -> TokenGrid | None:
    """Keys that are pooled by a convolution as wide as its stride; None where they are not."""
    return grid.pooled(ratio, ratio) if ratio > 1 else None


def linear_keys(grid: TokenGrid) -> TokenGrid:
    """Keys of the linear kind of PVT v2, the same number whatever the number of tokens.

    Raises:
        ValueError: the tokens do not divide evenly among the keys.
    """
    if grid.rows % _LINEAR_KEYS or grid.columns % _LINEAR_KEYS:
        raise ValueError(
            f"{grid.rows} x {grid.columns} tokens are pooled to {_LINEAR_KEYS} x "
            f"{_LINEAR_KEYS} keys of uneven size: give images of a multiple of 224 "
            "pixels"
        )
    return grid.pooled(grid.rows // _LINEAR_KEYS, grid.columns // _LINEAR_KEYS)


def strided(grid: TokenGrid, stride: tuple[int, int]) -> TokenGrid:
    """Tokens behind a pooling whose window is centered on the tokens that it keeps.

    Raises:
        ValueError: the tokens do not divide evenly.
    """
    rows, columns = stride
    if grid.rows % rows or grid.columns % columns:
        raise ValueError(
            f"{grid.rows} x {grid.columns} tokens are not pooled evenly, by {rows} x "
            f"{columns}"
        )
    return grid.strided(rows, columns)
