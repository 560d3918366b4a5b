"""Which weights read a language: those of the package for Latin letters, or for other scripts.

A pair is a reader of words and a reader of lines, which know the same characters. The package has
one for Latin letters, and others for the scripts in `OTHER_PAIRS`; a folder with weights of the
same names stands in for it. Beside the words of a pair there may be larger weights, which are
slower, and read what the smaller ones doubt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vit_str.characters.alphabets import (
    CYRILLIC,
    GREEK,
    HANGUL,
    LATIN,
    NOT_LATIN,
    WRITTEN_IN_BOTH,
    language_codes,
    script_of_language,
    scripts_in,
)
from vit_str.decoding.prior import NO_LANGUAGE
from vit_str.engines.weights_contents import BUNDLED, resolve
from vit_str.scripts.script_detector import ScriptDetector, detector_for

if TYPE_CHECKING:
    from vit_str.decoding.search import Search
    from vit_str.images.preprocessing import Preprocessing

Readers = TypeVar("Readers")


@dataclass(frozen=True, slots=True)
class Pair:
    """Weights that read the same characters.

    Attributes:
        words: the name of those that read words.
        lines: the name of those that read lines.
        scripts: which they read, besides English.
        configuration: that trains those of words.
        second: the name of larger weights, which read the words that those of words doubt; the
            package may have them.
    """

    words: str
    lines: str
    scripts: frozenset[str]
    configuration: str
    second: str = ""

    def name(self, reads_lines: bool) -> str:
        """The name of the weights that read words, or lines."""
        return self.lines if reads_lines else self.words


LATIN_PAIR = Pair(
    words="tiny",
    lines="line",
    scripts=frozenset({LATIN}),
    configuration="vit_tiny_transformer",
    second="base",
)
OTHER_PAIRS = (
    Pair(
        words="cyrillic-greek",
        lines="cyrillic-greek-line",
        scripts=frozenset({CYRILLIC, GREEK}),
        configuration="vit_tiny_cyrillic_greek",
    ),
    Pair(
        words="korean",
        lines="korean-line",
        scripts=frozenset({HANGUL}),
        configuration="vit_tiny_korean",
    ),
)
"""Weights that read other scripts than Latin; each pair is optional."""
LINES_OF = {pair.words: pair.lines for pair in (LATIN_PAIR, *OTHER_PAIRS)}
"""Weights that read words, and those of their pair that read lines, by name."""
_FIRST = (LATIN_PAIR.words, LATIN_PAIR.lines)
_IN_ASCII = ("en",)  # languages that every pair reads


class WeightsChoice(NamedTuple):
    """Weights for what a user asks for."""

    first: str | Path
    others: tuple[Path, ...] = ()  # for what may be of their scripts
    second: Path | None = None  # for what the first doubt; None if they look themselves

    def open(self, open_reader: Callable[..., Readers]) -> Readers:
        """The reader of the first weights, which opens the others where it needs them.

        Args:
            open_reader: opens a reader with a path of weights, and with ``others``, ``detector``
                and ``second`` of ``vit_str.words.reader.Reader``, if there are such.
        """
        beside: dict[str, Any] = {}
        if self.second is not None:
            beside["second"] = partial(open_reader, self.second)
        if self.others:
            beside["others"] = [partial(open_reader, other) for other in self.others]
            beside["detector"] = self.detector()
        return open_reader(self.first, **beside)

    @property
    def paths(self) -> list[str | Path]:
        """All of them, the first in front."""
        second = [self.second] if self.second else []
        return [self.first, *self.others, *second]

    def detector(self) -> ScriptDetector | None:
        """The detector of the others' scripts in drafts of the first; None without such."""
        if not self.others:
            return None
        return detector_for(resolve(self.first), self.others)


def choose_weights(
    name_or_path: str | Path,
    search: Search | None = None,
) -> WeightsChoice:
    """The weights that read what a user asks for.

    Names that the package has, and folders that have weights of the same names, stand for weights
    of all scripts: a language, or the letters that a lexicon, pattern or alphabet holds, say which
    are meant. Without a language, weights of other scripts look at what may be of theirs.
    Where there are larger weights for Latin letters, these look at what the first doubt.
    All other weights stand for themselves, and ``none`` for the first ones alone.

    Args:
        name_or_path: see `resolve`; or a folder with weights of these names.
        search: what is to be read.

    Raises:
        ValueError: no weights here read a language that is asked for.
    """
    first = _first_of_folder(name_or_path)
    name = Path(first).stem
    if name not in _FIRST or not _is_of_registry(name_or_path):
        return WeightsChoice(first)
    wanted = _wanted(search)
    others: list[Path] = []
    for pair in OTHER_PAIRS:
        file = _file_of(name_or_path, pair.name(reads_lines=name == LATIN_PAIR.lines))
        is_wanted = not pair.scripts.isdisjoint(wanted)
        if is_wanted and file is None:
            scripts = " and ".join(sorted(pair.scripts & wanted))
            raise ValueError(
                f"{_asked(search)} needs weights that read {scripts}, and this "
                f"installation has none: train configs/{pair.configuration}.yaml, and "
                "give the file as model"
            )
        if file is not None and (is_wanted or not wanted):
            others.append(file)
    if wanted and LATIN not in wanted:
        return WeightsChoice(others[0], tuple(others[1:]))
    second = None
    if name == LATIN_PAIR.words:
        second = _file_of(name_or_path, LATIN_PAIR.second)
    return WeightsChoice(first, tuple(others), second)


