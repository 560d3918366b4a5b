"""Where the words of labelled pages are lost, by kind."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from shapely import Polygon, STRtree, union_all

from vit_str.evaluation.pages.labels import Label
from vit_str.evaluation.pages.scores import parts_of, plain
from vit_str.pages.page import Word

KINDS = (
    "read",
    "not found",
    "cut wrong",
    "read wrong",
    "lone mark",
    "wrong by a mark",
    "left out as doubtful",
)
_LONGEST = 4
"""Words that a word may have been cut into."""
_TOUCHES = 0.2
"""Share of a label that what was found there covers at least."""


def losses(
    words: Sequence[Word],
    doubtful: Sequence[str],
    labels: Sequence[Label],
) -> Counter[str]:
    """How many labelled words came to what end.

    Args:
        words: what was found, in reading order; in place of words also whole lines.
        doubtful: texts that were read, and left out.
        labels: of the page.
    """
    found = list(chain.from_iterable(parts_of(word.text) for word in words))
    judged = []
    for label in labels:
        if label.is_judged:
            judged += [(part, label) for part in parts_of(label.text)]
    left = Counter(found)
    lost = []
    for part, label in judged:
        if left[part]:
            left[part] -= 1
        else:
            lost.append((part, label))
    ends = Counter({"read": len(judged) - len(lost)})
    pools = {
        "cut wrong": joined(found),
        "wrong by a mark": Counter(plain(part) for part in left.elements()),
        "left out as doubtful": Counter(chain.from_iterable(map(parts_of, doubtful))),
    }
    rest = +left
    shapes = [Polygon(word.polygon).buffer(0) for word in words]
    tree = STRtree(shapes)
    for part, label in lost:
        shape: Any = Polygon(label.polygon).buffer(0)
        there = [shapes[index] for index in tree.query(shape)]
        ends[end_of(part, shape, there, pools, rest)] += 1
    return ends


def end_of(
    part: str,
    shape: Any,
    there: Sequence[Any],
    pools: dict[str, Counter[str]],
    rest: Counter[str],
) -> str:
    """What became of a word that is not among the texts of the page."""
    if not plain(part):
        return "lone mark"
    for kind, text in (
        ("left out as doubtful", part),
        ("wrong by a mark", plain(part)),
        ("cut wrong", part),
    ):
        if pools[kind][text]:
            pools[kind][text] -= 1
            return kind
    longer = (text for text in rest if len(text) > len(part) > 1)
    if any(text.startswith(part) or text.endswith(part) for text in longer):
        return "cut wrong"
    covered = shape.intersection(union_all(there)).area if there else 0.0
    return "read wrong" if covered > _TOUCHES * shape.area else "not found"


def joined(parts: Sequence[str]) -> Counter[str]:
    """Texts of two to four words in a row without the space between them."""
    texts: Counter[str] = Counter()
    for count in range(2, _LONGEST + 1):
        texts.update(
            "".join(row)
            for row in zip(*(parts[n:] for n in range(count)), strict=False)
        )
    return texts
