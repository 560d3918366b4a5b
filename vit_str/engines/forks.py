"""Objects that a forked process opens anew: it has none of the threads of its parent."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Value = TypeVar("Value")


class PerProcess(Generic[Value]):
    """Something with threads, such as a session of onnxruntime, that each process has its own of.

    Args:
        value: that of this process.
        reopen: makes one in a process that is forked from it.
    """

    def __init__(self, value: Value, reopen: Callable[[], Value]) -> None:
        self._value = value
        self._reopen = reopen
        self._process = os.getpid()
        _watch_forks()
        _all.add(self)

    @property
    def value(self) -> Value:
        """That of this process; made at its first use in a forked one."""
        if self._process != os.getpid():
            self._value = self._reopen()
            self._process = os.getpid()
        return self._value

    def keep(self) -> None:
        """Never let go of it: a forked process would wait for its threads, which are not there."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._value))


_all: WeakSet[PerProcess[Any]] = WeakSet()


@cache
def _watch_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_keep_all)


def _keep_all() -> None:
    for each in _all:
        each.keep()
