"""What a study is: a claim, what to expect, an experiment, a table, a figure, a verdict."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # a study computes without the library that draws it
    from matplotlib.figure import Figure

Cell = str | int | float | bool
Row = Mapping[str, Cell]

POSTS: Mapping[str, str] = {
    "R": "transformer-review",
    "V": "rnn-to-vision-transformer",
    "E": "transformer-encoder",
    "S": "self-attention",
    "L": "lecture-notes-attention",
}
"""The posts that the claims are from, by their letters."""


class Verdict(StrEnum):
    """What an experiment says about a claim."""

    SUPPORTED = "SUPPORTED"
    PARTLY = "PARTLY"
    NOT_SUPPORTED = "NOT SUPPORTED"


def _nobody_looks(share: float) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Settings:
    """How large an experiment is.

    Attributes:
        quick: a small version, which takes a minute at most on one CPU thread.
        seeds: number of repetitions with seeds 0, 1, ...; intervals are over them.
        device: to compute on.
        progress: told now and then what share of the experiment is done, 0 to 1.
    """

    quick: bool = False
    seeds: int = 5
    device: str = "cpu"
    progress: Callable[[float], None] = _nobody_looks


@dataclass(frozen=True, slots=True)
class Findings:
    """What an experiment found.

    Attributes:
        rows: the tidy table, one row for each seed and setting; all rows have the same columns.
        summary: a short table for people, the numbers as text with their intervals.
        verdict: on the claim as it is written.
        measure: in words, the number that decides.
        value: that number, its mean over seeds.
        interval: its 95 % interval over seeds; the value twice where nothing is random.
        because: one to three sentences that say why, with the numbers.
        draw: draws the figure; the size of the figure may be set.
        surprises: what was not expected, in sentences of their own; empty if nothing was.
    """

    rows: Sequence[Row]
    summary: Sequence[Row]
    verdict: Verdict
    measure: str
    value: float
    interval: tuple[float, float]
    because: str
    draw: "Callable[[Figure], None]"
    surprises: Sequence[str] = field(default_factory=tuple)


class Study(ABC):
    """One claim, and how anyone can see whether it holds.

    Attributes:
        id: its name on the command line.
        posts: letters of the posts that make the claim, see `POSTS`.
        claim: what they say, in one sentence.
        expectation: what the experiment should show, written down before it was run.
        experiment: what is done, in two or three sentences, with the sizes.
        correction: what a reader of the posts should know beside; empty if nothing.
        revised: what was changed in the experiment or its rule after first results had been seen,
            which makes its verdict worth less; empty if nothing.
    """

    id: ClassVar[str]
    posts: ClassVar[str]
    claim: ClassVar[str]
    expectation: ClassVar[str]
    experiment: ClassVar[str]
    correction: ClassVar[str] = ""
    revised: ClassVar[str] = ""

    @abstractmethod
    def run(self, settings: Settings) -> Findings:
        """Do the experiment. The same settings on the same machine give the same findings."""
