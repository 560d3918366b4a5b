import asyncio
import base64
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import gif_of_frames, jpeg_of_scans, pdf_of_strokes

from vit_str.characters.charset import charset_of
from vit_str.decoding.search import Search
from vit_str.engines.weights_contents import resolve
from vit_str.machine import install_hint
from vit_str.serving import app as app_module
from vit_str.serving import page_readers, page_turns, pages, reading_requests, uploads
from vit_str.words.reader import Reader, load

Site = Any  # of conftest.py
Asked = asyncio.Future[httpx.Response]
FORM = [("files", ("a.png", b"x"))]
MANY = "\n".join(map(str, range(10_001)))
FILES = sorted((Path(__file__).parents[2] / "data" / "samples" / "images").iterdir())


class Slow(Reader):
    """A reader that waits for permission."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.engine)
        self.started, self.go = threading.Event(), threading.Event()

    def encode(self, pixels: np.ndarray) -> Any:
        self.started.set()
        assert self.go.wait(20)
        return super().encode(pixels)


@pytest.fixture
def slow(tiny) -> Slow:
    return Slow(tiny)


def asked(client: httpx.AsyncClient, picture: bytes, **options: Any) -> Asked:
    return asyncio.ensure_future(client.post("/v1/read", content=picture, **options))


def error_of(response: httpx.Response) -> str:
    error = response.json()["error"]
    assert isinstance(error, str)
    assert "\n" not in error
    return error


@pytest.mark.parametrize(
    ("options", "query", "lexicon"),
    [
        ([], {}, None),
        (["--boxes"], {"boxes": 1}, None),
        (["--n-best", "3", "--beams", "4"], {"n_best": 3, "beams": 4}, None),
        (["--alphabet", "abcde"], {"alphabet": "abcde"}, None),
        (["--lexicon", "words.txt"], {}, "Museum\nbread\n"),
        (["--language", "none"], {"language": "none"}, None),
    ],
)
def test_records_are_those_of_the_command_line(
    options, query, lexicon, site, tmp_path, monkeypatch, run
):
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text(lexicon or "x")
    Path("broken.png").write_bytes(b"broken")
    paths = [*map(str, FILES[:3]), "broken.png"]
    alone = ["--model", str(resolve("tiny")), "--backend", "onnx"]
    code, out, _ = run("read", *paths, "--format", "jsonl", *alone, *options)
    expected = [json.loads(line) for line in out.splitlines()]
    files = [("files", (path, Path(path).read_bytes())) for path in paths]
    data = {"lexicon": lexicon} if lexicon else {}
    response = site().post("/v1/read", files=files, data=data, params=query)
    assert (code, response.status_code) == (1, 200)
    readings = response.json()["readings"]
    assert [each["path"] for each in readings] == paths
    assert [without_numbers(each) for each in readings] == [
        without_numbers(e) for e in expected
    ]
    for reading, other in zip(readings[:3], expected[:3], strict=True):
        assert reading["confidence"] == pytest.approx(other["confidence"], abs=1e-4)
    assert "not an image" in readings[3]["error"]


def test_a_lexicon_may_be_a_file(site):
    """As `curl -F lexicon=@words.txt` sends it, maybe from an editor of Windows."""
    words = ("words.txt", "\ufeffbread\r\nMuseum\r\n".encode())
    files = [("lexicon", words), ("files", (FILES[0].name, FILES[0].read_bytes()))]
    response = site().post("/v1/read", files=files)
    (reading,) = response.json()["readings"]
    assert (reading["path"], reading["text"]) == (FILES[0].name, "Museum")


def without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [without_numbers(item) for item in value]
    return round(value, 2) if isinstance(value, float) else value


def test_requests_that_wait_are_read_together(site, slow, word):
    pictures = [word(text) for text in ("one", "two", "three", "four", "five")] * 8
    pictures[7], pictures[20] = b"x", pictures[20][:60]
    here = site(slow)

    async def ask(client):
        asking = [asked(client, picture) for picture in pictures]
        await asyncio.to_thread(slow.started.wait, 10)
        while here.service.words._decoder.in_progress:
            await asyncio.sleep(0.02)
        slow.go.set()
        return await asyncio.gather(*asking)

    answers = [response.json()["readings"][0] for response in here.run(ask)]
    for index, (picture, answer) in enumerate(zip(pictures, answers, strict=True)):
        if index in (7, 20):
            assert answer["text"] is None
            assert answer["error"]
            continue
        alone = slow.read(picture)
        assert answer["text"] == alone.text
        assert answer["confidence"] == pytest.approx(alone.confidence, abs=1e-4)
    assert here.metric("vit_str_batch_pictures_sum") == 38
    assert here.metric("vit_str_batch_pictures_count") <= 4
    assert here.metric('vit_str_pictures_total{outcome="unreadable"}') == 2
    assert here.metric("vit_str_queue") == 0


@pytest.mark.parametrize("runs_down", [False, True])
def test_attention_covers_the_picture(runs_down, site, word):
    image = Image.open(io.BytesIO(word("Hallo", (160, 32))))
    if runs_down:
        image = image.transpose(Image.Transpose.ROTATE_270)
    file = io.BytesIO()
    image.save(file, "PNG")
    response = site().post("/v1/read?attention=1", content=file.getvalue())
    (reading,) = response.json()["readings"]
    width, height = image.size
    for character in reading["characters"]:
        seen = np.array(character["attention"])
        assert seen.shape[0 if width > height else 1] == 2
        assert seen.sum() == pytest.approx(1, abs=1e-3)
        left, top, right, bottom = character["box"]
        rows, columns = np.indices(seen.shape) + 0.5
        x = (seen * columns).sum() * width / seen.shape[1]
        y = (seen * rows).sum() * height / seen.shape[0]
        assert left - 1 <= x <= right + 1
        assert top - 1 <= y <= bottom + 1


@pytest.mark.parametrize(
    ("status", "content", "query", "limits", "reason"),
    [
        (413, bytes(3000), "", {"body": 2000}, "a request may hold 2,000 bytes"),
        (422, "one", "", {"pixels": 1000}, "larger than 1,000 pixels"),
        (422, b"", "", {}, "no picture"),
        (422, "one", "?n_best=0", {}, "n_best: Input should be"),
        (422, "one", "?n_best=5&beams=2", {}, "beams no fewer"),
        (422, "one", "?boxes=perhaps", {}, "boxes: "),
        (422, "one", "?alphabet=%E4%B8%80", {}, "characters of the model lack"),
        (422, "one", "?boxs=1", {}, "boxs: no option of such requests"),
        (422, "one", "?page=2", {}, "page: no option of such requests"),
        (422, "one", "?language=xx", {}, "language must be none, of be, bg, "),
        (422, "one", "?language=en*0", {}, "a language has a share of 1 or more"),
        (422, "one", "?language=en%2Bfr*0", {}, "found 'fr*0'"),
        (422, "one", "?language=en+fr*0", {}, "found 'fr*0'"),  # a space in a query
        (
            422,
            "one",
            "?language=/etc/passwd",
            {},
            "language: give codes such as en, en+fr or en*8+de, or none, found '/etc",
        ),
    ],
)
def test_refused(status, content, query, limits, reason, site, word):
    here = site(**limits)
    content = word(content) if isinstance(content, str) else content
    response = here.post(f"/v1/read{query}", content=content)
    assert (response.status_code, reason in error_of(response)) == (status, True), (
        response.text
    )
    assert (
        here.metric(f'vit_str_requests_total{{path="/v1/read",status="{status}"}}') == 1
    )
    assert here.metric("vit_str_queue") == 0


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        ({"files": [("files", (None, "text"))]}, 422, "no picture"),
        (
            {"content": b"--x", "headers": {"content-type": "multipart/form-data"}},
            400,
            "form",
        ),
        ({"files": FORM * 5}, 422, "may hold 4 pictures"),
        ({"files": FORM * 3, "params": {"n_best": 2}}, 422, "may hold 2 pictures"),
        ({"files": FORM, "data": {"lexicon": MANY}}, 422, "10,000 words"),
        ({"files": FORM, "data": {"language": "de"}}, 422, "/v1/read?language=..."),
        ({"files": [*FORM, ("lexicon", ("a", b"\xff"))]}, 422, "not UTF-8 text"),
        ({"files": FORM, "data": {"lexicon": 2_000_000 * "a"}}, 400, "form"),
    ],
)
def test_refused_forms(options, status, reason, site):
    response = site(queue=4).post("/v1/read", **options)
    assert (response.status_code, reason in error_of(response)) == (status, True), (
        response.text
    )


def test_unknown_paths_and_methods(site):
    here = site()
    assert "/docs" in error_of(here.get("/v1/nothing"))
    assert here.get("/v1/read").status_code == 405
    assert here.get("/web/../app.py").status_code == 404


def test_full_queue_and_deadline(site, slow, word, monkeypatch):
    here = site(slow, queue=4, deadline=60)

    async def ask(client):
        asking = [asked(client, word("a")) for _ in range(4)]
        await asyncio.to_thread(slow.started.wait, 10)
        refused = await asked(client, word("b"))
        assert not any(each.done() for each in asking)
        loop = asyncio.get_running_loop()
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + 60)
        return await asyncio.gather(*asking), refused

    late, refused = here.run(ask)
    assert refused.status_code == 429
    assert "too many of your pictures" in error_of(refused)
    assert refused.headers["retry-after"] == "1"
    assert [each.status_code for each in late] == 4 * [504]
    assert "60 seconds" in error_of(late[0])
    slow.go.set()
    assert here.metric("vit_str_queue") == 0
    assert here.post("/v1/read", content=word("b")).status_code == 200


def test_a_greedy_client_does_not_keep_others_out(site, slow, word):
    here, files = site(slow, queue=4), [("files", ("a.png", word("a")))] * 4

    async def ask(polite):
        def client(number):
            transport = httpx.ASGITransport(here.app, client=(f"10.0.0.{number}", 1))
            return httpx.AsyncClient(transport=transport, base_url="http://test")

        greedy = client(1)
        posts = [
            asyncio.ensure_future(greedy.post("/v1/read", files=files))
            for _ in range(4)
        ]
        await asyncio.to_thread(slow.started.wait, 10)
        answer = asked(polite, word("b"))
        slow.go.set()
        assert (await answer).status_code == 200
        assert sorted([(await each).status_code for each in posts]) == [
            200,
            429,
            429,
            429,
        ]

        slow.go.clear()
        slow.started.clear()
        full = [
            asyncio.ensure_future(client(n).post("/v1/read", files=files))
            for n in range(4)
        ]
        await asyncio.to_thread(slow.started.wait, 10)
        assert (await asked(polite, word("b"))).status_code == 503
        slow.go.set()
        assert {(await each).status_code for each in full} == {200}

    here.run(ask)


def test_clients_that_leave_are_not_read(site, slow, word):
    here = site(slow)

    async def ask(client):
        first = asked(client, word("a"))
        await asyncio.to_thread(slow.started.wait, 10)
        await asyncio.gather(*(leave(here, word("b")) for _ in range(5)))
        slow.go.set()
        await first

    async def leave(here, body):
        messages = [{"type": "http.request", "body": body}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.sleep(0.3)
            return {"type": "http.disconnect"}

        async def send(message):
            assert message.get("status", 499) == 499

        scope = {"type": "http", "method": "POST", "path": "/v1/read", "headers": []}
        await here.app(
            {**scope, "query_string": b"", "http_version": "1.1"}, receive, send
        )

    here.run(ask)
    assert here.metric("vit_str_batch_pictures_sum") == 1
    assert here.metric('vit_str_requests_total{path="/v1/read",status="499"}') == 5


def test_slow_senders(site):
    async def drops():
        for _ in range(50):
            yield b"x"
            await asyncio.sleep(0.1)

    response = site(receive=0.3).run(
        lambda client: client.post("/v1/read", content=drops())
    )
    assert response.status_code == 408
    assert "0.3 seconds" in error_of(response)


def test_failures_of_one_do_not_hurt_others(site, tiny, word, monkeypatch):
    class Fragile(Reader):
        def encode(self, pixels):
            if any(image.min() > 200 for image in pixels):
                raise RuntimeError("white")
            return super().encode(pixels)

    here = site(Fragile(tiny.engine))

    async def ask(client):
        return await asyncio.gather(
            *(asked(client, word(text)) for text in ("a", "", "b"))
        )

    first, broken, last = here.run(ask)
    assert (first.status_code, broken.status_code, last.status_code) == (200, 500, 200)
    assert "RuntimeError" not in error_of(broken)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer very-secret"}, 200),
        ({"x-api-key": "very-secret"}, 200),
        ({"x-api-key": "vëry"}, 401),
    ],
)
def test_key(headers, status, site):
    here = site(options={"key": "very-secret"})
    given = {name: value.encode() for name, value in headers.items()}
    for path in ("/v1/model", "/metrics"):
        assert here.get(path, headers=given).status_code == status
    for path in ("/health", "/ready", "/docs"):
        assert here.get(path).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://test"}, 200),
        ({"origin": "https://TEST"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://test.evil.example"}, 403),
        ({"origin": "http://test:8080"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": "https://text.example.com", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_pages_of_elsewhere_are_not_read_for(headers, status, site, word):
    here = site()
    response = here.post("/v1/read", content=word("a"), headers=headers)
    assert response.status_code == status
    assert status == 200 or "start it with --cors ORIGIN" in error_of(response)
    assert "retry-after" not in response.headers
    assert here.metric('vit_str_pictures_total{outcome="read"}') == (status == 200)


def test_other_origins_are_not_let_in_unless_named(site):
    headers = {"origin": "https://example.com"}
    name = "access-control-allow-origin"
    assert name not in site().get("/health", headers=headers).headers
    here = site(options={"origins": ("https://example.com",)})
    assert here.get("/health", headers=headers).headers[name] == "https://example.com"


def test_names_of_elsewhere_are_not_answered_to(site):
    def status(host, **options):
        response = site(options=options).get("/v1/model", headers={"host": host})
        assert response.status_code == 200 or "--allow-host" in error_of(response)
        return response.status_code

    for host in (
        "127.0.0.1:8000",
        "[::1]:8000",
        "localhost",
        "a.localhost:1",
        "text",
        "10.0.0.1",
    ):
        assert status(host) == 200
    for host in (
        "evil.example",
        "127.0.0.1.evil.example:8000",
        "localhost.evil.example",
    ):
        assert status(host) == 421
    assert status("text.example.com:80", hosts=("text.example.com",)) == 200


def test_heads_of_pages(site):
    here = site()
    for path in ("/", "/health", "/ready"):
        response = here.run(lambda client, path=path: client.head(path))
        assert (response.status_code, response.content) == (200, b"")


def test_own_pages_need_nothing_from_elsewhere(site, tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("<title>page</title>")
    (tmp_path / "app.js").write_text("let a = 1")
    monkeypatch.setattr(app_module, "WEB", tmp_path)
    here = site()
    for path in ("/", "/web/app.js"):
        response = here.get(path)
        assert response.status_code == 200
        assert "default-src 'self'" in response.headers["content-security-policy"]
    assert "http" not in here.get("/docs").text.replace("http-equiv", "")
    assert here.get("/docs/swagger-ui-bundle.js").status_code == 200
    schema = here.get("/openapi.json").json()
    assert {"/v1/read", "/v1/page", "/v1/model", "/health"} <= set(schema["paths"])


def test_model_is_described(site, tiny):
    found = site().get("/v1/model").json()
    assert found["characters"] == tiny.charset.characters
    assert found["image_size"] == [32, 128]
    assert found["limits"]["queue"] == 64
    assert found["boxes"]


def test_boxes_of_lines_are_not_denied(site):
    here = site(load("line", "cpu", backend="onnx"))
    assert here.get("/v1/model").json()["boxes"]


def test_the_encoding_of_a_form_is_utf_8_whatever_it_says(site, word):
    here = site()
    name = "Straße.png"
    for charset in ("punycode", "undefined", "latin-1", "no such"):
        files = f'name="files"; filename="{name}"\r\n\r\n'.encode() + word("a")
        lexicon = b'name="lexicon"\r\n\r\n' + "Straße".encode()
        answer = here.post("/v1/read", **form([files, lexicon], charset))
        assert answer.status_code == 200, answer.text
        (reading,) = answer.json()["readings"]
        assert reading["path"] == name
    began = time.monotonic()
    long = form([b'name="lexicon"\r\n\r\na-' + 1_000_000 * b"b"], "punycode")
    assert here.post("/v1/read", **long).status_code == 422
    assert time.monotonic() - began < 10


def form(parts: list[bytes], charset: str) -> dict[str, Any]:
    begin = b"--b\r\nContent-Disposition: form-data; "
    body = b"\r\n".join([*(begin + part for part in parts), b"--b--\r\n"])
    return {
        "content": body,
        "headers": {
            "content-type": f"multipart/form-data; charset={charset}; boundary=b"
        },
    }


def test_forms_are_taken_apart_beside_everything_else(site, word, monkeypatch):
    here, wait, read_form = site(), threading.Event(), reading_requests.read_form

    def slow(*arguments):
        assert wait.wait(20)
        return read_form(*arguments)

    monkeypatch.setattr(reading_requests, "read_form", slow)

    async def ask(client):
        files = {"files": ("a.png", word("a"))}
        posts = [
            asyncio.ensure_future(client.post("/v1/read", files=files))
            for _ in range(3)
        ]
        await asyncio.sleep(0.3)
        assert (await client.get("/health")).status_code == 200
        assert (await asked(client, word("b"))).status_code == 200
        assert not any(post.done() for post in posts)
        wait.set()
        assert {(await post).status_code for post in posts} == {200}

    here.run(ask)


def test_a_server_that_is_stuck_is_not_ready(site, slow, word):
    here = site(slow, deadline=0.5)
    assert here.post("/v1/read", content=word("a")).status_code == 504
    time.sleep(0.5)  # it was begun after the request had come
    stuck = here.get("/ready")
    assert (stuck.status_code, stuck.json()["status"]) == (503, "busy")
    assert error_of(stuck) == "reading: busy for over 0.5 seconds; ask another server"
    assert here.get("/health").status_code == 200
    slow.go.set()
    end = time.monotonic() + 20
    while here.get("/ready").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_log_says_when_who_and_which(site, caplog):
    """And the answer says which it was, so that a client can ask about it."""
    with caplog.at_level("INFO", "vit_str.serving"):
        own = site().get("/health", headers={"X-Request-ID": "proxy-7.a"})
        others = [
            site().get("/health", headers={"X-Request-ID": name})
            for name in ("a b", "x" * 65, "\tb")
        ]
        refused = site(options={"key": "k"}).get("/v1/model")
    names = [answer.headers["x-request-id"] for answer in (own, *others, refused)]
    assert names[0] == "proxy-7.a" and len({*names}) == 5
    assert all(re.fullmatch("[0-9a-f]{8}", name) for name in names[1:])
    lines = [line.split() for line in caplog.messages if "/health" in line]
    for name, (when, client, told, *rest) in zip(names, lines, strict=False):
        assert abs(datetime.fromisoformat(when).timestamp() - time.time()) < 60
        assert (client, told) == ("127.0.0.1", name)
        assert rest[:3] == ["GET", "/health", "200"] and rest[4] == "ms"


def test_a_path_stays_in_one_line_of_the_log(site, caplog):
    with caplog.at_level("INFO", "vit_str.serving"):
        site().get("/a%0AGET%20/forged%1B[2J")
    (line,) = (each for each in caplog.messages if "forged" in each)
    assert r" GET /a\nGET /forged\x1b[2J 404 " in line


def test_a_jpeg_of_endless_scans_is_refused(site, word):
    here = site()
    response = here.post("/v1/read", content=jpeg_of_scans((7000, 7000), 95_000))
    assert "a JPEG of over 100 scans" in response.json()["readings"][0]["error"]
    assert here.post("/v1/read", content=word("a")).status_code == 200


class TestPage:
    class Detector:
        def lines(self, image: Any) -> list[np.ndarray]:
            width, height = image.size
            return [np.array([[0, 0], [width, 0], [width, height], [0, height]], float)]

    @pytest.fixture(autouse=True)
    def _parts(self, site, monkeypatch) -> None:
        parts = self.Detector(), load("line", "cpu")
        monkeypatch.setattr(page_readers, "reads_pages", lambda: True)
        monkeypatch.setattr(pages, "reads_pages", lambda: True)
        monkeypatch.setattr(page_readers, "_open_parts", lambda reader: parts)

    def test_record_is_that_of_a_page(self, site, tiny, word):
        from vit_str.pages.reader import PageReader
        from vit_str.pages.write.json_rows import page_row

        picture = word(
            "OO-00", (300, 60)
        )  # look-alikes, which are judged by their kind
        detector, lines = page_readers._open_parts(tiny)
        reader = PageReader(tiny, detector, lines.summing_look_alikes())
        page = reader.read(picture, boxes=True)
        response = site().post("/v1/page", files={"files": ("a.png", picture)})
        assert response.status_code == 200
        expected = json.loads(json.dumps(page_row("a.png", page) | {"page": 1}))
        assert response.json() == expected
        assert expected["words"][0]["characters"]

    def test_texts_are_checked(self, site, word):
        here, picture = site(), word("Hallo", (300, 60))
        form = {"files": {"files": ("a.png", picture)}}
        right = here.post("/v1/check?picture=1", data={"text": "**Hallo**"}, **form)
        assert right.status_code == 200
        record = right.json()
        assert record["right"] is True
        (checked,) = record["words"]
        assert (checked["verdict"], checked["start"], checked["end"]) == (
            "confirmed",
            2,
            7,
        )
        assert len(checked["boxes"][0]) == 4
        assert record["picture"].startswith("data:image/jpeg;base64,")
        assert "html" not in record
        wrong = here.post("/v1/check?html=1", data={"text": "Hello"}, **form).json()
        assert [row["verdict"] for row in wrong["words"]] == ["contradicted"]
        assert wrong["words"][0]["found"] == "Hallo"
        assert wrong["html"].startswith("<!doctype html>")

    @pytest.mark.parametrize(
        ("query", "text", "reason"),
        [
            ("", "", "no text"),
            ("?format=markdown", "---", "no words"),
            ("?format=docx", "a", "format"),
            ("?language=/etc/passwd", "a", "codes"),
            ("", "a " * 20_001, "20,000 words"),
        ],
    )
    def test_texts_that_cannot_be_checked(self, site, word, query, text, reason):
        form = {"files": {"files": ("a.png", word("Hallo", (300, 60)))}}
        response = site().post(f"/v1/check{query}", data={"text": text}, **form)
        assert response.status_code == 422
        assert reason in error_of(response)

    def test_pages_of_files(self, site, word):
        here, picture = site(), word("Hallo", (300, 60), "TIFF")
        assert here.post("/v1/page", content=picture).json()["page"] == 1
        missing = here.post("/v1/page?page=2", content=picture)
        assert (missing.status_code, "no page 2" in error_of(missing)) == (422, True)
        for content, problem in ((b"x", "not an image"), (b"%PDF-1.4 x", "damaged")):
            broken = here.post("/v1/page", content=content).json()
            assert broken["text"] is None
            assert problem in broken["error"]
        assert site(pixels=100).post("/v1/page", content=picture).status_code == 422

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk of Linux")
    def test_a_full_disk_is_not_the_fault_of_the_picture(
        self, site, word, tmp_path, monkeypatch
    ):
        (tmp_path / "file.image").symlink_to("/dev/full")
        monkeypatch.setattr(
            tempfile, "TemporaryDirectory", lambda **_: nullcontext(tmp_path)
        )
        answer = site().post("/v1/page", content=word("a", form="TIFF"))
        assert answer.status_code == 503
        assert "cannot keep the file while it is read (No space left" in error_of(
            answer
        )
        assert answer.headers["retry-after"] == "1"

    def test_a_turned_photograph_is_turned_once(self, site, word):
        exif = Image.Exif()
        exif[0x0112] = 6  # a quarter to the right
        turned = io.BytesIO()
        with Image.open(io.BytesIO(word("Hallo", (300, 60)))) as picture:
            turned_picture = picture.convert("RGB").transpose(Image.Transpose.ROTATE_90)
            turned_picture.save(turned, "JPEG", exif=exif, quality=95)
        record = site().post("/v1/page", content=turned.getvalue()).json()
        assert (record["width"], record["height"]) == (300, 60)
        assert record["text"] == "Hallo"

    def test_a_page_as_a_picture(self, site, word):
        pytest.importorskip("pypdfium2")
        file = word("Hallo", (300, 60), "PDF")
        assert "picture" not in site().post("/v1/page", content=file).json()
        record = site().post("/v1/page?picture=1", content=file).json()
        assert record["pages"] == 1
        kind, content = record["picture"].split(",")
        assert kind == "data:image/jpeg;base64"
        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            assert picture.size == (record["width"], record["height"])

    def test_while_a_pdf_file_is_drawn_others_are_answered(
        self, site, word, monkeypatch
    ):
        from vit_str.pages import pictures

        here, wait, drawn = site(), threading.Event(), pictures.pictures_in

        def slow(path, *arguments):
            assert not path.endswith(".pdf") or wait.wait(20)
            return drawn(path, *arguments)

        monkeypatch.setattr(pictures, "pictures_in", slow)

        async def ask(client):
            first = asyncio.ensure_future(
                client.post("/v1/page", content=word("a", form="PDF"))
            )
            await asyncio.sleep(0.1)
            other = await client.post("/v1/page", content=word("Hallo", (300, 60)))
            assert (other.status_code, first.done()) == (200, False)
            wait.set()
            assert (await first).json()["error"] is None

        here.run(ask)

    def test_a_page_that_takes_long_makes_room_for_others(
        self, site, word, monkeypatch
    ):
        """Else a client with hard pages has all the time that others could be read in."""
        here, wait = site(), threading.Event()
        encode = page_readers.InterruptibleReader.encode

        def slow(reader, pixels):
            assert wait.wait(20)
            return encode(reader, pixels)

        monkeypatch.setattr(page_turns, "_TURN", 0.0)
        monkeypatch.setattr(page_readers.InterruptibleReader, "encode", slow)

        async def ask(polite):
            transport = httpx.ASGITransport(here.app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test"
            ) as greedy:
                hard = asyncio.ensure_future(greedy.post("/v1/page", content=word("a")))
                await asyncio.sleep(0.3)
                other = asyncio.ensure_future(
                    polite.post("/v1/page", content=word("Hallo", (300, 60)))
                )
                await asyncio.sleep(0.3)
                wait.set()
                assert (await other).status_code == 200
                return await hard

        answer = here.run(ask)
        assert answer.status_code == 503
        assert "others wait, and this page takes over 0 seconds" in error_of(answer)
        assert answer.headers["retry-after"] == "30"

    def test_time_that_others_take_is_not_that_of_a_page(self, site, word, monkeypatch):
        """A page that waits for its turn on a busy machine is not dropped for that."""
        here = site(deadline=9)
        encode = page_readers.InterruptibleReader.encode

        def slow(reader, pixels):
            time.sleep(0.2)
            return encode(reader, pixels)

        monkeypatch.setattr(page_turns, "_TURN", 0.1 / 9)
        monkeypatch.setattr(page_turns.time, "thread_time", lambda: 1.0)
        monkeypatch.setattr(page_readers.InterruptibleReader, "encode", slow)
        monkeypatch.setattr(here.service.pages.pool, "others_wait", lambda: True)
        assert (
            here.post("/v1/page", content=word("Hallo", (300, 60))).status_code == 200
        )

    def test_a_page_that_was_dropped_has_a_longer_turn_when_it_comes_again(
        self, site, word, monkeypatch
    ):
        here = site(deadline=30)
        used = iter(range(0, 10_000, 7))  # seconds of the processor between two looks
        monkeypatch.setattr(page_turns.time, "thread_time", lambda: float(next(used)))
        monkeypatch.setattr(here.service.pages.pool, "others_wait", lambda: True)
        encode = page_readers.InterruptibleReader.encode

        def in_two_looks(reader, pixels):
            reader._check()
            return encode(reader, pixels)

        monkeypatch.setattr(page_readers.InterruptibleReader, "encode", in_two_looks)
        page = word("Hallo", (300, 60))
        first = here.post("/v1/page", content=page)
        assert first.status_code == 503
        assert "takes over 10 seconds" in error_of(first)
        assert here.post("/v1/page", content=page).status_code == 200
        assert here.post("/v1/page", content=page).status_code == 503
        assert (
            not here.service.pages.turns._dropped
            or len(here.service.pages.turns._dropped) == 1
        )

    def test_a_page_for_which_there_is_no_time_is_refused_at_once(
        self, site, slow, word, monkeypatch
    ):
        here = site(slow, deadline=10)
        here.service.pages.pool._pool.submit(str).result(60)
        here.service.pages.turns.mean_time.seconds = 6.0
        engine = type(slow.engine)
        encode = engine.encode

        def slow_encode(self, images):
            assert slow.go.wait(20)
            return encode(self, images)

        monkeypatch.setattr(engine, "encode", slow_encode)

        async def ask(polite):
            transport = httpx.ASGITransport(here.app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test"
            ) as first:
                page = word("a", (300, 60))
                reading = asyncio.ensure_future(first.post("/v1/page", content=page))
                await asyncio.sleep(0.3)
                began = time.monotonic()
                other = await polite.post("/v1/page", content=page)
                assert time.monotonic() - began < 2
                slow.go.set()
                assert (await reading).status_code == 200
                return other

        answer = here.run(ask)
        assert answer.status_code == 503
        assert "others come first, and 2 pages of 6 seconds each" in error_of(answer)
        assert answer.headers["retry-after"] == "2"

    def test_pages_that_nobody_waits_for_end(self, site, slow, word, monkeypatch):
        here, engine = site(slow, deadline=0.5), type(slow.engine)
        here.service.pages.pool._pool.submit(str).result(60)  # it has what it needs
        encode = engine.encode

        def slow_encode(self, images):
            assert slow.go.wait(20)
            return encode(self, images)

        monkeypatch.setattr(engine, "encode", slow_encode)
        response = here.post("/v1/page", content=word("Hallo", (300, 60)))
        assert response.status_code == 504
        slow.go.set()
        started = time.perf_counter()
        here.service.close()
        assert time.perf_counter() - started < 5

    def test_a_page_that_has_to_wait_for_too_long_is_refused(
        self, site, slow, word, monkeypatch
    ):
        """With when to come again, before its own time is over: it is not to blame."""
        here, engine = site(slow, deadline=3.0), type(slow.engine)
        here.service.pages.pool._pool.submit(str).result(60)
        encode = engine.encode

        def slow_encode(self, images):
            assert slow.go.wait(20)
            return encode(self, images)

        monkeypatch.setattr(engine, "encode", slow_encode)
        monkeypatch.setattr(here.service.pages.turns, "check", lambda turn, over: None)

        async def ask(polite):
            transport = httpx.ASGITransport(here.app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test"
            ) as greedy:
                hard = asyncio.ensure_future(
                    greedy.post("/v1/page", content=word("a", (300, 60)))
                )
                await asyncio.sleep(0.3)
                other = await polite.post("/v1/page", content=word("b", (300, 60)))
                slow.go.set()
                await hard
                return other

        answer = here.run(ask)
        assert answer.status_code == 503
        assert "others come first" in error_of(answer)
        assert answer.headers["retry-after"] == "2"

    def test_a_client_has_one_drawer(self, site, word, monkeypatch):
        """So that one with hard PDF files does not keep others from having theirs drawn."""
        from vit_str.pages import pictures

        here, drawn, wait = site(pages=8), pictures.pictures_in, threading.Event()
        hard, drawing, most = word("a", form="PDF"), [], []

        def slow(path, *arguments):
            if Path(path).read_bytes() == hard:
                drawing.append(path)
                most.append(len(drawing))
                assert wait.wait(20)
                drawing.remove(path)
            return drawn(path, *arguments)

        monkeypatch.setattr(pictures, "pictures_in", slow)

        async def ask(polite):
            transport = httpx.ASGITransport(here.app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test"
            ) as greedy:
                posts = [
                    asyncio.ensure_future(greedy.post("/v1/page", content=hard))
                    for _ in range(4)
                ]
                await asyncio.sleep(0.3)
                other = await polite.post(
                    "/v1/page", content=word("Hallo", (300, 60), "PDF")
                )
                assert other.json()["error"] is None
                assert not any(post.done() for post in posts)
                wait.set()
                assert {(await post).status_code for post in posts} == {200}

        here.run(ask)
        assert len(most) == 4
        assert max(most) == 1

    @pytest.mark.skipif(os.name != "posix", reason="looks at processes")
    def test_what_is_drawn_for_nobody_ends(self, site):
        pytest.importorskip("pypdfium2")
        response = site(deadline=2).post("/v1/page", content=pdf_of_strokes())
        assert response.status_code == 504
        end = time.monotonic() + 3  # of 25 that it may take
        while drawers():
            assert time.monotonic() < end
            time.sleep(0.05)

    def test_frames_that_are_composed_for_long_are_refused(self, site, word):
        here = site()
        response = here.post("/v1/page?page=1000", content=gif_of_frames(7000, 5000))
        assert "page 1000: the frames up to it have over" in response.json()["error"]
        assert (
            here.post("/v1/page", content=word("Hallo", (300, 60))).json()["error"]
            is None
        )

    def test_without_the_extra(self, site, word, monkeypatch):
        monkeypatch.setattr(pages, "reads_pages", lambda: False)
        response = site().post("/v1/page", content=word("a"))
        assert response.status_code == 501
        assert install_hint("page") in error_of(response)

    def test_a_damaged_detector_is_no_mistake_of_the_client(
        self, site, word, monkeypatch, caplog
    ):
        def broken(_):
            raise ValueError("det.onnx: damaged; run: pip install")

        monkeypatch.setattr(page_readers, "_open_parts", broken)
        here = site()
        for _ in range(2):
            response = here.post("/v1/page", content=word("a"))
            assert response.status_code == 501
            assert error_of(response).endswith("its log says what it lacks")
        assert here.post("/v1/read", content=word("a")).status_code == 200
        here.service.close()
        told = [record.getMessage() for record in caplog.records]
        assert told == [
            "whole pictures are not read: det.onnx: damaged; run: pip install"
        ]


def drawers() -> list[str]:
    """Processes of this one that draw."""
    command = ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if "drawing.py" in line]


def test_large_pictures_do_not_hold_up_small_ones(site, word, monkeypatch):
    here, wait = site(), threading.Event()
    large = word("large", (2000, 1200))
    decode_apart = uploads.decode_apart

    def slow_decode(*arguments):
        assert wait.wait(20)
        return decode_apart(*arguments)

    monkeypatch.setattr(uploads, "decode_apart", slow_decode)

    async def ask(client):
        slow_ones = [asked(client, large) for _ in range(6)]
        await asyncio.sleep(0.3)
        small = await asked(client, word("small"))
        assert not any(each.done() for each in slow_ones)
        assert small.status_code == 200
        wait.set()
        assert {each.status_code for each in await asyncio.gather(*slow_ones)} == {200}

    here.run(ask)


def test_a_request_gets_the_weights_of_its_language(both_scripts, site, word):
    reader = load(both_scripts, "cpu")
    here = site(reader, model=both_scripts)
    for language, charset in (
        ("ru", "cyrillic-greek"),
        ("de", "latin"),
        ("ru+de", "latin"),
    ):
        opened = here.service.weights.searching(Search(language=language))
        assert opened.charset == charset_of(charset), language
        assert bool(opened._others) == (language == "ru+de")
        response = here.post(
            f"/v1/read?language={quote(language)}", content=word("one")
        )
        assert response.status_code == 200
    assert {"ru", "el", "kk"} <= set(here.get("/v1/model").json()["other_languages"])
    assert (
        here.service.weights.engine(both_scripts / "tiny.safetensors") is reader.engine
    )


def test_larger_weights_read_what_requests_leave_doubtful(doubting_folder, site, word):
    here = site(load(doubting_folder, "cpu"), model=doubting_folder)
    for language in (None, "none", "en"):
        texts = {}
        for name in ("tiny", "base"):
            path = doubting_folder / f"{name}.safetensors"
            alone = load(path, "cpu", search=Search(language=language))
            texts[name] = alone.read(word("Two")).text
        assert texts["tiny"] != texts["base"]
        query = f"?language={language}" if language else ""
        (record,) = here.post(f"/v1/read{query}", content=word("Two")).json()[
            "readings"
        ]
        assert record["text"] == texts["base"], query


def test_pages_of_requests_have_larger_weights_that_can_be_interrupted(
    doubting_folder, site, word, monkeypatch
):
    reader = load(doubting_folder, "cpu")
    service = site(reader, model=doubting_folder).service
    lines = load(doubting_folder / "line.safetensors", "cpu")
    opener = page_readers.PageReaderOpener(service.weights)
    monkeypatch.setattr(opener, "_parts", lambda: (None, lines))
    checked = []
    reader = opener.open(Search(), lambda: checked.append(None), 0.0).reader
    found = reader.read(word("Two"))
    assert found == load(doubting_folder, "cpu").read(word("Two"))
    assert len(checked) >= 2, "before each model"


def test_a_language_that_nothing_reads_is_the_mistake_of_a_client(
    site, word, latin_alone
):
    here = site(model="tiny")
    assert here.get("/v1/model").json()["other_languages"] == []
    response = here.post("/v1/read?language=ru", content=word("one"))
    assert response.status_code == 422
    assert "needs weights that read Cyrillic" in response.json()["error"]
