"""``vit-str read --engine ray``: without Ray in detail, and with Ray once."""

import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from vit_str.characters.charset import Charset, charset_of
from vit_str.files import exclusive
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import THREADS, cpu_count, install_hint
from vit_str.reading.bulk.archives import ImageRef
from vit_str.reading.bulk.command import _weights
from vit_str.reading.bulk.output import LOCK, OutputFolder
from vit_str.reading.bulk.workers import (
    Job,
    PartReader,
    PartResult,
    RayError,
    Workers,
    choose_workers,
    noticing_interrupts,
    read_images,
)
from vit_str.words.reader import Reader, load

_TIMEOUT = 300  # seconds; a start of Ray takes a few, or many on a busy machine


@pytest.fixture
def many(tmp_path, word_image) -> Path:
    """A folder of 100 images, three of them no images."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(10):
        word_image(f"n{number}", size=(60, 24)).save(folder / f"{number:03d}.png")
    for number in range(10, 100):
        os.link(folder / f"{number % 10:03d}.png", folder / f"{number:03d}.png")
    for number in (7, 50, 99):
        (folder / f"{number:03d}.png").unlink()
        (folder / f"{number:03d}.png").write_bytes(b"hello")
    return folder


class Pool:
    """Reads parts in this process as the workers of Ray do, and fails as they can.

    Attributes:
        read: number of images that were read.
        stop_after: parts; then `failure` is raised.
        bad: images whose part no worker survives.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader, self.read = reader, 0
        self.stop_after: int | None = None
        self.failure: BaseException = KeyboardInterrupt()
        self.bad = ""

    @contextmanager
    def workers(self, *_: object) -> Iterator[Workers]:
        yield Workers(2, "cpu")

    def read_parts(
        self, images: Iterable[ImageRef], size: int, job: Job, *_: object
    ) -> Iterator[PartResult]:
        for number, part in enumerate(_batched(images, size)):
            if number == self.stop_after:
                raise self.failure
            if self.bad in [Path(image.name).name for image in part]:
                yield PartResult([], "workers died")
                continue
            self.read += len(part)
            yield PartResult(read_images(self.reader, part, job), "")


def _batched(images: Iterable[ImageRef], size: int) -> Iterator[Sequence[ImageRef]]:
    images = list(images)
    return (images[start : start + size] for start in range(0, len(images), size))


@pytest.fixture
def pool(monkeypatch, weights_path) -> Pool:
    pool = Pool(load(weights_path, "cpu"))
    monkeypatch.setattr("vit_str.reading.bulk.command.find_spec", lambda _: True)
    monkeypatch.setattr("vit_str.reading.bulk.workers.ray_workers", pool.workers)
    monkeypatch.setattr("vit_str.reading.bulk.workers.read_parts", pool.read_parts)
    return pool


@pytest.fixture
def command(many, tmp_path, weights_path) -> list[str]:
    options = ["--engine", "ray", "--out", str(tmp_path / "out"), "--part-size", "16"]
    model = ["--model", str(weights_path), "--device", "cpu", "--batch-size", "16"]
    return ["read", str(many), *options, "--format", "jsonl", *model]


def rows(out: Path) -> list[dict[str, object]]:
    parts = sorted(out.glob("part-*.jsonl"))
    return [
        json.loads(line) for part in parts for line in part.read_text().splitlines()
    ]


def check_rows(found: list[dict[str, object]], many: Path, reader: Reader) -> None:
    """The plain engine says the same of the same files."""
    paths = [str(many / f"{number:03d}.png") for number in range(100)]
    assert [row["path"] for row in found] == paths
    for row, (_, outcome) in zip(found, reader.stream(paths, 16), strict=True):
        if isinstance(outcome, UnreadableImage):
            assert row["error"] == outcome.reason
            assert row["text"] is None
        else:
            assert row["error"] is None
            assert row["text"] == outcome.text
            assert row["confidence"] == pytest.approx(outcome.confidence, abs=1e-5)


def test_a_run_that_is_stopped_resumes(pool, command, many, tmp_path, run):
    out = tmp_path / "out"
    pool.stop_after = 3
    code, _, err = run(*command)
    assert (code, err) == (130, "vit-str read: interrupted\n")
    written = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert len(written) == 3
    pool.stop_after, pool.failure = 2, RayError("Ray stopped: gone")
    code, _, err = run(*command)
    assert code == 1
    assert "48 images are read already, 52 are left" in err
    assert "vit-str: Ray stopped: gone\n" in err
    assert "20 images are not read; the same command resumes" in err
    pool.stop_after = None
    code, text, err = run(*command)
    assert code == 1  # for the three images
    assert text.splitlines()[1] == f"{out}: 100 images, 3 of them unreadable"
    assert "3 images could not be read; error says why in their lines" in err
    assert pool.read == 100
    assert all(path.stat().st_mtime_ns == when for path, when in written.items())
    check_rows(rows(out), many, pool.reader)
    assert run(*command)[:2] == (1, text.partition("\n")[2])
    os.link(many / "000.png", many / "000-and-a-half.png")
    assert run(*command)[0] == 1
    assert pool.read == 101
    code, _, err = run(*command, "--language", "none")
    assert (code, "begun with language None, not none" in err) == (2, True)
    assert rows(out)[-1]["path"] == str(many / "000-and-a-half.png")