def lines_of(words: str | Path) -> str | Path:
    """The weights that read lines beside some that read words: of their pair, or of the package.

    Raises:
        ValueError: weights of a pair whose reader of lines is missing.
    """
    name = LINES_OF.get(Path(words).stem)
    if name is None:
        return "line"
    path = resolve(words)
    beside = path.parent / f"{name}.safetensors"
    if beside.is_file():
        return beside
    if name != "line":
        raise ValueError(f"{path} reads words, and pages need {beside.name} beside it")
    return name


def languages_of(weights: str | Path) -> list[str]:
    """Codes of the languages that weights of other scripts are for, by their name."""
    name = Path(weights).stem
    scripts = {
        script
        for pair in OTHER_PAIRS
        for script in pair.scripts
        if name in (pair.words, pair.lines)
    }
    return [code for code in NOT_LATIN if script_of_language(code) in scripts]


def check_same_images(first: Preprocessing, other: Preprocessing) -> None:
    """Refuse weights that do not see images in the same size.

    Raises:
        ValueError: for other heights or widths, or tall images that are turned otherwise.
    """
    alike = replace(
        other,
        mean=first.mean,
        std=first.std,
        reread_below=first.reread_below,
    )
    if alike != first:
        raise ValueError(
            "weights read together if they see images in the same "
            f"size, found {first.height} x {first.width} and {other.height} x "
            f"{other.width}"
        )


def _first_of_folder(name_or_path: str | Path) -> str | Path:
    """The weights for Latin letters of a folder of weights, or of the package if it has none."""
    path = Path(name_or_path)
    for reads_lines in (False, True):
        if _has_others(path, reads_lines):
            name = LATIN_PAIR.name(reads_lines)
            own = path / f"{name}.safetensors"
            return own if own.is_file() else name
    return name_or_path


def _has_others(folder: Path, reads_lines: bool) -> bool:
    """Whether weights that read words, or lines, beside those for Latin letters are in a folder."""
    names = [pair.name(reads_lines) for pair in OTHER_PAIRS]
    if not reads_lines:
        names.append(LATIN_PAIR.second)
    return any((folder / f"{name}.safetensors").is_file() for name in names)


def _is_of_registry(name_or_path: str | Path) -> bool:
    """Whether it stands for weights of all scripts, not for one file."""
    return os.fspath(name_or_path) in _FIRST or _is_folder_of_pairs(name_or_path)


def _is_folder_of_pairs(name_or_path: str | Path) -> bool:
    path = Path(name_or_path)
    return _has_others(path, False) or _has_others(path, True)


def _file_of(name_or_path: str | Path, name: str) -> Path | None:
    """Weights of a name in a folder of weights, or in the package; None if it has none."""
    is_folder = _is_folder_of_pairs(name_or_path)
    folder = Path(name_or_path) if is_folder else BUNDLED
    file = folder / f"{name}.safetensors"
    return file if file.is_file() else None


def _wanted(search: Search | None) -> set[str]:
    """The scripts that are asked for; none if nothing says which."""
    if search is None:
        return set()
    if search.is_constrained:
        words = search.lexicon if isinstance(search.lexicon, Collection) else ()
        texts = [search.pattern or "", search.alphabet or "", *words]
        others = scripts_in("".join(texts)) - {LATIN}
        return others or {LATIN}
    if search.language == NO_LANGUAGE:
        return {LATIN}
    codes = [code for code in language_codes(search.language) if code not in _IN_ASCII]
    wanted = {script_of_language(code) for code in codes}
    if set(codes) & set(WRITTEN_IN_BOTH):
        wanted.add(LATIN)
    return wanted or ({LATIN} if search.language else set())


def _asked(search: Search | None) -> str:
    assert search is not None
    return f"language {search.language!r}" if search.language else "what may be read"
