import re
from pathlib import Path

import pytest

from studies import NAMES, describe, gates
from studies.page import page_text, study_text, write_page
from studies.running import load_result
from vit_str.analysis.subjects import weights_hash
from vit_str.engines.weights_contents import resolve

DOCS = Path(__file__).parents[2] / "docs"
GONE = "of weights that are gone"

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
    "weights": {},
    "torch": "2.9.0",
}
QUICK = RESULT | {
    "name": "gates",
    "command": "python -m studies run gates --quick",
    "settings": {"quick": True, "seeds": 1, "device": "cpu"},
    "verdict": "SUPPORTED",
    "surprises": [],
}


def test_the_page_of_verdicts():
    text = page_text([QUICK, RESULT], "claims")
    row = "| [order](claims/order.md) | VE | NOT SUPPORTED | share of a \\| b | 0.1235 [0.1, 0.2] |"
    assert row in text
    assert "| [gates](claims/gates.md) | VR | SUPPORTED (quick) |" in text
    assert "| heads |  | not run |  |  |  |" in text
    assert (
        "\n\n1 supported, 0 partly, 1 not supported, 0 not decided.\n\nPosts: R = "
        in text
    )
    assert "1 of 2 studies on this page were run in the small version" in text
    assert "studies hold by construction" in text
    corrections = text.partition("## Corrections to the posts")[2]
    assert corrections.count("\n* ") == 6
    assert "* V, E ([order](claims/order.md)): It holds for an encoder." in corrections
    assert text.index("/gates.md") < text.index("/order.md")
    assert "(quick)" not in page_text([RESULT], "claims")
    assert "python -m studies run all --quick --out" in page_text([QUICK], "claims")
    assert "\n\n\n" not in text


def test_the_page_of_a_study():
    text = study_text(RESULT | {"weights": {"tiny": "0123456789ab"}})
    assert text.startswith("# order\n")
    assert "\n\n**Claim** (V, E). What attention puts out says nothing" in text
    assert "(order.png)" in text
    assert "| system | n | share | good |\n| --- | ---: | ---: | ---: |\n" in text
    assert "| x\\|y | 12 | 0.1235 | yes |" in text
    assert "\n\n**NOT SUPPORTED**. The number says so.\n\n" in text
    assert "**Surprises.**\n\n* No \\*one\\* had thought of it.\n\n" in text
    assert "tiny `0123456789ab`" in text
    assert (
        "\n\n`python -m studies run order`: 5 seeds, cpu, 61 s, torch 2.9.0\n" in text
    )
    assert "\n\n\n" not in text
    quick = study_text(QUICK)
    assert "**Surprises.**" not in quick
    assert "`python -m studies run gates --quick`: 1 seed, cpu" in quick


def test_the_pages_of_the_project_are_what_their_results_say():
    folder = DOCS / "claims"
    results = [load_result(folder, f"{name}.json") for name in NAMES]
    found = [result for result in results if result]
    assert len(found) == len(NAMES)
    assert (DOCS / "claims.md").read_text() == page_text(found, "claims")
    for result in found:
        assert (folder / f"{result['name']}.md").read_text() == study_text(result)
        assert (folder / f"{result['name']}.png").is_file()


def errors_of(row: dict[str, str]) -> list[float]:
    """Mean errors of adding, by length."""
    return [float(row[name].split()[0]) for name in row if name.startswith("error")]


def test_what_the_page_of_gates_says_of_a_bias_is_what_its_rows_show():
    result = load_result(DOCS / "claims", "gates.json")
    assert result is not None
    rows = {row["network"]: row for row in result["summary"]}
    solved = {
        name: sum(error < gates.SOLVED for error in errors_of(rows[name]))
        for name in (gates.LSTM, gates.OPEN_LSTM, gates.GRU)
    }
    correction = describe("gates").correction
    assert solved[gates.OPEN_LSTM] == solved[gates.LSTM] < solved[gates.GRU]
    assert "remedy is a bias" not in correction
    assert "an LSTM with an open gate learns no longer sequences" in correction


def test_recency_decides_nothing_by_vectors_that_were_not_learned():
    result = load_result(DOCS / "claims", "recency.json")
    assert result is not None
    counts = [row["trainings that learned"].split(" of ") for row in result["summary"]]
    trained = [(int(some), int(every)) for some, every in counts[2:]]
    assert len(trained) == 2
    is_enough = all(2 * some > every for some, every in trained)
    assert (result["verdict"] == "NOT DECIDED") != is_enough


@pytest.mark.parametrize("name", [name for name in NAMES if describe(name).weights])
def test_results_are_of_the_weights_of_today(name):
    """Otherwise run the study again: ``python -m studies run NAME``, then the page."""
    result = load_result(DOCS / "claims", f"{name}.json")
    assert result is not None
    assert set(result["weights"]) == set(describe(name).weights)
    for weights, hashed in result["weights"].items():
        page = (DOCS / "claims" / f"{name}.md").read_text()
        assert hashed == weights_hash(resolve(weights)) or GONE in page


def test_the_page_of_the_lab_is_of_the_weights_of_today():
    """Otherwise its commands have to be run again, or what is not of today's has to say so."""
    page = (DOCS / "attention.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `([0-9a-f]{12})` \|", page, re.MULTILINE)
    files = {"tiny": resolve("tiny")}
    files |= {
        name: DOCS.parent / "data" / "models" / f"{name}.safetensors"
        for name, _ in rows[1:]
    }
    assert [name for name, _ in rows] == list(files)
    assert dict(rows) == {name: weights_hash(path) for name, path in files.items()}


def test_without_results(tmp_path):
    with pytest.raises(ValueError, match="holds no result of a study"):
        write_page(tmp_path, tmp_path / "claims.md")
    assert not (tmp_path / "claims").exists()
