from pathlib import Path

import pytest

from studies import NAMES
from studies.page import page_text, write_page

RESULT = {
    "name": "order",
    "command": "python -m studies run order",
    "settings": {"quick": False, "seeds": 5, "device": "cpu"},
    "verdict": "NOT SUPPORTED",
    "measure": "share of a | b",
    "number": "0.1235 [0.1, 0.2]",
    "value": 0.123456,
    "interval": [0.1, 0.2],
    "because": "The number says so.",
    "surprises": ["No *one* had thought of it."],
    "summary": [{"system": "x|y", "n": 12, "share": 0.123456, "good": True}],
    "seconds": 61.2,
    "torch": "2.9.0",
}
QUICK = RESULT | {
    "name": "gates",
    "command": "python -m studies run gates --quick",
    "settings": {"quick": True, "seeds": 1, "device": "cpu"},
    "verdict": "SUPPORTED",
    "surprises": [],
}


def test_page() -> None:
    text = page_text([QUICK, RESULT], "claims")
    assert "| [order](#order) | VE | NOT SUPPORTED | share of a \\| b | 0.1235 [0.1, 0.2] |" in text
    assert "| [gates](#gates) | VR | SUPPORTED (quick) |" in text
    assert "| heads |  | not run |  |  |" in text
    assert "\n\n1 supported, 0 partly, 1 not supported.\n\nPosts: R = transformer-review" in text
    assert "\n\n**Claim** (V, E). What attention puts out says nothing" in text
    assert "(claims/order.png)" in text
    assert "| system | n | share | good |\n| --- | ---: | ---: | ---: |\n" in text
    assert "| x\\|y | 12 | 0.1235 | yes |" in text
    assert "\n\n**NOT SUPPORTED**. The number says so.\n\n" in text
    assert "**Surprises.**\n\n* No \\*one\\* had thought of it.\n\n" in text
    assert text.count("**Surprises.**") == 1
    assert "\n\n`python -m studies run order`: 5 seeds, cpu, 61 s, torch 2.9.0\n\n" in text
    assert "`python -m studies run gates --quick`: 1 seed, cpu" in text
    assert "1 of 2 studies on this page were run in the small version" in text
    corrections = text.partition("## Corrections to the posts")[2]
    assert corrections.count("\n* ") == 6
    assert "* V, E ([order](#order)): It holds for an encoder." in corrections
    assert text.index("## Verdicts") < text.index("## gates") < text.index("## order")
    assert "\n\n\n" not in text


def test_page_of_full_runs_marks_nothing() -> None:
    text = page_text([RESULT], "claims")
    assert "(quick)" not in text
    assert "small version (`" not in text
    assert "python -m studies run all --quick --out" in page_text([QUICK], "claims")


def test_the_page_of_the_project_has_every_study_and_its_texts() -> None:
    page = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()
    for name in NAMES:
        assert f"\n## {name}\n" in page
        assert f"`python -m studies run {name}" in page


def test_without_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no result of a study"):
        write_page(tmp_path, tmp_path / "claims.md")
    assert not (tmp_path / "claims").exists()
