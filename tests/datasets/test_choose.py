"""Which format a path holds."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonargparse import ArgumentParser

import vit_str.datasets
from vit_str.datasets import (
    FORMATS,
    WRITABLE,
    FolderReader,
    LabeledWord,
    Layout,
    LmdbReader,
    Mixture,
    WordSource,
    open_words,
    reader_of,
    writer_of,
)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_reader(name: str) -> None:
    reader = reader_of(name)
    assert issubclass(reader, WordSource)
    assert reader.format == name
    assert getattr(vit_str.datasets, reader.__name__) is reader
    assert reader.__name__ in vit_str.datasets.__all__


@pytest.mark.parametrize("name", FORMATS)
def test_readers_refuse_what_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere") as caught:
        open_words(tmp_path / "nowhere", name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", WRITABLE)
def test_what_is_written_is_recognized(
    name: str, tmp_path: Path, words_of: Callable[[int], list[LabeledWord]]
) -> None:
    path = tmp_path / f"words.{name}"
    with writer_of(name)(path, Layout()) as writer:
        writer.add(words_of(3))
    source = open_words(str(path))
    assert source.format == name
    assert len(list(source)) == 3
    others = [each for each in FORMATS if each != name and reader_of(each).recognizes(path)]  # type: ignore[attr-defined]
    assert not others or name != "folder"


def test_what_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such file or folder; looked for .*labels\.tsv"):
        open_words(tmp_path / "none")
    with pytest.raises(ValueError, match="found no data set there; looked for lmdb"):
        open_words(tmp_path)
    with pytest.raises(ValueError, match=r"one of lmdb, tar, tar\.gz, mjsynth, synthtext, folder"):
        open_words(tmp_path, "zip")
    with pytest.raises(ValueError, match="one of folder, lmdb, tar, found 'mjsynth'"):
        writer_of("mjsynth")
    with pytest.raises(AttributeError, match="no attribute 'ZipReader'"):
        vit_str.datasets.ZipReader  # noqa: B018


@pytest.mark.filterwarnings("ignore")  # jsonargparse renames its methods
def test_readers_in_yaml(tmp_path: Path, words_of: Callable[[int], list[LabeledWord]]) -> None:
    for name in ("lmdb", "folder"):
        with writer_of(name)(tmp_path / name, Layout()) as writer:
            writer.add(words_of(3))
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("--words", type=Mixture)
    source = "{{class_path: vit_str.datasets.{}, init_args: {{path: {}}}}}"
    sources = [
        source.format("LmdbReader", tmp_path / "lmdb"),
        source.format("FolderReader", tmp_path / "folder"),
    ]
    text = (
        "{class_path: vit_str.datasets.Mixture, "
        f"init_args: {{sources: [{', '.join(sources)}], weights: [2, 1]}}}}"
    )
    words = parser.instantiate_classes(parser.parse_args([f"--words={text}"])).words
    assert [type(each) for each in words.sources] == [LmdbReader, FolderReader]
    assert words.shares == [2 / 3, 1 / 3]
    assert isinstance(words[0], LabeledWord)


def test_names_are_imported_when_they_are_used() -> None:
    program = (
        "import sys, vit_str.datasets as d; assert 'FolderReader' in dir(d);"
        "print([m for m in ('torch', 'numpy', 'PIL', 'lmdb', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
