"""What a run of a study leaves behind: a table, a figure, and a file that says the rest."""

import csv
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from vit_str.studies.study import Cell, Findings, Row, Settings, Study, Verdict

RESULT, TABLE, FIGURE, ERROR = "result.json", "table.csv", "figure.png", "error.txt"
"""Names of the files in the folder of a study."""

TEXTS = ("posts", "claim", "expectation", "experiment", "correction")
"""What a study says about itself."""

_FORMAT = "vit-str study"


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one study, as it is kept.

    Attributes:
        id: name of the study; the texts that follow are as in `Study`, what was found as in
            `Findings`.
        quick: whether it was the small version.
        seeds: number of repetitions.
        device: that it was computed on.
        seconds: that it took, by the clock.
        versions: of the software.
        modules: files of this package that it used, see `vit_str.studies.sources`.
        digest: of what those files say.
    """

    id: str
    posts: str
    claim: str
    expectation: str
    experiment: str
    correction: str
    quick: bool
    seeds: int
    device: str
    verdict: Verdict
    measure: str
    value: float
    interval: tuple[float, float]
    because: str
    surprises: tuple[str, ...]
    summary: tuple[Row, ...]
    seconds: float
    versions: Mapping[str, str]
    modules: tuple[str, ...]
    digest: str

    @property
    def command(self) -> str:
        """What makes it again."""
        parts = ["vit-str study run", self.id]
        parts += ["--quick"] if self.quick else []
        parts += [f"--seeds {self.seeds}"] if self.seeds != Settings().seeds else []
        parts += [f"--device {self.device}"] if self.device != "cpu" else []
        return " ".join(parts)

    @property
    def number(self) -> str:
        """The deciding number with its interval; without where nothing is random."""
        low, high = self.interval
        if low == high:
            return f"{self.value:.4g}"
        return f"{self.value:.4g} [{low:.4g}, {high:.4g}]"

    def save(self, folder: Path) -> None:
        """Write it into the folder of the study, at once or not at all."""
        text = json.dumps({"format": _FORMAT} | asdict(self), indent=2, ensure_ascii=False)
        replace_file(folder / RESULT, lambda path: path.write_text(text + "\n", encoding="utf-8"))


def load_result(folder: Path) -> Result | None:
    """The result in the folder of a study; None if there is none.

    Raises:
        ValueError: there is a file, but it is damaged or of another kind.
    """
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != _FORMAT or set(values) != {each.name for each in fields(Result)}:
            raise ValueError
        values["verdict"] = Verdict(values["verdict"])
        for name in ("interval", "surprises", "summary", "modules"):
            values[name] = tuple(values[name])
        return Result(**values)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(
            f"{path} does not describe a run of vit-str study; remove it, or take another --out"
        ) from None


def texts_of(study: Study) -> dict[str, str]:
    """What a study says about itself, by name."""
    return {name: getattr(study, name) for name in TEXTS}


def renew(result: Result, study: Study) -> Result:
    """The result with what the study says about itself now."""
    texts: dict[str, Any] = dict(texts_of(study))
    return replace(result, **texts)


def check(findings: Findings) -> None:
    """See that findings are what `Findings` promises.

    Raises:
        ValueError: they are not; this is a mistake in a study.
    """
    low, high = findings.interval
    if not (math.isfinite(findings.value) and low <= findings.value <= high):
        raise ValueError(f"a value of {findings.value} in an interval of {findings.interval}")
    for name, rows in (("rows", findings.rows), ("summary", findings.summary)):
        if not rows or any(list(row) != list(rows[0]) for row in rows):
            raise ValueError(f"{name}: expected one row or more, all with the same columns")
        strange = {
            type(cell).__name__
            for row in rows
            for cell in row.values()
            if not isinstance(cell, Cell)
        }
        if strange:
            raise ValueError(f"{name}: expected plain values, found {', '.join(sorted(strange))}")
    if not findings.because:
        raise ValueError("a verdict without a reason")


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Rows as a table of comma-separated values."""

    def write(unfinished: Path) -> None:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    replace_file(path, write)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file at once or not at all."""
    # The ending stays: it says which format a figure has.
    unfinished = path.with_name(f".unfinished-{path.name}")
    try:
        write(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
