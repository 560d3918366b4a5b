"""Encoders, decoders and the recognizer they make: torch and einops only."""

from vit_str.models.decoders.ctc import CtcDecoder
from vit_str.models.decoders.parallel import ParallelDecoder
from vit_str.models.decoders.permuted import PermutedDecoder
from vit_str.models.decoders.recurrent import RecurrentDecoder
from vit_str.models.decoders.transformer import TransformerDecoder
from vit_str.models.description import build, describe
from vit_str.models.encoders.conv import ConvolutionalEncoder
from vit_str.models.encoders.line import LineTransformer
from vit_str.models.encoders.recurrent import ColumnEncoder, RecurrentEncoder
from vit_str.models.encoders.vgg import PlainConvolutionalEncoder
from vit_str.models.encoders.vit import VisionTransformer
from vit_str.models.interfaces import Decoder, Encoder
from vit_str.models.recognizer import Recognizer

__all__ = [
    "ColumnEncoder",
    "ConvolutionalEncoder",
    "CtcDecoder",
    "Decoder",
    "Encoder",
    "LineTransformer",
    "ParallelDecoder",
    "PermutedDecoder",
    "PlainConvolutionalEncoder",
    "Recognizer",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "TransformerDecoder",
    "VisionTransformer",
    "build",
    "describe",
]
