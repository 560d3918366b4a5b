"""Why the attention of a model of another library is not measured."""

import re

from torch import nn

_NO_ATTENTION = "it has no self-attention"
_POOLED_KEYS = "its keys are pooled, by layers that the lab does not know"
_POOLED_QUERIES = (
    "its queries are pooled between stages, by layers that the lab does not know"
)
_MASK_UNITS = "its tokens are in the order of mask units, not of rows and columns"
_SOME_BLOCKS = "only some of its blocks have attention, between convolutions"
_OVER_CHANNELS = "its attention is over channels, not over tokens"
_LINEAR = "its attention is linear, without a softmax over tokens"
_ANY_SIZE = "it takes patches together with their places, not images of one size"
_WINDOWS_AND_GRIDS = (
    "it attends in windows and in grids of far tokens, between convolutions"
)
_OF_CLASSES = {
    "ByobNet": _SOME_BLOCKS,
    "Cait": "its heads are mixed after the softmax, so that weights may be negative",
    "CPUBone": "its tokens are pooled for attention and spread again behind it",
    "CoaT": "its attention is factorized, without a softmax over tokens for each query",
    "ConVit": "it adds attention to contents and to places, each with a softmax of its own",
    "CrossVit": "it has two branches with patches of different sizes",
    "DaVit": "half of its attention is over channels, not over tokens",
    "DeepseekVitClassifier": _ANY_SIZE,
    "DeepseekVitEncoder": _ANY_SIZE,
    "EdgeNeXt": _OVER_CHANNELS,
    "EfficientFormer": _SOME_BLOCKS,
    "EfficientFormerV2": _SOME_BLOCKS,
    "EfficientViM": "it mixes hidden states, and has no attention over tokens",
    "EfficientVit": _LINEAR,
    "EfficientVitLarge": _LINEAR,
    "EfficientVitMsra": "its heads work one after another, each on what the one before put out",
    "FastVit": _SOME_BLOCKS,
    "Gemma4VitClassifier": _ANY_SIZE,
    "Gemma4VitEncoder": _ANY_SIZE,
    "GlobalContextVit": "half of its queries are of the whole image, its keys of one window",
    "Hiera": _MASK_UNITS,
    "HieraDet": "its queries are pooled inside windows, which may hold padding",
    "IFormer": "one head attends and its output gates features, behind convolutions",
    "Levit": _POOLED_QUERIES,
    "LevitDistilled": _POOLED_QUERIES,
    "LowFormer": _SOME_BLOCKS,
    "MaxVit": _WINDOWS_AND_GRIDS,
    "MaxxVit": _WINDOWS_AND_GRIDS,
    "MetaFormer": _SOME_BLOCKS,
    "NaFlexVit": _ANY_SIZE,
    "Nest": "its tokens are kept block by block, in an order of their own",
    "NextViT": _SOME_BLOCKS,
    "PoolingVisionTransformer": "its tokens are pooled between stages, unevenly where they are odd",
    "SHViT": "one head attends on a part of the channels only, after convolutions",
    "SwiftFormer": "its attention is additive, without a softmax of queries and keys",
    "TNT": "it attends among the pixels of a token too, two kinds of attention in each layer",
    "VisionTransformerSAM": "its windows hold padding, to which its tokens attend",
    "Visformer": _SOME_BLOCKS,
    "VOLO": "its outlook attention is predicted from each token alone, without keys",
    "Xcit": _OVER_CHANNELS,
}
# Of models that come with attention and without it.
_WITH_ATTENTION = {
    "CSATv2": _SOME_BLOCKS,
    "GhostNet": "its attention is a gate of convolutions, without queries and keys",
    "MobileNetV3": _SOME_BLOCKS,
    "MobileNetV5": _SOME_BLOCKS,
    "MobileNetV5Encoder": _SOME_BLOCKS,
    "ResNet": "its attention is over channels or branches of convolutions, not over tokens",
}
_OF_TYPES = {
    "cvt": _POOLED_KEYS,
    "efficientformer": "it is convolutions up to its last stage",
    "hiera": _MASK_UNITS,
    "levit": _POOLED_QUERIES,
    "pvt": _POOLED_KEYS,
    "siglip2_vision_model": _ANY_SIZE,
    **dict.fromkeys(
        ("bit", "convnext", "convnextv2", "efficientnet", "focalnet", "mobilenet_v1"),
        _NO_ATTENTION,
    ),
    **dict.fromkeys(
        ("mobilenet_v2", "poolformer", "regnet", "resnet", "van"), _NO_ATTENTION
    ),
}
# Attention that is called by a short name only.
_NAMED = re.compile(r"att(n|ention)|MHSA|SHSA|SHMA|XCA", re.IGNORECASE)
_DIFFERENTIAL = re.compile(r"Diff(Parallel|Attention|Attn)")


def why_not(model: nn.Module, known: tuple[str, ...]) -> str:
    """Why a model is refused whose class is not among those that are ``known``."""
    kind = type(model).__name__
    if kind in _OF_CLASSES:
        return _OF_CLASSES[kind]
    if not any(_NAMED.search(type(module).__name__) for module in model.modules()):
        return _NO_ATTENTION
    if kind in _WITH_ATTENTION:
        return _WITH_ATTENTION[kind]
    return f"the lab knows the attention of {', '.join(known)} only"


def why_not_type(model_type: str, known: tuple[str, ...]) -> str:
    """The same for a type of transformers."""
    return _OF_TYPES.get(
        model_type, f"the lab knows the attention of {', '.join(known)} only"
    )


def check_softmax(model: nn.Module) -> None:
    """Refuse differential attention, which subtracts one softmax from another."""
    if any(_DIFFERENTIAL.search(type(module).__name__) for module in model.modules()):
        raise ValueError(
            f"{type(model).__name__} with differential attention is not supported: it "
            "subtracts one softmax from another, so that weights may be negative"
        )
