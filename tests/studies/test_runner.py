import csv
import json
import os
import signal
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from studies import STUDIES, Findings, Settings, Verdict
from studies.result import check, load_result
from studies.runner import finished, jobs_of, run_all
from studies.sources import digest, used_files
from studies.worker import Job, run

MODULE = """
import time
from studies.study import Findings, Study, Verdict

class Small(Study):
    id, posts, claim = "small", "V", "One is one."
    expectation, experiment = "It is.", "Look."

    def run(self, settings):
        settings.progress(0.5)
        rows = [{"seed": seed, "one": 1.0} for seed in range(settings.seeds)]
        return Findings(rows, rows, Verdict.SUPPORTED, "one", 1.0, (1.0, 1.0), "It is.", self.draw)

    def draw(self, figure):
        figure.subplots().plot([0, 1])

class Broken(Small):
    def run(self, settings):
        raise RuntimeError("no luck\\nat all")

class Dying(Small):
    def run(self, settings):
        import os
        os._exit(3)

class Endless(Small):
    def run(self, settings):
        while True:
            settings.progress(0.25)
            time.sleep(0.05)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module outside of the package; processes that are started inherit where to look."""
    (tmp_path / "some_studies.py").write_text(dedent(MODULE))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_studies", raising=False)
    return "some_studies"


def findings(**changed: object) -> Findings:
    values = {
        "rows": [{"a": 1}],
        "summary": [{"a": "1"}],
        "verdict": Verdict.PARTLY,
        "measure": "a",
        "value": 1.0,
        "interval": (0.5, 1.5),
        "because": "So it is.",
        "draw": lambda figure: None,
    }
    return Findings(**{**values, **changed})  # type: ignore[arg-type]


def test_the_others_go_on_when_studies_fail_or_die(module: str, tmp_path: Path) -> None:
    names = {"dying": "Dying", "broken": "Broken", "small": "Small"}
    jobs = [Job(key, module, name, tmp_path / "out" / key, seeds=2) for key, name in names.items()]
    outcomes = {each.id: each for each in run_all(jobs, workers=3)}
    assert outcomes["broken"].failure == "RuntimeError: no luck"
    assert "no luck\nat all" in (tmp_path / "out/broken/error.txt").read_text()
    assert outcomes["dying"].failure == "its process died with exit code 3"
    result = outcomes["small"].result
    assert result
    assert (result.verdict, result.value, result.seeds) == (Verdict.SUPPORTED, 1.0, 2)
    assert result == load_result(tmp_path / "out/small")
    assert {path.name for path in (tmp_path / "out/small").iterdir()} == {
        *("figure.png", "result.json", "table.csv")
    }
    assert "torch" in result.versions


def test_stopping_ends_the_processes(module: str, tmp_path: Path) -> None:
    def interrupt(seen: dict[str, float]) -> None:
        if seen.get("endless") == 0.25:
            raise KeyboardInterrupt

    outcomes = run_all([Job("endless", module, "Endless", tmp_path / "out")], 1, interrupt)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(outcomes)
    assert time.monotonic() - start < 300
    assert not (tmp_path / "out/result.json").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_files_of_a_study(module: str, tmp_path: Path) -> None:
    job = Job("small", module, "Small", tmp_path / "small", seeds=3)
    shares: list[float] = []
    result = run(job, shares.append)
    assert shares == [0.5]
    with (tmp_path / "small/table.csv").open() as file:
        assert list(csv.DictReader(file)) == [{"seed": str(n), "one": "1.0"} for n in range(3)]
    assert (tmp_path / "small/figure.png").read_bytes().startswith(b"\x89PNG")
    assert result.command == "vit-str study run small --seeds 3"
    assert result.number == "1"


def test_what_is_finished_is_not_repeated(tmp_path: Path) -> None:
    settings = Settings(quick=True, seeds=1)
    (job,) = jobs_of(["worked-example"], tmp_path, settings)
    assert finished(job) is None
    result = run(job, lambda share: None)
    assert result.modules[0].endswith(".py")
    assert "studies/worked_example.py" in result.modules
    assert "models/attention.py" in result.modules
    assert not {"studies/runner.py", "cli/study.py"} & set(result.modules)
    assert finished(job) == result
    for other in (Settings(True, 2), Settings(False, 1), Settings(True, 1, "cuda")):
        assert finished(jobs_of(["worked-example"], tmp_path, other)[0]) is None
    change(tmp_path / "worked-example/result.json", claim="Once it was said otherwise.")
    assert finished(job) == result == load_result(job.folder)
    change(tmp_path / "worked-example/result.json", digest="0" * 16)
    assert finished(job) is None
    (tmp_path / "worked-example/result.json").write_text("{}")
    with pytest.raises(ValueError, match=r"result\.json does not describe a run"):
        finished(job)


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_jobs() -> None:
    every = jobs_of(["all"], Path("out"), Settings())
    assert [job.id for job in every] == list(STUDIES)
    assert (every[0].module, every[0].name) == ("studies.rnn_gradient", "RnnGradient")
    twice = jobs_of(["order", "gates", "order"], Path("out"), Settings())
    assert [job.id for job in twice] == ["order", "gates"]
    with pytest.raises(ValueError, match="no study 'nonsense'; known are all, rnn-gradient"):
        jobs_of(["order", "nonsense"], Path("out"), Settings())


def test_digest_is_of_code_not_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.sources._PACKAGE", tmp_path)
    code = (
        'class A:\n    claim = "one"\n    expectation = "two"\n    def f(self):\n        return 1\n'
    )
    (tmp_path / "a.py").write_text(code)
    before = digest(["a.py"])
    same = ['"""Words."""\n# more\n' + code, code.replace('"one"', '"said better"')]
    for text in same:
        (tmp_path / "a.py").write_text(text)
        assert digest(["a.py"]) == before
    for text in (code.replace("return 1", "return 2"), code.replace('"two"', '"three"')):
        (tmp_path / "a.py").write_text(text)
        assert digest(["a.py"]) != before
    os.unlink(tmp_path / "a.py")
    assert digest(["a.py"]) != before


def test_bundled_weights_count_where_weights_were_loaded() -> None:
    import vit_str.weights  # noqa: F401

    assert "bundled/tiny.safetensors" in used_files()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"value": float("nan")}, "a value of nan"),
        ({"value": 2.0}, "in an interval of"),
        ({"rows": []}, "rows: expected one row or more"),
        ({"rows": [{"a": 1}, {"b": 1}]}, "all with the same columns"),
        ({"summary": [{"a": [1]}]}, "summary: expected plain values, found list"),
        ({"because": ""}, "without a reason"),
    ],
)
def test_findings_that_are_not_what_they_promise(changed: dict[str, object], message: str) -> None:
    check(findings())
    with pytest.raises(ValueError, match=message):
        check(findings(**changed))
