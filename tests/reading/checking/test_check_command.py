"""``vit-str check`` from the command line."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from vit_str.cli import main
from vit_str.reading.checking import command

TEXT = (
    "The annual report of the company was recieved on 14.03.2021 and shows a profit of "
    "12,580.50 in all regions; we thank our members for “trust” and patience."
)


@pytest.fixture
def files(tmp_path, page, checker, monkeypatch) -> SimpleNamespace:
    """A page and its text; what checks is opened already."""
    monkeypatch.setattr(command, "_checker", lambda options: checker)
    page.save(tmp_path / "page.png")
    (tmp_path / "text.txt").write_text(TEXT, "utf-8")
    wrong = TEXT.replace("580", "530").replace(" of the company", "")
    (tmp_path / "wrong.txt").write_text(wrong, "utf-8")
    names = {path.stem: str(path) for path in tmp_path.iterdir()}
    return SimpleNamespace(**names, out=tmp_path / "out")


def test_a_right_text_ends_well(files, capsys):
    assert main(["check", files.page, files.text]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(
        "27 words: 27 confirmed, 0 doubtful, 0 contradicted, 0 absent"
    )


def test_what_is_wrong_is_listed_and_ends_in_1(files, capsys):
    assert main(["check", files.page, files.wrong]) == 1
    *rows, summary = capsys.readouterr().out.splitlines()
    cells = [row.split("\t") for row in rows]
    assert [row[0] for row in cells] == ["missing"] * 3 + ["contradicted"]
    assert [row[5] for row in cells] == ["of", "the", "company", "12,580.50"]
    assert cells[3][4] == "12,530.50"
    assert summary.startswith("24 words: 23 confirmed")


def test_typography_is_listed_where_it_is_asked_for(files, capsys):
    assert main(["check", files.page, files.text, "--typography"]) == 0
    first, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("typography\t1\t")
    assert first.endswith("members\tmem- bers")


def test_json_lines_have_every_word_and_a_summary(files, capsys):
    assert main(["check", files.page, files.wrong, "--format", "jsonl"]) == 1
    *rows, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(rows) == 27
    assert last["summary"]["contradicted"] == 1
    assert last["summary"]["right"] is False


def test_html_goes_to_a_file(files):
    out = files.out.with_suffix(".html")
    assert main(["check", files.page, files.wrong, "--out", str(out)]) == 1
    shown = out.read_text("utf-8")
    assert "data:image/jpeg" in shown
    assert shown.count('class="word missing"') == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no words"),
        (b"\x89PNG\r\n\x1a\n\0\xff", "not UTF-8"),
        (b"a\0b", "zero bytes"),
        (None, "No such file"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(files, capsys, content, reason):
    path = Path(files.page).with_name("other.txt")
    if content is not None:
        path.write_bytes(content)
    assert main(["check", files.page, str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line
    assert "other.txt" in line


def test_the_text_is_not_written_over(files, capsys):
    assert main(["check", files.page, files.text, "--out", files.text]) == 2
    assert "read itself" in capsys.readouterr().err
    assert Path(files.text).read_text("utf-8") == TEXT


def test_a_picture_that_is_none(files, capsys):
    assert main(["check", files.text, files.text]) == 2
    assert "text.txt" in capsys.readouterr().err
