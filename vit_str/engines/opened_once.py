"""Objects that are costly to open, opened once however many threads ask for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from threading import RLock
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class OpenedOnce(Generic[Value]):
    """Keeps what a function returns, as `functools.lru_cache`, but threads wait for each other.

    Without that, all that ask at the same time open what none has opened yet. A forked process has
    a lock of its own: that of the process it came from may be held by a thread that it has not.

    Args:
        function: opens something for its arguments.
        size: how many of the last ones are kept.
    """

    def __init__(self, function: Callable[..., Value], size: int = 1) -> None:
        self._function = lru_cache(size)(function)
        self._lock = RLock()
        self._process = os.getpid()

    def __call__(self, *arguments: Any) -> Value:
        """The result of the function for these arguments."""
        if self._process != os.getpid():
            self._lock = RLock()
            self._process = os.getpid()
        with self._lock:
            return self._function(*arguments)
