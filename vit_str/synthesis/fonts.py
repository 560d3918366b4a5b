"""Which fonts there are: found on the system, freed of duplicates, split by family."""

import hashlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from vit_str.files import find_files
from vit_str.machine import install_hint
from vit_str.seeds import place_of

SUFFIXES = (".ttf", ".otf", ".ttc", ".otc", ".woff")
NO_FONTS = (
    f"install the training extra ({install_hint('train')}), which brings a few, "
    "install the Debian packages listed in data/fonts-debian.txt, or name a folder "
    "of fonts that draw the characters (--fonts FOLDER; in training "
    "--data.init_args.fonts '[FOLDER]')"
)
"""Advice for a user without fonts."""

_STYLES = re.compile(
    r"[\s_-]*\b((extra|ultra|semi|demi)?[\s-]?(thin|hairline|light|bold|black|condensed|expanded)"
    r"|book|regular|roman|normal|medium|heavy|italic|oblique|slanted|narrow|outline|shadow)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A font that is not used, and why."""

    path: str
    reason: str


def find_fonts(folders: Sequence[Path] | None = None) -> list[Path]:
    """Font files in the folders and all folders below them, in the order of their paths.

    Without folders, looks where the system keeps its fonts and at those that come with matplotlib.
    Of files with the same content only the first is listed.

    Raises:
        ValueError: for a folder that is not there.
    """
    if folders is None:
        folders = [folder for folder in _system_folders() if folder.is_dir()]
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"expected a folder of fonts, found no folder at {folder}")
    files: set[Path] = set()
    for folder in folders:
        files.update(path.resolve() for path in find_files(folder, SUFFIXES))
    return _without_copies(sorted(files))


def family_of(name: str) -> str:
    """Family of a font from its name ``family/file``, without the words that name a style."""
    family = ""
    shorter = name.partition("/")[0].strip()
    while shorter and shorter != family:
        family = shorter
        shorter = _STYLES.sub("", shorter)
    return family.casefold()


def split_fonts(
    names: Sequence[str],
    held_out: float = 0.03,
) -> tuple[list[int], list[int]]:
    """Places in ``names`` of the fonts to train with, and of those held out.

    All styles of a family fall on the same side, on every machine. At least one family is held
    out, and one is not, if there are two.
    """
    ranked = sorted({family_of(name) for name in names}, key=place_of)
    count = sum(place_of(family) < held_out for family in ranked)
    count = max(count, 1)
    count = min(count, max(len(ranked) - 1, 0))
    chosen = set(ranked[:count])
    training: list[int] = []
    kept_out: list[int] = []
    for index, name in enumerate(names):
        side = kept_out if family_of(name) in chosen else training
        side.append(index)
    return training, kept_out


def limit_families(
    names: Sequence[str],
    indices: Sequence[int],
    most: int = 12,
) -> list[int]:
    """Choose fonts, at most so many of one family, spread evenly over its styles.

    Fonts are drawn alike often; without a limit, every third word would be in a family that comes
    in hundreds of files.
    """
    families = defaultdict(list)
    for index in indices:
        families[family_of(names[index])].append(index)
    kept: list[int] = []
    for family in families.values():
        if len(family) > most:
            family = [family[number * len(family) // most] for number in range(most)]
        kept += family
    return sorted(kept)


def _without_copies(paths: Sequence[Path]) -> list[Path]:
    """Drop files that equal an earlier one; only files of the same size are read."""
    by_size: defaultdict[int, list[Path]] = defaultdict(list)
    for path in paths:
        by_size[path.stat().st_size].append(path)
    kept: list[Path] = []
    for same_size in by_size.values():
        if len(same_size) == 1:
            kept += same_size
            continue
        seen = set()
        for path in same_size:
            digest = hashlib.blake2b(path.read_bytes()).digest()
            if digest not in seen:
                kept.append(path)
            seen.add(digest)
    return sorted(kept)


def _system_folders() -> Iterator[Path]:
    home = Path(os.path.expanduser("~"))  # where there is none, no folder has this name
    if sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", r"C:\Windows")) / "Fonts"
        yield home / "AppData/Local/Microsoft/Windows/Fonts"
    elif sys.platform == "darwin":
        yield Path("/System/Library/Fonts")
        yield Path("/Library/Fonts")
        yield home / "Library/Fonts"
    else:
        yield Path("/usr/share/fonts")
        yield Path("/usr/local/share/fonts")
        yield home / ".fonts"
        yield home / ".local/share/fonts"
    # Finds the folder without importing the library
    matplotlib = find_spec("matplotlib")
    if matplotlib is not None and matplotlib.origin is not None:
        yield Path(matplotlib.origin).parent / "mpl-data/fonts/ttf"
