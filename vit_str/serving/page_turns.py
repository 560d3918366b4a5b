"""Clients take turns with pages: how long one may be read for while others wait."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Event
from typing import NamedTuple

from vit_str.serving.limits import ClientDisconnected, Limits, Refusal
from vit_str.serving.thread_pools import FairThreadPool, MeanTime

# Of the deadline, that a page may be read for while other clients wait
_TURN = 1 / 3
_KNOWN_DROPPED = 64  # pages whose turn was over; the next one of each is longer


class Turn(NamedTuple):
    """How long a page may be read for while others wait."""

    page: bytes  # a hash
    seconds: float  # of the processor: other work must not take its time
    end: float  # on the clock of its thread


class PageTurns:
    """The turns of pages in one pool of threads.

    Args:
        limits: of requests.
        pool: reads the pages.

    Attributes:
        mean_time: that pages take.
    """

    def __init__(self, limits: Limits, pool: FairThreadPool) -> None:
        self._deadline = limits.deadline
        self._pool = pool
        self.mean_time = MeanTime()
        self._dropped: OrderedDict[bytes, None] = OrderedDict()

    def check_time(self) -> None:
        """Refuse a page at once that could not be read in time.

        Raises:
            Refusal: it could not.
        """
        waiting = self._pool.jobs()
        expected = (waiting + 1) * self.mean_time.seconds
        if waiting and expected > self._deadline:
            raise Refusal(
                503,
                f"others come first, and {waiting + 1} pages of "
                f"{self.mean_time.seconds:.0f} seconds each do not fit; send it again later",
                retry_after=round(expected - self._deadline) or 1,
            )

    def begin(self, page: bytes) -> Turn:
        """The turn of a page: twice as long if it was dropped when it was sent before.

        Args:
            page: a hash of it, and of what is asked for.
        """
        seconds = self._deadline * _TURN
        if page in self._dropped:
            del self._dropped[page]
            seconds *= 2
        return Turn(page, seconds, time.thread_time() + seconds)

    def check(self, turn: Turn, over: Event) -> None:
        """Look whether to go on with a page.

        Args:
            turn: of the page.
            over: nobody waits for it any more.

        Raises:
            ClientDisconnected: nobody waits for it.
            Refusal: others have waited long enough for its end.
        """
        if over.is_set():
            raise ClientDisconnected
        if time.thread_time() > turn.end and self._pool.others_wait():
            self._dropped[turn.page] = None
            if len(self._dropped) > _KNOWN_DROPPED:
                self._dropped.popitem(last=False)
            raise Refusal(
                503,
                f"others wait, and this page takes over {turn.seconds:g} seconds to read; send "
                "it again later, or parts of it",
                retry_after=round(self._deadline),
            )


def patience_for_pages(limits: Limits) -> float:
    """Seconds in which a page has to begin: later, no turn is left before its deadline."""
    return limits.deadline * (1 - _TURN)
