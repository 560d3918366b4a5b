"""Encoders, decoders and the recognizer they make: torch and einops only."""

from vit_str.models.decoders.transformer import TransformerDecoder
from vit_str.models.description import build, describe
from vit_str.models.encoders.conv import ConvolutionalEncoder
from vit_str.models.encoders.vit import VisionTransformer
from vit_str.models.hypotheses import Hypotheses
from vit_str.models.interfaces import Decoder, Encoder
from vit_str.models.recognizer import Recognizer

__all__ = [
    "ConvolutionalEncoder",
    "Decoder",
    "Encoder",
    "Hypotheses",
    "Recognizer",
    "TransformerDecoder",
    "VisionTransformer",
    "build",
    "describe",
]
