"""Why the attention of a model of another library is not measured: `refusals.yaml`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from torch import nn

NO_ATTENTION = "it has no self-attention"
# Attention that is called by a short name only.
_NAMED = re.compile(r"att(n|ention)|MHSA|SHSA|SHMA|XCA", re.IGNORECASE)
_DIFFERENTIAL = re.compile(r"Diff(Parallel|Attention|Attn)")


@cache
def _reasons() -> Mapping[str, Mapping[str, str]]:
    import yaml

    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def why_not(model: nn.Module, known: tuple[str, ...]) -> str:
    """Why a model is refused whose class is not among those that are ``known``."""
    kind = type(model).__name__
    reasons = _reasons()
    if kind in reasons["classes"]:
        return reasons["classes"][kind]
    if not any(_NAMED.search(type(module).__name__) for module in model.modules()):
        return NO_ATTENTION
    if kind in reasons["with_attention"]:
        return reasons["with_attention"][kind]
    return f"the lab knows the attention of {', '.join(known)} only"


def why_not_type(model_type: str, known: tuple[str, ...]) -> str:
    """The same for a type of transformers."""
    return _reasons()["types"].get(
        model_type, f"the lab knows the attention of {', '.join(known)} only"
    )


def check_softmax(model: nn.Module) -> None:
    """Refuse differential attention, which subtracts one softmax from another."""
    if any(_DIFFERENTIAL.search(type(module).__name__) for module in model.modules()):
        raise ValueError(
            f"{type(model).__name__} with differential attention is not supported: it "
            "subtracts one softmax from another, so that weights may be negative"
        )
