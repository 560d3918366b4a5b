"""Reading images by the million with Ray Data: a pool of workers, results a part at a time."""

import json
import logging
import os
import pickle
import signal
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from vit_str.console import reason_of
from vit_str.decoding.readings import error_row, reading_row
from vit_str.decoding.search import Search
from vit_str.engines.engine import has_gpu
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import THREADS, cpu_count, thread_count, use_threads
from vit_str.reading.bulk.archives import ImageRef, load_images
from vit_str.words.reader import Reader, load

_MOST_DECODERS = 8  # threads that decode images for a GPU, where there are so many CPUs
_OBJECT_STORE = 512 << 20  # bytes; results pass through it, images do not
_ATTEMPTS = 3  # at a part whose workers die
_RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # it would report to its makers over the network
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Ray does what anybody tells it who reaches it: it shall listen to this machine only.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # Workers are what the command is for; Ray would let everything else go first.
    "RAY_worker_niceness": "0",
}


class Job(NamedTuple):
    """How to read every image: options of ``vit-str read``."""

    boxes: bool
    characters: bool
    batch_size: int
    effort: str | None = None
    min_confidence: float | None = None
    backend: str = "auto"
    language: str | None = None


class Workers(NamedTuple):
    """The processes that read: how many, their type of device, and their threads.

    Threads decode images for a GPU; on CPUs they compute too.
    """

    processes: int
    device: str
    threads: int = 1


class PartResult(NamedTuple):
    """The rows of the images of a part, or why there are none."""

    rows: list[dict[str, Any]]
    problem: str


class RayError(Exception):
    """Ray cannot be started, or stopped."""


@contextmanager
def ray_workers(
    address: str | None,
    device: str,
    count: int | None,
) -> Iterator[Workers]:
    """Ray, started here or joined at an address as ``ray.init`` takes it, and left at the end.

    Raises:
        RayError: Ray cannot be started or joined, in one line.
    """
    for name, value in _RAY_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Ray prints about its own affairs; standard output is for results alone.
    with (
        warnings.catch_warnings(),
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
    ):
        warnings.filterwarnings("ignore", module=r"ray(\.|$)")
        import ray
        import ray.data

        logging.getLogger("ray.data").setLevel(logging.ERROR)
        options: dict[str, Any] = {"address": address}
        handler = signal.getsignal(signal.SIGTERM)
        if address is None:
            options = {"num_cpus": cpu_count(), "object_store_memory": _OBJECT_STORE}
            options["include_dashboard"] = False
        try:
            ray.init(logging_level="CRITICAL", log_to_driver=False, **options)
        except Exception as error:  # of many types, some of them private
            where = f"at {address}" if address else "here"
            raise RayError(f"Ray cannot be used {where}: {_reason(error)}") from error
        # Ray would end the command without a word
        signal.signal(signal.SIGTERM, handler)
        try:
            yield choose_workers(ray.cluster_resources(), device, count)
        finally:
            ray.shutdown()


