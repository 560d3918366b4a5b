"""The files that take longest are named."""

import io

import pytest
from _pytest.terminal import TerminalReporter

from tests.slow_files import pytest_terminal_summary


def report(test: str, when: str, seconds: float) -> pytest.TestReport:
    place = "", 0, ""
    return pytest.TestReport(test, place, {}, "passed", None, when, duration=seconds)


@pytest.fixture
def summary(pytestconfig, monkeypatch):
    """What is printed with ``--durations`` of a number."""

    def print_summary(durations: int | None) -> str:
        file = io.StringIO()
        reporter = TerminalReporter(pytestconfig, file)
        reporter.stats = {
            "": [report("a.py::one", "setup", 3.0)],
            "passed": [
                report("a.py::one", "call", 2.0),
                report("b.py::one[x]", "call", 1.0),
                report("b.py::one[y]", "call", 3.5),
            ],
            "deselected": ["c.py::one"],
        }
        monkeypatch.setattr(pytestconfig.option, "durations", durations)
        pytest_terminal_summary(reporter, pytestconfig)
        return file.getvalue()

    return print_summary


def test_seconds_of_tests_and_fixtures_add_up(summary):
    title, first, second = summary(0).splitlines()[-3:]
    assert "files that take 10 s" in title
    assert first.split() == ["5.0", "s", "1", "tests", "a.py"]
    assert second.split() == ["4.5", "s", "2", "tests", "b.py"]
    assert "b.py" not in summary(1)


def test_nothing_is_printed_unless_durations_are_asked_for(summary):
    assert summary(None) == ""
