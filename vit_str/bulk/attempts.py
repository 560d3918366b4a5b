"""A memory that outlives the workers: how often each part was begun."""

from collections import Counter


class Attempts:
    """Counts attempts; it lives in a process of its own."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        """Count once more that a part is begun; returns which attempt this is, from 1 on."""
        self._begun[number] += 1
        return self._begun[number]
