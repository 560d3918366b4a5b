"""Other readers, as processes of their own on the CPUs that this one may use."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO, Protocol, Self, cast

from measuring import REPOSITORY

_WORKER = Path(__file__).with_name("rapidocr_worker.py")


class Peer(Protocol):
    """A reader that runs from ``with`` to its end."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def read(self) -> tuple[float, list[str]]:
        """Seconds, and the text of every file."""
        ...


class Tesseract:
    """Tesseract over a list of files: one process, every image one word (``--psm 8``).

    Its time includes its start, a tenth of a second in all.
    """

    def __init__(self, listed: Path) -> None:
        self._command = ["tesseract", str(listed), "stdout", "--psm", "8"]
        self._count = len(listed.read_text(encoding="utf-8").splitlines())

    @staticmethod
    def version() -> str | None:
        """Its version if it is installed."""
        if not shutil.which("tesseract"):
            return None
        answer = subprocess.run(
            ["tesseract", "--version"],
            capture_output=True,
            check=True,
        )
        return (answer.stdout or answer.stderr).decode().split()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def read(self) -> tuple[float, list[str]]:
        """Seconds, and the text of every file.

        Raises:
            RuntimeError: there is a file that it cannot read.
        """
        started = time.perf_counter()
        answer = subprocess.run(self._command, capture_output=True, check=False)
        seconds = time.perf_counter() - started
        # One between two pages
        pages = answer.stdout.decode().removesuffix("\f").split("\f")
        if answer.returncode or len(pages) != self._count:
            errors = answer.stderr.decode().strip()
            raise RuntimeError(
                f"Tesseract read {len(pages)} of {self._count} files:\n{errors}"
            )
        return seconds, [page.strip() for page in pages]


class RapidOCR:
    """RapidOCR's recognizer in a process that stays, because its start takes seconds."""

    def __init__(self, python: str, listed: Path, batch_size: int) -> None:
        self._command = [python, str(_WORKER), str(listed), str(batch_size)]

    @staticmethod
    def version(python: str) -> str | None:
        """Its version if that Python has it."""
        program = "import rapidocr, onnxruntime; from importlib.metadata import version as v; "
        command = [python, "-c", f"{program}print(v('rapidocr'))"]
        try:
            answer = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            return None
        return answer.stdout.decode().strip() or None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.read()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def read(self) -> tuple[float, list[str]]:
        """Seconds as the process measured them, and the text of every file."""
        process = self._process
        requests = cast("IO[str]", process.stdin)
        answers = cast("IO[str]", process.stdout)
        requests.write("read\n")
        requests.flush()
        line = answers.readline()
        if not line:
            raise RuntimeError(
                f"RapidOCR ended with exit code {process.wait()}, see above"
            )
        answer = json.loads(line)
        return answer["seconds"], answer["texts"]


def first_output(command: list[str]) -> float:
    """Seconds from the start of a command to the first character it prints.

    Python may keep compiled modules, as installing does: those of a checkout are there from the
    second run on.

    Raises:
        RuntimeError: it failed.
    """
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        seconds = time.perf_counter() - started
        _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {errors.decode()}")
    return seconds
