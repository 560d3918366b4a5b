"""What studies are, how they are run, and the command; the page is in test_page.py."""

import csv
import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from textwrap import dedent

import pytest
import torch
from matplotlib.figure import Figure

import studies
from studies import (
    NAMES,
    Findings,
    Settings,
    Table,
    Verdict,
    alignment,
    bidirectional,
    describe,
    gates,
    load_study,
    order,
    parallel,
    path_length,
)
from studies.__main__ import main
from studies.running import command, load_result, run_studies, run_study
from studies.sequences import SequenceTask
from studies.study import POSTS, Values

MODULE = """
from studies.study import Findings, Study, Table, Verdict

STUDY = Study(posts="V", claim="One is one.", expected="It is.", experiment="Look.")

def run(settings):
    {body}
    table = Table({{"seed": seed, "one": 1.0}} for seed in range(settings.seeds))
    return Findings(
        table=table, summary=table, verdict=Verdict.SUPPORTED, measure="one", because="It is.",
        values=table.values("one"), draw=lambda figure: figure.subplots().plot([0]),
    )
"""


@pytest.fixture
def small(tmp_path, monkeypatch) -> list[str]:
    """Two studies outside of the package; processes that are started inherit where to look."""
    folder = tmp_path / "more" / "studies"
    folder.mkdir(parents=True)
    bodies = {"small": "pass", "broken": 'raise RuntimeError("no luck")'}
    for name, body in bodies.items():
        (folder / f"{name}.py").write_text(dedent(MODULE).lstrip().format(body=body))
        monkeypatch.delitem(sys.modules, f"studies.{name}", raising=False)
    monkeypatch.setattr(studies, "NAMES", tuple(bodies))
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(folder)])
    for module in ("page", "__main__"):
        monkeypatch.setattr(f"studies.{module}.NAMES", tuple(bodies))
    return list(bodies)


@pytest.mark.parametrize("name", NAMES)
def test_every_study_says_what_it_is(name):
    study = describe(name)
    assert study.posts
    assert set(study.posts.split(", ")) <= set(POSTS)
    for paragraph in (study.claim, study.expected, study.experiment):
        assert paragraph.endswith((".", "!", '."'))
    assert callable(load_study(name).run)


def test_settings_select_the_values_of_a_table():
    table = Table(
        {"seed": seed, "network": name, "length": length, "error": 10.0 * seed + length}
        for seed in range(2)
        for name in ("a", "b")
        for length in (2, 1)
    )
    assert table.values("error", network="a", length=2) == [2.0, 12.0]
    assert table.mean("error", network="a", length=2) == 7
    assert table.where(network="a").mean(length=2) == 7, (
        "the last column where none is named"
    )
    assert table.text("error", 0, network="b", seed=0, length=1) == "1 [1, 1]"
    assert table.text("error", network="c") == ""
    assert table.levels("length") == [2, 1]
    assert table.curves("length", network="a") == ([1, 2], [[1.0, 2.0], [11.0, 12.0]])
    cells = table.cells("at {}", "length", (1, 2), digits=0, network="a", seed=0)
    assert cells == {"at 1": "1 [1, 1]", "at 2": "2 [2, 2]"}


def test_values_have_a_mean_with_its_interval_and_paired_differences():
    values = Values([1.0, 2.0, 3.0])
    assert values.mean == 2
    assert (
        (values.low, values.high)
        == values.interval
        == pytest.approx((-0.484, 4.484), abs=1e-3)
    )
    assert values - [0.5, 1.5, 2.5] == [0.5] * 3
    assert (values.text(1), Values().text()) == ("2.0 [-0.5, 4.5]", "")
    assert Values([2.5]).interval == (2.5, 2.5)
    table = Settings(seeds=2).repeat("seed double", lambda seed: [(seed, 2 * seed)])
    assert table == [{"seed": 0, "double": 0}, {"seed": 1, "double": 2}]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": Values([1.0, float("nan")])}, "share: .*nan"),
        ({"table": Table()}, "table: expected one row or more"),
        ({"table": Table([{"a": 1}, {"b": 1}])}, "all with the same columns"),
        ({"summary": []}, "summary: expected"),
    ],
)
def test_findings_that_are_not_what_they_promise(changed, message):
    values = {
        "table": Table([{"a": 1}]),
        "summary": [{"a": "1"}],
        "verdict": Verdict.PARTLY,
        "measure": "share",
        "values": Values([1.0]),
        "because": "So it is.",
        "draw": lambda figure: None,
    }
    Findings(**values)
    with pytest.raises(ValueError, match=message):
        Findings(**values | changed)


def test_files_of_a_study(small, tmp_path):
    result = run_study("small", tmp_path / "out", Settings(seeds=3))
    with (tmp_path / "out/table.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"seed": str(n), "one": "1.0"} for n in range(3)
        ]
    assert (tmp_path / "out/figure.png").read_bytes().startswith(b"\x89PNG")
    assert (result["command"], result["number"]) == (
        "python -m studies run small --seeds 3",
        "1",
    )
    assert load_result(tmp_path / "out") == result
    (tmp_path / "out/result.json").write_text("{}")
    with pytest.raises(ValueError, match=r"result\.json is no result of a study"):
        load_result(tmp_path / "out")


