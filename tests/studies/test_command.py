import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vit_str.cli import main
from studies import STUDIES, runner
from studies.runner import Outcome
from studies.worker import run as run_here

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def study(*arguments: object) -> tuple[int, str, str]:
        code = main(["study", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return study


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Processes are tested where they are made; here studies run in this one, gates fails."""
    done: list[str] = []

    def run_all(jobs: Any, workers: int, look: Any) -> Iterator[Outcome]:
        for job in jobs:
            done.append(job.id)
            look({job.id: 0.5})
            if job.id == "gates":
                yield Outcome(job.id, failure="RuntimeError: no luck")
            else:
                yield Outcome(job.id, run_here(job, lambda share: None))

    monkeypatch.setattr(runner, "run_all", run_all)
    return done


def test_run_list_page(run: Run, in_this_process: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ids = ("worked-example", "gates", "sinusoid")
    code, text, _ = run("run", *ids, "--quick", "--seeds", 1, "--out", out)
    assert code == 1
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == list(ids)
    assert lines[0].split(maxsplit=3)[:3] == ["worked-example", "SUPPORTED", "quick"]
    assert f"FAILED: RuntimeError: no luck ({out / 'gates'})" in lines[1]
    code, text, _ = run("run", "sinusoid", "--quick", "--seeds", 1, "--out", out)
    assert code == 0
    assert text.rstrip().endswith(", from before")
    run("run", "sinusoid", "--quick", "--seeds", 1, "--out", out, "--again")
    assert in_this_process == [*ids, "sinusoid"]
    code, text, _ = run("page", out, "--out", tmp_path / "claims.md")
    assert (code, text) == (0, f"{tmp_path / 'claims.md'}: 2 of {len(STUDIES)} studies\n")
    assert (tmp_path / "claims" / "sinusoid.png").exists()


def test_list(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = {name: STUDIES[name] for name in ("tanh-blur", "order")}  # the others are listed alike
    monkeypatch.setattr("studies.STUDIES", few)
    code, text, _ = run("list", "--out", tmp_path)
    assert code == 0
    assert [line.split()[:3] for line in text.splitlines()] == [
        ["tanh-blur", "R", "-"],
        ["order", "VE", "-"],
    ]


def test_unknown_ids_list_the_known_ones(run: Run, tmp_path: Path) -> None:
    code, _, error = run("run", "nonsense", "--out", tmp_path)
    assert code == 2
    assert "no study 'nonsense'; known are all, rnn-gradient" in error


@pytest.mark.parametrize(
    "arguments",
    [(), ("run",), ("run", "order", "--seeds", "0"), ("page",), ("nonsense",)],
)
def test_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as left:
        run(*arguments)
    assert left.value.code == 2


def test_wrong_device_and_nothing_to_tell(run: Run, tmp_path: Path) -> None:
    assert run("run", "order", "--device", "nonsense", "--out", tmp_path)[0] == 2
    code, _, error = run("page", tmp_path, "--out", tmp_path / "claims.md")
    assert code == 2
    assert "vit-str study run all" in error


def test_out_that_cannot_be_written(run: Run, in_this_process: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with contextlib.suppress(NotADirectoryError):
        code, _, error = run("run", "sinusoid", "--quick", "--out", tmp_path / "file")
        assert code == 1
        assert str(tmp_path / "file") in error
