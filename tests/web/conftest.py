"""Node and a headless Chromium, and servers for the page to come from."""

import functools
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import (
    BaseHTTPRequestHandler,
    SimpleHTTPRequestHandler,
    ThreadingHTTPServer,
)
from pathlib import Path
from typing import Any

import pytest

from vit_str.export.web import PAGE

_CASES = Path(__file__).with_name("cases.mjs")
_BUSY = 120_000  # milliseconds that a busy machine may take for one step
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-fake-device-for-media-stream "
    "--use-fake-ui-for-media-stream"
)


Case = tuple[Any, ...]
InJavaScript = Callable[[list[Case]], list[Any]]


@pytest.fixture
def in_javascript(tmp_path) -> InJavaScript:
    """Runs functions of the page in Node: the name and arguments of each case, what comes out."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node")
    shutil.copytree(PAGE, tmp_path / "web", ignore=shutil.ignore_patterns("samples"))
    shutil.copy(_CASES, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')

    def run(cases: list[Case]) -> list[Any]:
        done = subprocess.run(
            [node, str(tmp_path / _CASES.name)],
            input=json.dumps(cases).encode(),
            capture_output=True,
            check=False,
        )
        assert not done.returncode, done.stderr.decode()
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Any]:
    """A context of Chromium, for a file of tests: while one is open, ``asyncio.run`` cannot run."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium")
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=program,
            args=_FLAGS.split(),
            permissions=["clipboard-read", "clipboard-write"],
            viewport={"width": 1200, "height": 900},
        )
        context.set_default_timeout(_BUSY)
        sync_api.expect.set_options(timeout=_BUSY)
        yield context
        context.close()


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on a free port; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def serve_files() -> Callable[[Path], Any]:
    """Serves a folder as ``python -m http.server`` does."""
    return lambda folder: serving(functools.partial(_Files, directory=str(folder)))


class Answers(list[tuple[int, dict[str, str], Any]]):
    """What the stub answers next: status, headers, content; and the paths that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.key = ""


@pytest.fixture
def stub() -> Iterator[tuple[str, Answers]]:
    """Stands in for ``vit-str serve``: the page, and answers that a test gives."""
    answers = Answers()

    class Stub(_Files):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(PAGE))

        def do_GET(self) -> None:
            self.path = (
                "/index.html" if self.path == "/" else self.path.removeprefix("/web")
            )
            if self.path == "/v1/model":
                self.answer(200, {}, {"name": "tiny", "page": True})
            else:
                super().do_GET()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if answers.key and self.headers["Authorization"] != f"Bearer {answers.key}":
                self.answer(401, {}, {"error": "the key is missing or wrong"})
            else:
                answers.asked.append(self.path)
                self.answer(*answers.pop(0))

        def answer(self, status: int, headers: dict[str, str], content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    with serving(Stub) as address:
        yield address, answers