def test_a_part_whose_workers_die_does_not_stop_the_others(
    pool, command, tmp_path, run
):
    pool.bad = "020.png"
    code, _, err = run(*command)
    assert code == 1
    assert "a part is not read: workers died" in err
    assert "16 images are not read; the same command resumes" in err
    pool.bad = ""
    assert run(*command)[0] == 1
    assert pool.read == len(rows(tmp_path / "out")) == 100


def test_a_damaged_archive_costs_its_end_only(
    pool, command, tmp_path, png, tar_of, run
):
    path = tar_of(tmp_path / "w.tar", [(f"{n}.png", png(f"t{n}")) for n in range(5)])
    path.write_bytes(path.read_bytes()[: path.read_bytes().index(b"4.png") + 600])
    code, _, err = run(command[0], path, *command[2:])
    assert code == 1
    assert f"vit-str: {path}: damaged or cut short after " in err
    found = rows(tmp_path / "out")
    assert [row["path"] for row in found][:4] == [f"{path}/{n}.png" for n in range(4)]
    assert all(row["error"] is None for row in found[:4])


def test_other_settings_are_refused(pool, command, tmp_path, run):
    assert run(*command)[0] == 1
    for name, options in {
        "boxes": ["--boxes"],
        "characters": ["--characters"],
        "format": ["--format", "parquet"],
        "weights (SHA-256)": ["--model", "tiny"],
    }.items():
        code, _, err = run(*command, *options)
        assert (code, err.count("\n")) == (2, 1)
        assert f"was begun with {name} " in err
    with exclusive(tmp_path / "out" / LOCK):
        code, _, err = run(*command)
    assert (code, "another process writes there" in err) == (2, True)
    assert run(*command, "--batch-size", 8, "--workers", 1, "--part-size", 9)[0] == 1
    assert pool.read == 100


