"""``vit-str calibrate``: make confidences mean what they say."""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vit_str import console
from vit_str.commands.arguments import add_device
from vit_str.devices import choose_device
from vit_str.evaluation import open_set
from vit_str.evaluation.sets import Item, WordSet
from vit_str.evaluation.tables import aligned, percent
from vit_str.images import UnreadableImage
from vit_str.metrics import FULL, Protocol, normalize_label
from vit_str.reading import Reader
from vit_str.temperature import Fit, Words, fit, grade
from vit_str.weights import WeightsFile, load_weights, renew_weights, resolve
from vit_str.weights.doctor import make_golden

_DESCRIPTION = """\
Fit the temperature that makes the confidence of a word the share of such words that is right, on
labeled words that the model has not learned from, and write a weights file with it. No weight and
no text changes. Half of the words are fitted to, the other half says what it brought; with --test,
all are fitted to and other sets say it."""

_EPILOG = """\
Fit to words like those to be read: a model that reads its own kind of words well is too sure of
others. A few hundred words do.

exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""


_UNDECIDED = "the words do not tell the two temperatures apart: keeping the one before is as good"


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    source, out = _files(options)
    try:
        file = load_weights(source)
        sets = [open_set(path) for path in options.sources]
        tests = [open_set(path) for path in options.test]
        reader = Reader(file, choose_device(options.device))
        total = sum(each.count or 0 for each in [*sets, *tests])
        troubles: list[str] = []
        with console.Progress(total) as progress:
            words = {
                str(each.path): _read(each, reader, options, progress, troubles)
                for each in [*sets, *tests]
            }
        fitted, judged = _divide(words, sets, tests, options.seed)
        result = fit(fitted)
    except (ValueError, OSError) as error:
        raise ValueError(str(error)) from error
    for trouble in troubles:
        console.complain(trouble)
    values = _values(result, judged, file.temperature, options.characters)
    console.write(json.dumps(values, indent=2, allow_nan=False) if options.json else _text(values))
    if result.is_at_edge:
        console.complain("no temperature that was tried is extreme enough; look at the labels")
    code = _write(source, out, file, result.temperature, values)
    return code or (1 if troubles else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vit-str calibrate",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
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
        type=_protocol,
        default=FULL,
        metavar="36|62|94|full",
        help="what makes a word right: full is exactly as written (default), 36 letters and "
        "digits without case",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the division in halves (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    add_device(parser)
    return parser


def _protocol(text: str) -> Protocol:
    known: dict[str, Protocol] = {"36": 36, "62": 62, "94": 94, FULL: FULL}
    if text not in known:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(known)}, found {text!r}")
    return known[text]


def _files(options: argparse.Namespace) -> tuple[Path, Path]:
    """The weights file and the new one.

    Raises:
        UsageError: no such weights, or a new file that cannot be one.
    """
    out = Path(options.out)
    try:
        source = resolve(options.weights)
    except ValueError as error:
        raise ValueError(str(error)) from error
    if out.suffix != ".safetensors" or out.is_dir():
        raise ValueError(f"--out {out}: give the name of a file ending in .safetensors")
    if out.exists() and source.exists() and os.path.samefile(out, source):
        raise ValueError(f"--out {out}: is the weights file itself; give another name")
    try:  # before the words are read, which takes long
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {out}: no such folder ({error.strerror})") from error
    return source, out


def _read(
    words: WordSet,
    reader: Reader,
    options: argparse.Namespace,
    progress: console.Progress,
    troubles: list[str],
) -> Words:
    """Read the words of a set that can be judged."""
    items = []
    for item in words:
        if not isinstance(item, Item):
            troubles.append(item)
        elif normalize_label(item.label, options.characters):
            items.append(item)
    pictures = [item.picture for item in items]
    columns, right = [], []
    outcomes = grade(reader, pictures, options.batch_size, progress.advance)
    for item, outcome in zip(items, outcomes, strict=True):
        if isinstance(outcome, UnreadableImage):
            troubles.append(str(outcome))
            continue
        text, label = (
            normalize_label(each, options.characters) for each in (outcome.text, item.label)
        )
        columns.append(outcome.log_confidences)
        right.append(text == label)
    if not columns:
        raise ValueError(f"{words.path}: no word to judge; give labeled images that can be read")
    return Words(np.stack(columns), np.array(right))


def _divide(
    words: dict[str, Words], sets: list[WordSet], tests: list[WordSet], seed: int
) -> tuple[Words, dict[str, Words]]:
    """The words to fit to, and the sets to judge on."""
    if tests:
        fitted = Words.together([words[str(each.path)] for each in sets])
        return fitted, {str(each.path): words[str(each.path)] for each in tests}
    generator = np.random.default_rng(seed)
    first, second = [], {}
    for name, each in words.items():
        shuffled = generator.permutation(len(each))
        first.append(each.select(shuffled[: len(each) // 2]))
        second[f"{name}, other half"] = each.select(shuffled[len(each) // 2 :])
    return Words.together(first), second


def _values(
    result: Fit, judged: dict[str, Words], old: float, protocol: Protocol
) -> dict[str, Any]:
    """All there is to say, as plain values."""
    sets = dict(judged)
    if len(sets) > 1:
        sets["all"] = Words.together(list(judged.values()))
    return {
        "temperature": round(result.temperature, 4),
        "interval": [round(end, 4) for end in result.interval],
        "words": result.n,
        "characters": protocol,
        "before": old,
        "sets": {
            name: {
                "n": len(words),
                "accuracy": float(words.right.mean()),
                "before": words.judge(old),
                "after": words.judge(result.temperature),
            }
            for name, words in sets.items()
        },
    }


def _text(values: dict[str, Any]) -> str:
    low, high = values["interval"]
    rows = [("set", "words", "right", "temperature", "confidence", "calibration error", "loss")]
    for name, each in values["sets"].items():
        for when, temperature in (("before", values["before"]), ("after", values["temperature"])):
            error = percent(each[when]["error"], tuple(each[when]["interval"]))
            rows.append(
                (
                    name,
                    f"{each['n']:,}",
                    f"{100 * each['accuracy']:.1f}",
                    f"{temperature:.3f}",
                    f"{100 * each[when]['confidence']:.1f}",
                    error,
                    f"{each[when]['loss']:.4f}",
                )
            )
    return "\n".join(
        [
            f"temperature {values['temperature']:.3f} [{low:.3f}, {high:.3f}], fitted to "
            f"{values['words']:,} words, right under {values['characters']} characters; before "
            f"{values['before']:.3f}",
            *aligned(rows),
            "right, mean confidence and error in percent [95 % interval]; loss in nats per word",
            *([_UNDECIDED] if low <= values["before"] <= high else []),
        ]
    )


def _write(
    source: Path, out: Path, file: WeightsFile, temperature: float, values: dict[str, Any]
) -> int:
    note = {name: value for name, value in values.items() if name not in ("before", "sets")}
    provenance = file.provenance | {"calibration": note}
    temperature = round(temperature, 4)
    new = replace(file, temperature=temperature, provenance=provenance, golden=None)
    try:
        if file.golden:  # their confidences change with the temperature
            new = replace(new, golden=make_golden(new, file.golden.images))
        renew_weights(source, out, new)
    except OSError as error:
        return console.fail(f"cannot write {out}: {error.strerror}", 1)
    except ValueError as error:
        return console.fail(f"golden images of {source} cannot be read again: {error}", 1)
    console.complain(f"wrote {out}")
    return 0
