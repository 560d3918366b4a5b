"""Which files of tests take longest, after the slowest tests of ``pytest --durations``."""

from collections import Counter

import pytest


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Seconds of a file are those of its tests and their fixtures, in all processes together."""
    most = config.getoption("durations")
    if most is None:
        return
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                seconds[file] += report.duration
                tests[file] += report.when == "call"
    terminalreporter.section(f"files that take {sum(seconds.values()):.0f} s")
    for file, whole in seconds.most_common(most or None):
        terminalreporter.line(f"{whole:7.1f} s {tests[file]:5} tests {file}")
