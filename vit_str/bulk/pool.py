"""Parts are read by workers of Ray: on this machine, or on a cluster that is there.

Ray Data deals out the parts and starts a worker again that died; a part whose worker dies again
and again is given up, and the others go on.
"""

import os
import socket
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

import vit_str
from vit_str.bulk.attempts import Attempts
from vit_str.bulk.parts import Part
from vit_str.bulk.quiet import quiet, quiet_loggers
from vit_str.bulk.reading import Job, PartError, read_part
from vit_str.images import one_line
from vit_str.reading import Reader, load

_ATTEMPTS = 3
# Threads that decode images for a GPU, where there are so many CPUs.
_MOST_DECODERS = 8
# Parts and results pass through it; images do not.
_OBJECT_STORE = 512 << 20
# Seconds to wait for a cluster to answer.
_PATIENCE = 20
_SILENT: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
_LOCAL = {
    # Ray does what anybody tells it who reaches it: it shall listen to this machine only.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Workers are what the command is for; Ray would let everything else go first.
    "RAY_worker_niceness": "0",
}


class PoolError(Exception):
    """Ray cannot be started, or stopped."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that read.

    Attributes:
        count: how many.
        device: of each: ``cpu``, ``cuda`` or ``mps``.
        threads: that decode images in each.
    """

    count: int
    device: str
    threads: int = 1


class Result(NamedTuple):
    """What came of a part: what its file holds, or why it could not be read."""

    number: int
    data: bytes
    trouble: str


@contextmanager
def started(address: str | None, device: str, count: int | None) -> Iterator[Workers]:
    """Ray, started here or joined, and stopped or left at the end; it prints nothing.

    Args:
        address: of a cluster, as ``ray.init`` takes it; None for processes of this machine.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        count: workers; None for one per GPU, or per CPU where there is none.

    Raises:
        ValueError: the cluster has no such devices, or not so many.
        PoolError: Ray cannot be started or reached.
    """
    if address is None:
        for name, value in _LOCAL.items():
            os.environ.setdefault(name, value)
    with quiet():
        import ray
        import ray.data

        quiet_loggers()
        local = _here(device, count) if address is None else None
        try:
            _join(address, local)
            yield local or _there(ray.cluster_resources(), device, count)
        finally:
            ray.shutdown()


def _join(address: str | None, local: Workers | None) -> None:
    """Start Ray for so many workers here, or connect to the cluster."""
    import ray

    try:
        if local is None:
            _knock(str(address))
            ray.init(address=address, **_SILENT)
            return
        ray.init(
            num_cpus=local.count * local.threads,
            num_gpus=local.count if local.device == "cuda" else 0,
            object_store_memory=_OBJECT_STORE,
            include_dashboard=False,
            **_SILENT,
        )
    except Exception as error:  # of many kinds, some of them private
        where = f"at {address}" if address else "here"
        raise PoolError(f"Ray cannot be used {where}: {_first_line(error)}") from error


def _knock(address: str) -> None:
    """Raise OSError if nobody listens there; Ray would go on trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def _here(device: str, count: int | None) -> Workers:
    available = getattr(os, "sched_getaffinity", None)  # what a container may use, on Linux
    cpus = len(available(0)) if available else os.cpu_count() or 1
    resources = {"CPU": max(cpus, count or 1), "GPU": torch.cuda.device_count()}
    if device == "mps" or (device == "auto" and torch.backends.mps.is_available()):
        return Workers(count or 1, "mps")
    return _there(resources, device, count)


def _there(resources: Mapping[str, float], device: str, count: int | None) -> Workers:
    """One worker per GPU, or per CPU where none is or none is wanted."""
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    if device == "auto":
        device = "cuda" if gpus else "cpu"
    most = {"cuda": gpus, "cpu": cpus}.get(device, 0)
    if not most:
        raise ValueError(
            f"no device {device!r} among {cpus} CPUs and {gpus} GPUs; use --device auto or cpu"
        )
    if count is not None and count > most:
        raise ValueError(f"--workers {count} is more than the {most} of type {device} there are")
    threads = 1 if device == "cpu" else max(1, min(_MOST_DECODERS, cpus // gpus))
    return Workers(count or most, device, threads)


def read_parts(
    parts: Iterable[tuple[int, Part]], job: Job, weights: bytes, workers: Workers
) -> Iterator[Result]:
    """Read parts in any order, while `started`.

    Args:
        parts: numbers and what they stand for.
        job: how to read and write.
        weights: what the weights file holds, so that the machines need not share it.
        workers: who reads.

    Raises:
        PoolError: Ray stopped.
    """
    import ray

    items = [{"number": n, "part": zlib.compress(part.to_json().encode())} for n, part in parts]
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    attempts = ray.remote(Attempts).options(num_cpus=0).remote()
    arguments = (job, workers, ray.put(weights), attempts, vit_str.__version__)
    try:
        # One block each: results come part by part, and a worker that dies loses one part.
        read = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            PartReader,
            batch_size=1,
            batch_format="pyarrow",
            fn_constructor_args=arguments,
            compute=ray.data.ActorPoolStrategy(size=workers.count, max_tasks_in_flight_per_actor=1),
            num_cpus=workers.threads,
            num_gpus=1 if workers.device == "cuda" else 0,
        )
        tables = read.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0)
        for table in tables:
            yield from (Result(**row) for row in table.to_pylist())
    except Exception as error:  # of many kinds, some of them private
        raise PoolError(f"Ray stopped: {_first_line(error)}") from error


class PartReader:
    """Lives in a worker and reads one part after the other; the model is loaded once."""

    def __init__(
        self, job: Job, workers: Workers, weights: Any, attempts: Any, version: str
    ) -> None:
        self._job, self._workers, self._version = job, workers, version
        self._weights, self._attempts = weights, attempts
        self._reader: Reader | None = None

    def __call__(self, table: Any) -> Any:
        """A row with the number and what stands for a part -> a row that is a `Result`."""
        import pyarrow

        (row,) = table.to_pylist()
        try:
            result = Result(row["number"], self._read(row["number"], row["part"]), "")
        except PartError as error:
            result = Result(row["number"], b"", str(error))
        except Exception as error:  # whatever it is must not take the other parts with it
            result = Result(row["number"], b"", f"{type(error).__name__}: {_first_line(error)}")
        return pyarrow.Table.from_pylist([result._asdict()])

    def _read(self, number: int, part: bytes) -> bytes:
        import ray

        if ray.get(self._attempts.begin.remote(number)) > _ATTEMPTS:
            raise PartError(
                f"its worker died {_ATTEMPTS} times, for want of memory or by an image that no "
                "decoder survives"
            )
        if self._reader is None:
            self._reader = self._load(ray.get(self._weights))
        decoded = Part.from_json(zlib.decompress(part))
        return read_part(self._reader, decoded, self._job, self._workers.threads)

    def _load(self, weights: bytes) -> Reader:
        if vit_str.__version__ != self._version:
            raise PartError(
                f"{socket.gethostname()} has vit-str {vit_str.__version__}, not {self._version}; "
                "install the same on all machines"
            )
        if self._workers.device == "cpu":
            torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.safetensors")
            with open(path, "wb") as file:
                file.write(weights)
            return load(path, self._workers.device, care=self._job.care)


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "cause", None) or error).strip()
    return one_line(text.partition("\n")[0]) or type(error).__name__
