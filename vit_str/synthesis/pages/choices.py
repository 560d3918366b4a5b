"""Random choices that a seed decides."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")


class Choices(Random):
    """A random generator with the words that designs are written in."""

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.random() < share

    def one(self, *things: Thing) -> Thing:
        """One of some things, all as likely."""
        return self.choice(things)

    def weighted(self, shares: dict[Thing, float]) -> Thing:
        """One of some things by their shares."""
        return self.choices(list(shares), list(shares.values()))[0]

    def several(self, low: int, high: int, make: Callable[[], Thing]) -> list[Thing]:
        """From ``low`` to ``high`` things, made one after the other."""
        return [make() for _ in range(self.randint(low, high))]

    def some(self, things: Sequence[Thing], low: int, high: int) -> list[Thing]:
        """From ``low`` to ``high`` different things in their order."""
        count = min(len(things), self.randint(low, high))
        return [things[n] for n in sorted(self.sample(range(len(things)), count))]
