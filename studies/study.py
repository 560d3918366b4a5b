"""What a study is: a claim, what to expect, an experiment, a table, a figure, a verdict."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t

Cell = str | int | float | bool
Row = dict[str, Cell]
Rows = Iterable[tuple[Cell, ...]]
"""Cells in the order of the columns of a table."""
POSTS: Mapping[str, str] = {
    "R": "transformer-review",
    "V": "rnn-to-vision-transformer",
    "E": "transformer-encoder",
    "S": "self-attention",
    "L": "lecture-notes-attention",
}
"""The posts that the claims are from, by their letters."""


class Values(list[float]):
    """A measured number for each seed, in order; their mean has a 95 % interval over seeds."""

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return math.fsum(self) / len(self)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean by Student's t; both ends are the value if it is alone."""
        n = len(self)
        if n == 1:
            return self[0], self[0]
        half = float(t.ppf(0.975, n - 1) * np.std(self, ddof=1) / math.sqrt(n))
        return self.mean - half, self.mean + half

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval[1]

    def __sub__(self, other: Sequence[float]) -> "Values":
        return Values(a - b for a, b in zip(self, other, strict=True))

    def text(self, digits: int = 3) -> str:
        """``mean [low, high]``; empty without values."""
        if not self:
            return ""
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


class Verdict(StrEnum):
    """What an experiment says about a claim."""

    SUPPORTED = "SUPPORTED"
    PARTLY = "PARTLY"
    NOT_SUPPORTED = "NOT SUPPORTED"
    UNDECIDED = "NOT DECIDED"
    """The experiment cannot tell: too small, or what it should look at was not learned."""

    @classmethod
    def of(cls, *parts: bool) -> "Verdict":
        """Supported if all parts of a claim hold, partly if some do."""
        return cls.graded(any(parts), all(parts))

    @classmethod
    def graded(cls, partly: bool, fully: bool) -> "Verdict":
        """Not supported unless the first holds, supported if the second does too."""
        if not partly:
            return cls.NOT_SUPPORTED
        return cls.SUPPORTED if fully else cls.PARTLY


class Table(list[Row]):
    """Measurements: one row for each seed and setting, all with the same columns.

    Methods take settings as keywords, ``table.values("error", network="GRU", length=30)``, and
    read the last column where none is named.
    """

    @classmethod
    def of(cls, columns: str, rows: Iterable[Sequence[Cell]]) -> "Table":
        """A table from the names of its columns, between spaces, and the cells of its rows."""
        names = columns.split()
        return cls(dict(zip(names, row, strict=True)) for row in rows)

    def where(self, **settings: Cell) -> "Table":
        """The rows with these settings."""
        wanted = settings.items()

        def fits(row: Row) -> bool:
            return all(row[name] == value for name, value in wanted)

        return Table(filter(fits, self))

    def parts(self, column: str, *values: Cell) -> "list[Table]":
        """The rows with each of these values in a column."""
        return [self.where(**{column: value}) for value in values]

    def values(self, column: str = "", **settings: Cell) -> Values:
        """A column of the rows with these settings: one number for each seed, in order."""
        column = column or list(self[0])[-1]
        return Values(float(row[column]) for row in self.where(**settings))

    def mean(self, column: str = "", **settings: Cell) -> float:
        """Mean of `values`."""
        return self.values(column, **settings).mean

    def text(self, column: str = "", digits: int = 3, **settings: Cell) -> str:
        """Mean and interval of `values`."""
        return self.values(column, **settings).text(digits)

    def cells(
        self,
        title: str,
        along: str,
        levels: Iterable[Cell],
        digits: int = 3,
        **settings: Cell,
    ) -> dict[str, str]:
        """`text` for each level of ``along``, by the title with the level in the place of {}."""
        column = list(self[0])[-1]
        rows = self.where(**settings)
        cells = {}
        for level in levels:
            (at_level,) = rows.parts(along, level)
            cells[title.format(level)] = at_level.text(column, digits)
        return cells

    def levels(self, column: str, **settings: Cell) -> list[Any]:
        """The different values of a column, in the order of their first rows."""
        return list(dict.fromkeys(row[column] for row in self.where(**settings)))

    def curves(
        self, along: str, column: str = "", **settings: Cell
    ) -> tuple[list[float], list[Values]]:
        """The levels of ``along``, and for each seed a column there."""
        rows = self.where(**settings)
        xs = sorted(rows.levels(along))
        columns = [at_x.values(column) for at_x in rows.parts(along, *xs)]
        return xs, [Values(run) for run in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Settings:
    """How large an experiment is; the quick version takes a minute or two on one CPU thread."""

    quick: bool = False
    seeds: int = 5
    device: str = "cpu"

    def repeat(self, columns: str, measure: Callable[[int], Rows]) -> Table:
        """The table of what ``measure`` gives for each seed."""
        rows = chain.from_iterable(measure(seed) for seed in range(self.seeds))
        return Table.of(columns, rows)


@dataclass(frozen=True, slots=True)
class Findings:
    """What an experiment found; tables have rows of the same columns, and numbers are finite."""

    table: Table
    # For people, numbers as text with their intervals
    summary: Sequence[Mapping[str, Cell]]
    verdict: Verdict
    measure: str  # in words, the number that decides
    values: Values  # that number for each seed; a single one where nothing is random
    because: str  # one to three sentences that say why, with the numbers
    draw: Callable[[Figure], None]  # may set the size of the figure
    # Sentence -> whether it holds
    surprises: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.values)):
            raise ValueError(f"{self.measure}: {self.values}")
        for name, rows in (("table", self.table), ("summary", self.summary)):
            if not rows or any(list(row) != list(rows[0]) for row in rows):
                raise ValueError(
                    f"{name}: expected one row or more, all with the same columns"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One claim, and what is known before its experiment is run: paragraphs are Markdown."""

    posts: str  # letters of those that make the claim, such as "V, R"
    claim: str
    expected: str  # written before the first run
    experiment: str
    changed: str = ""  # after first results had been seen
    correction: str = ""  # of what the posts say
    # ``identity`` if it holds by construction: no evidence of the same kind
    kind: str = ""
    over: str = "seeds"  # what intervals are over
    weights: tuple[str, ...] = ()  # names of bundled weights that it measures
    rule: str = ""  # how its rule was changed after results had been seen
