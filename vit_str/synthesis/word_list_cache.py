"""Word lists, kept on disk: gathering those of 23 languages takes tens of seconds."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from vit_str.files import (
    default_cache,
    exclusive,
    remove_links,
    remove_partial,
    write_atomically,
)

_ABANDONED = 3600.0
"""Seconds without a change after which a temporary file is that of a killed run."""
_CODE = ("lexicon.py", "line_texts.py", "spellings*.py", "word_list*.py")
"""Files of this program that make the lists."""
_SEPARATOR = "\n"  # of words, which hold no white space


@dataclass(frozen=True, slots=True)
class WordList:
    """Words to draw from, as `random.choices` takes them.

    Attributes:
        words: without white space.
        shares: of the words, each with all before it.
        weight: of this list among others.
    """

    words: list[str]
    shares: list[float]
    weight: float = 1.0


def keep_word_lists(
    settings: Sequence[object], gather: Callable[[], list[WordList]]
) -> list[WordList]:
    """What ``gather`` returns, from the cache folder if it has been gathered before.

    Of several processes one gathers, and the others wait for it. Where no file can be written,
    each gathers for itself.

    Args:
        settings: all that the lists depend on, such as what they are for, languages and charset.
            The versions of wordfreq and of this program are added to them.
        gather: puts the lists together.
    """
    try:
        file = default_cache() / f"words-{_key(settings)}.safetensors"
    except (OSError, ValueError, PackageNotFoundError):
        return gather()
    lock = file.with_suffix(".lock")
    with suppress(OSError):  # of a disk that is read-only
        remove_links(file, lock)
    kept = _load(file)
    if kept:
        return kept
    with ExitStack() as stack:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(exclusive(lock, wait=True))
        kept = _load(file)
        if kept:
            return kept
        lists = gather()
        with suppress(OSError, SafetensorError):
            _save(lists, file)
        return lists


def _key(settings: Sequence[object]) -> str:
    """Changes whenever the words, or the way to choose them, may do."""
    folder = Path(__file__).parent
    code = []
    for pattern in _CODE:
        files = sorted(folder.glob(pattern))
        code += [file.read_text(encoding="utf-8") for file in files]
    versions = version("wordfreq"), unicodedata.unidata_version
    parts = json.dumps([versions, code, settings])
    return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()


def _save(lists: Sequence[WordList], file: Path) -> None:
    remove_partial(file.parent, least_age=_ABANDONED)
    words: list[str] = []
    shares: list[float] = []
    for each in lists:
        words += each.words
        shares += each.shares
    text = _SEPARATOR.join(words).encode()
    arrays: dict[str, np.ndarray] = {
        "text": np.frombuffer(text, dtype=np.uint8),
        "shares": np.array(shares, dtype=np.float64),
        "sizes": np.array([len(each.words) for each in lists], dtype=np.int64),
        "weights": np.array([each.weight for each in lists], dtype=np.float64),
    }
    with write_atomically(file) as temporary:
        save_file(arrays, temporary)


def _load(file: Path) -> list[WordList]:
    """What is kept there; nothing if it is missing or damaged, which is no reason to stop."""
    try:
        arrays = load_file(file)
        words = arrays["text"].tobytes().decode().split(_SEPARATOR)
        shares = arrays["shares"].tolist()
        ends = np.cumsum(arrays["sizes"]).tolist()
        weights = arrays["weights"].tolist()
    except (OSError, SafetensorError, KeyError, UnicodeDecodeError):
        return []
    if not len(words) == len(shares) == ends[-1]:  # also if there are no words at all
        return []
    starts = [0, *ends[:-1]]
    return [
        WordList(words[start:end], shares[start:end], weight)
        for start, end, weight in zip(starts, ends, weights, strict=True)
    ]
