import asyncio
import io
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from vit_str.machine import install_hint
from vit_str.serving.server import (
    STARTING,
    BoundedConnection,
    _allow_open_files,
    _announce,
)

_LARGE = b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n"  # 1.4 MB


class Server:
    """A process of ``vit-str serve``."""

    def __init__(self, *options: str) -> None:
        command = [
            sys.executable,
            "-m",
            "vit_str",
            "serve",
            "--port",
            "0",
            "--backend",
            "onnx",
        ]
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.url = next(
            w for w in self.line.split() if w.startswith("http://127.0.0.1:")
        )
        self.port = int(self.url.rpartition(":")[2])

    def read(self, picture: bytes) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/read", content=picture, timeout=60)

    def stop(self) -> tuple[int, str]:
        """The exit code and what was printed to standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors

    def children(self) -> list[int]:
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
        )
        return [pid for pid in map(int, found.stdout.split()) if is_serving(pid)]


def is_serving(pid: int) -> bool:
    found = subprocess.run(
        ["ps", "-ww", "-o", "stat=", "-o", "args=", "-p", str(pid)],
        capture_output=True,
        text=True,
    ).stdout
    return "spawn_main" in found and not found.startswith("Z")


@contextmanager
def running(*options: str) -> Iterator[Server]:
    server = Server(*options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


def test_faults_and_sigterm_under_load(word):
    """Every good request is answered right, whatever others do; those in progress are finished."""
    good = word("Hallo")
    with running("--max-body", "50000", "--receive-deadline", "1") as server:
        expected = server.read(good).json()
        assert not server.children()

        def ask(number):
            fault = random.Random(number).choice(["good", "good", *FAULTS])
            if fault == "good":
                response = server.read(good)
                return response.status_code == 429 or response.json() == expected
            return FAULTS[fault](server, good)

        with ThreadPoolExecutor(12) as pool:
            assert all(pool.map(ask, range(48)))
        with ThreadPoolExecutor(8) as pool:
            asking = [pool.submit(server.read, good) for _ in range(8)]
            time.sleep(0.05)
            started = time.monotonic()
            code, errors = server.stop()
        assert (code, errors) == (0, "")
        assert time.monotonic() - started < 10
        for answer in asking:
            if answer.exception() is None:
                assert answer.result().json() == expected
            else:  # it came too late
                assert isinstance(answer.exception(), httpx.TransportError)


def broken(server: Server, good: bytes) -> bool:
    return bool(server.read(good[: len(good) // 2]).json()["readings"][0]["error"])


def empty(server: Server, good: bytes) -> bool:
    return server.read(b"").status_code == 422


def huge(server: Server, good: bytes) -> bool:
    try:
        return server.read(bytes(60_000)).status_code == 413
    except httpx.WriteError:  # refused before all was sent
        return True


def left(server: Server, good: bytes) -> bool:
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(
            b"POST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
            % len(good)
        )
        link.sendall(good if len(good) % 2 else good[:20])
    return True


def late(server: Server, good: bytes) -> bool:
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(
            b"POST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
            + bytes(5)
        )
        link.settimeout(20)
        return b" 408 " in link.recv(100)


FAULTS = {"broken": broken, "empty": empty, "huge": huge, "left": left, "late": late}


@pytest.mark.skipif(os.name != "posix", reason="looks at processes")
def test_workers_are_replaced_and_end_with_their_parent(word, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where processes keep their numbers
    with running("--workers", "2") as server:
        first = server.children()
        assert len(first) == 2
        expected = server.read(word("Hallo")).json()
        # One that dies while it starts is missed only when its time to start is over
        for worker in first:
            wait_for(lambda pid=worker: any(tmp_path.glob(f"*/*_{pid}.db")), STARTING)
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: len({*server.children()} - {*first}) == 1, 3 * STARTING)
        for _ in range(4):
            with suppress(httpx.TransportError):  # sent to the one that was killed
                assert server.read(word("Hallo")).json() == expected
        requests = httpx.get(f"{server.url}/metrics", timeout=60).text
        assert 'vit_str_requests_total{path="/v1/read",status="200"}' in requests
        workers = server.children()
        code, errors = server.stop()
        assert code == 0
        assert errors == ""
        assert not any(map(is_serving, workers))


def test_connections_without_a_request_are_closed(word):
    """One that is silent, one whose head comes byte by byte, and the same after an answer."""
    with running("--receive-deadline", "1") as server:
        assert server.read(word("a")).status_code == 200
        ask = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        for first, slowly in ((b"", b""), (b"", 60 * b"a"), (ask, b"GET" + 60 * b" ")):
            with socket.create_connection(
                ("127.0.0.1", server.port), timeout=10
            ) as connection:
                connection.sendall(first)
                while first and not connection.recv(10_000).endswith(b"}"):
                    pass
                started = time.monotonic()
                with suppress(ConnectionError):
                    for number in range(60):
                        connection.sendall(slowly[number : number + 1])
                        connection.settimeout(0.2)
                        with suppress(TimeoutError):
                            assert not connection.recv(100)
                            break
                assert 0.5 < time.monotonic() - started < 10
        assert server.read(word("a")).status_code == 200


def test_as_many_files_may_be_open_as_connections_need():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    for now, after in ((256, 1000), (1000, 1000)):
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, before[1]))
        try:
            _allow_open_files()
            found = resource.getrlimit(resource.RLIMIT_NOFILE)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert found == (after, before[1])


def test_short_chunks_are_taken_a_few_at_a_time():
    """Each takes a while, and a client may fill a hundred connections with them."""
    count = 20_000
    taken = []

    async def app(scope, receive, send):
        is_more = True
        while is_more:
            message = await receive()
            taken.append(len(message["body"]))
            is_more = message["more_body"]
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"all"})

    async def ask():
        config = uvicorn.Config(app, log_config=None, lifespan="off")
        config.load()
        server = await asyncio.get_running_loop().create_server(
            lambda: BoundedConnection(config, ServerState(), {}), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]
        async with server:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n")
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            writer.write(count * b"1\r\na\r\n" + b"0\r\n\r\n")
            answer = await asyncio.wait_for(reader.read(), 60)
            writer.close()
        return answer

    assert asyncio.run(ask()).endswith(b"all\r\n0\r\n\r\n")
    assert sum(taken) == count
    assert max(taken) < 1000


async def _served(ask: Callable[..., Any]) -> Any:
    """What is found with a server that answers after a moment, and its connections."""
    connections: list[BoundedConnection] = []

    async def app(scope, receive, send):
        await receive()
        await asyncio.sleep(0.1)
        headers = [(b"content-length", b"2")]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, log_config=None, lifespan="off")
    config.load()

    def connection() -> BoundedConnection:
        connections.append(BoundedConnection(config, ServerState(), {}))
        return connections[-1]

    loop = asyncio.get_running_loop()
    server = await loop.create_server(connection, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        found = await asyncio.wait_for(ask(reader, writer, connections), 20)
        writer.close()
    return found


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert await reader.readexactly(2) == b"ok"
    return head.lower()


_ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("is_idle", [True, False])
def test_a_server_that_ends_says_that_it_closes_connections(is_idle):
    """In the answer to what is in progress, and to what was on its way on one that is kept."""

    async def ask(reader, writer, connections):
        writer.write(_ASK)
        if is_idle:
            assert b"connection: close" not in await _answer(reader)
            connections[0].shutdown()
            await asyncio.sleep(0.1)
            writer.write(_ASK)
        else:
            await asyncio.sleep(0.05)
            connections[0].shutdown()
        assert b"connection: close" in await _answer(reader)
        assert await reader.read() == b""

    asyncio.run(_served(ask))


def test_a_connection_that_is_kept_and_silent_is_closed_when_the_server_ends():
    async def ask(reader, writer, connections):
        writer.write(_ASK)
        await _answer(reader)
        connections[0].shutdown()
        began = time.monotonic()
        assert await reader.read() == b""
        assert time.monotonic() - began < 3

    asyncio.run(_served(ask))


def test_two_lengths_of_a_body_close_the_connection():
    async def ask(reader, writer, connections):
        head = b"POST / HTTP/1.1\r\nHost: a\r\n"
        both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"Content-Length: 2\r\n\r\nab")
        assert b"connection: close" not in await _answer(reader)
        writer.write(head + both + b"0\r\n\r\n" + _ASK)
        assert b"connection: close" in await _answer(reader)
        assert await reader.read() == b""

    asyncio.run(_served(ask))


def test_who_does_not_take_answers_is_left():
    """Else a client that never reads holds a connection for ever."""
    with running("--receive-deadline", "1") as server, asking(server, 20) as slow:
        wait_for(lambda: is_closed(slow))


def test_a_client_that_takes_answers_slowly_gets_all():
    with running("--receive-deadline", "1") as server, asking(server, 1) as slow:
        received = 0
        with suppress(TimeoutError):
            slow.settimeout(5)
            while found := slow.recv(1 << 15):
                received += len(found)
                time.sleep(0.02)
        assert received > 1_000_000


def is_closed(connection: socket.socket) -> bool:
    """Whether what is sent is refused, seen without taking what has come."""
    try:
        return not connection.send(b"G")
    except ConnectionError:
        return True


def asking(server: Server, count: int) -> socket.socket:
    """A connection with requests for large files, whose answers wait to be taken."""
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    slow.settimeout(20)
    slow.connect(("127.0.0.1", server.port))
    slow.sendall(count * _LARGE)
    return slow


def test_workers_end_when_their_parent_is_killed():
    with running("--workers", "2") as server:
        wait_for(lambda: len(server.children()) == 2)
        children = server.children()
        server.process.kill()
        wait_for(lambda: not any(map(is_serving, children)))


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def connected(server: Server, address: str) -> socket.socket:
    """A connection from an address of this machine."""
    try:
        return socket.create_connection(
            ("127.0.0.1", server.port), timeout=20, source_address=(address, 0)
        )
    except OSError:
        pytest.skip("this machine has one address of its own")


def test_one_address_does_not_have_all_connections():
    with running("--receive-deadline", "60") as server, ExitStack() as open_:
        held = [open_.enter_context(connected(server, "127.0.0.2")) for _ in range(120)]
        for connection in held:
            with suppress(ConnectionError):
                connection.sendall(b"GET /health HT")
        refused = [each.recv(12) for each in held[100:]]
        assert set(refused) == {b"HTTP/1.1 429"}
        assert httpx.get(f"{server.url}/health", timeout=20).status_code == 200
        held[0].sendall(b"TP/1.1\r\nHost: a\r\n\r\n")
        assert held[0].recv(12) == b"HTTP/1.1 200"
        held[0].close()
        wait_for(lambda: is_welcome(server))
    with running("--proxy", "127.0.0.2") as server, ExitStack() as open_:
        for _ in range(120):
            open_.enter_context(connected(server, "127.0.0.2"))
        assert is_welcome(server)


def is_welcome(server: Server) -> bool:
    with connected(server, "127.0.0.2") as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        return b" 200 " in connection.recv(100)


@pytest.mark.parametrize(
    "options", [(), ("--proxy", "10.0.0.0/8"), ("--proxy", "127.0.0.1")]
)
def test_forwarded_addresses_are_believed_only_of_a_proxy(options):
    """A client has bodies of eight requests in memory at most; these nine never end."""
    with running("--max-body", "1000", *options) as server, ExitStack() as open_:
        held = [open_.enter_context(connected(server, "127.0.0.1")) for _ in range(9)]
        for number, connection in enumerate(held):
            head = f"POST /v1/read HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.{number}\r\n"
            connection.sendall(
                f"{head}Content-Length: 1000\r\n\r\n".encode() + bytes(990)
            )
        is_believed = "127.0.0.1" in options
        select.select(held, [], [], 2 if is_believed else 60)  # for the first answer
        time.sleep(0.5)
        answered = select.select(held, [], [], 0)[0]
        assert len(answered) == (not is_believed)
        assert all(b" 429 " in connection.recv(100) for connection in answered)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--host", "no.such.host.invalid"], "cannot listen on no.such.host.invalid"),
        (["--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["--port", "taken"], "cannot listen on 127.0.0.1"),
        (["--port", "0", "--model", "nothing"], "nothing"),
        (["--port", "0", "--max-pixels", "999999999"], "--max-pixels"),
        (
            ["--port", "0", "--proxy", "nginx"],
            "--proxy takes an address such as 127.0.0.1",
        ),
        (["--cors", "example.com"], "--cors takes an origin such as https://"),
        (["--cors", "https://example.com/page"], "--cors takes an origin"),
        (["--allow-host", "https://example.com"], "--allow-host takes a name"),
        (["--allow-host", "example.com:8000"], "--allow-host takes a name"),
    ],
)
def test_bad_options(options, reason, run):
    before = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        try:
            code, _, errors = run(
                "serve", *(port if o == "taken" else o for o in options)
            )
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    assert (code, errors.count("\n")) == (2, 1)
    assert reason in errors


@pytest.mark.parametrize("folder", ["", "/nonexistent", __file__])
def test_a_folder_for_numbers_that_is_none_is_refused(folder, monkeypatch, run):
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)
    code, _, errors = run("serve")
    assert (code, errors.count("\n")) == (2, 1)
    assert "PROMETHEUS_MULTIPROC_DIR is " in errors and "unset the variable" in errors


def test_a_machine_has_no_room_for_a_million_processes(run, capsys):
    with pytest.raises(SystemExit):
        run("serve", "--workers", "1000000")
    assert "below 1,025, found '1000000'" in capsys.readouterr().err


def test_short_keys_are_refused(monkeypatch, run):
    monkeypatch.setenv("VIT_STR_KEY", "short")
    code, _, errors = run("serve")
    assert (code, "short" in errors.replace("shorter", "")) == (2, False)


@pytest.mark.parametrize(
    "key", [" secret secret", "secret-secret\n", "secret\udcffsecret"]
)
def test_keys_that_no_request_can_carry_are_refused(key, monkeypatch, run):
    monkeypatch.setenv("VIT_STR_KEY", key)
    code, _, errors = run("serve")
    assert (code, errors.count("\n"), "secret" in errors) == (2, 1, False)
    assert "which no request can carry" in errors


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux")
def test_it_answers_where_its_line_cannot_be_printed(monkeypatch, capfd):
    with (
        open("/dev/full", "wb", buffering=0) as full,
        io.TextIOWrapper(full, write_through=True) as text,
        socket.create_server(("127.0.0.1", 0)) as there,
    ):
        monkeypatch.setattr("sys.stdout", text)
        settings = SimpleNamespace(model="tiny")
        _announce(settings, "127.0.0.1", there.getsockname()[1])
    errors = capfd.readouterr().err
    assert errors.count("\n") == 1
    assert "reading with tiny at http://127.0.0.1:" in errors
    assert "No space left on device" in errors


def test_without_the_extra(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "vit_str.serving.server", raising=False)
    code, _, errors = run("serve")
    assert (code, install_hint("serve") in errors) == (2, True)
