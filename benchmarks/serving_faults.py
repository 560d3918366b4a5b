"""What ``vit-str serve`` makes of bad requests, and whether good ones among them are answered.

    python benchmarks/serving_faults.py [--requests 1000]

A third of the requests is broken, empty, huge in bytes or in pixels, cut off in the middle, slow to
send, never begun, left by its client, never taken, a PDF file that is never drawn, a JPEG of
endless scans, a GIF of endless frames, pictures that take gigabytes or have endless headers, a body
in chunks of a byte, a mix of languages that nobody else asks for, a form in a codec that takes
minutes, of a web page of elsewhere, of an address that opens all connections, or is one of many of
a greedy client. All others have to be answered with what reading alone gives. Then one client asks
for hard pages only, and another has to have its own drawn all the same. Then pages are asked for
beside many words. At the end the server is
stopped while it is busy. Exits with 1 if anything was wrong.
"""

import asyncio
import io
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from hostile_files import (
    gif_of_frames,
    jp2_of_parts,
    jpeg_of_scans,
    jpeg_of_segments,
    pdf_of_strokes,
    png_of_chunks,
    tiff_of_strips,
    tiff_of_tile,
)
from http_load import ServerProcess, receive, send
from measuring import REPOSITORY, described_parser
from PIL import Image, ImageDraw, ImageFont

from vit_str.console import positive

_SERVE = [sys.executable, "-m", "vit_str", "serve", "--port", "0", "--backend", "onnx"]
_RECEIVE = 3  # seconds in which a request has to arrive
_CLIENTS = 32
_PATH = "/v1/read"
_PROXY = "127.0.0.1"  # from which most requests come
_GREEDY = "127.0.0.2"
_POLITE = "127.0.0.3"
# Clients that ask for words, and for pages, at the same time for some seconds
_WORD_CLIENTS = 32
_PAGE_CLIENTS = 4
_SHARED = 20
_CONNECTIONS = 150  # that one address opens
# What a request with a large picture, and one for a hard page, may be answered with: 408 where
# processors are too busy for it to arrive in time
_LARGE = {200, 408, 504}
_PAGES = {200, 408, 429, 501, 503, 504}