def test_folders_that_hold_something_else(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file; --out is a folder"):
        OutputFolder(tmp_path / "file", "jsonl", {})
    with pytest.raises(ValueError, match="holds other files"):
        OutputFolder(tmp_path, "jsonl", {})


def test_wrong_use_is_one_line(command, tmp_path, monkeypatch, run):
    where = command.index("--out")
    monkeypatch.setattr("vit_str.reading.bulk.command.find_spec", lambda _: None)
    for expected, arguments in {
        "needs --out": [*command[:where], *command[where + 2 :]],
        "parquet or jsonl, found csv": [*command, "--format", "csv"],
        "which is read; give one outside it": [
            *command,
            "--out",
            f"{command[1]}/texts",
        ],
        "no standard input": ["read", "-", *command[1:]],
        "assigns GPUs itself": [*command, "--device", "cuda:1"],
        "--part-size needs --engine ray": [*command, "--engine", "plain"],
        "--format parquet needs --engine ray": ["read", "x", "--format", "parquet"],
        "--column needs --engine ray": ["read", "x", "--column", "image"],
        f"needs ray, run: {install_hint('ray')}": command,
    }.items():
        code, _, err = run(*arguments)
        assert (code, err.count("\n")) == (2, 1)
        assert expected in err
    assert not (tmp_path / "out").exists()


def test_parquet_in_and_out(tmp_path, reader, png):
    pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.png").write_bytes(png("abc"))
    images = [
        ImageRef(name, str(tmp_path / "a.png")) for name in ("a.png", "\udcff.png")
    ]
    images.append(ImageRef("missing.png", str(tmp_path / "missing.png")))
    folder = OutputFolder(tmp_path / "out", "parquet", {})
    plain = reader.read(tmp_path / "a.png", boxes=True)
    assert plain.text
    folder.write(read_images(reader, images, Job(True, True, 1)))
    found = pq.read_table(tmp_path / "out" / "part-000000.parquet").to_pylist()
    assert [row["path"] for row in found] == ["a.png", "\\udcff.png", "missing.png"]
    assert folder.done() == {"a.png": True, "\\udcff.png": True, "missing.png": False}
    assert found[2]["error"].startswith("no such file")
    assert found[2]["text"] is found[2]["characters"] is None
    assert found[0]["text"] == plain.text
    for row, character in zip(found[0]["characters"], plain.characters, strict=True):
        assert row["character"] == character.character
        assert row["box"] == pytest.approx(character.box, abs=1e-4)
    with pytest.raises(OSError, match="all machines must see the images"):
        read_images(reader, images[2:], Job(False, False, 1))


@pytest.mark.parametrize(
    ("resources", "device", "count", "expected"),
    [
        ({"CPU": 8.0}, "auto", None, Workers(8, "cpu")),
        ({"CPU": 8.0, "GPU": 2.0}, "auto", None, Workers(2, "cuda", 4)),
        ({"CPU": 64.0, "GPU": 2.0}, "cuda", 1, Workers(1, "cuda", 8)),
        ({"CPU": 8.0, "GPU": 2.0}, "cpu", 3, Workers(3, "cpu")),
        ({"CPU": 2.0}, "cpu", 3, "more than the 2 of type cpu"),
        ({"CPU": 2.0}, "cuda", None, "no device 'cuda' among 2 CPUs and 0 GPUs"),
    ],
)
def test_workers(resources, device, count, expected, monkeypatch):
    monkeypatch.delenv(THREADS, raising=False)
    if isinstance(expected, Workers):
        assert choose_workers(resources, device, count) == expected
    else:
        with pytest.raises(ValueError, match=expected):
            choose_workers(resources, device, count)


@pytest.mark.parametrize(("threads", "workers"), [("1", 8), ("3", 2), ("16", 1)])
def test_a_worker_has_the_threads_that_are_asked_for(
    threads, workers, monkeypatch, weights_path
):
    monkeypatch.setenv(THREADS, threads)
    before = torch.get_num_threads()
    chosen = choose_workers({"CPU": 8.0}, "auto", None)
    assert chosen == Workers(workers, "cpu", min(8, int(threads)))
    monkeypatch.setenv(THREADS, "1")  # as it is on another machine
    try:
        job = Job(characters=False, boxes=False, batch_size=1, backend="torch")
        PartReader(job, chosen, {weights_path.name: weights_path.read_bytes()}, None)
        assert torch.get_num_threads() == chosen.threads
    finally:
        torch.set_num_threads(before)


def test_a_worker_gets_the_weights_of_all_scripts(both_scripts):
    files = [
        both_scripts / f"{name}.safetensors" for name in ("tiny", "cyrillic-greek")
    ]
    job = Job(characters=False, boxes=False, batch_size=1, backend="torch")
    weights = {file.name: file.read_bytes() for file in files}
    reader = PartReader(job, Workers(1, "cpu", 1), weights, None)._reader
    assert reader.charset == charset_of("latin")
    (open_other,) = reader._others
    assert open_other().charset == charset_of("cyrillic-greek")


@pytest.mark.parametrize(
    ("effort", "number_format"),
    [(None, "bfloat16"), ("fast", "float32")],
    indirect=["number_format"],
)
def test_a_worker_gets_larger_weights_for_what_it_doubts(
    doubting_folder, effort, number_format
):
    options = Namespace(
        model=doubting_folder,
        language=None,
        effort=effort,
        backend="torch",
        boxes=False,
    )
    weights = _weights(options)
    assert sorted(weights) == ["base.safetensors", "tiny.safetensors"]
    job = Job(
        characters=False, boxes=False, batch_size=1, backend="torch", effort=effort
    )
    worker = PartReader(job, Workers(1, "cpu", 1), weights, None)._reader
    image = np.full((32, 128), 255, np.uint8)
    image[8:24, 20:24] = 0
    both = load(doubting_folder, "cpu", effort=effort, backend="torch")
    assert worker.read(image) == both.read(image), "after its files are gone"
    assert worker.charset == Charset()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_is_lost_in_a_library_is_noticed(number):
    before = signal.getsignal(number)
    with noticing_interrupts() as pressed:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), number)
            time.sleep(10)
        assert pressed.is_set()
    assert signal.getsignal(number) is before


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.skipif(cpu_count() < 2, reason="a worker takes a processor")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_ray_resumes_after_an_interrupt(
    number, code, message, command, many, tmp_path, weights_path
):
    command[command.index("--part-size") + 1] = "4"
    command += ["--workers", "2", "--threads", "1", "--batch-size", "4"]
    out = tmp_path / "out"
    arguments = [sys.executable, "-m", "vit_str", *command]
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        end = time.monotonic() + _TIMEOUT
        while (
            not list(out.glob("part-*"))
            and process.poll() is None
            and time.monotonic() < end
        ):
            time.sleep(0.005)
        os.killpg(process.pid, number)
        _, errors = process.communicate(timeout=_TIMEOUT)
    assert process.returncode == code
    assert errors.decode().splitlines()[-1] == f"vit-str read: {message}"
    kept = {path: path.stat().st_mtime_ns for path in out.glob("part-*.jsonl")}
    assert 0 < len(kept) < 25
    answer = subprocess.run(
        arguments, capture_output=True, check=False, timeout=_TIMEOUT
    )
    assert answer.returncode == 1
    assert b"100 images, 3 of them unreadable" in answer.stdout
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    check_rows(rows(out), many, load(weights_path, "cpu"))
