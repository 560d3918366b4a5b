"""Which weights read a request: those of the server, or of the language that it asks for."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.characters.alphabets import ALPHABETS, LATIN, NOT_LATIN, script_of_language
from vit_str.decoding.search import Search
from vit_str.engines.engine import open_engine
from vit_str.engines.opened_once import OpenedOnce
from vit_str.scripts.registry import WeightsChoice, choose_weights, languages_of
from vit_str.serving.limits import refused
from vit_str.words.reader import Reader

if TYPE_CHECKING:
    from vit_str.engines.interface import Engine

_OTHERS = 4  # engines with weights of other scripts that are kept
_KNOWN_SEARCHES = 16  # whose lexicons and masks are kept


class ServedWeights:
    """Weights by what a request searches for; each are opened once.

    Args:
        reader: what reads requests that name no language.
        effort: see ``vit_str.load``.
        model: the name or path that the reader was loaded from, which may stand for weights of
            several scripts; None if it stands for none but its own.

    Attributes:
        reader: see above.
        effort: see above.
        searching: the reader for a search; refuses one that does not fit the model.
    """

    def __init__(
        self,
        reader: Reader,
        effort: str | None = None,
        model: str | Path | None = None,
    ) -> None:
        self.reader = reader
        self.effort = effort
        self._model = model
        self._first = "" if model is None else choose_weights(model).first
        device = reader.describe().device
        self._other_engine = OpenedOnce(partial(open_engine, device=device), _OTHERS)
        self.searching = OpenedOnce(self._open_searching, _KNOWN_SEARCHES)

    def chosen(self, search: Search) -> WeightsChoice:
        """The weights for a search.

        Raises:
            ValueError: there are none for its language.
        """
        if self._model is None:
            return WeightsChoice(self._first)
        return choose_weights(self._model, search)

    def are_first(self, path: str | Path) -> bool:
        """Whether weights are those of the reader."""
        return path == self._first

    def engine(self, path: str | Path) -> Engine:
        """The engine that computes with some weights."""
        return self.reader.engine if self.are_first(path) else self._other_engine(path)

    def other_languages(self) -> list[str]:
        """Codes of languages that are not Latin and can be read."""
        chosen = self.chosen(Search())
        if chosen.others:
            return list(chain.from_iterable(map(languages_of, chosen.others)))
        unknown = self.reader.charset.unknown
        codes = [code for code, letters in ALPHABETS.items() if not unknown(letters)]
        scripts = self.reader.charset.scripts - {LATIN}
        rest = (code for code in NOT_LATIN if code not in ALPHABETS)
        return codes + [code for code in rest if script_of_language(code) in scripts]

    def _open_searching(self, search: Search) -> Reader:
        with refused():
            return self.chosen(search).open(partial(self._open, search))

    def _open(self, search: Search, path: str | Path, **others: Any) -> Reader:
        engine = self.engine(path)
        return Reader(engine, effort=self.effort, search=search, **others)
