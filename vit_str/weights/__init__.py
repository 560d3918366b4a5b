"""Weights files: one safetensors file holds all that reading needs.

Tensors, and as metadata the description of the model, the charset, the preprocessing, the
temperature, what golden images said, and where the weights come from. Nothing in it is ever
executed or unpickled.
"""

from vit_str.weights.file import (
    WeightsFile,
    bundled_names,
    load_weights,
    renew_weights,
    resolve,
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
