"""How many crops a processor core decodes, augments and resizes per second, by policy.

    python benchmarks/augmentation_speed.py DATASET [--words 500] [--policy none] [--json FILE]

On one pinned thread, the policies in turn on the same words of a data set in any format that can be
read in any order; the words are in memory, so that no disk is measured. ``none`` is decoding and
resizing alone. Times are those of the processor, which other work on the machine
lengthens less than those on the clock. Needs ``vit-str[train]``.
"""

import argparse
import statistics
import time

from measuring import (
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    table,
    write_json,
)

from vit_str.console import positive
from vit_str.datasets import LabeledWord, Rules, open_words
from vit_str.datasets.augmentation import PIPELINES, Augmentation
from vit_str.datasets.source import Skipped
from vit_str.images.preprocessing import Preprocessing

_PREPROCESSING = Preprocessing()


class Crops:
    """The same words through one policy, every time with other numbers."""

    def __init__(self, words: list[LabeledWord], policy: str) -> None:
        self.words = words
        self.augmentation = Augmentation(policy, 1)
        self.number = 0
        self.rate()  # warm: the library, the transforms

    def rate(self) -> float:
        """Crops per second of processor time."""
        rules = Rules()
        started = time.process_time()
        for word in self.words:
            image = rules.decode(word)
            if isinstance(image, Skipped):
                raise SystemExit(f"{word.name} cannot be decoded: {image.reason}")
            _PREPROCESSING.pixels(self.augmentation(image, self.number))
            self.number += 1
        return len(self.words) / (time.process_time() - started)


def main() -> None:
    """Measure, print, write."""
    options = _parser().parse_args()
    pin(1)
    words = _words(options.dataset, options.words)
    print_machine()
    crops = {policy: Crops(words, policy) for policy in options.policy}
    rates = interleave(
        {name: each.rate for name, each in crops.items()}, options.rounds
    )
    print(f"{len(words)} words of {options.dataset}, resized to 32 x 128")
    rows = [
        [name, *median_and_range(values), f"{1e3 / statistics.median(values):.2f}"]
        for name, values in rates.items()
    ]
    print(table([["policy", "crops/s", "range", "ms per crop"], *rows]))
    write_json(options.json, {"words": len(words), "crops_per_second": rates})


def _words(path: str, count: int) -> list[LabeledWord]:
    """Words that can be decoded, spread evenly over the data set."""
    source = open_words(path)
    rules = Rules()
    step = max(1, len(source) // count)
    words = (source[place] for place in range(0, len(source), step))
    usable = [
        word
        for word in words
        if isinstance(word, LabeledWord) and not isinstance(rules.decode(word), Skipped)
    ]
    if not usable:
        raise SystemExit(f"{path} holds no word that can be decoded")
    return usable[:count]


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=5)
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        help="labeled crops, in any format",
    )
    help_text = f"pipelines ({' '.join(PIPELINES)}), or module.function"
    parser.add_argument("--policy", nargs="+", default=list(PIPELINES), help=help_text)
    parser.add_argument(
        "--words",
        type=positive,
        default=500,
        help="words to take (500)",
    )
    return parser


if __name__ == "__main__":
    main()