def choose_workers(
    resources: Mapping[str, float],
    device: str,
    count: int | None,
) -> Workers:
    """One worker per GPU, or per CPU where there is none or none is wanted.

    Where a number of threads is asked for, a worker takes as many CPUs.

    Raises:
        ValueError: there are not so many devices, or none of this kind.
    """
    cpus = int(resources.get("CPU", 0))
    gpus = int(resources.get("GPU", 0))
    if device == "auto":
        device = "cuda" if gpus else "cpu"
    asked = max(1, min(thread_count(), cpus)) if THREADS in os.environ else 1
    mps = int(device == "mps" and has_gpu())
    most = {"cuda": gpus, "cpu": cpus // asked, "mps": mps}[device]
    if not most:
        raise ValueError(
            f"no device {device!r} among {cpus} CPUs and {gpus} GPUs; use --device "
            "auto or cpu"
        )
    if count is not None and count > most:
        raise ValueError(
            f"--workers {count} is more than the {most} of type {device} there are"
        )
    threads = max(1, min(_MOST_DECODERS, cpus // gpus)) if device == "cuda" else asked
    return Workers(count or most, device, threads)


def read_parts(
    images: Sequence[ImageRef],
    part_size: int,
    job: Job,
    weights: dict[str, bytes],
    workers: Workers,
) -> Iterator[PartResult]:
    """Read images part by part, while `ray_workers` runs.

    Raises:
        RayError: Ray stopped, in one line.
    """
    import ray

    starts = range(0, len(images), part_size)
    parts = [{"part": pickle.dumps((s, images[s : s + part_size]))} for s in starts]
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    attempts = ray.remote(Attempts).options(num_cpus=0).remote()
    try:
        # One block each: results come part by part, and a worker that dies loses one part.
        dataset = ray.data.from_items(
            parts, override_num_blocks=len(parts)
        ).map_batches(
            PartReader,
            batch_size=1,
            batch_format="pyarrow",
            fn_constructor_args=(job, workers, weights, attempts),
            compute=ray.data.ActorPoolStrategy(
                size=workers.processes, max_tasks_in_flight_per_actor=1
            ),
            num_cpus=workers.threads,
            num_gpus=1 if workers.device == "cuda" else 0,
        )
        for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            for row in batch.to_pylist():
                yield PartResult(json.loads(row["rows"]), row["problem"])
    except Exception as error:  # of many types, some of them private
        raise RayError(f"Ray stopped: {_reason(error)}") from error


class Attempts:
    """Counts, in a process that outlives the workers, how often each part was begun."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def begin(self, part: int) -> int:
        """Count once more; returns which attempt this is, from 1 on."""
        self._counts[part] += 1
        return self._counts[part]


class PartReader:
    """Lives in a worker, holds the reader and reads one part after the other."""

    def __init__(
        self, job: Job, workers: Workers, weights: dict[str, bytes], attempts: Any
    ) -> None:
        self._job = job
        self._threads = workers.threads
        self._attempts = attempts
        if workers.device == "cpu":
            use_threads(workers.threads)
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in weights]
            for file, content in zip(files, weights.values(), strict=True):
                file.write_bytes(content)
            self._reader = load(
                files[0] if len(files) == 1 else folder,
                workers.device,
                effort=job.effort,
                backend=job.backend,
                search=Search(language=job.language),
            )
            self._reader.open_others()

    def __call__(self, table: Any) -> Any:
        """A table of one part -> a table of one `PartResult`, its rows as JSON."""
        import pyarrow
        import ray

        rows = []
        problem = ""
        number, images = pickle.loads(table["part"][0].as_py())  # noqa: S301 - of this run
        try:
            if ray.get(self._attempts.begin.remote(number)) > _ATTEMPTS:
                raise RuntimeError(
                    f"{images[0].name} and those after it: workers died {_ATTEMPTS} "
                    "times, for want of memory or by an image that no decoder "
                    "survives"
                )
            rows = read_images(self._reader, images, self._job, self._threads)
        except Exception as error:  # whatever it is must not cost the other parts
            problem = _reason(error)
        return pyarrow.table({"rows": [json.dumps(rows)], "problem": [problem]})


def read_images(
    reader: Reader, images: Sequence[ImageRef], job: Job, threads: int = 1
) -> list[dict[str, Any]]:
    """A row for every image: what it says, or why it cannot be read.

    Raises:
        OSError: none of the images is there, as on a machine that does not share their folder.
    """
    if not any(os.path.exists(image.path) for image in images):
        raise OSError(
            f"{images[0].path} and {len(images) - 1} others are not there; all "
            "machines must see the images under the same path"
        )
    rows = []
    outcomes = reader.stream(
        load_images(images),
        job.batch_size,
        threads,
        boxes=job.boxes,
    )
    for image, (_, outcome) in zip(images, outcomes, strict=True):
        if isinstance(outcome, UnreadableImage):
            row = error_row(image.name, outcome.reason)
            rows.append(row | ({"characters": None} if job.characters else {}))
        else:
            outcome = outcome.with_minimum_confidence(job.min_confidence)
            rows.append(reading_row(image.name, outcome, job.characters, error=None))
    return rows


@contextmanager
def noticing_interrupts() -> Iterator[threading.Event]:
    """An event that is set on Ctrl-C and SIGTERM: the exception alone may get lost.

    Python drops one that is raised in a callback of a library, and Ray's processes, which are
    interrupted too, may be noticed first.
    """
    pressed = threading.Event()
    before: dict[int, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }

    def note(number: int, frame: FrameType | None) -> None:
        pressed.set()
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        raise KeyboardInterrupt

    for number in before:
        signal.signal(number, note)
    try:
        yield pressed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reason(error: Exception) -> str:
    return reason_of(getattr(error, "cause", None) or error)
