"""Statistics of rendered words against those of photographed ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch

from vit_str.realism.measure import Classification, Gap, classify, gap, within
from vit_str.realism.statistics import LABEL_STATISTICS, STATISTICS
from vit_str.realism.words import ALL, RENDERED, WordPictures

ALL_STATISTICS = {**STATISTICS, **LABEL_STATISTICS}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found.

    Attributes:
        rendered: the rendered words.
        folders: the photographed ones.
        gaps: folder -> statistic -> how they differ.
        inside: folder -> share of its pictures inside the range of rendered ones in everything.
        classifications: pairs of names -> how well a classifier distinguishes them; None for too
            few pictures.
    """

    rendered: WordPictures
    folders: list[WordPictures]
    gaps: Mapping[str, Mapping[str, Gap]]
    inside: Mapping[str, float]
    classifications: Mapping[tuple[str, str], Classification | None]

    @property
    def sets(self) -> list[WordPictures]:
        """All words, the rendered ones first."""
        return [self.rendered, *self.folders]


def measure(rendered: WordPictures, folders: list[WordPictures], seed: int = 0) -> Comparison:
    """Compare rendered words with every folder, and all with all."""
    gaps = {
        words.name: {
            name: gap(rendered.values[name], words.values[name], seed) for name in ALL_STATISTICS
        }
        for words in folders
    }
    together = {
        name: torch.cat([words.of_pictures[name] for words in folders]) for name in STATISTICS
    }
    classifications = {(RENDERED, ALL): classify(rendered.of_pictures, together, seed)}
    for first, second in combinations([rendered, *folders], 2):
        pair = first.of_pictures, second.of_pictures
        classifications[first.name, second.name] = classify(*pair, seed)
    inside = {words.name: _inside(rendered, words) for words in folders}
    return Comparison(rendered, folders, gaps, inside, classifications)


def _inside(rendered: WordPictures, real: WordPictures) -> float:
    pairs = ((rendered.of_pictures[name], real.of_pictures[name]) for name in STATISTICS)
    return torch.stack([within(*pair) for pair in pairs]).all(0).double().mean().item()
