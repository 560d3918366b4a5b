"""Bytes of every format damaged at random: one line or a skipped word, and right counts."""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.charset import Charset
from vit_str.datasets import (
    IndexedSource,
    LabeledWord,
    Layout,
    Rules,
    Skipped,
    SkipReport,
    format_of,
    open_words,
    writer_of,
)

COUNT = 16
NAMES = ("folder", "words.csv", "words.jsonl", "words.lmdb", "words.tar", "words.tar.gz")


def make(path: Path, words: list[LabeledWord]) -> None:
    if path.name == "words.tar.gz":
        make(path.with_name("words.tar"), words)
        path.write_bytes(gzip.compress(path.with_name("words.tar").read_bytes()))
        path.with_name("words.tar").unlink()
        return
    if path.suffix in {".csv", ".jsonl"}:
        make(path.parent, words)
        (path.parent / "labels.tsv").unlink()
        rows = [(f"{number:09d}.png", word.label) for number, word in enumerate(words)]
        if path.suffix == ".jsonl":
            lines = [json.dumps({"file_name": name, "text": label}) for name, label in rows]
        else:
            lines = ["file,label", *(f'{name},"{label}"' for name, label in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
        return
    with writer_of(format_of(path))(path, Layout()) as writer:
        writer.add(words)


def damage(path: Path, chance: random.Random) -> None:
    """Overwrite, cut, drop or repeat some bytes; files are chosen by chance, labels more often."""
    files = sorted(each for each in path.rglob("*") if each.is_file())
    labels = [each for each in files if each.suffix != ".png"]
    for _ in range(chance.randrange(1, 4)):
        file = chance.choice(labels if chance.random() < 0.7 else files)
        data = bytearray(file.read_bytes())
        place = chance.randrange(max(1, len(data)))
        size = chance.choice([1, 1, 2, 8, 64, 600])
        kind = chance.randrange(5)
        if kind == 0:
            data[place : place + size] = chance.randbytes(min(size, len(data) - place))
        elif kind == 1:
            data[place : place + 1] = bytes([chance.choice([0, 9, 10, 13, 34, 44, 92, 255])])
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            del data[place : place + size]
        else:
            data[place:place] = data[place : place + size]
        file.write_bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_skipped_or_refused_in_one_line(
    name: str, tmp_path: Path, words_of: Callable[[int], list[LabeledWord]]
) -> None:
    words = words_of(COUNT)
    make(tmp_path / "whole" / name if name != "folder" else tmp_path / "whole", words)
    original = {(word.image, word.label) for word in words}
    rules = Rules(Charset("".join(sorted({c for word in words for c in word.label}))))
    refused = usable = skipped = changed = 0
    for seed in range(50):
        path = tmp_path / "damaged"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", path)
        damage(path, random.Random(seed))
        report = SkipReport()
        try:
            source = open_words(path if name == "folder" else path / name)
            found = list(source)
        except ValueError as error:
            refused += 1
            text = str(error)
        else:
            text = ""
            if isinstance(source, IndexedSource):
                assert len(found) == len(source)
                assert found == [source[place] for place in range(len(source))]
            good = 0
            for word in found:
                picture = word if isinstance(word, Skipped) else rules.decode(word)
                if isinstance(picture, Skipped):
                    report.add(picture)
                else:
                    good += 1
                    changed += (word.image, word.label) not in original  # type: ignore[union-attr]
            assert good + report.total == len(found)
            assert all("\n" not in line for line in report.lines())
            usable, skipped = usable + good, skipped + report.total
        assert "\n" not in text
    assert refused < 25
    assert skipped > 0
    assert usable > 10 * COUNT
    # A byte of a label or a picture can change to another that is as good; most cannot.
    assert changed < usable / 10


def test_the_damage_of_these_tests_is_real(tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    outcomes = set()
    for seed in range(50):
        file.write_bytes(b"0123456789" * 5)
        damage(tmp_path, random.Random(seed))
        outcomes.add(file.read_bytes())
    assert len(outcomes) > 40