class Run:
    """Requests of all sorts to one server."""

    def __init__(
        self,
        server: ServerProcess,
        words: list[bytes],
        expected: list[str],
    ) -> None:
        self.server = server
        self.words = words
        self.expected = expected
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest = 0.0
        self._huge = _png(Image.new("1", (8000, 8000)))
        self._strokes = pdf_of_strokes()
        self._scans = [
            jpeg_of_scans((side, side), 95_000) for side in (1400, 6284, 7070)
        ]
        self._frames = gif_of_frames(7000, 5000)
        self._gigabytes = [
            jp2_of_parts(1400),
            tiff_of_tile(100, 40_000),
            tiff_of_strips(2_400_000),
            jpeg_of_segments(2_000_000),
            png_of_chunks(700_000),
        ]

    async def all(self, count: int) -> None:
        """A third of them bad, some at a time."""
        chance = random.Random(0)
        faults = list(self._faults())
        waiting = [None if n % 3 else chance.choice(faults) for n in range(count)]
        chance.shuffle(waiting)

        async def client(number: int) -> None:
            while waiting:
                fault = waiting.pop()
                try:
                    await (
                        self._good(number + len(waiting))
                        if fault is None
                        else self._bad(fault)
                    )
                except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                    self.wrong.append(
                        f"{fault or 'good'}: {type(error).__name__} {error}"
                    )

        await asyncio.gather(*(client(number) for number in range(_CLIENTS)))

    def _faults(self) -> dict[str, Callable[[], Awaitable[int]]]:
        word = self.words[0]
        head = f"POST {_PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(word)}\r\n\r\n".encode()
        return {
            "broken": lambda: self._ask(word[: len(word) // 2], {200}),
            "empty": lambda: self._ask(b"", {422}),
            "huge in bytes": lambda: self._ask(bytes(11_000_000), {413, 0}),
            "huge in pixels": lambda: self._ask(self._huge, {422}),
            "greedy": self._greedy,
            "endless PDF": lambda: self._ask(self._strokes, _PAGES, "/v1/page"),
            "endless scans": lambda: self._ask(random.choice(self._scans), _LARGE),
            "page of scans": lambda: self._ask(self._scans[2], _PAGES, "/v1/page"),
            "endless frames": lambda: self._ask(
                self._frames, _PAGES, "/v1/page?page=1000"
            ),
            "gigabytes": lambda: self._ask(random.choice(self._gigabytes), _LARGE),
            "page of gigabytes": lambda: self._ask(
                random.choice(self._gigabytes), _PAGES, "/v1/page"
            ),
            "short chunks": self._chunks,
            "languages": lambda: self._ask(
                word, {200, 429, 503}, f"{_PATH}?language={_languages()}"
            ),
            "slow codec": lambda: self._form("punycode"),
            "no codec": lambda: self._form("undefined"),
            "foreign page": lambda: self._ask(
                word, {403}, headers="Origin: https://a.example\r\n"
            ),
            "share of nothing": lambda: self._ask(
                word, {422}, f"{_PATH}?language=en*0"
            ),
            "connections": self._hold_connections,
            "cut off": lambda: self._raw(head + word[:50], wait=0.0),
            "slow": lambda: self._raw(head + word[:50], wait=30.0),
            "silent": lambda: self._raw(b"", wait=30.0),
            "slow head": self._dripping,
            "takes no answers": self._deaf,
            "abandoned": lambda: self._raw(head + word, wait=0.0),
            "no HTTP": lambda: self._raw(b"\x16\x03\x01 hello\r\n\r\n", wait=30.0),
        }

    async def _good(self, number: int) -> None:
        index = number % len(self.words)
        started = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        status, body = await asyncio.wait_for(
            send(reader, writer, _PATH, self.words[index]), timeout=60
        )
        writer.close()
        self.slowest = max(self.slowest, time.perf_counter() - started)
        self.outcomes[f"good: {status}"] += 1
        expected = self.expected[index]
        if status != 200 or json.loads(body)["readings"][0]["text"] != expected:
            self.wrong.append(f"good: {status} {body[:200]!r}")

    async def _bad(self, name: str) -> None:
        status = await self._faults()[name]()
        self.outcomes[f"{name}: {status or 'closed'}"] += 1

    async def _ask(
        self,
        body: bytes,
        allowed: set[int],
        path: str = _PATH,
        headers: str = "",
        address: str = _PROXY,
    ) -> int:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.server.port, local_addr=(address, 0)
        )
        try:
            asking = send(reader, writer, path, body, headers)
            status, answer = await asyncio.wait_for(asking, timeout=60)
        except (OSError, asyncio.IncompleteReadError):
            status = 0
            answer = b""
        writer.close()
        if status not in allowed:
            self.wrong.append(f"{status} instead of {allowed}: {answer[:200]!r}")
        return status

    async def _greedy(self) -> int:
        """As many pictures as a request may hold, from a client of its own."""
        part = b"--b\r\nContent-Disposition: form-data; name=files; filename=a\r\n\r\n"
        body = 64 * (part + self.words[0] + b"\r\n") + b"--b--\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        head = f"POST {_PATH} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.9\r\n"
        head += f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}\r\n".encode() + body)
        status, answer = await asyncio.wait_for(receive(reader), timeout=60)
        writer.close()
        if status not in {200, 429}:
            self.wrong.append(f"{status} for a greedy client: {answer[:200]!r}")
        return status

    async def _form(self, charset: str) -> int:
        """A form whose names and words are said to be in some encoding."""
        begin = b"--b\r\nContent-Disposition: form-data; "
        words = b'name="lexicon"\r\n\r\nHallo\na-' + 1_000_000 * b"b"
        files = b'name="files"; filename="a.png"\r\n\r\n' + self.words[0]
        body = b"\r\n".join([begin + words, begin + files, b"--b--\r\n"])
        kind = f"Content-Type: multipart/form-data; boundary=b; charset={charset}\r\n"
        return await self._ask(body, {200, 422, 429, 503}, headers=kind)

    async def _chunks(self) -> int:
        """A picture byte by byte, as fast as the server takes it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        head = f"POST {_PATH} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in 20 * self.words[0])
        writer.write(f"{head}\r\n".encode() + chunks + b"0\r\n\r\n")
        status, answer = await asyncio.wait_for(receive(reader), timeout=60)
        writer.close()
        if status not in {200, 408}:
            self.wrong.append(f"{status} for short chunks: {answer[:200]!r}")
        return status

    async def _hold_connections(self) -> int:
        """Half a head over each of more connections than an address may have, until they close."""
        readers = []
        async with AsyncExitStack() as opened:
            for _ in range(_CONNECTIONS):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self.server.port, local_addr=(_GREEDY, 0)
                )
                opened.callback(writer.close)
                writer.write(b"GET / HT")
                readers.append(reader)
            reading = (reader.read(100) for reader in readers)
            answers = await asyncio.gather(*reading, return_exceptions=True)
        if not any(b"429" in each for each in answers if isinstance(each, bytes)):
            self.wrong.append(f"an address may hold {_CONNECTIONS} connections")
        return 0

    async def take_turns(self) -> None:
        """Hard pages of one client, four at a time, and a page of another among them."""
        hard = [
            asyncio.ensure_future(
                self._ask(self._strokes, _PAGES, "/v1/page", address=_GREEDY)
            )
            for _ in range(4)
        ]
        await asyncio.sleep(2)
        started = time.perf_counter()
        page = _encoded(Image.new("RGB", (400, 300), "white"), "PDF")
        status = await self._ask(page, {200, 501}, "/v1/page", address=_POLITE)
        print(
            f"a page among hard ones of others: {status}, "
            f"{time.perf_counter() - started:.1f} s"
        )
        await asyncio.gather(*hard)

    async def share_time(self) -> None:
        """Pages of some clients beside many words of others: both have to be answered."""
        end = time.monotonic() + _SHARED
        answers: Counter[str] = Counter()
        page = _page()

        async def client(number: int, path: str, body: bytes, kind: str) -> None:
            address = f"127.0.1.{number}"
            while time.monotonic() < end:
                status = await self._ask(
                    body, {200, 429, 503, 504}, path, address=address
                )
                answers[f"{kind}: {status}"] += 1
                if status != 200:
                    await asyncio.sleep(1)

        words = [
            client(n, _PATH, self.words[n % len(self.words)], "words")
            for n in range(1, _WORD_CLIENTS + 1)
        ]
        pages = [
            client(200 + n, "/v1/page", page, "pages") for n in range(_PAGE_CLIENTS)
        ]
        await asyncio.gather(*words, *pages)
        print(f"pages beside words, {_SHARED} s: {dict(sorted(answers.items()))}")
        # What there is no time for is refused at once, and nothing is dropped half done
        if (
            not answers["words: 200"]
            or not answers["pages: 200"]
            or answers["pages: 504"]
        ):
            self.wrong.append(f"pages beside words: {dict(answers)}")

    async def _raw(self, data: bytes, wait: float) -> int:
        """Send something, then leave, or wait until the server closes or answers."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(data)
        await writer.drain()
        if wait:
            try:
                await asyncio.wait_for(reader.read(1), wait)
            except ConnectionError:
                pass
            except TimeoutError:
                self.wrong.append(
                    f"neither answered nor closed within {wait:g} s: {data[:30]!r}"
                )
        writer.close()
        return 0

    async def _dripping(self) -> int:
        """A head that comes byte by byte, until the server closes."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        return await self._closed(writer, "a head that comes byte by byte")

    async def _deaf(self) -> int:
        """Requests for large files, of which next to nothing is taken, until the server closes."""
        _, writer = await asyncio.open_connection(
            "127.0.0.1", self.server.port, limit=1
        )
        writer.write(20 * b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n")
        return await self._closed(writer, "a client that takes no answers")

    async def _closed(self, writer: asyncio.StreamWriter, who: str) -> int:
        """Send byte by byte until the server closes."""
        end = time.monotonic() + 30
        while not writer.is_closing() and time.monotonic() < end:
            writer.write(b"G")
            await asyncio.sleep(0.2)
        if not writer.is_closing():
            self.wrong.append(f"{who} is waited for")
        writer.transport.abort()
        return 0

    async def stop(self) -> tuple[int, float]:
        """SIGTERM while requests are in progress: the exit code, and the seconds that it took."""
        asking = []
        for number in range(_CLIENTS):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self.server.port
            )
            asking.append(
                asyncio.ensure_future(
                    send(reader, writer, _PATH, self.words[number % 5])
                )
            )
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        self.server.process.send_signal(signal.SIGTERM)
        answers = await asyncio.wait_for(
            asyncio.gather(*asking, return_exceptions=True), 30
        )
        code = await asyncio.to_thread(self.server.process.wait, 30)
        seconds = time.perf_counter() - started
        done: Counter[int | str] = Counter(
            each[0] if isinstance(each, tuple) else "closed" for each in answers
        )
        print(
            f"SIGTERM with {_CLIENTS} requests on their way: {dict(done)}, exit code "
            f"{code}"
        )
        if code or seconds > 10:
            self.wrong.append(f"SIGTERM: exit code {code} after {seconds:.1f} s")
        return code, seconds


def main() -> int:
    """Print what happened; returns the exit code."""
    parser = described_parser(__doc__)
    parser.add_argument("--requests", type=positive, default=1000, help="in all (1000)")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    )
    import vit_str

    words = [
        _word(text)
        for text in ("Hallo", "street", "42", "Museum", "bread", "exit", "No.7")
    ]
    expected = [
        reading.text
        for reading in vit_str.load("tiny", "cpu", backend="onnx").read(words)
    ]
    command = [*_SERVE, "--receive-deadline", str(_RECEIVE), "--proxy", _PROXY]
    with ServerProcess(command, os.sched_getaffinity(0)) as server:
        run = Run(server, words, expected)
        before = server.megabytes()
        started = time.perf_counter()
        asyncio.run(run.all(options.requests))
        seconds = time.perf_counter() - started
        print(f"{options.requests} requests in {seconds:.0f} s, {_CLIENTS} at a time:")
        print(
            "\n".join(
                f"  {name}: {count}" for name, count in sorted(run.outcomes.items())
            )
        )
        after = server.megabytes()
        peak = server.megabytes("VmHWM")
        print(f"slowest good answer: {run.slowest:.2f} s")
        print(
            f"memory, MiB: {before:.0f} before, {after:.0f} after, {peak:.0f} at most"
        )
        asyncio.run(run.take_turns())
        asyncio.run(run.share_time())
        code, seconds = asyncio.run(run.stop())
        print(f"stopped with exit code {code} in {seconds:.1f} s")
    print("\n".join(["", *run.wrong[:20]]) if run.wrong else "nothing was wrong")
    return int(bool(run.wrong))


def _languages() -> str:
    """As many languages as a request may name, with shares that nobody else asks for."""
    return "%2B".join(f"en*{random.randint(1, 9999)}" for _ in range(25))


def _word(text: str) -> bytes:
    image = Image.new("RGB", (160, 40), "white")
    ImageDraw.Draw(image).text(
        (4, 2),
        text,
        fill="black",
        font=ImageFont.load_default(28),
    )
    return _png(image)


def _page() -> bytes:
    """A page of print."""
    image = Image.new("RGB", (1240, 1754), "white")
    pen = ImageDraw.Draw(image)
    for top in range(100, 1600, 50):
        pen.text(
            (100, top),
            "Nobody waits for a page that is read beside words",
            fill="black",
            font=ImageFont.load_default(30),
        )
    return _png(image)


def _png(image: Image.Image) -> bytes:
    return _encoded(image, "PNG")


def _encoded(image: Image.Image, form: str) -> bytes:
    file = io.BytesIO()
    image.save(file, form)
    return file.getvalue()


if __name__ == "__main__":
    sys.exit(main())
