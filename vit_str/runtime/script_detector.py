"""Whether an image shows letters of a script that its reader does not know.

A small network over the scores that the encoder drafts (`vit_str.models.decoders.ctc.CtcHead`):
letters of another script leave traces among the scores of those that look like them. It takes less
than a hundredth of the time of the encoder. ``data/make_script_detector.py`` trains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vit_str.runtime.weights_contents import stored_checksum

if TYPE_CHECKING:
    from jaxtyping import Float

BUNDLED_DETECTOR = Path(__file__).with_name("scripts.safetensors")
"""For the weights of the package."""

FIRST = "first"
OTHER = "other"
"""Names of the checksums in the metadata: of the weights whose scores it sees, and of those that
know the other scripts."""


@dataclass(frozen=True, slots=True)
class ScriptDetector:
    """Two layers over every column of scores, and the mean of what they say.

    Attributes:
        hidden_weight: of the first layer, over the scores of all symbols.
        hidden_bias: of the first layer.
        output_weight: of the second layer, over what is above 0 of the first.
        output_bias: of the second layer.
    """

    hidden_weight: Float[np.ndarray, "hidden symbol"]
    hidden_bias: Float[np.ndarray, " hidden"]
    output_weight: Float[np.ndarray, " hidden"]
    output_bias: Float[np.ndarray, ""]

    def probabilities(
        self, scores: Float[np.ndarray, "image column symbol"]
    ) -> Float[np.ndarray, " image"]:
        """How probable it is, 0 to 1, that only the other weights know the script of an image."""
        hidden = scores @ self.hidden_weight.T + self.hidden_bias
        evidence = np.maximum(hidden, 0).mean(axis=1) @ self.output_weight
        return 1 / (1 + np.exp(-(evidence + self.output_bias)))


def detector_for(first: Path, other: Path) -> ScriptDetector | None:
    """What was trained for a pair of weights files, wherever they are; None for all others."""
    detector, checksums = _bundled()
    if (stored_checksum(first), stored_checksum(other)) != checksums:
        return None
    return detector


@lru_cache(1)
def _bundled() -> tuple[ScriptDetector, tuple[str | None, str | None]]:
    """The detector of the package, and the checksums of the weights that it is for."""
    from safetensors import safe_open

    with safe_open(BUNDLED_DETECTOR, "np") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return ScriptDetector(**tensors), (metadata.get(FIRST), metadata.get(OTHER))
