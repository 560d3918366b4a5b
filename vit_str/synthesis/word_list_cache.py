"""Word lists, kept on disk: gathering those of 23 languages takes tens of seconds."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
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
_CODE = (
    "hangul.py",
    "korean.py",
    "lexicon.py",
    "line_texts.py",
    "spellings*.py",
    "text_files.py",
    "texts/korean.yaml",
    "texts/spellings.yaml",
    "word_list*.py",
    "writable_words.py",
)
"""Files of this program that make the lists."""
_SEPARATOR = "\n"  # of words, which hold no white space
_KEPT = np.uint32(0xFFFFFF00)
"""Bits of a share in float32 that are kept: one in 65,000 is near enough, and equal shares stay
equal, so that they take little space in a file."""
_HALF = np.uint32(0x80)  # of the last bit that is kept


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


KeepWordLists = Callable[
    [Sequence[object], Callable[[], list[WordList]]], list[WordList]
]
"""The type of `keep_word_lists`."""


def keep_word_lists(
    settings: Sequence[object], gather: Callable[[], list[WordList]]
) -> list[WordList]:
    """The lists of ``gather``, from the cache folder if they have been gathered before.

    Of several processes one gathers, and the others wait for it. Where no file can be written,
    each gathers for itself. Shares are rounded as in the file, whether there is one or not.

    Args:
        settings: all that the lists depend on, such as what they are for, languages and charset.
            The versions of wordfreq and of this program are added to them.
        gather: puts the lists together.
    """
    try:
        file = default_cache() / f"words-{_key(settings)}.safetensors"
    except (OSError, ValueError, PackageNotFoundError):
        return lists_of(arrays_of(gather()))
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
        arrays = arrays_of(gather())
        with suppress(OSError, SafetensorError):
            _save(arrays, file)
        return lists_of(arrays)


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


def arrays_of(lists: Sequence[WordList]) -> dict[str, np.ndarray]:
    """Lists of words as arrays to store: text in UTF-8, the share of each word, sizes, weights."""
    words: list[str] = []
    shares = []
    for each in lists:
        words += each.words
        shares.append(np.diff(np.array(each.shares, dtype=np.float64), prepend=0.0))
    text = _SEPARATOR.join(words).encode()
    return {
        "text": np.frombuffer(text, dtype=np.uint8),
        "shares": _rounded(np.concatenate([np.zeros(0), *shares])),
        "sizes": np.array([len(each.words) for each in lists], dtype=np.int64),
        "weights": np.array([each.weight for each in lists], dtype=np.float64),
    }


def lists_of(arrays: Mapping[str, np.ndarray]) -> list[WordList]:
    """The lists of words of some arrays; none if they do not fit together.

    Raises:
        KeyError: an array is missing.
        UnicodeDecodeError: the text is not UTF-8.
    """
    text = arrays["text"].tobytes().decode()
    words = text.split(_SEPARATOR) if text else []
    shares = arrays["shares"].astype(np.float64)
    weights = arrays["weights"].tolist()
    ends = np.cumsum(arrays["sizes"]).tolist()
    if not ends or not len(words) == len(shares) == ends[-1]:
        return []
    starts = [0, *ends[:-1]]
    return [
        WordList(words[start:end], np.cumsum(shares[start:end]).tolist(), weight)
        for start, end, weight in zip(starts, ends, weights, strict=True)
    ]


def _rounded(shares: np.ndarray) -> np.ndarray:
    """Shares in float32 with fewer bits."""
    bits = shares.astype(np.float32).view(np.uint32)
    return ((bits + _HALF) & _KEPT).view(np.float32)


def _save(arrays: dict[str, np.ndarray], file: Path) -> None:
    remove_partial(file.parent, least_age=_ABANDONED)
    with write_atomically(file) as temporary:
        save_file(arrays, temporary)


def _load(file: Path) -> list[WordList]:
    """The words kept there; nothing if they are missing or damaged, which stops nothing."""
    try:
        return lists_of(load_file(file))
    except (OSError, SafetensorError, KeyError, UnicodeDecodeError):
        return []
