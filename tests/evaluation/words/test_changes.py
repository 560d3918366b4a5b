import re

import pytest

from vit_str.datasets import open_words
from vit_str.evaluation.words.changes import write_changes
from vit_str.evaluation.words.comparison import Comparison
from vit_str.evaluation.words.results import ReadWords

LABELS = ["Hotel", "CAFE", "12:30", "Bar"]


def read(texts: list[str]) -> ReadWords:
    return ReadWords(LABELS, texts, [0.9] * len(texts))


def test_words_won_and_lost_stand_beside_their_pictures(tmp_path, labeled_set):
    files = {f"{number}.png": label for number, label in enumerate(LABELS)}
    sets = {
        name: open_words(labeled_set(tmp_path / name, files)) for name in ("old", "new")
    }
    before = {
        "old": read(["Hotel", "CAFE", "12:3O", "Bar"]),
        "new": read(["H", "C", "1", "Bar"]),
    }
    after = {"old": read(["Hotel", "GAFE", "12:30", "bar"]), "new": read([*LABELS])}
    path = write_changes(
        Comparison(("tiny", "mine"), before, after), sets, tmp_path / "page"
    )
    page = path.read_text(encoding="utf-8")
    counts = re.findall(r"(\w+): (\d+) (won|lost)</h2>", page)
    expected = [
        ("old", "1", "won"),
        ("old", "1", "lost"),
        ("new", "3", "won"),
        ("new", "0", "lost"),
    ]
    assert counts == expected
    assert page.count("<img") == 3  # a sheet for each list that is not empty
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)
    row = cells[cells.index("old") : cells.index("old") + 6]
    assert row == ["old", "4", "75.0 %", "75.0 %", "1", "1"]
    assert "new, upper case" in cells


def test_a_page_of_changes_needs_weights_to_compare_with(tmp_path, run, labeled_folder):
    code, _, err = run("evaluate", labeled_folder, "--changes", tmp_path / "page")
    assert code == 2 and "--changes needs --against" in err


@pytest.mark.parametrize("count", [0, 1])
def test_sets_without_changes(count, tmp_path, labeled_set):
    labels = LABELS[:count]
    folder = labeled_set(
        tmp_path / "set", {f"{n}.png": label for n, label in enumerate(labels)}
    )
    same = {"set": ReadWords(labels, labels, [0.9] * count)}
    comparison = Comparison(("a", "b"), same, same)
    path = write_changes(comparison, {"set": open_words(folder)}, tmp_path / "page")
    assert "<img" not in path.read_text(encoding="utf-8")
