"""Which way text runs on a page: one sum of log-probabilities over what is read each way.

A page has a direction, mostly upright, and each of its lines has one, mostly that of the page. What
is read of a line in some direction speaks for it: every character by as much as it is surer than
what is read where no text runs that way. What is no text, as the bars of a chart, speaks for no
direction. Nothing is read that could not change the outcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.pages.find.geometry import Quadrilateral, side_lengths

if TYPE_CHECKING:
    from jaxtyping import Float

_QUARTERS = np.arange(4)
_PAGES = np.log([0.97, 0.01, 0.01, 0.01])
"""Probabilities that a page is turned by so many quarters to the right."""
_LONG = 2.5  # length over height from which a line runs along its longer side
_TALL = 1.5  # height over length from which a line of one character is as likely turned
# Probabilities that a line is turned by so many quarters from its page, by its shape there
_FLAT = np.log([0.99, 1e-9, 0.01, 1e-9])
_SHORT = np.log([0.98, 0.005, 0.01, 0.005])
_HIGH = np.log([0.79, 0.1, 0.01, 0.1])
_ACROSS = np.log([1e-9, 0.005, 1e-9, 0.005])
_MOST_TURNED = math.log(0.25)  # that a short line is turned where others are, at most
_REACH = 4.0  # how far lines tell of each other, over their height
# Both in characters that are read surely: what a line tells of others, at most, and what its shape
# and page tell
_MOST_TOLD = 5.0
_TOLD_BEFORE = 3.0
_ROUNDS = 10  # in which lines tell each other
_NOTHING = np.log(0.02)  # that what was taken for a line is no text
_NO_TEXT = 0.4
"""Geometric mean of the confidences of what is read where no text runs that way."""
_EMPTY = -6.0  # what speaks for a direction in which nothing is read
_NARROWEST = 1.5  # characters on a length as long as the line is high


class Directions:
    """Evidence for the directions of some lines, in quarter turns to the right.

    Args:
        quadrilaterals: the lines, upright.
    """

    def __init__(self, quadrilaterals: Sequence[Quadrilateral]) -> None:
        sides = [side_lengths(each) for each in quadrilaterals]
        aspects = [max(width, 1.0) / max(height, 1.0) for width, height in sides]
        self._priors = np.array(list(map(_priors, aspects))).reshape(-1, 4, 4)
        self._middles = np.array([each.mean(0) for each in quadrilaterals])
        self._heights = np.array([max(1.0, min(each)) for each in sides])
        self._is_short = np.array([1 / _LONG < each < _LONG for each in aspects])
        most = [[_most(each), _most(1 / each)] * 2 for each in aspects]
        self._possible = np.array(most).reshape(-1, 4)
        self._evidence = np.full(self._possible.shape, -np.inf)
        self._is_read = np.zeros(self._possible.shape, bool)

    def add(self, line: int, quarters: int, length: int, probability: float) -> None:
        """Tell what was read of a line in a direction.

        Args:
            line: its place.
            quarters: the direction.
            length: of the text.
            probability: of the text, 0 to 1.
        """
        self._is_read[line, quarters] = True
        evidence = _EMPTY
        if length:
            evidence = math.log(max(probability, 1e-300)) + _most_of(length)
            # Upside down it has as many characters
            self._possible[line, (quarters + 2) % 4] = _most_of(length)
        self._evidence[line, quarters] = evidence

    def page(self, lines: Sequence[int]) -> int:
        """The most probable direction of the page, as far as lines of it are read."""
        return int(self._pages(lines, self._evidence).argmax())

    def first_page(self) -> int:
        """The most probable direction of the page before anything is read."""
        everything = range(len(self._priors))
        return int(self._pages(everything, np.zeros_like(self._evidence)).argmax())

    def line(self, line: int, page: int) -> int:
        """The most probable direction of a line on a page, of those in which it is read."""
        return int((self._priors[line, page] + self._evidence[line]).argmax())

    def expect_more(self, lines: Sequence[int], page: int) -> bool:
        """Take a direction for more likely that lines nearby have, as those of a turned picture.

        Lines tell each other by how likely each direction is, again and again, until several that
        are a little surer upside down have convinced each other (expectation maximization).

        Args:
            lines: which are read.
            page: the direction of their page.

        Returns:
            Whether lines were read in other directions, so that there is something to tell.
        """
        rows = list(lines)
        if not np.delete(self._is_read[rows], page, axis=1).any():
            return False
        evidence = self._evidence[rows]
        before = self._priors[rows, page]
        apart = np.linalg.norm(
            self._middles[rows] - self._middles[rows][:, None], axis=2
        )
        near = np.exp(-apart / (_REACH * self._heights[rows][:, None]))
        np.fill_diagonal(near, 0.0)
        near *= np.clip(evidence.max(1), 0.0, _MOST_TOLD)
        is_closed = before <= before.min(1, keepdims=True)
        is_short = self._is_short[rows][:, None] & (page != _QUARTERS)
        most = np.where(is_short, np.maximum(before, _MOST_TURNED), 0.0)
        priors = before
        for _ in range(_ROUNDS):
            of_lines = priors + evidence
            shares = np.exp(of_lines - np.logaddexp.reduce(of_lines, axis=1)[:, None])
            together = _TOLD_BEFORE * np.exp(before) + near @ shares
            after = np.log(together / together.sum(1, keepdims=True))
            priors = np.where(is_closed, before, np.minimum(after, most))
        self._priors[rows, page] = priors
        return True

    def disagree(self, lines: Sequence[int], page: int) -> bool:
        """Whether some lines run against the direction of their page."""
        return any(self.line(line, page) == (page + 2) % 4 for line in lines)

    def asked_of_line(self, line: int, page: int) -> int | None:
        """The direction in which a line has to be read next; None if that could change nothing."""
        priors = self._priors[line, page]
        known = (priors + self._evidence[line]).max()
        if self._is_read[line].any():
            known = max(known, _NOTHING)
        is_open = ~self._is_read[line] & (priors + self._possible[line] > known)
        return (
            int(np.where(is_open, priors, -np.inf).argmax()) if is_open.any() else None
        )

    def asked_of_page(self, lines: Sequence[int], page: int) -> tuple[int, int] | None:
        """The line, and its direction, to read before one is sure of the page; None if one is.

        Args:
            lines: to read, the most telling first.
            page: its most probable direction.
        """
        best = np.where(self._is_read, self._evidence, self._possible)
        possible = self._pages(lines, best)
        possible[page] = -np.inf
        rival = int(possible.argmax())
        if possible[rival] <= self._pages(lines, self._evidence)[page]:
            return None
        asked = (line for line in lines if self._may_tell(line, rival))
        line = next(asked, None)
        return None if line is None else (line, rival)

    def _may_tell(self, line: int, page: int) -> bool:
        """Whether a line may run as a page, and is not read so."""
        runs_along = self._priors[line, page, page] > self._priors[line, page].min()
        return bool(runs_along and not self._is_read[line, page])

    def _pages(
        self, lines: Sequence[int], evidence: Float[np.ndarray, "line quarters"]
    ) -> Float[np.ndarray, " page"]:
        """The logarithm of the probability of each direction of the page."""
        rows = list(lines)
        of_lines = self._priors[rows] + evidence[rows][:, None]
        of_text = np.logaddexp.reduce(of_lines, axis=2)
        totals: Float[np.ndarray, " page"] = np.logaddexp(of_text, _NOTHING).sum(0)
        return _PAGES + totals


def _priors(aspect: float) -> Float[np.ndarray, "page quarters"]:
    """How likely a line of some width over height runs each way, by the direction of its page."""
    rows = []
    for page in _QUARTERS:
        length = 1 / aspect if page % 2 else aspect
        if length > _LONG:
            shape = _FLAT
        elif length * _LONG < 1:
            shape = _ACROSS
        elif length * _TALL < 1:
            shape = _HIGH
        else:
            shape = _SHORT
        rows.append(np.roll(shape, page))
    return np.array(rows)


def _most(aspect: float) -> float:
    """The most evidence for a direction, by length over height of the line in it."""
    return _most_of(max(1, round(_NARROWEST * aspect)))


def _most_of(length: int) -> float:
    """The evidence of a certain text of some length for its direction."""
    return -length * math.log(_NO_TEXT)
