"""Which words of a data set can be used."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar

from vit_str.console import one_line
from vit_str.datasets.source import LabeledWord, Reason, Skipped, continued
from vit_str.machine import cpu_count

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.characters.charset import Charset

CHUNK = 256
"""Words that are judged together."""

_THREADS = 4

Result = TypeVar("Result")

# What no charset allows: a word is one line, and label files have a line for each, with tabs.
_ONE_CELL = re.compile(r"[^\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Rules:
    """Conditions for a word to be used. One that fails is left out whole, never changed."""

    # The characters that a label may hold; any but line breaks and tabs without one
    charset: Charset | None = None
    # Most characters of a label, 1 or more; any number without one
    maximum_length: int | None = None
    least_size: int = 4  # least height and least width of an image, in pixels

    def text_of(self, label: str) -> str:
        """A label as the charset writes it: accents are composed if it lacks their marks.

        Files from macOS have them apart (Unicode NFD); é is é to who reads it.
        """
        if self.charset is None or not self.charset.unknown(label):
            return label
        return unicodedata.normalize("NFC", label)

    def label(self, word: LabeledWord) -> Skipped | None:
        """Why the label cannot be used, or None if it can; the image is not looked at."""
        label = self.text_of(word.label)
        if not label.strip():
            detail = f"only spaces: {label!r}" if label else ""
            return Skipped(word.name, Reason.NO_LABEL, detail)
        unknown = (
            self.charset.unknown(label) if self.charset else _ONE_CELL.sub("", label)
        )
        if unknown:
            once = "".join(dict.fromkeys(unknown))
            return Skipped(word.name, Reason.CHARSET, f"{once!r} in {label!r}")
        if self.maximum_length is not None and len(label) > self.maximum_length:
            detail = (
                f"{len(label)} characters, more than {self.maximum_length}: {label!r}"
            )
            return Skipped(word.name, Reason.LONG, detail)
        return None

    def decode(self, word: LabeledWord) -> Image.Image | Skipped:
        """The upright RGB image of a word, or why the word cannot be used.

        The label comes first: no image is decoded for one that cannot be used.
        """
        from vit_str.images.loading import load_image
        from vit_str.images.refusals import UnreadableImage

        skipped = self.label(word)
        if skipped:
            return skipped
        try:
            image = load_image(word.image)
        except UnreadableImage as error:
            return Skipped(word.name, Reason.UNREADABLE, error.reason)
        if min(image.size) < self.least_size:
            size = f"{image.height} x {image.width} pixels, less than {self.least_size}"
            return Skipped(word.name, Reason.SMALL, size)
        return image


def judged(
    entries: Iterable[LabeledWord | Skipped],
    rules: Rules,
    use: Callable[[LabeledWord, Image.Image], Result],
    report: SkipReport,
) -> Iterator[list[Result]]:
    """Results of ``use`` for every word that can be used.

    Args:
        entries: the words.
        rules: what a word has to be.
        use: called on several threads; no decoded image is kept but by it.
        report: gets those that cannot be used.

    Returns:
        Lists of results in the order of the words, each about ``CHUNK`` of them.
    """

    def judge(entry: LabeledWord | Skipped) -> Result | Skipped:
        if isinstance(entry, Skipped):
            return entry
        image = rules.decode(entry)
        return image if isinstance(image, Skipped) else use(entry, image)

    remaining = iter(entries)
    with ThreadPoolExecutor(min(_THREADS, cpu_count())) as pool:
        while True:
            chunk = list(islice(remaining, CHUNK))
            if not chunk:
                break
            results = list(pool.map(judge, chunk))
            for result in results:
                if isinstance(result, Skipped):
                    report.add(result)
            yield [result for result in results if not isinstance(result, Skipped)]


_KEPT = 1000  # words left out for one reason that a report names
_TITLES = ("name", "reason", "detail")


class SkipReport:
    """Counts words that cannot be used, by reason, and lists them.

    Counts are exact. The first words of every reason are kept, so that the memory stays small
    whatever is left out; with a ``file``, every word is written there when it is added.

    Args:
        file: where to write all words, tab-separated, with a line of titles; a report that is
            there is replaced. Close the report then, or use it in a ``with``.
        state: what `state` was when a run was stopped that this one goes on with.

    Raises:
        ValueError: there is a file that is no report, such as the labels.

    Attributes:
        counts: reason -> number of words, in the order in which reasons appeared.
        words: reason -> the words that are kept.
    """

    def __init__(
        self, file: str | Path | None = None, state: Mapping[str, Any] | None = None
    ) -> None:
        self.counts: Counter[Reason] = Counter()
        self.words: defaultdict[Reason, list[Skipped]] = defaultdict(list)
        self._file: BinaryIO | None = None
        end = 0
        if state:
            end = state["bytes"]
            for text, (count, (name, detail)) in state["reasons"].items():
                reason = Reason(text)
                self.counts[reason] = count
                self.words[reason].append(Skipped(name, reason, detail))
        if file is not None:
            _refuse_other(Path(file))
            self._file = continued(Path(file), end) if end else open(file, "wb")  # noqa: SIM115
            if not end:
                self._write(*_TITLES)

    def state(self) -> dict[str, Any]:
        """The counts with an example of each, and where the file ends, as values of JSON."""
        firsts = {reason: words[0] for reason, words in self.words.items()}
        reasons = {
            str(reason): (count, (firsts[reason].name, firsts[reason].detail))
            for reason, count in self.counts.items()
        }
        end = 0
        if self._file is not None and self._file.seekable():
            end = self._file.tell()
        return {"bytes": end, "reasons": reasons}

    @property
    def total(self) -> int:
        """Number of words left out."""
        return self.counts.total()

    @property
    def first(self) -> Skipped | None:
        """The first word that was left out."""
        return next(chain.from_iterable(self.words.values()), None)

    def add(self, skipped: Skipped) -> None:
        """Count and list a word."""
        self.counts[skipped.reason] += 1
        if len(self.words[skipped.reason]) < _KEPT:
            self.words[skipped.reason].append(skipped)
        self._write(skipped.name, skipped.reason, skipped.detail)

    def table(self) -> Iterator[str]:
        """Number of words by reason, most first, each with an example."""
        width = max((len(f"{count:,}") for count in self.counts.values()), default=0)
        longest = max(map(len, self.counts), default=0)
        for reason, count in self.counts.most_common():
            first = next(iter(self.words[reason]), None)
            example = one_line(f"{first.name} {first.detail}") if first else ""
            yield f"{count:>{width},}  {reason:{longest}}  {example}".rstrip()

    def _write(self, *cells: str) -> None:
        """Append a line to the file, if there is one."""
        if self._file:
            # Names of files may hold bytes that are not UTF-8, and labels what no encoding has.
            line = "\t".join(map(one_line, cells)) + "\n"
            self._file.write(line.encode("utf-8", "backslashreplace"))
            self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_other(path: Path) -> None:
    """Raise a ValueError if a file is there that is no report, and is not empty."""
    if not path.is_file():
        return
    titles = "\t".join(_TITLES).encode()
    with path.open("rb") as file:
        start = file.read(len(titles))
    if start and start != titles:
        raise ValueError(f"{path}: there already, and no report; give another name")
