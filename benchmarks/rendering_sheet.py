"""The same words as several renderers draw them, side by side."""

from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

_SCALE = 2
_HEIGHT = 32 * _SCALE
_WIDTH = 128 * _SCALE
_GAP = 8
_COLUMNS = 2
_TITLE = 40


def sheet(drawn: Mapping[str, Sequence[Image.Image]]) -> Image.Image:
    """A block of pictures for every title, the same word in the same place of each.

    Pictures are shown at twice their size; those wider than 128 pixels are squeezed to that.
    """
    longest = max(map(len, drawn.values()))
    rows = -(-longest // _COLUMNS)
    block = _COLUMNS * (_WIDTH + _GAP) + 3 * _GAP
    size = len(drawn) * block, _TITLE + rows * (_HEIGHT + _GAP)
    whole = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(whole)
    font = ImageFont.load_default(18)
    for number, (title, images) in enumerate(drawn.items()):
        left = number * block
        pen.text((left + _GAP, _GAP), title, fill="black", font=font)
        for place, image in enumerate(images):
            row, column = divmod(place, _COLUMNS)
            corner = (
                left + _GAP + column * (_WIDTH + _GAP),
                _TITLE + row * (_HEIGHT + _GAP),
            )
            width = min(_WIDTH, image.width * _SCALE)
            whole.paste(
                image.resize((width, _HEIGHT), Image.Resampling.BICUBIC), corner
            )
    return whole
