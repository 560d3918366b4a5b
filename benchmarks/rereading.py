"""How many beams, and which limits of confidence: accuracy and time of each choice, rendered words.

    python benchmarks/rereading.py --model tiny [--beams 10 6] [--limits 0.9/0.7/0.5 0.8/0.5/0.3]

The words are drawn as for training, with seeds that training does not use. Every word is read
alone, from its pixels, with every choice in turn on one CPU thread: what disturbs the machine
disturbs all. Limits are those below which an image is read again, then its first and its second
round of augmented images (`RereadingOptions`). Words are as hard as those of training: to compare
choices, not to say how well photographs are read. After ``--minutes`` (7) it ends with the words
read by then. Fonts are drawn first unless a cache has them: a minute for fifty, so name a folder or
two with ``--fonts``, or those that training has drawn.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
from measuring import described_parser, pin, print_machine, table, write_json
from variant_report import percent, points

from vit_str.characters.charset import PADDING
from vit_str.console import Progress, positive, probability
from vit_str.decoding.readings import Reading
from vit_str.evaluation.metrics import right_words
from vit_str.evaluation.statistics import paired_difference, wilson_interval
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer
from vit_str.words.reader import Reader, load

_SEEDS = 4_000_001, 4_000_002, 4_000_003
_DRAWN_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """Confidences below which an image is read again, and then each round of augmentations."""

    doubtful: float
    doubtful_after_prior: float
    doubtful_after_augmentation: float

    def __str__(self) -> str:
        limits = (
            self.doubtful,
            self.doubtful_after_prior,
            self.doubtful_after_augmentation,
        )
        return "/".join(f"{limit:g}" for limit in limits)


@dataclass(slots=True)
class Choice:
    """A way to read doubtful images again, and what came of it."""

    name: str
    read: Callable[[np.ndarray], list[Reading]]
    texts: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of the CPU

    def right(self, labels: list[str]) -> np.ndarray:
        """Which words are read right (36 characters)."""
        return right_words(self.texts, labels)


def main() -> None:
    """Read with every choice, print, write."""
    parser = _parser()
    options = parser.parse_args()
    try:
        _measure(options)
    except (ValueError, OSError) as error:
        parser.exit(2, f"rereading: {error}\n")


def _measure(options: argparse.Namespace) -> None:
    end = time.monotonic() + 60 * options.minutes
    pin(1)
    print_machine()
    reader = load(options.model, "cpu", threads=1)
    choices = [
        _choice(reader, beams, limits)
        for beams, limits in product(options.beams, options.limits)
    ]
    renderer = _renderer(reader, options.fonts)
    seconds = max(0.0, end - time.monotonic()) / len(_SEEDS)
    labels = {
        seed: _read_words(renderer, choices, seed, options.words, seconds)
        for seed in _SEEDS
    }
    read = [label for of_seed in labels.values() for label in of_seed]
    count = len(choices[0].right(read))
    titles = [
        "beams, limits",
        f"word 36, n = {count:,}",
        "difference",
        "by seed",
        "CPU ms a word",
    ]
    rows = [titles]
    rows += [_row(choice, choices[0], labels) for choice in choices]
    print(table(rows))
    results = {"seeds": {str(seed): len(of_seed) for seed, of_seed in labels.items()}}
    write_json(options.json, results | {"rows": rows})


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    parser.add_argument(
        "--model", default="tiny", help="name or .safetensors file (tiny)"
    )
    parser.add_argument(
        "--beams",
        type=positive,
        nargs="+",
        default=[10, 6],
        help="texts to keep for each augmented image (10 6)",
    )
    parser.add_argument(
        "--limits",
        type=_limits,
        nargs="+",
        default=[Limits(0.9, 0.7, 0.5), Limits(0.8, 0.5, 0.3)],
        metavar="P/P/P",
        help="confidences (0.9/0.7/0.5 0.8/0.5/0.3)",
    )
    parser.add_argument(
        "--words",
        type=positive,
        default=2000,
        help="for each of three seeds (2000)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=7.0,
        help="that it takes about at most (7)",
    )
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="fonts to draw with (those of the system)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the table here too"
    )
    return parser


def _limits(text: str) -> Limits:
    """Three confidences with slashes between them."""
    parts = text.split("/")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(
            f"expected three numbers as in 0.9/0.7/0.5, found {text}"
        )
    return Limits(*map(probability, parts))


def _choice(reader: Reader, beams: int, limits: Limits) -> Choice:
    other = reader.with_rereading(
        beams=beams,
        doubtful=limits.doubtful,
        doubtful_after_prior=limits.doubtful_after_prior,
        doubtful_after_augmentation=limits.doubtful_after_augmentation,
    )
    return Choice(f"{beams}, {limits}", other.read_pixels)


def _renderer(reader: Reader, fonts: list[Path] | None) -> Renderer:
    """What draws words of the characters and the size of a reader."""
    atlas = load_or_draw_glyphs(reader.charset, fonts)
    return Renderer(atlas, Lexicon(reader.charset), reader.image_size)


def _read_words(
    renderer: Renderer,
    choices: list[Choice],
    seed: int,
    count: int,
    seconds: float,
) -> list[str]:
    """Read words of a seed with every choice, until the time is over; returns what they say."""
    end = time.monotonic() + seconds
    labels = []
    with Progress(count, alone=True, unit="word", name=f"seed {seed}") as progress:
        for pixels, label in _words(renderer, seed, count):
            for choice in choices:
                started = time.process_time()
                (reading,) = choice.read(pixels)
                choice.seconds += time.process_time() - started
                choice.texts.append(reading.text)
            labels.append(label)
            progress.advance()
            if time.monotonic() > end:
                break
    return labels


def _words(
    renderer: Renderer, seed: int, count: int
) -> Iterator[tuple[np.ndarray, str]]:
    """Pixels of one word, a batch of its own, and what it says."""
    for number in range(-(-count // _DRAWN_AT_ONCE)):
        batch = renderer.batch(_DRAWN_AT_ONCE, seed, number)
        ids = [row[row != PADDING].tolist() for row in batch.labels]
        texts = map(renderer.charset.decode, ids)
        yield from zip(batch.images.numpy()[:, None], texts, strict=True)


def _row(choice: Choice, first: Choice, labels: dict[int, list[str]]) -> list[str]:
    """A line of the table: all seeds together, and the difference in each."""
    read = [label for of_seed in labels.values() for label in of_seed]
    right = choice.right(read)
    accuracy = percent(
        float(right.mean()), wilson_interval(int(right.sum()), len(right))
    )
    found = paired_difference(first.right(read), right)
    difference = points(found.difference, found.interval)
    milliseconds = 1000 * choice.seconds / len(read)
    by_seed = " ".join(map("{:+.1f}".format, _differences(choice, first, labels)))
    return [choice.name, accuracy, difference, by_seed, f"{milliseconds:.1f}"]


def _differences(
    choice: Choice,
    first: Choice,
    labels: dict[int, list[str]],
) -> Iterator[float]:
    """Points by which the choice reads better than the first one, seed by seed."""
    start = 0
    for of_seed in labels.values():
        stop = start + len(of_seed)
        own, other = (
            right_words(each.texts[start:stop], of_seed) for each in (choice, first)
        )
        yield 100 * float(own.mean() - other.mean())
        start = stop


if __name__ == "__main__":
    main()
