"""Inspection of a data set, and of what can be used of it."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import pandas as pd
from PIL import Image

from vit_str import console
from vit_str.datasets.rules import Rules, SkipReport, judged
from vit_str.datasets.source import LabeledWord, WordStream
from vit_str.images.headers import upright_size
from vit_str.images.preprocessing import TALL

_BAR = 40  # width of the histogram of lengths, in characters
_LONGEST = 30  # the last length with a row in it
_MOST_CHARACTERS = 40  # that a report lists
_MOST_EXAMPLES = 10  # of a problem
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_MOST_SHOWN = 100  # characters that a summary counts
# Title, key and decimals of what is told of images.
_SIZES = (
    ("height", "height", 0),
    ("width", "width", 0),
    ("width / height", "aspect", 2),
)


@lru_cache(1)
def bundled_characters() -> str:
    """The characters of the weights of the package."""
    from vit_str.engines.weights_contents import read_metadata, resolve

    return read_metadata(resolve("tiny"))["charset"]


def inspect(
    source: WordStream, rules: Rules, report: SkipReport, limit: int | None = None
) -> dict[str, Any]:
    """Look at every word and say what they are like, as plain values for JSON."""
    lengths = (source.known_length, limit)
    total = min((length for length in lengths if length is not None), default=None)
    entries = islice(source, limit)
    words = Seen()
    with console.Progress(total, alone=True, unit="word") as progress:
        for some in judged(progress.over(entries), rules, properties, report):
            words.add(some)
    skipped = {
        str(reason): {
            "count": count,
            "examples": [word.name for word in report.words[reason][:_MOST_EXAMPLES]],
        }
        for reason, count in report.counts.items()
    }
    return {
        "path": str(source.path),
        "format": source.format,
        "entries": len(words) + report.total,
        "skipped": skipped,
        "usable": words.summary(),
    }


def as_text(values: dict[str, Any], report: SkipReport) -> Iterator[str]:
    """Findings of `inspect` as lines for a terminal."""
    usable = values["usable"]
    yield f"{values['path']}: {values['format']}, {values['entries']:,} words"
    yield f"{usable['words']:,} can be used, {report.total:,} are left out"
    yield from (f"  {line}" for line in report.table())
    if usable["words"]:
        lengths = {int(length): count for length, count in usable["lengths"].items()}
        yield from _lines_of_lengths(lengths)
        yield from _lines_of_characters(usable["characters"])
        yield from _lines_of_images(usable["images"], usable["repeated"])


def _lines_of_lengths(lengths: dict[int, int]) -> Iterator[str]:
    last = max((length for length in lengths if length <= _LONGEST), default=0)
    rows = [(str(length), lengths.get(length, 0)) for length in range(1, last + 1)]
    beyond = sum(count for length, count in lengths.items() if length > _LONGEST)
    if beyond:
        rows.append((f"{_LONGEST + 1}+", beyond))
    most = max(count for _, count in rows)
    yield from ("", "characters in a label")
    for length, count in rows:
        bar = "#" * round(_BAR * count / most)
        yield f"  {length:>3} {count:>11,} {bar}".rstrip()


def _lines_of_characters(characters: dict[str, Any]) -> Iterator[str]:
    kinds = characters["kinds"].items()
    classes = ", ".join(f"{number:,} {name}" for name, number in kinds)
    yield ""
    yield f"{characters['different']:,} different characters; {classes}"
    known = f"the {len(bundled_characters())} of the bundled weights"
    outside = characters["outside_bundled"]
    if not outside:
        yield f"all are among {known}"
        return
    most = list(characters["most_outside_bundled"])[:_MOST_CHARACTERS]
    shown = " ".join(_visible(character) for character in most)
    more = " ..." if outside > _MOST_CHARACTERS else ""
    yield f"{outside:,} are not among {known}: {shown}{more}"


def _visible(character: str) -> str:
    """A character as it is, or what to call it where it would not be seen."""
    if character == " ":
        return "space"
    return character if character.isprintable() else f"U+{ord(character):04X}"


def _lines_of_images(images: dict[str, Any], repeated: dict[str, int]) -> Iterator[str]:
    kinds = images["kinds"].items()
    types = ", ".join(f"{number:,} {suffix[1:]}" for suffix, number in kinds)
    heads = ["least", *(f"{quantile:.0%}" for quantile in QUANTILES[1:-1]), "most"]
    yield ""
    yield f"images: {types}"
    yield f"  {'':14}" + "".join(f"{head:>9}" for head in heads)
    for title, name, decimals in _SIZES:
        values = "".join(f"{value:>9.{decimals}f}" for value in images[name])
        yield f"  {title:14}{values}"
    yield f"{images['tall']:,} are so tall that they are turned to the left before they are read"
    yield (
        f"{repeated['images']:,} are the same file as one before; "
        f"{repeated['with_other_labels']:,} files come with different labels"
    )


class Properties(NamedTuple):
    """Properties of a word: label, upright size in pixels, suffix, digest of the file."""

    label: str
    height: int
    width: int
    suffix: str
    image: int


def properties(word: LabeledWord, image: Image.Image) -> Properties:
    """The properties of a word whose upright image is ``image``."""
    # A large photograph has been reduced while it was decoded; its header knows its size.
    height, width = upright_size(word.image) or (image.height, image.width)
    is_turned = (image.width - image.height) * (width - height) < 0
    if is_turned:
        return Properties(word.label, width, height, word.suffix, _digest(word.image))
    return Properties(word.label, height, width, word.suffix, _digest(word.image))


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


class Seen:
    """Properties of all usable words: 24 bytes of each, as sets have millions."""

    def __init__(self) -> None:
        self._heights = array("I")
        self._widths = array("I")
        self._images = array("Q")  # digests
        self._labels = array("Q")  # digests
        self._lengths: Counter[int] = Counter()
        self._suffixes: Counter[str] = Counter()
        self._characters: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._images)

    def add(self, words: Sequence[Properties]) -> None:
        """Look at more words."""
        for word in words:
            self._heights.append(word.height)
            self._widths.append(word.width)
            self._images.append(word.image)
            self._labels.append(_digest(word.label.encode("utf-8", "surrogatepass")))
            self._lengths[len(word.label)] += 1
            self._suffixes[word.suffix] += 1
            self._characters.update(word.label)

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON; ``docs/data.md`` describes the keys."""
        if not len(self):
            return {"words": 0}
        frame = pd.DataFrame({"height": self._heights, "width": self._widths})
        frame["aspect"] = frame.width / frame.height
        quantiles = frame.quantile(QUANTILES).round(3)
        files = pd.DataFrame({"image": self._images, "label": self._labels})
        repeated = files[files.image.duplicated(keep=False)]
        labels_of_image = repeated.groupby("image").label.nunique()
        lengths = sorted(self._lengths.items())
        return {
            "words": len(self),
            "lengths": {str(length): count for length, count in lengths},
            "characters": _characters(self._characters),
            "images": {
                "kinds": dict(self._suffixes.most_common()),
                "quantiles": list(QUANTILES),
                **quantiles.to_dict("list"),
                "tall": int((frame.height > TALL * frame.width).sum()),
            },
            "repeated": {
                "images": int(files.image.duplicated().sum()),
                "with_other_labels": int((labels_of_image > 1).sum()),
            },
        }


def _characters(counts: Counter[str]) -> dict[str, Any]:
    known = bundled_characters()
    others = {
        character: number
        for character, number in counts.most_common()
        if character not in known
    }
    kinds: Counter[str] = Counter()
    for character, number in counts.items():
        kinds[_kind_of(character)] += number
    return {
        "different": len(counts),
        "total": counts.total(),
        "kinds": dict(kinds.most_common()),
        "outside_bundled": len(others),
        "most_outside_bundled": dict(islice(others.items(), _MOST_SHOWN)),
    }


def _kind_of(character: str) -> str:
    """Upper and lower case, digits and so on; letters of scripts without case are letters."""
    kinds = {
        "upper case": character.isupper(),
        "lower case": character.islower(),
        "digits": character.isdecimal(),
        "other letters": character.isalpha(),
        "spaces": character.isspace(),
    }
    return next((name for name, belongs in kinds.items() if belongs), "signs")
