"""Chromium that draws pages: one process and one tab for all of them, over a pipe."""

import base64
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any

from PIL import Image

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--remote-debugging-pipe",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-sync",
    "--mute-audio",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--js-flags=--max-old-space-size=512",
]
_READ_AT_ONCE = 1 << 20  # bytes
_FREE = 10  # lowest number for a file of ours: 3 and 4 are those of the browser


class Browser:
    """A browser without a window, to be used in a ``with`` block.

    Pages are trusted: the browser has no sandbox of its own.

    Raises:
        ValueError: there is none on this machine.
        ConnectionError: it ended, or refused a command.
    """

    def __init__(self) -> None:
        path = next(filter(None, map(shutil.which, _NAMES)), None)
        if path is None:
            raise ValueError(
                "pages are drawn by Chromium; install the package chromium"
            )
        self._profile = tempfile.mkdtemp()
        its_input, our_output = map(_moved, os.pipe())
        our_input, its_output = map(_moved, os.pipe())
        its_errors = os.open(os.devnull, os.O_WRONLY)
        self._process = os.posix_spawn(
            path,
            [path, *_OPTIONS, f"--user-data-dir={self._profile}"],
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, its_errors, 1),
                (os.POSIX_SPAWN_DUP2, its_errors, 2),
                (os.POSIX_SPAWN_DUP2, its_input, 3),
                (os.POSIX_SPAWN_DUP2, its_output, 4),
            ],
        )
        for file in (its_input, its_output, its_errors):
            os.close(file)
        self._output = os.fdopen(our_output, "wb", buffering=0)
        self._input = os.fdopen(our_input, "rb", buffering=0)
        self._received = b""
        self._calls = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        tree = self.call("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        with suppress(OSError):
            self.call("Browser.close")
        self._output.close()
        self._input.close()
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        shutil.rmtree(self._profile, ignore_errors=True)

    def show(self, html: str, width: int, height: int, scale: float = 1.0) -> None:
        """Show a page.

        Args:
            html: the whole document.
            width: of the window, in pixels of CSS.
            height: of the window.
            scale: pixels of pictures for each of them.
        """
        self.resize(width, height, scale)
        self.call("Page.setDocumentContent", frameId=self._frame, html=html)

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """Make the window of another size, see `show`."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale}
        self.call("Emulation.setDeviceMetricsOverride", mobile=False, **metrics)

    def evaluate(self, script: str) -> Any:
        """The value of JavaScript, as JSON has it.

        Raises:
            ConnectionError: it raised an error.
        """
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in found:
            raise ConnectionError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def picture(self) -> Image.Image:
        """The picture of the page."""
        options = {"format": "png", "optimizeForSpeed": True}
        data = self.call("Page.captureScreenshot", **options)["data"]
        return Image.open(BytesIO(base64.b64decode(data))).convert("RGB")

    def call(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        """One command of the DevTools protocol, and its answer."""
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._send(json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._next_message())
            if answer.get("id") != self._calls:
                continue  # an event
            if "error" in answer:
                raise ConnectionError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._output.write(left) or 0 :]

    def _next_message(self) -> bytes:
        while b"\0" not in self._received:
            more = self._input.read(_READ_AT_ONCE)
            if not more:
                raise ConnectionError("Chromium has ended")
            self._received += more
        message, _, self._received = self._received.partition(b"\0")
        return message


def _moved(file: int) -> int:
    """A file under a number that the browser does not need."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FREE)
    os.close(file)
    return moved
