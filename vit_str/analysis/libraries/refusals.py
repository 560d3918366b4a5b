"""Why the attention of a model of another library is not measured."""

import re

from torch import nn

NO_ATTENTION = "it has no self-attention"
_POOLED_KEYS = "its keys are pooled, by layers that the lab does not know"
_POOLED_QUERIES = (
    "its queries are pooled between stages, by layers that the lab does not know"
)
_IN_TIMM = "the lab knows its layers in timm only"
_MIXED_HEADS = "its heads are mixed after the softmax, so that weights may be negative"
_RUNS_OF_KEYS = "its keys are means of runs of tokens, which are no rows and columns"
_SHARED_KEYS = "its heads share one key, in layers that the lab does not know"
_OTHER_BLOCKS = "some of its blocks have attention, of kinds that the lab does not know"
_OVER_CHANNELS = "its attention is over channels, not over tokens"
_LINEAR = "its attention is linear, without a softmax over tokens"
_ANY_SIZE = "it takes patches together with their places, not images of one size"
_OF_CLASSES = {
    "ByobNet": _OTHER_BLOCKS,
    "Cait": _MIXED_HEADS,
    "CPUBone": "its tokens are pooled for attention and spread again behind it",
    "CoaT": "its attention is factorized, without a softmax over tokens for each query",
    "ConVit": "it adds attention to contents and to places, each with a softmax of its own",
    "CrossVit": "it has two branches with patches of different sizes",
    "DaVit": "half of its attention is over channels, not over tokens",
    "DeepseekVitClassifier": _ANY_SIZE,
    "DeepseekVitEncoder": _ANY_SIZE,
    "EdgeNeXt": _OVER_CHANNELS,
    "EfficientFormerV2": _MIXED_HEADS,
    "EfficientViM": "it mixes hidden states, and has no attention over tokens",
    "EfficientVit": _LINEAR,
    "EfficientVitLarge": _LINEAR,
    "EfficientVitMsra": "its heads work one after another, each on what the one before put out",
    "Gemma4VitClassifier": _ANY_SIZE,
    "Gemma4VitEncoder": _ANY_SIZE,
    "GlobalContextVit": "half of its queries are of the whole image, its keys of one window",
    "HieraDet": "its queries are pooled inside windows, which may hold padding",
    "IFormer": "one head attends and its output gates features, behind convolutions",
    "Levit": _POOLED_QUERIES,
    "LevitDistilled": _POOLED_QUERIES,
    "LowFormer": "its tokens are pooled for attention and spread again behind it",
    "NaFlexVit": _ANY_SIZE,
    "NextViT": _RUNS_OF_KEYS,
    "PoolingVisionTransformer": "its tokens are pooled between stages, unevenly where they are odd",
    "SHViT": "one head attends on a part of the channels only, after convolutions",
    "SwiftFormer": "its attention is additive, without a softmax of queries and keys",
    "TNT": "it attends among the pixels of a token too, two kinds of attention in each layer",
    "VisionTransformerSAM": "its windows hold padding, to which its tokens attend",
    "VOLO": "its outlook attention is predicted from each token alone, without keys",
    "Xcit": _OVER_CHANNELS,
}
# Of models that come with attention and without it.
_WITH_ATTENTION = {
    "CSATv2": _OTHER_BLOCKS,
    "GhostNet": "its attention is a gate of convolutions, without queries and keys",
    "MobileNetV3": _SHARED_KEYS,
    "MobileNetV5": _SHARED_KEYS,
    "MobileNetV5Encoder": _SHARED_KEYS,
    "ResNet": "its attention is over channels or branches of convolutions, not over tokens",
}
_OF_TYPES = {
    "cvt": _POOLED_KEYS,
    "efficientformer": _IN_TIMM,
    "hiera": _IN_TIMM,
    "levit": _POOLED_QUERIES,
    "pvt": _POOLED_KEYS,
    "siglip2_vision_model": _ANY_SIZE,
    **dict.fromkeys(
        ("bit", "convnext", "convnextv2", "efficientnet", "focalnet", "mobilenet_v1"),
        NO_ATTENTION,
    ),
    **dict.fromkeys(
        ("mobilenet_v2", "poolformer", "regnet", "resnet", "van"), NO_ATTENTION
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
        return NO_ATTENTION
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
