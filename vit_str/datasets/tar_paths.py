"""Which archives a path stands for."""

import glob
import re
from pathlib import Path

from vit_str.datasets.tar import is_pattern

SUFFIX = ".tar"
_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_NUMBER = re.compile(r"%0?\d*d")
_MOST = 1_000_000


def archives_of(path: Path) -> list[Path]:
    """The archives of a data set, in order.

    Args:
        path: an archive, a folder of archives, a pattern such as ``words-%06d.tar``, a range such
            as ``words-{000000..000009}.tar``, or a glob.

    Raises:
        ValueError: there are none, or one of a range is missing.
    """
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() == SUFFIX)
    elif path.exists():
        found = [path]
    elif _RANGE.search(str(path)):
        found = [Path(each) for each in _ranges(str(path))]
        missing = next((each for each in found if not each.is_file()), None)
        if missing:
            raise ValueError(f"{missing}, one of {path}: no such file; check the range")
    elif is_pattern(path):
        found = _numbered(path)
    else:
        found = [Path(each) for each in sorted(glob.glob(str(path), recursive=True))]
    if not found:
        raise ValueError(f"{path}: found no tar archives; check the path")
    return found


def stands_for_archives(path: Path) -> bool:
    """Whether a path is an archive, a folder with one, or written as several."""
    if path.is_dir():
        return any(each.suffix.lower() == SUFFIX for each in path.iterdir())
    if path.suffix.lower() != SUFFIX:
        return False
    text = str(path)
    several = _RANGE.search(text) or _NUMBER.search(path.name) or glob.has_magic(text)
    return path.is_file() or bool(several)


def _ranges(text: str) -> list[str]:
    """All that ``{first..last}`` stands for, with as many digits as the first number has."""
    match = _RANGE.search(text)
    if not match:
        return [text]
    first, last = match.groups()
    if not 0 <= int(last) - int(first) < _MOST:
        raise ValueError(f"expected a range from the lower number to the higher, found {match[0]}")
    names = (
        f"{text[: match.start()]}{number:0{len(first)}d}{text[match.end() :]}"
        for number in range(int(first), int(last) + 1)
    )
    return [each for name in names for each in _ranges(name)]


def _numbered(path: Path) -> list[Path]:
    """The archives of a pattern that are there, by their numbers."""
    before, after = map(re.escape, _NUMBER.split(path.name))
    numbered = re.compile(rf"{before}(\d+){after}")
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    matches = [(numbered.fullmatch(each.name), each) for each in entries]
    return [each for _, each in sorted((int(match[1]), each) for match, each in matches if match)]