def test_commands_and_names():
    found = command("order", Settings(quick=True, seeds=3, device="cuda"))
    assert found == "python -m studies run order --quick --seeds 3 --device cuda"
    with pytest.raises(ValueError, match="known are rnn-gradient"):
        load_study("nonsense")


def test_studies_run_in_processes_of_their_own(tmp_path):
    settings = Settings(quick=True, seeds=1)
    names = ["worked-example", "patches"]
    results = {
        name: future.result()
        for name, future in run_studies(names, tmp_path, settings, 1)
    }
    assert [results[name]["verdict"] for name in names] == ["SUPPORTED"] * 2


def test_run_list_page(small, monkeypatch, capsys, tmp_path):
    """Processes are tested above; here studies run in this one."""
    monkeypatch.setattr("studies.__main__.run_studies", run_here)
    out = str(tmp_path / "out")
    assert main(["run", "all", "--seeds", "1", "--out", out]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["small", "SUPPORTED"]
    assert lines[1].split(maxsplit=1) == ["broken", "FAILED: RuntimeError: no luck"]
    assert main(["run", "small", "--seeds", "1", "--out", out]) == 0
    assert capsys.readouterr().out.endswith(", from before\n")
    for arguments in (["--again", "--seeds", "1"], ["--quick"]):
        assert main(["run", "small", "--out", out, *arguments]) == 0
        assert "from before" not in capsys.readouterr().out
    assert json.loads((tmp_path / "out/small/result.json").read_text())["settings"][
        "quick"
    ]
    assert main(["list", "--out", out]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [
        ["small", "V", "SUPPORTED"],
        ["broken", "V", "-"],
    ]
    page = tmp_path / "claims.md"
    assert main(["page", out, "--out", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}: 1 of 2 studies\n"
    assert (tmp_path / "claims/small.png").exists()


def run_here(
    names: list[str], out: Path, settings: Settings, workers: int
) -> Iterator[tuple[str, Future]]:
    for name in names:
        future: Future = Future()
        try:
            future.set_result(run_study(name, out / name, settings))
        except RuntimeError as error:
            future.set_exception(error)
        yield name, future


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "required"),
        (("nonsense",), "invalid choice"),
        (("run", "nonsense"), "invalid choice: 'nonsense'"),
        (("run", "order", "--seeds", "0"), "from 1 on, found '0'"),
        (("run", "order", "--device", "nonsense"), "nonsense"),
        (("page", "empty", "--out", "claims.md"), "run: python -m studies run all"),
    ],
)
def test_wrong_use(arguments, message, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["worked-example", "patches"])
def test_the_same_seeds_give_the_same_and_leave_the_random_state_alone(name):
    state = torch.get_rng_state()
    first, again = (
        load_study(name).run(Settings(quick=True, seeds=2)) for _ in range(2)
    )
    assert first.table == again.table
    assert torch.get_rng_state().equal(state)


# Those left out render words or read weights; `parallel` is measured below.
LONG = {
    "cross-attention",
    "filters",
    "distance",
    "first-layer",
    "data-hunger",
    "translation",
}


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in LONG | {"parallel"}]
)
def test_every_study_runs_and_draws_whatever_its_networks_learn(name, monkeypatch):
    """All but training: one step of it stands for the rest."""
    monkeypatch.setattr("studies.training.range", lambda steps: (0,), raising=False)
    seeds = 2 if name in ("heads", "order", "tanh-blur") else 1
    found = load_study(name).run(Settings(quick=True, seeds=seeds))
    assert len(found.values) in (1, seeds)
    assert found.because.endswith(".")
    found.draw(Figure(layout="constrained"))


def test_speeds_are_measured_on_one_processor(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(parallel, "_QUICK", (2, 4))
    found = parallel.run(Settings(quick=True, seeds=2))
    assert len(found.table) == 8
    assert set(found.table.levels("processor")) == {parallel.ONE_THREAD}
    assert min(found.table.values()) > 0
    found.draw(Figure())


def test_training_is_decided_by_the_seed():
    task = SequenceTask(4, (2, 5), True)
    sizes = {"task": task, "steps": 3, "dim": 8, "learning_rate": 1e-2}
    measurements = [
        lambda seed: alignment.measure("additive", seed, **sizes)[0],
        lambda seed: bidirectional.accuracy("attention", 1, 4, 2, seed),
        lambda seed: gates.adding_error("LSTM", 4, 2, seed),
        lambda seed: order.learned(order.NONE, seed, 2),
        lambda seed: list(path_length.measure(seed, [(4, 3, 8)], "cpu")),
    ]
    state = torch.get_rng_state()
    for measure in measurements:
        assert measure(0) == measure(0) != measure(1)
    assert torch.get_rng_state().equal(state)
