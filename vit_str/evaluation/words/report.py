"""Scores of sets of words, their calibration, and where the mistakes are."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from vit_str.console import aligned, one_line
from vit_str.evaluation.metrics import FULL, WORD_PROTOCOLS, Scores
from vit_str.evaluation.statistics import percent, plain_values
from vit_str.evaluation.words.breakdown import Group, breakdown, rejection
from vit_str.evaluation.words.calibration_error import BINS, Calibration
from vit_str.evaluation.words.confusions import confusions
from vit_str.evaluation.words.mistakes import surest_mistakes
from vit_str.evaluation.words.results import ReadWords, together

ALL = "all"
"""Name of all sets together in tables."""

WORD_TITLES = {name: f"word {protocol}" for name, protocol in WORD_PROTOCOLS.items()}
CHARACTER_TITLES = {
    "character_accuracy": "character 94",
    "character_accuracy_full": "character full",
    "one_minus_ned": "1-NED 94",
    "one_minus_ned_full": "1-NED full",
}


class Report:
    """Scores of every set and of all words together; calibrations are under 36 characters."""

    def __init__(self, words: dict[str, ReadWords]) -> None:
        self.words = words
        self.whole = together(words.values())
        self._sets = {}
        for name, part in words.items():
            self._sets[name] = (part, part.scores(), part.calibration())
        self.overall = self.whole.scores()
        self.overall_calibration = self.whole.calibration()
        problems = (part.problems for part in words.values())
        self.problems = list(chain.from_iterable(problems))

    def parts(self) -> dict[str, tuple[ReadWords, Scores, Calibration]]:
        """Every set and, if there are several, all together as ``ALL``."""
        whole = {ALL: (self.whole, self.overall, self.overall_calibration)}
        return self._sets | (whole if len(self._sets) > 1 else {})

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions; the bins of the calibration are a reliability table."""
        return {
            "sets": {name: _values(*part) for name, part in self._sets.items()},
            "overall": _values(self.whole, self.overall, self.overall_calibration),
            "mistakes": plain_values(surest_mistakes(self.words)),
        }

    def table(self) -> str:
        """Text for a terminal: percent with the 95 % interval in brackets."""
        lines = [
            *aligned(self.rows(WORD_TITLES)),
            "",
            *aligned(self.rows(CHARACTER_TITLES)),
            "percent [95 % interval]",
        ]
        errors = ", ".join(
            f"{one_line(name)} {percent(calibration.error, calibration.interval)}"
            for name, (_, _, calibration) in self.parts().items()
            if calibration.n
        )
        if errors:
            lines.append(
                f"calibration error of confidences, word 36, {BINS} bins: {errors}"
            )
        return "\n".join([*lines, *self.notes()])

    def rows(self, titles: dict[str, str]) -> list[tuple[str, ...]]:
        """A table: title, then a row for each set, then one for all."""
        rows = [("set", "words", *titles.values())]
        for name, (_, scores, _) in self.parts().items():
            values = scores.values
            cells = [
                percent(values[metric], scores.interval[metric]) for metric in titles
            ]
            rows.append((one_line(name), f"{scores.n:,}", *cells))
        return rows

    def notes(self) -> Iterator[str]:
        """Words that the numbers leave out, one line each."""
        for metric, protocol in WORD_PROTOCOLS.items():
            words = self.overall.left_out[metric]
            if words and protocol == FULL:
                yield f"{words:,} empty labels: not judged"
            elif words:
                yield (
                    f"{words:,} labels with none of the {protocol} characters: "
                    f"not in word {protocol}"
                )
        if self.overall.reduced:
            yield (
                f"{self.overall.reduced:,} labels with spaces, accents or other "
                "scripts: judged whole in full only"
            )
        if self.overall.unreadable:
            yield f"{self.overall.unreadable:,} damaged images: counted as read wrong"
        if self.overall.missing:
            yield f"{self.overall.missing:,} words without an image or a label: not counted"


def _values(
    words: ReadWords,
    scores: Scores,
    calibration: Calibration,
) -> dict[str, Any]:
    return scores.to_dict() | {
        "calibration": plain_values(calibration),
        "calibration_full": plain_values(words.calibration(FULL)),
        "breakdown": {
            dimension: list(map(_group_values, groups))
            for dimension, groups in breakdown(words).items()
        },
        "rejection": plain_values(rejection(words)),
        "confusions": plain_values(confusions(words)),
    }


def _group_values(group: Group) -> dict[str, Any]:
    return {"name": group.name, "n": group.n, **plain_values(group.shares)}
