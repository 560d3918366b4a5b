"""Counts and lists of what was left out."""

from pathlib import Path

from vit_str.datasets import Reason, Skipped, SkipReport


def test_counts_are_exact_and_lists_are_short() -> None:
    report = SkipReport(kept=2)
    for number in range(5):
        report.add(Skipped(f"{number}.png", Reason.SMALL, "3 x 9 pixels"))
    report.add(Skipped("x.png", Reason.MISSING))
    assert report.total == 6
    assert report.counts == {Reason.SMALL: 5, Reason.MISSING: 1}
    assert [word.name for word in report.words[Reason.SMALL]] == ["0.png", "1.png"]
    assert str(report.first) == "0.png: image too small (3 x 9 pixels)"
    assert list(report.table()) == [
        "5  image too small  0.png 3 x 9 pixels",
        "1  image missing    x.png",
    ]


def test_nothing_left_out() -> None:
    report = SkipReport()
    assert (report.total, list(report.table()), report.first) == (0, [], None)


def test_names_stay_on_their_line(tmp_path: Path) -> None:
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


def test_a_file_has_all_of_them(tmp_path: Path) -> None:
    with SkipReport(kept=1, file=tmp_path / "all.tsv") as report:
        for number in range(100):
            report.add(Skipped(f"{number}.png", Reason.UNREADABLE, "damaged"))
    rows = (tmp_path / "all.tsv").read_text().split("\n")
    assert len(rows) == 102
    assert rows[100] == "99.png\timage cannot be read\tdamaged"
