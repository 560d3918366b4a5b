"""What a data set was made with: a small JSON file that a later run is compared to."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from vit_str.files import write_atomically

_FORMAT = "vit-str render"


@dataclass(frozen=True, slots=True)
class Record:
    """How the words of a data set were made.

    Attributes:
        made_with: everything that decides which words it holds and how they look, plain values.
        count: how many words it shall have.
        made_by: the program.
    """

    made_with: Mapping[str, Any]
    count: int
    made_by: str = ""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` has written.

        Raises:
            ValueError: it is something else.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("format") != _FORMAT:
                raise ValueError
            return cls(**values)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError(
                f"{path} does not describe a data set of vit-str; write elsewhere"
            ) from None

    def save(self, path: Path) -> None:
        """Write it atomically."""
        values = {
            "format": _FORMAT,
            "made_by": self.made_by,
            "count": self.count,
            "made_with": dict(self.made_with),
        }
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        with write_atomically(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def differences(self, other: "Record") -> dict[str, tuple[Any, Any]]:
        """What the words of ``other`` are made with otherwise: name -> values here and there.

        Values are compared as JSON has them.
        """
        mine, theirs = (json.loads(json.dumps(dict(each.made_with))) for each in (self, other))
        pairs = {name: (mine.get(name), theirs.get(name)) for name in {**mine, **theirs}}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
