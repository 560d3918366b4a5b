"""Two models on the same words: the difference in word accuracy and how sure it is."""

from dataclasses import dataclass
from typing import Any

from vit_str.console import aligned, one_line
from vit_str.evaluation.metrics import WORD_PROTOCOLS, Protocol
from vit_str.evaluation.statistics import (
    PairedDifference,
    paired_difference,
    percent,
    plain_values,
)
from vit_str.evaluation.words.breakdown import SHOWN
from vit_str.evaluation.words.markdown import table
from vit_str.evaluation.words.results import ReadWords, together
from vit_str.reports.tables import plain


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models set by set."""

    names: tuple[str, str]
    first: dict[str, ReadWords]
    second: dict[str, ReadWords]

    def differences(self, protocol: Protocol = 36) -> dict[str, PairedDifference]:
        """Set -> difference in words right under a protocol; several sets together are ``all``."""
        pairs = {
            name: (words.right(protocol), self.second[name].right(protocol))
            for name, words in self.first.items()
        }
        if len(pairs) > 1:
            first = together(self.first.values())
            second = together(self.second.values())
            pairs["all"] = first.right(protocol), second.right(protocol)
        return {name: paired_difference(*pair) for name, pair in pairs.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, fractions: differences by metric of ``SHOWN`` and set."""
        differences = {}
        for metric in SHOWN:
            of_sets = self.differences(WORD_PROTOCOLS[metric])
            differences[metric] = plain_values(of_sets)
        first, second = self.names
        return {"first": first, "second": second, "differences": differences}

    def rows(self, protocol: Protocol) -> list[tuple[str, ...]]:
        """A table of differences under a protocol, its titles first."""
        first, second = self.names
        titles = (
            f"word {protocol}",
            "words",
            "difference",
            f"only {first}",
            f"only {second}",
            "McNemar p",
        )
        rows: list[tuple[str, ...]] = [titles]
        for name, pair in self.differences(protocol).items():
            cells = (
                one_line(name),
                f"{pair.n:,}",
                percent(pair.difference, pair.interval),
                f"{pair.only_first:,}",
                f"{pair.only_second:,}",
                f"{pair.p_value:.2g}",
            )
            rows.append(cells)
        return rows

    def note(self) -> str:
        """Titles of the columns."""
        first, second = self.names
        return (
            f"{second} minus {first}, points [95 % interval over words]; words that "
            "only one of them reads right, and the chance of so uneven a split of "
            "equals"
        )

    def table(self) -> str:
        """Text for a terminal: percent with the 95 % interval in brackets."""
        rows = (self.rows(WORD_PROTOCOLS[metric]) for metric in SHOWN)
        tables = ["\n".join(aligned(of_metric)) for of_metric in rows]
        return "\n\n".join(tables) + f"\n{self.note()}"

    def markdown(self) -> list[str]:
        """A section of a page: the tables and what is in them."""
        lines = [f"## {plain(self.names[1])} against {plain(self.names[0])}", ""]
        for metric in SHOWN:
            lines += [*table(self.rows(WORD_PROTOCOLS[metric])), ""]
        return [*lines, f"Difference: {plain(self.note())} (McNemar's exact test)."]
