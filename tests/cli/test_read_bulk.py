"""``vit-str read --engine ray``: with Ray itself once, and around it without."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

import vit_str.commands.bulk
from vit_str.bulk.parts import Part
from vit_str.bulk.pool import PoolError, Result, Workers
from vit_str.bulk.reading import Job, PartError, read_part
from vit_str.cli import main
from vit_str.images import UnreadableImage
from vit_str.reading import Reader, load

WordImage = Callable[..., object]
_PATIENCE = 300  # seconds; a start of Ray takes a few, or many on a busy machine


@pytest.fixture
def model(weights_path: Path) -> list[str]:
    return ["--model", str(weights_path), "--device", "cpu"]


@pytest.fixture
def many(tmp_path: Path, word_image: WordImage) -> Path:
    """A folder of 200 images, three of them no images."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        word_image(f"n{number}", size=(60, 24)).save(folder / f"{number:03d}.png")  # type: ignore[attr-defined]
    for number in range(20, 200):
        os.link(folder / f"{number % 20:03d}.png", folder / f"{number:03d}.png")
    for number in (7, 50, 199):
        (folder / f"{number:03d}.png").unlink()
        (folder / f"{number:03d}.png").write_bytes(b"hello")
    return folder


class Pool:
    """Reads parts in this process as the workers of Ray do, and fails as they can."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.read: list[int] = []
        self.stop_after: int | None = None
        self.failure: BaseException = PoolError("Ray stopped: gone")
        self.bad: set[int] = set()

    @contextmanager
    def started(self, *_: object) -> Iterator[Workers]:
        yield Workers(2, "cpu")

    def read_parts(
        self, parts: Iterable[tuple[int, Part]], job: Job, weights: bytes, workers: Workers
    ) -> Iterator[Result]:
        for number, part in parts:
            if len(self.read) == self.stop_after:
                raise self.failure
            if number in self.bad:
                yield Result(number, b"", "its worker died")
                continue
            try:
                yield Result(number, read_part(self.reader, part, job), "")
            except PartError as error:
                yield Result(number, b"", str(error))
            self.read.append(number)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch, weights_path: Path) -> Pool:
    pool = Pool(load(weights_path, "cpu"))
    monkeypatch.setattr(vit_str.commands.bulk, "find_spec", lambda _: True)
    monkeypatch.setattr(vit_str.commands.bulk, "started", pool.started)
    monkeypatch.setattr(vit_str.commands.bulk, "read_parts", pool.read_parts)
    return pool


@pytest.fixture
def command(many: Path, tmp_path: Path, model: list[str]) -> list[str]:
    options = ["--engine", "ray", "--out", str(tmp_path / "out"), "--part-size", "32"]
    return ["read", str(many), *options, "--format", "jsonl", *model]


def rows(out: Path) -> list[dict[str, object]]:
    parts = sorted(out.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def check_rows(
    found: list[dict[str, object]], many: Path, reader: Reader, batch_size: int = 32
) -> None:
    """The plain engine says the same of the same files, in batches of the same images."""
    paths = [str(many / f"{number:03d}.png") for number in range(200)]
    assert [row["path"] for row in found] == paths
    for row, (_, outcome) in zip(found, reader.stream(paths, batch_size), strict=True):
        if isinstance(outcome, UnreadableImage):
            assert row["error"] == outcome.trouble
            assert row["text"] is None
        else:
            assert row["error"] is None
            assert row["text"] == outcome.text
            assert row["confidence"] == pytest.approx(outcome.confidence, abs=1e-6)


def test_a_run_that_is_cut_goes_on(
    pool: Pool,
    command: list[str],
    many: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    pool.stop_after, pool.failure = 3, KeyboardInterrupt()
    assert main(command) == 130
    assert "3 parts are read; the same command goes on" in capsys.readouterr().err
    written = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert len(written) == 3
    pool.stop_after, pool.failure = 5, PoolError("Ray stopped: gone")
    assert main(command) == 1
    captured = capsys.readouterr()
    assert "3 parts are read already, 4 are left" in captured.err
    assert "Ray stopped: gone; the same command goes on" in captured.err
    assert "2 of 7 parts are not read" in captured.err
    pool.stop_after = None
    assert main(command) == 1  # for the three images
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1] == f"{out}: 200 images in 7 parts, 3 of them unreadable"
    assert "3 images could not be read; error says why in their lines" in captured.err
    assert pool.read == list(range(7))
    assert all(path.stat().st_mtime_ns == when for path, when in written.items())
    check_rows(rows(out), many, pool.reader)
    assert main(command) == 1
    assert capsys.readouterr().out.splitlines() == captured.out.splitlines()[1:]
    assert len(pool.read) == 7


def test_what_came_since_is_read_too(
    pool: Pool, command: list[str], many: Path, tmp_path: Path
) -> None:
    main(command)
    os.link(many / "000.png", many / "000-and-a-half.png")
    main(command)
    assert pool.read == list(range(8))
    assert [row["path"] for row in rows(tmp_path / "out")][-1] == str(many / "000-and-a-half.png")


def test_a_part_whose_worker_dies_does_not_stop_the_others(
    pool: Pool, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool.bad = {2}
    assert main(command) == 1
    captured = capsys.readouterr()
    assert "part 2 is not read: its worker died" in captured.err
    assert "1 of 7 parts are not read; the same command goes on" in captured.err
    pool.bad = set()
    assert main(command) == 1
    assert pool.read == [0, 1, 3, 4, 5, 6, 2]
    assert len(rows(tmp_path / "out")) == 200


def test_a_run_without_hope_is_given_up(
    pool: Pool, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command[command.index("--part-size") + 1] = "8"
    pool.bad = set(range(25))
    assert main(command) == 1
    captured = capsys.readouterr()
    assert captured.err.count("is not read: its worker died") == 8
    assert "stopped, as none of 8 parts could be read" in captured.err


def test_other_arguments_are_refused(
    pool: Pool, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 1
    capsys.readouterr()
    tiny = command.index("--model") + 1
    other_model = [*command[:tiny], "tiny", *command[tiny + 1 :]]
    changed = {
        "boxes": [*command, "--boxes"],
        "characters": [*command, "--characters"],
        "format": [*command, "--format", "parquet"],
        "part size": [*command, "--part-size", "16"],
        "weights (SHA-256)": other_model,
        "paths": [command[0], f"{command[1]}/000.png", *command[2:]],
    }
    for name, arguments in changed.items():
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"was begun with {name} " in line
    assert main([*command, "--batch-size", "8", "--workers", "1"]) == 1
    assert len(pool.read) == 7


def test_an_output_that_takes_no_more(
    pool: Pool,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real, left = os.fsync, [4]  # the record, the division, two parts

    def full(descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert main(command) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "No space left on device; when that is mended, the same command goes on" in line
    monkeypatch.undo()


def test_wrong_use_is_one_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = command.index("--out")
    cases = {
        "needs --out": [*command[:where], *command[where + 2 :]],
        "parquet or jsonl, found csv": [*command, "--format", "csv"],
        "which is read; give one outside it": [*command, "--out", f"{command[1]}/texts"],
        "no standard input": ["read", "-", *command[1:]],
        "gives GPUs out itself": [*command, "--device", "cuda:1"],
        "--out needs --engine ray": [*command, "--engine", "plain"],
        "--format parquet needs --engine ray": ["read", "x", "--format", "parquet"],
        "--column needs --engine ray": ["read", "x", "--column", "image"],
    }
    for expected, arguments in cases.items():
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert expected in line
    assert not (tmp_path / "out").exists()


def test_without_ray_it_says_what_to_install(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vit_str.commands.bulk, "find_spec", lambda _: None)
    assert main(command) == 2
    assert 'needs ray, run: pip install "vit-str[ray]"' in capsys.readouterr().err


def test_the_plain_engine_imports_nothing_of_it(many: Path, model: list[str]) -> None:
    program = (
        "import sys; from vit_str.cli import main; main(sys.argv[1:]); "
        "print([name for name in ('ray', 'pyarrow', 'vit_str.bulk.pool') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, "read", str(many / "000.png"), *model]
    output = subprocess.run(command, capture_output=True, check=True)
    assert output.stdout.splitlines()[-1] == b"[]"


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    arguments = [sys.executable, "-m", "vit_str", *command, "--workers", "2"]
    return subprocess.Popen(arguments, stdout=pipe, stderr=pipe, start_new_session=True)


def _wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


def _processes_of(session: int) -> list[str]:
    """Command lines of what still runs of a session, by /proc of Linux."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, of = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state not in "ZX":
                found.append((place / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes of Linux")
def test_ray_goes_on_after_kill_and_interrupt_and_leaves_no_process(
    command: list[str], many: Path, tmp_path: Path, weights_path: Path
) -> None:
    command[command.index("--part-size") + 1] = "4"
    command += ["--batch-size", "4"]
    out = tmp_path / "out"

    def parts() -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in out.glob("part-*.jsonl")}

    counts = [0]
    kept: dict[str, int] = {}
    for sent in (signal.SIGKILL, signal.SIGINT):
        with _start(command) as process:
            _wait_for(lambda: len(parts()) > counts[-1] or process.poll() is not None, "a part")
            os.killpg(process.pid, sent)
            _, errors = process.communicate(timeout=_PATIENCE)
        if sent == signal.SIGINT:
            assert process.returncode == 130
            *_, before, last = errors.decode().splitlines()
            assert before.endswith("the same command goes on")
            assert last == "vit-str: interrupted"
        _wait_for(lambda: not _processes_of(process.pid), "the end of its processes")
        assert all(parts()[name] == when for name, when in kept.items())
        kept = parts()
        counts.append(len(kept))
    assert 0 < counts[1] < counts[2] < 50
    with _start(command) as process:
        output, errors = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 1
    assert errors.decode().splitlines() == [
        f"vit-str: {counts[2]} parts are read already, {50 - counts[2]} are left",
        "vit-str: 3 images could not be read; error says why in their lines",
    ]
    assert output.decode().splitlines()[1].endswith("200 images in 50 parts, 3 of them unreadable")
    assert all(parts()[name] == when for name, when in kept.items())
    check_rows(rows(out), many, load(weights_path, "cpu"), batch_size=4)
