"""``vit-str calibrate``: make confidences mean what they say."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import add_batch_size, add_device
from vit_str.files import check_writable

if TYPE_CHECKING:
    from vit_str.evaluation.words.results import ReadWords
    from vit_str.torch_runtime.ranges import Images, Labels
    from vit_str.torch_runtime.weights_file import WeightsFile

_DESCRIPTION = """\
Fit a temperature to labeled words that the model was not trained on, so that of words with a
confidence of 0.9, 90 % are right, and write a weights file with it. Weights stay as they are, and
so do most texts: confidence decides which words are read a second time. The words are read as in
vit-str read, at nine temperatures and at the fitted one. One half is for fitting, the other half
shows the effect."""

_COLUMNS = (
    "set",
    "words",
    "temperature",
    "right",
    "confidence",
    "calibration error",
    "loss",
)
_UNDECIDED = "these words show no difference between the two temperatures: you can keep the old one"

_EPILOG = """\
Fit to words like those that you will read: a model that is calibrated on one kind of words is
overconfident on others. A few hundred words are enough.

examples:
  vit-str calibrate tiny crops/ --out calibrated.safetensors
  vit-str calibrate my.safetensors --ranges --out faster.safetensors

exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""


class _InsteadOf(argparse.Action):
    """A switch that makes another argument unnecessary."""

    def __init__(self, other: argparse.Action, **named: Any) -> None:
        super().__init__(nargs=0, **named)
        self._other = other

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, True)
        self._other.required = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str calibrate``."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument(
        "weights",
        metavar="WEIGHTS",
        help="a .safetensors file, or tiny",
    )
    sources = parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="labeled words, as for vit-str evaluate",
    )
    parser.add_argument(
        "--ranges",
        action=_InsteadOf,
        other=sources,
        default=False,
        help="instead of the temperature, measure the ranges of the numbers "
        "inside the model on rendered words: processors with 8-bit "
        "instructions then read faster",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="the weights file to write",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object, with shares as fractions",
    )
    add_device(parser)
    add_batch_size(parser)


def run(options: argparse.Namespace) -> int:
    """Fit or measure, and write the weights; returns the exit code."""
    if options.ranges and options.sources:
        raise ValueError(
            "--ranges measures on rendered words: give it without labeled ones"
        )
    return _measure(options) if options.ranges else _fit(options)


def _measure(options: argparse.Namespace) -> int:
    """Write the weights with ranges."""
    from vit_str.engines.graph_files import takes_ranges
    from vit_str.engines.weights_contents import load_header
    from vit_str.torch_runtime.ranges import WORDS, measure_ranges, rendered_words
    from vit_str.torch_runtime.weights_file import load_weights, renew_weights

    source, out = _checked_files(options.weights, options.out)
    file = load_weights(source)
    if not takes_ranges(load_header(source).description):
        raise ValueError(
            f"{options.weights}: the package has no graph of this model for ranges"
        )
    with console.Progress(WORDS, alone=True) as progress:
        batches = rendered_words(file.charset, file.preprocessing)
        words = _counted(batches, progress.advance)
        ranges = measure_ranges(file.recognizer, file.preprocessing, words)
    renew_weights(source, out, replace(file, ranges=ranges))
    values = {"ranges": ranges, "words": WORDS}
    if options.json:
        console.write(json.dumps(values, indent=2))
    else:
        console.write(f"ranges at {len(ranges)} points, of {WORDS} rendered words")
    console.warn(f"wrote {out}")
    return 0


def _counted(
    batches: Iterable[tuple[Images, Labels]],
    advance: Callable[[int], None],
) -> Iterator[tuple[Images, Labels]]:
    """The same batches; says when a batch is done."""
    for images, labels in batches:
        yield images, labels
        advance(len(images))


def _fit(options: argparse.Namespace) -> int:
    """Fit the temperature, print what it brings, and write the weights."""
    from vit_str.evaluation.calibration.temperature import FACTORS, fit_to_half
    from vit_str.evaluation.words.reading import open_sets, read_words
    from vit_str.torch_runtime.weights_file import load_weights
    from vit_str.words.reader import load

    source, out = _checked_files(options.weights, options.out)
    file = load_weights(source)
    sets = open_sets(options.sources)
    reader = load(source, options.device)
    problems: dict[str, None] = {}

    def read(temperature: float) -> dict[str, ReadWords]:
        """The words of every set, as users see them."""
        at_temperature = reader.with_temperature(temperature)
        words_of = {}
        for name, source in sets.items():
            words = read_words(
                at_temperature,
                source,
                options.batch_size,
                advance=progress.advance,
            )
            problems.update(dict.fromkeys(words.problems))
            words_of[name] = words
        return words_of

    count = (len(FACTORS) + 2) * sum(map(len, sets.values()))
    with console.Progress(count, alone=True) as progress:
        values, is_at_edge = fit_to_half(read, file.temperature)
    for line in problems:
        console.warn(line)
    console.write(json.dumps(values, indent=2) if options.json else _text(values))
    if is_at_edge:
        console.warn(
            "no temperature that was tried is extreme enough: look at the labels, "
            f"or calibrate {out} once more"
        )
    _write(source, out, file, values)
    console.warn(f"wrote {out}")
    return 1 if problems else 0


def _text(values: Mapping[str, Any]) -> str:
    """The temperature and its gain, for a terminal."""
    low, high = values["interval"]
    lines = [
        f"temperature {values['temperature']:.3f} [{low:.3f}, {high:.3f}], fitted to "
        f"{values['words']:,} words, right exactly as written; before "
        f"{values['before']:.3f}",
        *console.aligned([_COLUMNS, *_rows(values)]),
        "right, mean confidence and error in percent [95 % interval]; loss in nats per "
        "word",
    ]
    if low <= values["before"] <= high:
        lines.append(_UNDECIDED)
    return "\n".join(lines)


def _rows(values: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Rows of a table: every set before and after."""
    from vit_str.evaluation.statistics import percent

    temperatures = {"before": values["before"], "after": values["temperature"]}
    for name, scores in values["sets"].items():
        for when, temperature in temperatures.items():
            judged = scores[when]
            yield (
                name,
                f"{scores['n']:,}",
                f"{temperature:.3f}",
                f"{100 * judged['accuracy']:.1f}",
                f"{100 * judged['confidence']:.1f}",
                percent(judged["error"], judged["interval"]),
                f"{judged['loss']:.4f}",
            )


def _checked_files(weights: str, new: str) -> tuple[Path, Path]:
    """The weights file and the new one, checked before the words are read, which takes long."""
    from vit_str.engines.weights_contents import resolve

    source = resolve(weights)
    out = Path(new)
    if out.suffix != ".safetensors" or out.is_dir():
        raise ValueError(f"--out {out}: give the name of a file ending in .safetensors")
    if out.exists() and source.exists() and os.path.samefile(out, source):
        raise ValueError(f"--out {out}: is the weights file itself; give another name")
    check_writable(out)
    return source, out


def _write(
    source: Path,
    out: Path,
    file: WeightsFile,
    values: Mapping[str, Any],
) -> None:
    """Write the weights with the temperature, which their provenance notes."""
    from vit_str.torch_runtime.weights_file import renew_weights

    note = dict(values)
    del note["before"]
    del note["sets"]
    provenance = file.provenance | {"calibration": note}
    new = replace(file, temperature=values["temperature"], provenance=provenance)
    renew_weights(source, out, new)
