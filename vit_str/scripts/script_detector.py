"""Which script an image shows that its reader does not know.

A small network over the scores that the encoder drafts (`vit_str.models.decoders.ctc.CtcHead`):
letters of another script leave traces among the scores of those that look like them. It takes less
than a hundredth of the time of the encoder. ``data/make_script_detector.py`` trains it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vit_str.engines.weights_contents import stored_checksum

if TYPE_CHECKING:
    from jaxtyping import Float

BUNDLED_DETECTOR = Path(__file__).with_name("scripts.safetensors")
"""For the weights of the package."""

FIRST = "first"
OTHERS = "others"
"""Names in the metadata: the checksum of the weights whose scores it sees; and a JSON list of those
that know the other scripts, in the order of its outputs, `UNREAD` for scripts that none knows."""
UNREAD = ""


@dataclass(frozen=True, slots=True)
class ScriptDetector:
    """Two layers over every column of scores, and the mean of what they say.

    Attributes:
        hidden_weight: of the first layer, over the scores of all symbols.
        hidden_bias: of the first layer.
        output_weight: of the second layer, over what is above 0 of the first.
        output_bias: of the second layer.
        readers: how many of the outputs are for other readers; those behind are for scripts that
            none of them knows.
    """

    hidden_weight: Float[np.ndarray, "hidden symbol"]
    hidden_bias: Float[np.ndarray, " hidden"]
    output_weight: Float[np.ndarray, "output hidden"]
    output_bias: Float[np.ndarray, " output"]
    readers: int = 1

    def probabilities(
        self, scores: Float[np.ndarray, "image column symbol"]
    ) -> Float[np.ndarray, "image output"]:
        """How probable it is, 0 to 1, that an image is of the scripts of each output.

        What is missing to 1 is the probability that the first weights know its script.
        """
        hidden = scores @ self.hidden_weight.T + self.hidden_bias
        evidence = np.maximum(hidden, 0).mean(axis=1) @ self.output_weight.T
        evidence = evidence + self.output_bias
        # The evidence for the first weights is 0
        largest = np.maximum(evidence.max(axis=1, keepdims=True), 0)
        odds = np.exp(evidence - largest)
        return odds / (odds.sum(axis=1, keepdims=True) + np.exp(-largest))

    def for_outputs(
        self, readers: Sequence[int], unread: Sequence[int]
    ) -> ScriptDetector:
        """The same with some of its outputs.

        Args:
            readers: of other readers, in their order.
            unread: of scripts that none knows.
        """
        kept = [*readers, *unread]
        return replace(
            self,
            output_weight=self.output_weight[kept],
            output_bias=self.output_bias[kept],
            readers=len(readers),
        )


def detector_for(first: Path, others: Sequence[Path]) -> ScriptDetector | None:
    """The detector that was trained for some weights files; None for all others.

    Args:
        first: whose scores it sees.
        others: that know other scripts, of which it has to know each.
    """
    detector, of_first, outputs = _bundled()
    known = [stored_checksum(other) for other in others]
    if stored_checksum(first) != of_first or not set(known) <= set(outputs):
        return None
    readers = [outputs.index(checksum) for checksum in known if checksum]
    unread = [place for place, checksum in enumerate(outputs) if checksum == UNREAD]
    return detector.for_outputs(readers, unread)


@lru_cache(1)
def _bundled() -> tuple[ScriptDetector, str | None, list[str]]:
    """The detector of the package, and the checksums of the weights that it is for."""
    from safetensors import safe_open

    with safe_open(BUNDLED_DETECTOR, "np") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return ScriptDetector(**tensors), metadata.get(FIRST), json.loads(metadata[OTHERS])
