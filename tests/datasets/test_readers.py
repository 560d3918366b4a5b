"""What holds for the readers of every format that can be written."""

import os
import pickle
from multiprocessing import get_context
from pathlib import Path

import pytest

from vit_str.datasets import (
    WRITERS,
    LabeledWord,
    Layout,
    Skipped,
    WordSource,
    open_words,
)
from vit_str.datasets.formats import format_of

NAMES = ("my words", "words.lmdb", "words.tar", "words-%06d.tar")


def written(path: Path, words: list[LabeledWord], boxes: bool = True) -> WordSource:
    with WRITERS[format_of(path)](path, Layout(boxes=boxes, shard_size=10)) as writer:
        writer.add(words)
    return open_words(path)


def content(words: list[LabeledWord | Skipped]) -> list[tuple[bytes, str, object]]:
    assert not [word for word in words if isinstance(word, Skipped)]
    return [(word.image, word.label, word.boxes) for word in words]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(name, tmp_path, words_of):
    words = words_of(43)
    source = written(tmp_path / name, words)
    assert source.format == format_of(tmp_path / name)
    assert len(source) == 43
    assert content(list(source)) == content(list(words))
    assert content([source[place] for place in range(43)]) == content(list(words))
    assert len({word.name for word in source}) == 43
    for place in (-1, 43, 1 << 40):
        with pytest.raises(IndexError):
            source[place]


@pytest.mark.parametrize("name", NAMES)
def test_a_pickled_reader_reads_on(name, tmp_path, words_of):
    words = words_of(12)
    source = written(tmp_path / name, words)
    for _ in range(2):
        again = pickle.loads(pickle.dumps(source))  # noqa: S301 - our own
        assert content([again[place] for place in range(12)]) == content(list(words))
        assert source[11], "the second time it has been used"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_do_not_disturb_each_other(name, tmp_path, words_of):
    """A loader opens a set, reads its length, and forks: file positions must not be shared."""
    words = words_of(43)
    source = written(tmp_path / name, words)
    assert source[0]

    def read(first):
        places = [(first + turn * 17) % 43 for turn in range(50)]
        same = [content([source[place]]) == content([words[place]]) for place in places]
        os._exit(0 if all(same) else 1)

    context = get_context("fork")
    processes = [context.Process(target=read, args=(first,)) for first in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]


def test_an_empty_data_set(tmp_path):
    for name in ("words", "words.lmdb"):
        assert len(written(tmp_path / name, [LabeledWord(b"", "x")][:0])) == 0
