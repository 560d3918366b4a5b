from dataclasses import replace
from pathlib import Path

import pytest

from studies import STUDIES, Verdict
from studies.corrections import CORRECTIONS
from studies.page import page_text, write_page
from studies.result import Result
from studies.study import POSTS

IDS = ["order", "gates", "heads"]


def result(name: str, **changed: object) -> Result:
    return replace(
        Result(
            id=name,
            posts="VE",
            claim="|a| is *one* of_two.",
            expectation="Expected is this.",
            experiment="Done is that.",
            correction="It is otherwise.",
            quick=False,
            seeds=5,
            device="cpu",
            verdict=Verdict.NOT_SUPPORTED,
            measure="share of a | b",
            value=0.123456,
            interval=(0.1, 0.2),
            because="The number says so.",
            surprises=("Nobody had thought of it.",),
            summary=({"kind": "x|y", "n": 12, "share": 0.123456, "good": True},),
            seconds=61.2,
            versions={"torch": "2.9.0"},
            modules=(),
            digest="",
        ),
        **changed,  # type: ignore[arg-type]
    )


def test_page() -> None:
    small = result("gates", quick=True, verdict=Verdict.SUPPORTED, correction="", surprises=())
    text = page_text({"order": result("order"), "gates": small}, IDS, "claims")
    assert "| [order](#order) | VE | NOT SUPPORTED | share of a \\| b | 0.1235 [0.1, 0.2] |" in text
    assert "| [gates](#gates) | VE | SUPPORTED (quick) |" in text
    assert "| heads |  | not run |  |  |" in text
    assert "1 supported, 0 partly, 1 not supported." in text
    assert "**Claim** (V, E). \\|a\\| is \\*one\\* of\\_two." in text
    assert "(claims/order.png)" in text
    assert "| x\\|y | 12 | 0.1235 | yes |" in text
    assert "**NOT SUPPORTED**. The number says so." in text
    assert "* Nobody had thought of it." in text
    assert "`vit-str study run order`: 5 seeds, cpu, 61 s, torch 2.9.0" in text
    assert "`vit-str study run gates --quick`: 5 seeds" in text
    assert "1 of 2 studies on this page were run in the small version" in text
    corrections = text.partition("## Corrections to the posts")[2]
    assert len(CORRECTIONS) == 4
    assert corrections.count("\n* ") == 5
    assert "* V, E ([order](#order)): It is otherwise." in corrections
    assert text.index("## Verdicts") < text.index("## order") < text.index("## gates")


def test_page_of_full_runs_marks_nothing() -> None:
    text = page_text({"order": result("order")}, IDS, "claims")
    assert "quick" not in text
    assert "small version" not in text
    every = page_text({"order": result("order", quick=True)}, IDS, "claims")
    assert "vit-str study run all --quick --out" in every


def test_figures_are_copied(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "order"
    folder.mkdir(parents=True)
    result("order").save(folder)
    (folder / "figure.png").write_bytes(b"picture")
    page = tmp_path / "docs" / "claims.md"
    assert write_page(tmp_path / "out", list(STUDIES), page) == 1
    assert (tmp_path / "docs/claims/order.png").read_bytes() == b"picture"
    assert page.read_text().startswith("# What the posts claim")
    assert sorted(path.name for path in page.parent.iterdir()) == ["claims", "claims.md"]


def test_without_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no result of a study"):
        write_page(tmp_path, IDS, tmp_path / "claims.md")
    assert not (tmp_path / "claims").exists()


def test_corrections_name_posts_that_there_are() -> None:
    for each in CORRECTIONS:
        assert set(each.posts) <= set(POSTS)
        assert each.said.endswith(".")
        assert each.correction.endswith(".")


def test_commands() -> None:
    assert result("order", seeds=3, device="cuda").command == (
        "vit-str study run order --seeds 3 --device cuda"
    )
