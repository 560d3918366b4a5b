"""A server process on CPUs of its own, and clients that cost little."""

import asyncio
import os
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

_TIMEOUT = 60.0
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def split_cpus(count: int = 1) -> tuple[set[int], set[int]]:
    """CPUs for the server, ``count``, and for the clients, the others if there are any."""
    cpus = sorted(os.sched_getaffinity(0))
    return {*cpus[:count]}, {*cpus[count:]} or {*cpus}


class ServerProcess:
    """A server on some CPUs, ready when it is made.

    Args:
        command: prints a line with its URL, which ends in the port, when it is ready.
        cpus: that it may use.
    """

    def __init__(self, command: Sequence[str], cpus: set[int]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        urls = [word for word in line.split() if word.startswith("http://")]
        self.port = int(urls[0].rpartition(":")[2]) if urls else 0

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=15)

    def cpu_seconds(self) -> float:
        """That the process has used."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def megabytes(self, name: str = "VmRSS") -> float:
        """Memory that it has, or with ``VmHWM`` has had at most."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(
                int(line.split()[1]) / 1024 for line in file if line.startswith(name)
            )


@dataclass
class Load:
    """What some clients saw.

    Attributes:
        seconds: from the first request to the last answer.
        latencies: seconds of each answer with readings.
        slowest: seconds of the slowest answer of each status.
        statuses: how many answers had which; 0 for a connection without an answer.
        cpu_seconds: of the server.
    """

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    slowest: dict[int, float] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    cpu_seconds: float = 0.0

    def percentile(self, share: float) -> float:
        """Of the latencies, in milliseconds."""
        if len(self.latencies) < 2:
            return 1000 * sum(self.latencies)
        cuts = statistics.quantiles(self.latencies, n=1000, method="inclusive")
        return 1000 * cuts[round(1000 * share) - 1]

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def per_cpu_second(self) -> float:
        return len(self.latencies) / max(self.cpu_seconds, 1 / _TICK)


async def send(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    path: str,
    body: bytes,
    headers: str = "Content-Type: image/png\r\n",
) -> tuple[int, bytes]:
    """One request on an open connection: status and body."""
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\n{headers}"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    # Refused before all was sent: the answer may be there
    with suppress(ConnectionError):
        await writer.drain()
    return await receive(reader)


async def receive(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """One answer: status and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next(
        int(n.split(":")[1]) for n in lines if n.startswith("content-length:")
    )
    return int(lines[0].split()[1]), await reader.readexactly(length)


def closed_loop(
    server: ServerProcess,
    path: str,
    bodies: Sequence[bytes],
    clients: int,
    most_seconds: float,
) -> Load:
    """Clients that each wait for their answer before they ask again."""
    load = Load()
    waiting = list(bodies)[::-1]

    async def client(end: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while waiting and time.perf_counter() < end:
            body = waiting.pop()
            started = time.perf_counter()
            status, _ = await asyncio.wait_for(
                send(reader, writer, path, body), _TIMEOUT
            )
            _count(load, status, time.perf_counter() - started)
        writer.close()

    async def run() -> None:
        end = time.perf_counter() + most_seconds
        await asyncio.gather(*(client(end) for _ in range(clients)))

    return _measured(server, load, run)


def burst(server: ServerProcess, path: str, bodies: Sequence[bytes]) -> Load:
    """All requests at once, each on a connection of its own."""
    load = Load()

    async def client(body: bytes, go: asyncio.Event, ready: list[int]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        ready.append(1)
        await go.wait()
        started = time.perf_counter()
        try:
            status, _ = await asyncio.wait_for(
                send(reader, writer, path, body), _TIMEOUT
            )
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            status = 0
        _count(load, status, time.perf_counter() - started)
        writer.close()

    async def run() -> None:
        go = asyncio.Event()
        ready = []
        asking = [asyncio.ensure_future(client(body, go, ready)) for body in bodies]
        while len(ready) < len(bodies):
            await asyncio.sleep(0.01)
        go.set()
        await asyncio.gather(*asking)

    return _measured(server, load, run)


def _count(load: Load, status: int, seconds: float) -> None:
    load.statuses[status] += 1
    load.slowest[status] = max(load.slowest.get(status, 0.0), seconds)
    if status == 200:
        load.latencies.append(seconds)


def _measured(server: ServerProcess, load: Load, run: Callable) -> Load:
    started = time.perf_counter()
    used = server.cpu_seconds()
    asyncio.run(run())
    load.seconds = time.perf_counter() - started
    load.cpu_seconds = server.cpu_seconds() - used
    return load
