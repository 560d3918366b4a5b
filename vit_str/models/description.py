"""Models as plain values, for weights files: a name from a known table, and its arguments."""

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from torch import nn

from vit_str.models.decoders.ctc import CtcDecoder
from vit_str.models.decoders.parallel import ParallelDecoder
from vit_str.models.decoders.permuted import PermutedDecoder
from vit_str.models.decoders.recurrent import RecurrentDecoder
from vit_str.models.decoders.transformer import TransformerDecoder
from vit_str.models.encoders.conv import ConvolutionalEncoder
from vit_str.models.encoders.line import LineTransformer
from vit_str.models.encoders.recurrent import ColumnEncoder, RecurrentEncoder
from vit_str.models.encoders.vgg import PlainConvolutionalEncoder
from vit_str.models.encoders.vit import VisionTransformer
from vit_str.models.interfaces import Decoder, Encoder
from vit_str.models.recognizer import Recognizer

Part = TypeVar("Part", bound=nn.Module)

ENCODERS: dict[str, type[Encoder]] = {
    part.__name__: part
    for part in (
        ColumnEncoder,
        ConvolutionalEncoder,
        LineTransformer,
        PlainConvolutionalEncoder,
        RecurrentEncoder,
        VisionTransformer,
    )
}
DECODERS: dict[str, type[Decoder]] = {
    part.__name__: part
    for part in (
        CtcDecoder,
        ParallelDecoder,
        PermutedDecoder,
        RecurrentDecoder,
        TransformerDecoder,
    )
}


def describe(recognizer: Recognizer) -> dict[str, Any]:
    """Names and arguments of the parts; every part keeps its arguments under their own names.

    Arguments that a part takes by keyword only are younger than published weights: at their default
    they are left out, and descriptions, by which graphs are found, stay what they were.
    """
    return {
        "encoder": _describe(recognizer.encoder),
        "decoder": _describe(recognizer.decoder),
    }


def build(description: dict[str, Any]) -> Recognizer:
    """The model of a description, with fresh weights.

    Raises:
        ValueError: for names of parts, or arguments, that this version does not know.
    """
    try:
        encoder = description["encoder"]
        decoder = description["decoder"]
        return Recognizer(_build(encoder, ENCODERS), _build(decoder, DECODERS))
    except (KeyError, TypeError) as error:
        raise ValueError(f"this model description does not fit: {error}") from error


def _describe(part: nn.Module) -> dict[str, Any]:
    parameters = inspect.signature(type(part)).parameters.values()
    values = {each.name: getattr(part, each.name) for each in parameters}
    arguments = {
        each.name: values[each.name]
        for each in parameters
        if each.kind is not each.KEYWORD_ONLY or values[each.name] != each.default
    }
    return {
        "class": type(part).__name__,
        "arguments": {
            name: _describe(value) if isinstance(value, nn.Module) else value
            for name, value in arguments.items()
        },
    }


def _build(description: dict[str, Any], known: Mapping[str, type[Part]]) -> Part:
    name = description["class"]
    if name not in known:
        raise ValueError(f"unknown part {name!r}; known are {', '.join(sorted(known))}")
    arguments = {
        key: _argument(value) for key, value in description["arguments"].items()
    }
    return known[name](**arguments)


def _argument(value: Any) -> Any:
    """An encoder within an encoder, or a plain value; lists of JSON and YAML become tuples."""
    if isinstance(value, dict):
        return _build(value, ENCODERS)
    return tuple(map(_argument, value)) if isinstance(value, list) else value
