"""Texts as arrays of ids: a row for each text, ``PADDING`` after its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.characters.charset import PADDING

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

    from vit_str.engines.interface import Steps


def padded(texts: Sequence[Sequence[int]]) -> Int64[np.ndarray, "batch position"]:
    """Texts as ids in one array, as wide as the longest."""
    labels = np.full((len(texts), max(map(len, texts), default=0)), PADDING)
    for row, text in zip(labels, texts, strict=True):
        row[: len(text)] = text
    return labels


def teacher_forcing_inputs(
    labels: Int64[np.ndarray, "batch position"], end: int
) -> Int64[np.ndarray, "batch position_and_start"]:
    """The start, then the labels; the end in the place of the padding."""
    rows, length = labels.shape
    inputs = np.full((rows, length + 1), end, labels.dtype)
    np.copyto(inputs[:, 1:], labels, where=labels != PADDING)
    return inputs


def teacher_forcing_scores(
    steps: Steps, labels: Int64[np.ndarray, "batch position"], end: int
) -> Float[np.ndarray, "batch position_and_end symbol"]:
    """Scores at every step of writing given texts (teacher forcing)."""
    inputs = teacher_forcing_inputs(labels, end)
    return np.stack([steps.step(inputs[:, i], i) for i in range(inputs.shape[1])], 1)
