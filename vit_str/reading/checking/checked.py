"""The result of checking a text against pictures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

from vit_str.decoding.boxes import Box

if TYPE_CHECKING:
    from pandas import DataFrame

Verdict = Literal["confirmed", "doubtful", "contradicted", "absent", "missing"]
"""Of words of the text all but the last, which is that of words of a page."""

VERDICTS: tuple[Verdict, ...] = (
    "confirmed",
    "doubtful",
    "contradicted",
    "absent",
    "missing",
)
_DEVIATIONS = 1.96  # of a normal distribution, around 95 % of it


@dataclass(frozen=True, slots=True)
class CheckedWord:
    """A word of the text.

    Attributes:
        text: as a page would show it, without marks and tags.
        start: its first character in the text as it came.
        end: the character behind its last.
        verdict: ``confirmed``; ``doubtful``; ``contradicted``, where the picture says something
            else; or ``absent``, where no page has it.
        probability: that the picture says so, 0 to 1.
        page: number of the page, from 1; None if the word is absent.
        boxes: where it is, in pixels of the upright page; several if it is cut.
        found: what is read there.
        likelihood: probability of the text given the pixels, of the surer reader, 0 to 1; None
            where no reader can write it.
        found_likelihood: the same of ``found``.
        read_by: which readers give the text at least the probability of what is read there:
            ``line``, ``words``, or both.
        differs_in_typography: whether only quotes, dashes, ligatures, small capitals, or the cut
            at the end of a line are not as printed, which counts as right.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    probability: float
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    found: str | None = None
    likelihood: float | None = None
    found_likelihood: float | None = None
    read_by: tuple[str, ...] = ()
    differs_in_typography: bool = False

    @property
    def box(self) -> Box | None:
        """The box around the first part of the word; None if it is absent."""
        return self.boxes[0] if self.boxes else None


@dataclass(frozen=True, slots=True)
class MissingWord:
    """A word of a page that the text lacks.

    Attributes:
        text: as it is read.
        probability: that it is there, 0 to 1.
        page: number of the page, from 1.
        box: where, in pixels of the upright page.
        after: how many words of the text come before it, by its neighbors.
    """

    text: str
    probability: float
    page: int
    box: Box
    after: int = 0
    verdict: Verdict = "missing"


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page that was checked.

    Attributes:
        number: from 1.
        width: of the upright page, in pixels.
        height: of it.
    """

    number: int
    width: int
    height: int


@dataclass(frozen=True)
class Checked:
    """A text, word by word, and what it lacks.

    Attributes:
        text: as it came; of JSON lines, what they say.
        words: of the text, in its order.
        missing: words that only the pages have, in reading order.
        pages: that were looked at.
        errors: pages that could not be read, and why.
    """

    text: str = field(repr=False)
    words: Sequence[CheckedWord]
    missing: Sequence[MissingWord]
    pages: Sequence[PageSize]
    errors: Sequence[str] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing is contradicted, absent or missing; doubts do not count."""
        wrong = {"contradicted", "absent"}
        return not self.missing and not any(w.verdict in wrong for w in self.words)

    @property
    def expected_errors(self) -> float:
        """How many words are probably wrong, absent or missing."""
        return sum(self._chances)

    @property
    def interval(self) -> tuple[float, float]:
        """In which 95 % of the numbers of errors lie, if words are wrong one by one."""
        expected = self.expected_errors
        variance = sum(chance * (1 - chance) for chance in self._chances)
        reach = _DEVIATIONS * sqrt(variance)
        most = len(self.words) + len(self.missing)
        return max(0.0, expected - reach), min(float(most), expected + reach)

    @property
    def _chances(self) -> list[float]:
        wrong = [1 - word.probability for word in self.words]
        return wrong + [word.probability for word in self.missing]

    def count(self, verdict: Verdict) -> int:
        """How many words have a verdict."""
        verdicts = [word.verdict for word in self.words]
        verdicts += [word.verdict for word in self.missing]
        return verdicts.count(verdict)

    def corrected(self, least: float = 0.9) -> str:
        """The text with what the pages say in place of contradicted words; all else as it came.

        Args:
            least: likelihood of what the pages say from which on it is believed, 0 to 1.
        """
        parts = []
        before = 0
        for word in self.words:
            sure = (word.found_likelihood or 0.0) >= least
            if word.verdict == "contradicted" and word.found and sure:
                parts += [self.text[before : word.start], word.found]
                before = word.end
        return "".join([*parts, self.text[before:]])

    def rows(self) -> list[dict[str, Any]]:
        """A row of plain values for each word, those that are missing behind their neighbors."""
        rows = []
        waiting = sorted(self.missing, key=lambda word: word.after)
        for place, word in enumerate(self.words):
            while waiting and waiting[0].after <= place:
                rows.append(_missing_row(waiting.pop(0)))
            rows.append(_word_row(word))
        return rows + list(map(_missing_row, waiting))

    def summary(self) -> dict[str, Any]:
        """Counts of verdicts, and the expected number of errors with its interval."""
        low, high = self.interval
        return {
            "words": len(self.words),
            **{verdict: self.count(verdict) for verdict in VERDICTS},
            "expected_errors": self.expected_errors,
            "interval": [low, high],
            "right": self.is_right,
            "pages": [asdict(page) for page in self.pages],
            "errors": list(self.errors),
        }

    def to_frame(self) -> "DataFrame":
        """The rows as a table of pandas.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        import pandas as pd

        return pd.DataFrame(self.rows())


def _word_row(word: CheckedWord) -> dict[str, Any]:
    return {
        "text": word.text,
        "verdict": word.verdict,
        "probability": word.probability,
        "page": word.page,
        "boxes": [list(box) for box in word.boxes],
        "found": word.found,
        "likelihood": word.likelihood,
        "found_likelihood": word.found_likelihood,
        "read_by": list(word.read_by),
        "typography": word.differs_in_typography,
        "start": word.start,
        "end": word.end,
    }


def _missing_row(word: MissingWord) -> dict[str, Any]:
    return {
        "text": word.text,
        "verdict": word.verdict,
        "probability": word.probability,
        "page": word.page,
        "boxes": [list(word.box)],
        "found": word.text,
        "likelihood": None,
        "found_likelihood": word.probability,
        "read_by": [],
        "typography": False,
        "start": None,
        "end": None,
    }
