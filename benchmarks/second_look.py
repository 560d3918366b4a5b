"""What the second look at doubtful words brings and costs: beams and limits of confidence.

    vit-str render --count 1500 --out rendered
    python benchmarks/second_look.py rendered [FOLDER ...] --model tiny

Reads folders of labeled words in every way of ``WAYS``, in turns, on one CPU thread. Each way is
compared with the first word by word, with 95 % intervals. Drawn words belong here: limits that are
chosen on photographed words flatter the accuracy on these. The time is CPU time from file to text.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measuring import described_parser, interleave, pin, print_machine, table, write_json
from variant_report import percent, points

from vit_str import load
from vit_str.datasets import open_words
from vit_str.evaluation.metrics import Protocol
from vit_str.evaluation.statistics import paired_difference, wilson_interval
from vit_str.evaluation.words.reading import read_words
from vit_str.evaluation.words.results import ReadWords, together
from vit_str.runtime import Reader
from vit_str.runtime.effort import RereadingOptions

_BATCH = 32


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read doubtful words again.

    Attributes:
        beams: texts to keep for each view.
        limits: confidences below which a word is read again, from two views, and from four more.
    """

    beams: int
    limits: tuple[float, float, float]

    def __str__(self) -> str:
        limits = " / ".join(f"{limit:g}" for limit in self.limits)
        return f"{self.beams} beams, {limits}"

    def options(self, usual: RereadingOptions) -> RereadingOptions:
        """This way, and all else as usual."""
        first, second, third = self.limits
        return replace(
            usual,
            beams=self.beams,
            doubtful=first,
            doubtful_after_prior=second,
            doubtful_after_views=third,
        )


_USUAL_LIMITS = (0.9, 0.7, 0.5)
WAYS = (
    Way(10, _USUAL_LIMITS),
    Way(8, _USUAL_LIMITS),
    Way(6, _USUAL_LIMITS),
    Way(6, (0.9, 0.6, 0.4)),
    Way(6, (0.85, 0.6, 0.4)),
    Way(6, (0.8, 0.6, 0.4)),
    Way(6, (0.8, 0.5, 0.3)),
    Way(4, (0.8, 0.5, 0.3)),
)


@dataclass(frozen=True, slots=True)
class _Pass:
    """All words, read once in one way."""

    words: ReadWords
    seconds: float


def main() -> int:
    """Read in every way, compare, print."""
    options = _parser().parse_args()
    try:
        passes = _measure(options)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"second_look: {error}\n")
        return 2
    print(table(_rows(passes)))
    write_json(options.json, _values(passes))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=1)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of labeled words")
    parser.add_argument("--model", default="tiny", help="name or .safetensors file (tiny)")
    return parser


def _measure(options: argparse.Namespace) -> dict[str, list[_Pass]]:
    pin()
    print_machine()
    usual = load(options.model, threads=1)
    readers = {str(way): usual.with_rereading(way.options(usual.rereading)) for way in WAYS}
    runs = {
        name: lambda reader=reader: _read(reader, options.folders)  # type: ignore[misc]
        for name, reader in readers.items()
    }
    return interleave(runs, options.rounds)


def _read(reader: Reader, folders: Sequence[Path]) -> _Pass:
    start = time.process_time()
    sets = [read_words(reader, open_words(folder), _BATCH, workers=1) for folder in folders]
    return _Pass(together(sets), time.process_time() - start)


def _rows(passes: Mapping[str, Sequence[_Pass]]) -> list[list[str]]:
    first = next(iter(passes.values()))[0].words
    count = len(first.labels)
    rows = [["way", f"full, n = {count:,}", "difference", "word 36", "difference", "ms a word"]]
    for name, rounds in passes.items():
        words = rounds[0].words
        milliseconds = 1000 * statistics.median(each.seconds for each in rounds) / count
        exactly = _accuracy(words, first, "full")
        roughly = _accuracy(words, first, 36)
        rows.append([name, *exactly, *roughly, f"{milliseconds:.1f}"])
    return rows


def _accuracy(words: ReadWords, first: ReadWords, protocol: Protocol) -> list[str]:
    """The share of right words, and how it differs from the first way."""
    right = words.right(protocol)
    interval = wilson_interval(int(right.sum()), len(right))
    found = paired_difference(first.right(protocol), right)
    return [percent(float(right.mean()), interval), points(found.difference, found.interval)]


def _values(passes: Mapping[str, Sequence[_Pass]]) -> dict[str, object]:
    return {
        name: {
            "word_accuracy_full": float(rounds[0].words.right("full").mean()),
            "word_accuracy_36": float(rounds[0].words.right(36).mean()),
            "seconds": [each.seconds for each in rounds],
        }
        for name, rounds in passes.items()
    }


if __name__ == "__main__":
    sys.exit(main())
