"""What the metadata of a weights file may say: checked before anything is built from it.

Whoever made the file may be mistaken or hostile: sizes, depths and types have limits, and the
tensors in the file must be able to hold what is described.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

_MAX_CHARACTERS = 100_000
_MAX_IMAGE_PIXELS = 1 << 20
_MAX_TOKENS = 1 << 13
_MAX_STAGES = 16
_MAX_NUMBER = 10_000.0  # of a mean or standard deviation of pixels; the latter not below 1 / this

# Arguments of encoders and decoders that are whole numbers, or lists of them, and the largest.
_LARGEST = {
    "charset_size": _MAX_CHARACTERS,
    "dim": 8192,
    "depth": 1000,
    "heads": 1024,
    "maximum_length": 1000,
    "registers": 1000,
    "orders": 1000,
    "refinements": 100,
    "reach": 16,
    "image_size": _MAX_IMAGE_PIXELS,
    "patch_size": 4096,
    "widths": 8192,
    "stem_widths": 8192,
    "depths": 1000,
    "stem_depths": 1000,
    "strides": 64,
    "pools": 64,
}
_LISTS = {"image_size", "patch_size", "widths", "stem_widths", "depths", "stem_depths"}
_NESTING = dict.fromkeys(_LISTS, 1) | {"strides": 2, "pools": 2}
_FLOATS = {"mlp_ratio": 64.0, "dropout": 1.0, "label_smoothing": 1.0}
_BOOLS = {"class_token", "bidirectional"}
_NAMES = {"positions", "cell", "attention", "decoding"}


def parsed(text: str) -> Any:
    """The value of a JSON text, None for numbers that are none.

    Raises:
        ValueError: it is no JSON, or nested too deep.
    """
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("nested too deep") from None


def check_description(model: Any, shapes: Mapping[str, Sequence[int]]) -> None:
    """Check the description of a model.

    Args:
        model: as ``vit_str.models.build`` takes it.
        shapes: of the tensors in the file, by their names.

    Raises:
        ValueError: it is not one, or asks for more than a model may or the tensors can hold.
    """
    if not isinstance(model, dict) or model.keys() != {"encoder", "decoder"}:
        raise ValueError("a model is described by an encoder and a decoder")
    for part, description in model.items():
        _check_part(description, part, len(shapes))
    size = _innermost(model["encoder"]).get("image_size", (32, 128))
    if math.prod(size) > _MAX_IMAGE_PIXELS:
        raise ValueError(f"images of {size} are larger than {_MAX_IMAGE_PIXELS:,} pixels")
    sides = {1, *(side for shape in shapes.values() for side in shape)}
    for description in model.values():
        for name in ("dim", "widths", "stem_widths"):
            values = _innermost(description).get(name, [])
            for width in values if isinstance(values, list) else [values]:
                if width not in sides:
                    raise ValueError(f"{name} {width} is the size of no tensor in the file")


def check_tokens(
    grid: tuple[int, int], image_size: tuple[int, int], found: tuple[int, int]
) -> None:
    """Check what an encoder makes of an image, and that preprocessing gives it such images."""
    if math.prod(grid) > _MAX_TOKENS:
        raise ValueError(f"an encoder of {grid} tokens, at most {_MAX_TOKENS:,} are read")
    if tuple(image_size) != found:
        raise ValueError(f"images of {found} for a model of {tuple(image_size)} (height, width)")


def check_charset(characters: str, size: int) -> None:
    """Check that the model writes the characters of the charset."""
    if len(characters) != size:
        raise ValueError(f"a model of {size} characters with a charset of {len(characters)}")


def check_preprocessing(values: Any) -> None:
    """Check the types and the range of the numbers; the rest is for ``Preprocessing``."""
    if not isinstance(values, dict):
        raise ValueError("preprocessing is no object")
    for name in ("height", "width"):
        if name in values:
            _check_whole(name, values[name], _MAX_IMAGE_PIXELS)
    for name, least in (("mean", 0.0), ("std", 1 / _MAX_NUMBER)):
        for value in values.get(name) or ():
            if not (isinstance(value, int | float) and least <= abs(value) <= _MAX_NUMBER):
                raise ValueError(f"{name} holds {_short(value)}, no number to divide pixels by")


def _check_part(description: Any, part: str, tensors: int, nested: bool = False) -> None:
    if not isinstance(description, dict) or description.keys() != {"class", "arguments"}:
        raise ValueError(f"{part} is described by its class and arguments")
    name, arguments = description["class"], description["arguments"]
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ValueError(f"{part} is described by the name of its class and named arguments")
    for argument, value in arguments.items():
        if argument == "encoder" and part == "encoder" and not nested:
            _check_part(value, part, tensors, nested=True)
        else:
            _check_argument(argument, value)
    for argument in ("depth", "depths", "stem_depths"):
        blocks = arguments.get(argument, 0)
        blocks = sum(blocks) if isinstance(blocks, list) else blocks
        if blocks > tensors:
            raise ValueError(f"{part}.{argument} {_short(blocks)} for {tensors} tensors")


def _check_argument(name: str, value: Any) -> None:
    if name in _LARGEST:
        numbers = [value]
        for _ in range(_NESTING.get(name, 0)):
            numbers = [item for each in numbers for item in _list(name, each)]
        for number in numbers:
            _check_whole(name, number, _LARGEST[name])
    elif name in _FLOATS:
        if type(value) not in (int, float) or not 0 <= value <= _FLOATS[name]:
            raise ValueError(f"{name} is a number from 0 to {_FLOATS[name]:g}, not {_short(value)}")
    elif name in _BOOLS | _NAMES:
        if type(value) is not (bool if name in _BOOLS else str):
            raise ValueError(f"{name} cannot be {_short(value)}")
    else:
        raise ValueError(f"no part has an argument {_short(name)}")


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MAX_STAGES:
        raise ValueError(f"{name} is a list of at most {_MAX_STAGES}, not {_short(value)}")
    return value


def _check_whole(name: str, value: Any, largest: int) -> None:
    least = 0 if name in ("registers", "refinements", "reach", "depth", "depths") else 1
    if type(value) is not int or not least <= value <= largest:
        raise ValueError(f"{name} is a whole number up to {largest:,}, not {_short(value)}")


def _innermost(description: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the part, or of the encoder within it."""
    arguments: dict[str, Any] = description["arguments"]
    return _innermost(arguments["encoder"]) if "encoder" in arguments else arguments


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 1e15 else "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."
