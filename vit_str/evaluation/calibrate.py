"""``vit-str calibrate``: make confidences mean what they say."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import add_batch_size, add_device

if TYPE_CHECKING:
    import numpy as np

    from vit_str.datasets import WordSource
    from vit_str.evaluation.temperature import JudgedWords
    from vit_str.runtime import Reader
    from vit_str.torch_runtime.weights_file import WeightsFile

_DESCRIPTION = """\
Fit the temperature that makes the confidence of a word the share of such words that is right, on
labeled words that the model has not learned from, and write a weights file with it. No weight
changes, and few texts: which words are read a second time depends on it. The words are read as
users see them, at nine temperatures and at the fitted one. Half of them are fitted to, the other
half says what it brought."""

_UNDECIDED = "the words do not tell the two temperatures apart: keeping the one before is as good"

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
    parser.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    add_device(parser)
    add_batch_size(parser)


def run(options: argparse.Namespace) -> int:
    """Fit, print what it brings, and write the weights; returns the exit code."""
    from vit_str.evaluation.run import opened
    from vit_str.evaluation.temperature import FACTORS, fit
    from vit_str.runtime import load
    from vit_str.torch_runtime.weights_file import load_weights

    source, out = _checked_files(options.weights, options.out)
    file = load_weights(source)
    sets = [opened(path) for path in options.sources]
    with console.Progress((len(FACTORS) + 2) * sum(map(len, sets))) as progress:
        words = _Words(load(source, options.device), options.batch_size, progress)
        tried = [words.read(sets, file.temperature * factor) for factor in FACTORS]
        halves = _second_halves(tried[0])
        result = fit([_all_but(judged, halves) for judged in tried])
        temperature = round(file.temperature * result.factor, 4)
        before = words.read(sets, file.temperature)
        after = words.read(sets, temperature)
    for line in words.problems:
        console.warn(line)
    values = {
        "temperature": temperature,
        "interval": [round(file.temperature * end, 4) for end in result.interval],
        "words": result.n,
        "before": file.temperature,
        "sets": _what_it_brought(before, after, halves),
    }
    console.write(json.dumps(values, indent=2) if options.json else _text(values))
    if result.is_at_edge:
        console.warn(
            "no temperature that was tried is extreme enough: look at the labels, or calibrate "
            f"{out} once more"
        )
    _write(source, out, file, values)
    console.warn(f"wrote {out}")
    return 1 if words.problems else 0


class _Words:
    """Reads sets of words at any temperature.

    Attributes:
        problems: one line about each word that has no image or none that can be read.
    """

    def __init__(self, reader: Reader, batch_size: int, progress: console.Progress) -> None:
        self.problems: dict[str, None] = {}
        self._reader = reader
        self._batch_size = batch_size
        self._progress = progress

    def read(self, sources: Sequence[WordSource], temperature: float) -> dict[str, JudgedWords]:
        """Name of the set -> its words that can be judged, as users would see them."""
        from vit_str.evaluation.run import read_sets
        from vit_str.evaluation.temperature import JudgedWords

        engine = self._reader.engine
        engine.model = replace(engine.model, temperature=temperature)
        sets = read_sets(self._reader, sources, self._batch_size, advance=self._progress.advance)
        for found in sets.values():
            self.problems |= dict.fromkeys([*found.missing, *found.damaged])
        judged = {name: JudgedWords.of(words) for name, words in sets.items()}
        for name, words in judged.items():
            if not len(words):
                raise ValueError(f"{name}: no word to judge; give labeled images that can be read")
        return judged


def _second_halves(sets: Mapping[str, JudgedWords]) -> dict[str, np.ndarray]:
    """Name of the set -> which half of its words to judge on; the others are to fit to."""
    import numpy as np

    generator = np.random.default_rng(0)
    return {
        name: generator.permutation(len(words))[len(words) // 2 :] for name, words in sets.items()
    }


def _all_but(sets: Mapping[str, JudgedWords], left_out: Mapping[str, np.ndarray]) -> JudgedWords:
    """The words of all sets but some as one."""
    import numpy as np

    from vit_str.evaluation.temperature import JudgedWords

    return JudgedWords.together(
        [
            words.select(np.setdiff1d(np.arange(len(words)), left_out[name]))
            for name, words in sets.items()
        ]
    )


def _what_it_brought(
    before: Mapping[str, JudgedWords],
    after: Mapping[str, JudgedWords],
    places: Mapping[str, np.ndarray],
) -> dict[str, dict[str, Any]]:
    """Set -> scores before and after of the half to judge on; of all sets as well."""
    from vit_str.evaluation.temperature import JudgedWords

    pairs = {
        f"{name}, other half": (before[name].select(where), after[name].select(where))
        for name, where in places.items()
    }
    if len(pairs) > 1:
        first, second = zip(*pairs.values(), strict=True)
        pairs["all"] = JudgedWords.together(first), JudgedWords.together(second)
    return {
        name: {"n": len(first), "before": first.scores(), "after": second.scores()}
        for name, (first, second) in pairs.items()
    }


def _text(values: Mapping[str, Any]) -> str:
    """What was fitted and what it brought, for a terminal."""
    from vit_str.evaluation.statistics import percent

    low, high = values["interval"]
    rows = [("set", "words", "temperature", "right", "confidence", "calibration error", "loss")]
    for name, scores in values["sets"].items():
        for when, temperature in (("before", values["before"]), ("after", values["temperature"])):
            judged = scores[when]
            rows.append(
                (
                    name,
                    f"{scores['n']:,}",
                    f"{temperature:.3f}",
                    f"{100 * judged['accuracy']:.1f}",
                    f"{100 * judged['confidence']:.1f}",
                    percent(judged["error"], judged["interval"]),
                    f"{judged['loss']:.4f}",
                )
            )
    lines = [
        f"temperature {values['temperature']:.3f} [{low:.3f}, {high:.3f}], fitted to "
        f"{values['words']:,} words, right exactly as written; before {values['before']:.3f}",
        *console.aligned(rows),
        "right, mean confidence and error in percent [95 % interval]; loss in nats per word",
    ]
    if low <= values["before"] <= high:
        lines.append(_UNDECIDED)
    return "\n".join(lines)


def _checked_files(weights: str, new: str) -> tuple[Path, Path]:
    """The weights file and the new one, checked before the words are read, which takes long."""
    from vit_str.runtime.weights_contents import resolve

    source, out = resolve(weights), Path(new)
    if out.suffix != ".safetensors" or out.is_dir():
        raise ValueError(f"--out {out}: give the name of a file ending in .safetensors")
    if out.exists() and source.exists() and os.path.samefile(out, source):
        raise ValueError(f"--out {out}: is the weights file itself; give another name")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {out}: no such folder ({error.strerror})") from error
    return source, out


def _write(source: Path, out: Path, file: WeightsFile, values: Mapping[str, Any]) -> None:
    """Write the weights with the temperature, which their provenance notes."""
    from vit_str.torch_runtime.weights_file import renew_weights

    note = {name: value for name, value in values.items() if name not in ("before", "sets")}
    provenance = file.provenance | {"calibration": note}
    new = replace(file, temperature=values["temperature"], provenance=provenance)
    renew_weights(source, out, new)
