"""Words of data sets one after the other, judged by the rules on several threads."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from PIL import Image

from vit_str.datasets.rules import Rules
from vit_str.datasets.skip_report import SkipReport
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
    report: SkipReport,
    size: int = CHUNK,
) -> Iterator[list[Result]]:
    """What ``use`` makes of every word that can be used.

    Args:
        entries: the words.
        rules: what a word has to be.
        use: called on several threads; no decoded image is kept but by it.
        report: gets those that cannot be used.
        size: number of words that each list is about.

    Returns:
        Lists of results in the order of the words.
    """

    def judge(entry: LabeledWord | Skipped) -> Result | Skipped:
        if isinstance(entry, Skipped):
            return entry
        image = rules.decode(entry)
        return image if isinstance(image, Skipped) else use(entry, image)

    remaining = iter(entries)
    with ThreadPoolExecutor(min(_THREADS, cpu_count())) as pool:
        while chunk := list(islice(remaining, size)):
            results = list(pool.map(judge, chunk))
            for result in results:
                if isinstance(result, Skipped):
                    report.add(result)
            yield [result for result in results if not isinstance(result, Skipped)]
