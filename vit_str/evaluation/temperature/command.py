"""``vit-str calibrate``: make confidences mean what they say."""

import argparse
import json
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.console import add_batch_size, add_device

if TYPE_CHECKING:
    from vit_str.datasets import WordSource
    from vit_str.evaluation.temperature.fit import GradedWords

_DESCRIPTION = """\
Fit the temperature that makes the confidence of a word the share of such words that is right, on
labeled words that the model has not learned from, and write a weights file with it. No weight and
no text changes. Half of the words are fitted to, the other half says what it brought; with --test,
all are fitted to and other sets say it."""

_EPILOG = """\
Fit to words like those to be read: a model that reads its own kind of words well is too sure of
others. A few hundred words do.

example:
  vit-str calibrate tiny crops/ --out calibrated.safetensors

exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str calibrate``."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("weights", metavar="WEIGHTS", help="a .safetensors file, or tiny")
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="labeled words, as for vit-str evaluate"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the weights file to write")
    parser.add_argument(
        "--test",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="labeled words to judge on instead of half of the others",
    )
    parser.add_argument(
        "--characters",
        choices=("36", "62", "94", "full"),
        default="full",
        metavar="36|62|94|full",
        help="what makes a word right: full is exactly as written (default), 36 letters and "
        "digits without case",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the division in halves (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    add_device(parser)
    add_batch_size(parser)


def run(options: argparse.Namespace) -> int:
    """Fit, print what it brings, and write the weights; returns the exit code."""
    from vit_str.evaluation.run import opened
    from vit_str.evaluation.temperature.fit import fit
    from vit_str.evaluation.temperature.words import (
        checked_files,
        divide,
        read_words,
        summary,
        text_of,
        write,
    )
    from vit_str.runtime import Reader
    from vit_str.torch_runtime.devices import choose_device
    from vit_str.weights import load_weights

    protocol: int | str = "full" if options.characters == "full" else int(options.characters)
    source, out = checked_files(options.weights, options.out)
    file = load_weights(source)
    sets = [opened(path) for path in options.sources]
    tests = [opened(path) for path in options.test]
    reader = Reader(file, choose_device(options.device))
    complaints: list[str] = []
    with console.Progress(sum(each.known_length or 0 for each in [*sets, *tests])) as progress:

        def read(each: "WordSource") -> "GradedWords":
            return read_words(
                each, reader, protocol, options.batch_size, progress.advance, complaints
            )

        fitted = {str(each.path): read(each) for each in sets}
        scored = {str(each.path): read(each) for each in tests}
    words, halves = divide(fitted, scored, options.seed)
    result = fit(words)
    for line in complaints:
        console.complain(line)
    values = summary(result, halves, file.temperature, protocol)
    if options.json:
        console.write(json.dumps(values, indent=2, allow_nan=False))
    else:
        console.write(text_of(values))
    if result.is_at_edge:
        console.complain("no temperature that was tried is extreme enough; look at the labels")
    write(source, out, file, values)
    console.complain(f"wrote {out}")
    return 1 if complaints else 0
