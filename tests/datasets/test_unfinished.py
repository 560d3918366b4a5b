"""Data sets that are stopped while they are written, and gone on with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vit_str.cli import main
from vit_str.datasets import WRITERS, LabeledWord, Layout, SkipReport, open_words
from vit_str.datasets.formats import format_of
from vit_str.datasets.rules import CHUNK, Rules, judged
from vit_str.datasets.source import words_from
from vit_str.datasets.unfinished import Unfinished, note_of

NAMES = ("words", "words.lmdb", "words.tar", "words-%06d.tar")
LAYOUT = Layout(start=7, suffix="", boxes=True, shard_size=10)
MADE_WITH = {"--seed": 1, "paths": ("a", "b")}


class StoppedError(Exception):
    """Stands for what ends a process."""


def write(path: Path, words: list[LabeledWord], stop_after: int | None = None) -> int:
    """Write words by fours from where the data set stands; returns how many were there."""
    writer = WRITERS[format_of(path)]
    with Unfinished.beside(path, writer, MADE_WITH) as note:
        target = note.writer(writer, path, LAYOUT)
        before = target.done

        def batches():
            for start in range(before, len(words), 4):
                if stop_after is not None and start >= stop_after:
                    raise StoppedError
                yield words[start : start + 4]

        with target:
            note.fill(target, batches())
    return before


def files_in(path: Path) -> dict[str, bytes]:
    """What is written, byte for byte; pages of LMDB may be in another order, its values may not."""
    if path.suffix == ".lmdb":
        values = [(word.label, word.image, word.boxes) for word in open_words(path)]
        return {"values": repr(values).encode()}
    files = sorted(path.parent.rglob("*"))
    return {
        str(file.relative_to(path.parent)): file.read_bytes()
        for file in files
        if file.is_file()
    }


@pytest.fixture
def small_transactions(monkeypatch):
    """LMDB stores as often as the others, so that there is something to go on with."""
    monkeypatch.setattr("vit_str.datasets.lmdb._WORDS_IN_TRANSACTION", 8)


@pytest.mark.usefixtures("small_transactions")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stops", [[0], [4, 8, 24], [40]])
def test_a_data_set_that_was_stopped_is_as_one_that_was_not(
    name, stops, tmp_path, words_of
):
    words = words_of(43)
    for folder in ("cut", "whole"):
        (tmp_path / folder).mkdir()
    path = tmp_path / "cut" / name
    there = []
    for stop in stops:
        with pytest.raises(StoppedError):
            write(path, words, stop)
        assert note_of(path).exists()
    there.append(write(path, words))
    assert (
        there[-1] == stops[-1] // 8 * 8
        if name == "words.lmdb"
        else there[-1] == stops[-1]
    )
    assert not note_of(path).exists()
    write(tmp_path / "whole" / name, words)
    assert files_in(path) == files_in(tmp_path / "whole" / name)
    assert len(list(open_words(path))) == 43


@pytest.mark.usefixtures("small_transactions")
@pytest.mark.parametrize("name", NAMES)
def test_whoever_opens_a_data_set_that_was_stopped_is_told(
    name, tmp_path, words_of, capsys
):
    path = tmp_path / name
    with pytest.raises(StoppedError):
        write(path, words_of(24), stop_after=16)
    open_words(path)
    assert f"{name}: not finished, some words are missing" in capsys.readouterr().err
    write(path, words_of(24))
    capsys.readouterr()
    assert len(open_words(path)) == 24
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("small_transactions")
@pytest.mark.parametrize("name", NAMES)
def test_what_a_kill_leaves_behind_the_last_note_is_written_again(
    name, tmp_path, words_of
):
    """Half a line, half a member of an archive, images without a line, half a line of the note."""
    words = words_of(43)
    for folder in ("cut", "whole"):
        (tmp_path / folder).mkdir()
    path = tmp_path / "cut" / name
    with pytest.raises(StoppedError):
        write(path, words, 16)
    note = note_of(path).read_bytes()
    with pytest.raises(StoppedError):
        write(path, words, 36)
    note_of(path).write_bytes(note + b'{"words": 3')
    assert write(path, words) == 16
    write(tmp_path / "whole" / name, words)
    assert files_in(path) == files_in(tmp_path / "whole" / name)


@pytest.mark.usefixtures("small_transactions")
@pytest.mark.parametrize("name", NAMES)
def test_what_lacks_words_that_were_written_is_refused(name, tmp_path, words_of):
    path = tmp_path / name
    with pytest.raises(StoppedError):
        write(path, words_of(43), 24)
    if name == "words.lmdb":
        note = note_of(path)
        note.write_text(note.read_text().replace('"words": 24', '"words": 25'))
    else:
        last = {"words": path / "labels.tsv", "words.tar": path}
        file = last.get(name, tmp_path / "words-000003.tar")
        file.write_bytes(file.read_bytes()[:-11_000] if name != "words" else b"")
    with pytest.raises(ValueError, match=r"were written; remove .*\.unfinished"):
        write(path, words_of(43))


def test_other_arguments_and_other_data_are_refused(tmp_path, words_of, monkeypatch):
    path = tmp_path / "words"
    with pytest.raises(StoppedError):
        write(path, words_of(9), 4)
    with monkeypatch.context() as patch:
        patch.setitem(MADE_WITH, "--seed", 2)
        with pytest.raises(
            ValueError, match="was begun with --seed 1, not 2: give the same"
        ):
            write(path, words_of(9))
    note_of(path).write_text("nonsense\n")
    with pytest.raises(
        ValueError, match="damaged; remove it and what it stands beside"
    ):
        write(path, words_of(9))
    note_of(path).unlink()
    with pytest.raises(
        ValueError, match="is there already; remove it or give another name"
    ):
        write(path, words_of(9))
    assert not note_of(path).exists()


def test_two_processes_do_not_write_one_data_set(tmp_path, words_of):
    path = tmp_path / "words"
    writer = WRITERS["folder"]
    refused = pytest.raises(ValueError, match="another process writes there")
    with Unfinished.beside(path, writer, MADE_WITH), refused:
        write(path, words_of(4))
    assert not note_of(path).exists()


def make_source(folder: Path, count: int, word) -> Path:
    """A folder of words of which every fifth is damaged."""
    folder.mkdir()
    lines = []
    for number in range(count):
        image = word.image[:30] if number % 5 == 2 else word.image
        (folder / f"{number}.png").write_bytes(image)
        lines.append(f"{number}.png\tword{number}\n")
    (folder / "labels.tsv").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("target", ["out", "out.lmdb", "out.tar"])
def test_convert_after_ctrl_c(target, tmp_path, words_of, monkeypatch, capsys):
    """The words that were looked at are not looked at again, and all reasons are counted."""
    monkeypatch.setattr("vit_str.datasets.lmdb._WORDS_IN_TRANSACTION", 100)
    first = make_source(tmp_path / "first", CHUNK + 50, words_of(2)[1])
    second = make_source(tmp_path / "second", 2 * CHUNK, words_of(3)[2])
    command = ["data", "convert", str(first), str(second)]
    assert main([*command, str(tmp_path / "whole" / target)]) == 0
    expected = capsys.readouterr()
    looked_at = 0
    real = Rules.decode

    def decode(self, word):
        nonlocal looked_at
        looked_at += 1
        if looked_at == CHUNK + 20:
            raise KeyboardInterrupt
        return real(self, word)

    monkeypatch.setattr(Rules, "decode", decode)
    report = ["--report", str(tmp_path / "report.tsv")]
    assert main([*command, str(tmp_path / "cut" / target), *report]) == 130
    said = capsys.readouterr().err
    usable = sum(number % 5 != 2 for number in range(CHUNK))
    assert f"stopped after {usable} words; the same command goes on" in said
    looked_at = CHUNK + 20
    assert main([*command, str(tmp_path / "cut" / target), *report]) == 0
    assert looked_at - CHUNK - 20 == 2 * CHUNK + 50
    found = capsys.readouterr()
    assert f"going on after {usable} words" in found.err
    assert found.err.splitlines()[1:] == expected.err.splitlines()
    assert found.out.replace("/cut/", "/whole/") == expected.out
    assert files_in(tmp_path / "cut" / target) == files_in(tmp_path / "whole" / target)
    listed = (tmp_path / "report.tsv").read_text().splitlines()
    damaged = [
        number for count in (CHUNK + 50, 2 * CHUNK) for number in range(2, count, 5)
    ]
    assert [line.partition("\t")[0] for line in listed] == [
        "name",
        *(f"{number}.png" for number in damaged),
    ]


def notes_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on Windows"
)
@pytest.mark.parametrize("target", ["out", "out.lmdb", "out-%06d.tar"])
def test_convert_after_kill(target, tmp_path, words_of):
    """Killed wherever it is; every label of a folder has its image all the time."""
    source = make_source(tmp_path / "source", 12 * CHUNK, words_of(2)[1])
    more = ["--shard-size", "300"] if "%" in target else []
    arguments = ["data", "convert", str(source)]
    command = [
        sys.executable,
        "-m",
        "vit_str",
        *arguments,
        str(tmp_path / "cut" / target),
        *more,
    ]
    note = note_of(tmp_path / "cut" / target)
    process = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    while process.poll() is None and notes_in(note) < 2:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if target == "out":
        labels = (tmp_path / "cut" / "out" / "labels.tsv").read_text().splitlines()
        names = {line.partition("\t")[0] for line in labels}
        assert names
        assert names <= set(os.listdir(tmp_path / "cut" / "out" / "images"))
    assert note.exists(), "it ended before it was killed"
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "going on after" in finished.stderr
    assert main([*arguments, str(tmp_path / "whole" / target), *more]) == 0
    assert files_in(tmp_path / "cut" / target) == files_in(tmp_path / "whole" / target)


def test_a_report_goes_on(tmp_path, words_of):
    source = open_words(make_source(tmp_path / "source", 20, words_of(2)[1]))
    with SkipReport(tmp_path / "whole.tsv") as whole:
        list(judged(source, Rules(), lambda word, _: word, whole))
    with SkipReport(tmp_path / "cut.tsv") as first:
        list(judged(list(source)[:9], Rules(), lambda word, _: word, first))
        state = first.state()
        first.add(next(iter(first.words.values()))[0])  # after the last note
    with SkipReport(tmp_path / "cut.tsv", state) as second:
        list(judged(words_from([source], 9), Rules(), lambda word, _: word, second))
    assert second.counts == whole.counts
    assert list(second.table()) == list(whole.table())
    assert (tmp_path / "cut.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux")
def test_a_full_disk_names_the_note(tmp_path):
    path = note_of(tmp_path / "words")
    note = Unfinished(path, MADE_WITH)
    note._file.close()
    with (
        open("/dev/full", "ab", buffering=0) as note._file,
        pytest.raises(OSError, match="No space left") as raised,
    ):
        note._append({})
    assert raised.value.filename == str(path)
