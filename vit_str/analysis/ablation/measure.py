"""Read words while the output of attention heads is zero: which heads does reading need?

A head that looks far need not be one that is used. Cutting it, which is setting its output to zero
before the projection, shows what reading loses (Voita et al. 2019, Michel et al. 2019).
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import torch
from jaxtyping import Float
from scipy import stats
from torch import Tensor, nn

from vit_str.analysis.compare.measure import holm
from vit_str.analysis.means import mean_over
from vit_str.analysis.subjects import Subject
from vit_str.models import Encoder
from vit_str.models.attention import attention_modules
from vit_str.torch_runtime.engine import generate

WHOLE = "no head"
"""What is cut where nothing is."""


class Head(NamedTuple):
    """A head of the encoder; layer and head count from 1."""

    layer: int
    head: int


@contextmanager
def without_heads(encoder: Encoder, heads: Iterable[Head]) -> Iterator[None]:
    """Set the output of heads to zero inside the ``with``.

    Raises:
        ValueError: the encoder has no such head.
    """
    by_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(layer, []).append(head - 1)
    layers = list(attention_modules(encoder).values())
    if not all(1 <= layer <= len(layers) for layer in by_layer):
        raise ValueError(f"layers are from 1 to {len(layers)}, found {sorted(by_layer)}")
    handles = [
        layers[layer - 1].register_forward_hook(partial(_cut, cut))
        for layer, cut in by_layer.items()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _cut(
    heads: Sequence[int], _: nn.Module, __: Any, output: Float[Tensor, "batch head query dim"]
) -> Tensor:
    if not all(0 <= head < output.shape[1] for head in heads):
        raise ValueError(f"heads are from 1 to {output.shape[1]}, found {max(heads) + 1}")
    output = output.clone()
    output[:, heads] = 0
    return output


class Reading(NamedTuple):
    """What was read without some heads, word by word."""

    cut: str
    heads: tuple[Head, ...]
    texts: list[str]
    right: list[bool]


class Ablation:
    """Reads the same words again and again, without other heads every time.

    Args:
        subject: a model of this project with attention in its encoder.
        batches: normalized images, and their labels.

    Raises:
        ValueError: the labels are not known.
    """

    def __init__(
        self, subject: Subject, batches: Iterable[tuple[Tensor, Sequence[str] | None]]
    ) -> None:
        self.subject = subject
        self._batches = list(batches)
        if any(labels is None for _, labels in self._batches):
            raise ValueError("words need labels: rendered words, or a folder with labels.tsv")
        self.labels = [label for _, labels in self._batches for label in labels or ()]

    @torch.no_grad()
    def read(self, cut: str, heads: Iterable[Head]) -> Reading:
        """Read all words without some heads, greedily."""
        heads, texts = tuple(heads), []
        with without_heads(self.subject.encoder, heads):
            for images, _ in self._batches:
                recognizer = self.subject.recognizer
                ids = generate(recognizer.decoder, recognizer.encode(images)).labels.tolist()
                texts += [self.subject.charset.decode(each) for each in ids]
        right = [text == label for text, label in zip(texts, self.labels, strict=True)]
        return Reading(cut, heads, texts, right)


def effects(whole: Reading, readings: Sequence[Reading]) -> pd.DataFrame:
    """Share of words read right without some heads, and the paired difference to no cut.

    ``p`` is of McNemar's exact test, ``p_holm`` corrected for the number of rows with one head cut
    (Holm 1979).
    """
    rows = []
    before = torch.tensor(whole.right, dtype=torch.float64)
    for reading in (whole, *readings):
        after = torch.tensor(reading.right, dtype=torch.float64)
        mean, low, high, n = mean_over(after - before)
        lost, gained = int((before > after).sum()), int((after > before).sum())
        p = stats.binomtest(lost, lost + gained).pvalue if lost + gained else 1.0
        layer, head = reading.heads[0] if len(reading.heads) == 1 else (pd.NA, pd.NA)
        numbers = float(after.mean()), float(mean), float(low), float(high), lost, gained, p, n
        rows.append((reading.cut, len(reading.heads), layer, head, *numbers))
    columns = [*("cut", "heads", "layer", "head", "accuracy", "difference", "low", "high")]
    table = pd.DataFrame(rows, columns=[*columns, "lost", "gained", "p", "n"])
    single = table["heads"] == 1
    table["p_holm"] = holm(table.loc[single, "p"]).reindex(table.index)
    return table.astype({"layer": "Int64", "head": "Int64"})
