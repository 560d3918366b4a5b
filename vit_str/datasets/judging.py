"""Words of data sets one after the other, judged by the rules on several threads."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from PIL import Image

from vit_str.datasets.rules import Rules
from vit_str.datasets.source import LabeledWord, Skipped
from vit_str.files import cpu_count

CHUNK = 256
"""Words that are judged together."""

_THREADS = 4

Result = TypeVar("Result")


def judged(
    entries: Iterable[LabeledWord | Skipped],
    rules: Rules,
    use: Callable[[LabeledWord, Image.Image], Result],
    size: int = CHUNK,
) -> Iterator[list[Result | Skipped]]:
    """What ``use`` makes of every word that can be used, and why others cannot be.

    Args:
        entries: the words.
        rules: what a word has to be.
        use: called on several threads; no decoded image is kept but by it.
        size: of the lists.

    Returns:
        Lists of results in the order of the words; the last one may be shorter.
    """

    def judge(entry: LabeledWord | Skipped) -> Result | Skipped:
        if isinstance(entry, Skipped):
            return entry
        image = rules.decode(entry)
        return image if isinstance(image, Skipped) else use(entry, image)

    remaining = iter(entries)
    with ThreadPoolExecutor(min(_THREADS, cpu_count())) as pool:
        while chunk := list(islice(remaining, size)):
            yield list(pool.map(judge, chunk))
