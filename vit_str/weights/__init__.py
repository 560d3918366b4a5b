"""Weights files: one safetensors file holds all that reading needs.

Tensors, and as metadata the description of the model, the charset, the preprocessing, the
temperature, and where the weights come from. Nothing in it is ever executed or unpickled.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.runtime.weights_contents import bundled_names, resolve
    from vit_str.torch_runtime.weights_file import (
        WeightsFile,
        load_weights,
        renew_weights,
        save_weights,
    )

__all__ = [
    "WeightsFile",
    "bundled_names",
    "load_weights",
    "renew_weights",
    "resolve",
    "save_weights",
]


def __getattr__(name: str) -> object:
    """Import torch with the first model that is built or saved."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = (
        "runtime.weights_contents"
        if name in ("bundled_names", "resolve")
        else "torch_runtime.weights_file"
    )
    return getattr(import_module(f"vit_str.{module}"), name)
