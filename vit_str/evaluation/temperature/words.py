"""Fit a temperature to labeled words, say what it brings, and write weights with it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vit_str.console import aligned
from vit_str.datasets import LabeledWord, WordSource
from vit_str.evaluation.metrics import Protocol, normalize_label
from vit_str.evaluation.run import labeled_words
from vit_str.evaluation.statistics import percent
from vit_str.evaluation.temperature.fit import Fit, GradedWords, grade
from vit_str.runtime import Reader
from vit_str.runtime.images import UnreadableImage
from vit_str.weights import WeightsFile, renew_weights, resolve
from vit_str.weights.doctor import make_golden

_UNDECIDED = "the words do not tell the two temperatures apart: keeping the one before is as good"


def checked_files(weights: str, new: str) -> tuple[Path, Path]:
    """The weights file and the new one, checked before the words are read, which takes long.

    Raises:
        ValueError: no such weights, or a new file that cannot be one.
    """
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


def read_words(
    source: WordSource,
    reader: Reader,
    protocol: Protocol,
    batch_size: int,
    advance: Callable[[], object],
    complaints: list[str],
) -> GradedWords:
    """Read the words of a set that the protocol can judge; one line about each that fails.

    Raises:
        ValueError: there is none.
    """
    words: list[LabeledWord] = []
    for item in labeled_words(source):
        if isinstance(item, str):
            complaints.append(item)
        elif normalize_label(item[1].label, protocol):
            words.append(item[1])
    columns, right = [], []
    outcomes = grade(reader, [word.image for word in words], batch_size, advance)
    for word, outcome in zip(words, outcomes, strict=True):
        if isinstance(outcome, UnreadableImage):
            complaints.append(str(UnreadableImage(f"{source.path}: {word.name}", outcome.reason)))
            continue
        columns.append(outcome.log_confidences)
        right.append(
            normalize_label(outcome.text, protocol) == normalize_label(word.label, protocol)
        )
    if not columns:
        raise ValueError(f"{source.path}: no word to judge; give labeled images that can be read")
    return GradedWords(np.stack(columns), np.array(right))


def divide(
    sets: Mapping[str, GradedWords], tests: dict[str, GradedWords], seed: int
) -> tuple[GradedWords, dict[str, GradedWords]]:
    """The words to fit to, and the sets to judge on: other sets, or the other half of the same."""
    if tests:
        return GradedWords.together(list(sets.values())), tests
    generator = np.random.default_rng(seed)
    first, second = [], {}
    for name, words in sets.items():
        shuffled = generator.permutation(len(words))
        first.append(words.select(shuffled[: len(words) // 2]))
        second[f"{name}, other half"] = words.select(shuffled[len(words) // 2 :])
    return GradedWords.together(first), second


def summary(
    result: Fit, judged: dict[str, GradedWords], old: float, protocol: Protocol
) -> dict[str, Any]:
    """All there is to say, as plain values."""
    sets = dict(judged)
    if len(sets) > 1:
        sets["all"] = GradedWords.together(list(judged.values()))
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


def text_of(values: dict[str, Any]) -> str:
    """`summary` as text for a terminal."""
    low, high = values["interval"]
    rows = [("set", "words", "right", "temperature", "confidence", "calibration error", "loss")]
    for name, scores in values["sets"].items():
        for when, temperature in (("before", values["before"]), ("after", values["temperature"])):
            judged = scores[when]
            cells = (f"{scores['n']:,}", f"{100 * scores['accuracy']:.1f}", f"{temperature:.3f}")
            confidence = f"{100 * judged['confidence']:.1f}"
            error = percent(judged["error"], judged["interval"])
            rows.append((name, *cells, confidence, error, f"{judged['loss']:.4f}"))
    lines = [
        f"temperature {values['temperature']:.3f} [{low:.3f}, {high:.3f}], fitted to "
        f"{values['words']:,} words, right under {values['characters']} characters; before "
        f"{values['before']:.3f}",
        *aligned(rows),
        "right, mean confidence and error in percent [95 % interval]; loss in nats per word",
    ]
    return "\n".join([*lines, *([_UNDECIDED] if low <= values["before"] <= high else [])])


def write(source: Path, out: Path, file: WeightsFile, values: dict[str, Any]) -> None:
    """Write the weights with the temperature of a `summary`, which its provenance notes.

    Raises:
        ValueError: images whose readings are kept with the weights cannot be read again.
        OSError: the file cannot be written.
    """
    note = {name: value for name, value in values.items() if name not in ("before", "sets")}
    provenance = file.provenance | {"calibration": note}
    new = replace(file, temperature=values["temperature"], provenance=provenance, golden=None)
    if file.golden:  # their confidences change with the temperature
        try:
            new = replace(new, golden=make_golden(new, file.golden.images))
        except ValueError as error:
            reason = f"golden images of {source} cannot be read again: {error}"
            raise ValueError(reason) from error
    renew_weights(source, out, new)
