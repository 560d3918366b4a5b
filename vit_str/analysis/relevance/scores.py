"""How the maps of all methods fare in two tests, word by word."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.characters import localization
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import Batch
from vit_str.analysis.relevance.methods import (
    METHODS,
    CharacterMaps,
    Images,
    Labels,
    drops,
    random_maps,
)
from vit_str.analysis.statistics import mean_over
from vit_str.analysis.subjects import UNTRAINED, Subject
from vit_str.models import VisionTransformer
from vit_str.reports.style import is_untrained


class MethodScore(NamedTuple):
    """How the maps of one method fare in one test: mean over words, with its 95 % interval."""

    method: str
    metric: str
    unit: str
    mean: float
    low: float
    high: float
    n: int


UNITS = {
    **{name: localization.METRICS[name] for name in ("energy", "lift", "pointing")},
    "drop": "probability",
}
RANDOM = "random"


class MethodScores:
    """Collects the scores of words for a model, and maybe the same without training."""

    def __init__(self, subjects: list[Subject], share: float) -> None:
        self.subject, self.subjects, self.share = subjects[0], subjects, share
        encoder = self.subject.recognizer.encoder
        self.grid = TokenGrid.of(encoder)
        # A convolution has nothing to roll out.
        attends = isinstance(encoder, VisionTransformer)
        self.methods = [name for name in METHODS if attends or name != "rollout"]
        # By method and metric, NaN where there is nothing to score.
        self._words: dict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, batch: Batch, images: Images, labels: Labels, seed: int) -> dict[str, Tensor]:
        """Score the maps of a batch for what the model read; returns its maps by method."""
        texts = [self.subject.charset.decode(ids) for ids in labels.tolist()]
        maps: dict[str, Tensor] = {}
        for method, of_words in self._maps(images, labels, seed):
            for index, text in enumerate(texts):
                scores = located(batch, index, text, of_words[index], self.grid)
                for metric, score in scores.items():
                    self._words[method, metric].append(score)
            if not is_untrained(method):
                fallen = drops(self.subject.recognizer, images, labels, of_words, self.share)
                self._words[method, "drop"] += fallen.nanmean(1).tolist()
            if method in self.methods:
                maps[method] = of_words
        return maps

    def means(self) -> list[MethodScore]:
        """Over the words that have a score; no row where none has."""
        rows = []
        for (method, metric), words in self._words.items():
            values = torch.tensor(words, dtype=torch.float64)
            known = values[~values.isnan()]
            if len(known):
                mean, low, high = (float(part) for part in mean_over(known)[:3])
                unit = UNITS[metric]
                rows.append(MethodScore(method, metric, unit, mean, low, high, len(known)))
        return rows

    def _maps(
        self, images: Images, labels: Labels, seed: int
    ) -> Iterator[tuple[str, CharacterMaps]]:
        """Method and maps: of the model, of the model without training, and random ones."""
        for subject in self.subjects:
            recognizer = subject.recognizer.to(images.device)
            prefix = "" if subject is self.subject else UNTRAINED
            for name in self.methods:
                maps = METHODS[name](recognizer, images, labels)
                yield f"{prefix}{name}", maps
        yield RANDOM, random_maps(maps, seed)


def located(
    batch: Batch,
    index: int,
    text: str,
    maps: Float64[Tensor, "character row column"],
    grid: TokenGrid,
) -> dict[str, float]:
    """How much of the maps of a text lies in the boxes of its characters, as means over them.

    Empty if the boxes are not known, or the text is wrong.
    """
    if batch.boxes is None or batch.labels is None or text != batch.labels[index]:
        return {}
    boxes = batch.boxes[index, : len(text)].double()
    drawn = boxes[:, 2] > boxes[:, 0]
    if not drawn.any():
        return {}
    inside = localization.covered(boxes, grid)[drawn]
    values = maps[: len(text)][drawn]
    energy, area = (values * inside).sum((1, 2)), inside.mean((1, 2))
    top = values.flatten(1).argmax(1, keepdim=True)
    pointing = (inside.flatten(1).gather(1, top) >= 0.5).double()
    means = {"energy": energy, "lift": energy / area, "pointing": pointing}
    return {name: float(each.mean()) for name, each in means.items()}
