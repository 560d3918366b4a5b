"""Counts and lists of what was left out."""

import pytest

from vit_str.datasets import Reason, Skipped, SkipReport


def test_counts_and_the_file_are_complete_and_lists_are_short(tmp_path):
    report = SkipReport(tmp_path / "all.tsv")
    for number in range(1500):
        report.add(Skipped(f"{number}.png", Reason.SMALL, "3 x 9 pixels"))
    report.add(Skipped("x.png", Reason.MISSING))
    report.close()
    assert len((tmp_path / "all.tsv").read_text().splitlines()) == 1502
    assert report.total == 1501
    assert report.counts == {Reason.SMALL: 1500, Reason.MISSING: 1}
    assert len(report.words[Reason.SMALL]) == 1000
    assert str(report.first) == "0.png: image too small (3 x 9 pixels)"
    assert list(report.table()) == [
        "1,500  image too small  0.png 3 x 9 pixels",
        "    1  image missing    x.png",
    ]


def test_a_report_replaces_a_report_and_nothing_else(tmp_path):
    """As ``--report labels.tsv`` would the labels."""
    labels = tmp_path / "labels.tsv"
    labels.write_text("a.png\tone\n")
    with pytest.raises(ValueError, match=r"labels\.tsv: there already, and no report"):
        SkipReport(labels)
    assert labels.read_text() == "a.png\tone\n"
    path = tmp_path / "skipped.tsv"
    path.touch()
    for _ in range(2):
        SkipReport(path).close()
        assert path.read_text() == "name\treason\tdetail\n"


def test_nothing_left_out():
    report = SkipReport()
    assert (report.total, list(report.table()), report.first) == (0, [], None)


def test_names_stay_on_their_line(tmp_path):
    with SkipReport(file=tmp_path / "skipped.tsv") as report:
        report.add(Skipped("a\nb\tc.png", Reason.CHARSET, "'\x1b[31m' in 'x'"))
        report.add(Skipped("caf\udce9.png", Reason.MISSING))
    assert (tmp_path / "skipped.tsv").read_bytes().decode().split("\n") == [
        "name\treason\tdetail",
        "a\\nb\\tc.png\tcharacters outside the charset\t'\\x1b[31m' in 'x'",
        "caf\\udce9.png\timage missing\t",
        "",
    ]
    assert str(report.first).isprintable()
