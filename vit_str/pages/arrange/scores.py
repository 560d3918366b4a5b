"""Scores of a network that arranges pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

RELATIONS = ("next", "before", "block", "table", "row", "column")
"""Of the scores of pairs, in their order."""
CELLS = ("cell", "head cell")
RUNNING = ("head", "foot", "margin")
"""Roles of what stands around the text, on every page of a document."""
NOTHING = "nothing"
"""The role of what is no text of the page."""


@dataclass(frozen=True)
class Scores:
    """Logits of a network for the pieces of one page.

    Attributes:
        roles: of each piece.
        levels: of each piece, from 1.
        relations: of pairs, see `RELATIONS`.
        names: of the roles.
    """

    roles: "Float[np.ndarray, 'piece role']"
    levels: "Float[np.ndarray, 'piece level']"
    relations: "Float[np.ndarray, 'relation piece piece']"
    names: Sequence[str]

    def of(self, name: str) -> "Float[np.ndarray, 'piece piece']":
        """The scores of a relation."""
        return self.relations[RELATIONS.index(name)]
