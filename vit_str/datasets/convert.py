"""Write the words of data sets to another, and read them back."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from vit_str import console
from vit_str.datasets.formats import format_of, reader_of, writer_of
from vit_str.datasets.judging import judged, known_total
from vit_str.datasets.record import Record
from vit_str.datasets.rules import Rules
from vit_str.datasets.skip_report import SkipReport
from vit_str.datasets.source import LabeledWord, Skipped, WordSource
from vit_str.datasets.tar import is_pattern
from vit_str.datasets.writer import SHARD_SIZE, DatasetWriter, Layout
from vit_str.files import exclusive

_LOOKED_AT = 256
"""Words of each source that are looked at to see whether it has boxes."""

_OTHER_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tsv", ".csv", ".gz"})


class UnequalWords(Exception):  # noqa: N818 - it says what there is
    """What was written is not what was to be written."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is converted to what.

    Attributes:
        sources: the data sets, one after the other.
        target: where to write.
        rules: which words can be used.
        format: of the target; by default what its name says.
        shard_size: words in each of several tar archives.

    Raises:
        ValueError: the target cannot be written like that.
    """

    sources: Sequence[WordSource]
    target: Path
    rules: Rules
    format: str
    shard_size: int | None = None

    @classmethod
    def of(
        cls,
        sources: Sequence[WordSource],
        target: Path,
        rules: Rules,
        name: str | None = None,
        shard_size: int | None = None,
    ) -> "Conversion":
        """Check that the target can be written, before anything is."""
        name = name or format_of(target)
        if name == "tar" and target.suffix.lower() != ".tar":
            raise ValueError(f"expected a name that ends in .tar, found {target}")
        if shard_size and not (name == "tar" and is_pattern(target)):
            raise ValueError(
                "--shard-size is for several archives: name them with a place for the number, "
                "words-%06d.tar"
            )
        if target.suffix.lower() in _OTHER_SUFFIXES:
            raise ValueError(f"{target} would be a folder; give a name without that suffix")
        for source in sources:
            if os.path.realpath(source.path) == os.path.realpath(target):
                raise ValueError(f"{target} cannot be converted to itself; give another TARGET")
        return cls(sources, target, rules, name, shard_size)

    def run(self, report: SkipReport) -> int:
        """Write the data set, or what of it is not there yet, and read it back.

        Words that were written before are skipped, but judged again. Prints how far it is.

        Args:
            report: gets the words that cannot be used.

        Returns:
            Number of words in the target; 0 if none of the sources can be used.

        Raises:
            ValueError: the target was made from something else or by someone else, or another
                process writes there.
            UnequalWords: it is not what the sources hold.
        """
        writer = writer_of(self.format)
        layout = Layout(0, "", self._has_boxes(), self.shard_size or SHARD_SIZE)
        record = record_of(writer, self.target)
        blocking = None if record.exists() else writer.in_the_way(self.target)
        if blocking:
            raise ValueError(
                f"{blocking} is there and was not made by vit-str data convert; give another TARGET"
            )
        record.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(record.with_name(f".{record.name}.lock")):
            self._begin(record, layout)
            words, digest = self._fill(writer(self.target, layout), report)
            if words:
                self._verify(words, digest, layout)
            return words

    def _has_boxes(self) -> bool:
        words = chain.from_iterable(islice(source, _LOOKED_AT) for source in self.sources)
        return any(isinstance(word, LabeledWord) and word.boxes for word in words)

    def _begin(self, path: Path, layout: Layout) -> None:
        """Write down what decides which words are written, or compare it with what is there."""
        charset = self.rules.charset
        lengths = [*(source.known_length for source in self.sources[:-1]), None]
        made_with: dict[str, Any] = {
            # The last source may grow; before it, a word more would shift all others.
            "sources": [_identity(*pair) for pair in zip(self.sources, lengths, strict=True)],
            "--format": self.format,
            "--shard-size": layout.shard_size if "%" in self.target.name else None,
            "--charset": charset.characters if charset else None,
            "--maximum-length": self.rules.maximum_length,
            "--least-size": self.rules.least_size,
            "boxes": layout.boxes,
        }
        record = Record(made_with, 0, "vit-str data convert")
        if not path.exists():
            record.save(path)
        differences = Record.load(path).differences(record)
        if differences:
            said = "; ".join(
                f"{name} {_shown(before)}, not {_shown(now)}"
                for name, (before, now) in differences.items()
            )
            raise ValueError(
                f"{path} says that the conversion was begun with {said}: give the same arguments "
                "to resume, or another TARGET"
            )

    def _fill(self, writer: DatasetWriter, report: SkipReport) -> tuple[int, str]:
        """Write the words that are not there yet; number and digest of all of them."""
        digest, words = hashlib.blake2b(digest_size=16), 0
        if writer.done:
            console.complain(f"{self.target}: resuming after {writer.done:,} words")
        total = known_total(self.sources)
        with writer, tqdm(total=total, unit="word", disable=None) as bar:
            entries = chain.from_iterable(self.sources)
            for results in judged(entries, self.rules, lambda word, _: word):
                usable = [each for each in results if isinstance(each, LabeledWord)]
                writer.add(usable[max(0, writer.done - words) :])
                words += len(usable)
                for each in results:
                    if isinstance(each, Skipped):
                        report.add(each)
                for data in _content(usable, writer.layout.boxes):
                    digest.update(data)
                bar.update(len(results))
            if writer.done > words:
                raise ValueError(
                    f"{self.target} holds {writer.done:,} words, the sources only {words:,}: "
                    "they have been changed; convert to another TARGET"
                )
        return words, digest.hexdigest()

    def _verify(self, words: int, expected: str, layout: Layout) -> None:
        """Read everything back.

        Raises:
            UnequalWords: it is not what was in the sources.
        """
        digest, count = hashlib.blake2b(digest_size=16), 0
        for word in tqdm(
            reader_of(self.format)(self.target),
            desc="reading back",
            total=words,
            unit="word",
            disable=None,
        ):
            count += 1
            for data in _content([word] if isinstance(word, LabeledWord) else [], layout.boxes):
                digest.update(data)
        if count != words or digest.hexdigest() != expected:
            raise UnequalWords(
                f"{self.target}: its words are not as they are in the sources; convert to another "
                "TARGET"
            )


def record_of(writer: type[DatasetWriter], target: Path) -> Path:
    """Where it is written down what a data set was converted from."""
    record = writer.record_path(target)
    return record.with_name(record.name.removesuffix("render.json") + "convert.json")


def _identity(source: WordSource, count: int | None) -> str:
    words = None if count is None else f"({count} words)"
    split = getattr(source, "split", None)
    return " ".join(filter(None, [os.path.realpath(source.path), source.format, split, words]))


def _content(words: Iterable[LabeledWord], boxes: bool) -> Iterable[bytes]:
    """All bytes of labels and images, and of boxes if there are some."""
    for word in words:
        label = word.label.encode("utf-8", "surrogatepass")
        yield b"%d %d " % (len(label), len(word.image))
        yield label
        yield word.image
        if boxes:
            yield json.dumps(word.boxes).encode()


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return "none" if value is None else text if len(text) < 80 else f"{text[:77]}..."
