"""``POST /v1/document``: all pages of a file, as they are read."""

import asyncio
import csv
import importlib
import io
import json
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
from PIL import Image, ImageDraw, ImageFont

import vit_str
from vit_str.pages import document as documents
from vit_str.serving import page_readers, pages
from vit_str.serving.limits import Refusal

pytestmark = pytest.mark.skipif(
    find_spec("cv2") is None, reason="pip install vit-str[page]"
)
open_page_parts = page_readers._open_parts
WORDS = ("Hallo", "Museum", "Garten")


def drawn(text: str) -> Image.Image:
    image = Image.new("RGB", (400, 80), "white")
    font = ImageFont.load_default(40)
    ImageDraw.Draw(image).text((20, 10), text, fill="black", font=font)
    return image


@pytest.fixture
def here(site, monkeypatch):
    monkeypatch.setattr(page_readers, "_open_parts", open_page_parts)
    return site(model="tiny")


@pytest.fixture(scope="module")
def scan() -> bytes:
    """A file of three pages."""
    first, *others = map(drawn, WORDS)
    file = io.BytesIO()
    first.save(file, "TIFF", save_all=True, append_images=others)
    return file.getvalue()


def post(here, content, query="", name="scan.tiff"):
    return here.post(f"/v1/document{query}", files={"files": (name, content)})


def test_a_document_is_what_python_reads(here, scan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scan.tiff").write_bytes(scan)
    document = vit_str.read_document("scan.tiff", boxes=True)
    documents._loaded.cache_clear()
    answer = post(here, scan)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert [page["page"] for page in found["pages"]] == [1, 2, 3]
    assert [page["text"] for page in found["pages"]] == list(WORDS)
    expected = json.loads(json.dumps(document.to_dict()))
    for page in [*found["pages"], *expected["pages"]]:
        for block in page["structure"]:  # whose levels are told page by page
            block.pop("level", None)
    assert found == expected


def test_formats(here, scan):
    markdown = post(here, scan, "?format=md")
    assert markdown.headers["content-type"].startswith("text/markdown")
    texts = markdown.text.strip().split("\n\n---\n\n")
    assert [text.lstrip("# ") for text in texts] == list(WORDS)
    html = post(here, scan, "?format=html&pages=2-")
    assert html.headers["content-type"].startswith("text/html")
    assert html.text.startswith("<!DOCTYPE html>") and html.text.endswith("</html>\n")
    assert WORDS[0] not in html.text and WORDS[2] in html.text
    assert html.text.count("<section") == 2
    assert list(csv.reader(io.StringIO(post(here, scan, "?format=csv").text))) == []


def test_one_picture_as_the_body(here):
    file = io.BytesIO()
    drawn("Hallo").save(file, "PNG")
    headers = {"content-type": "image/png"}
    answer = here.post("/v1/document", content=file.getvalue(), headers=headers)
    assert [page["text"] for page in answer.json()["pages"]] == ["Hallo"]


def test_what_cannot_be_read(here, scan):
    for content, reason in ((b"x", "not an image"), (b"%PDF-1.4 x", "damaged")):
        (page,) = post(here, content).json()["pages"]
        assert reason in page["error"] and page["words"] == []
    for query, reason in (
        ("?pages=9", "has no page 9"),
        ("?pages=x", "expected pages such as"),
        ("?format=docx", "format: "),
        ("?page=2", "no option of such requests"),
    ):
        answer = post(here, scan, query)
        assert answer.status_code == 422 and reason in answer.json()["error"]
    two = [("files", ("a.png", b"x")), ("files", ("b.png", b"y"))]
    assert here.post("/v1/document", files=two).status_code == 422


def test_a_page_that_is_refused_later_is_told_in_its_place(here, scan, monkeypatch):
    read = here.service.pages._read

    async def refuse_the_second(upload, wanted, *others):
        if wanted.number > 1:
            raise Refusal(503, "others wait")
        return await read(upload, wanted, *others)

    monkeypatch.setattr(here.service.pages, "_read", refuse_the_second)
    first, second = post(here, scan).json()["pages"]
    assert first["error"] is None
    assert (second["page"], second["error"]) == (2, "others wait")
    text = post(here, scan, "?format=md").text
    assert text.endswith("---\n\n*page 2 cannot be read*\n")


def test_no_more_pages_than_a_request_may_ask_for(here, scan, monkeypatch):
    monkeypatch.setattr(pages, "MOST_PAGES", 2)
    read = post(here, scan).json()["pages"]
    assert [page["error"] for page in read] == [
        None,
        None,
        "a request reads 2 pages; ask for pages=3-",
    ]


def test_the_first_page_comes_before_the_last_is_read(here, scan, monkeypatch):
    read = here.service.pages._read
    waiting = asyncio.Event()
    seen = []

    async def wait_for_the_second(upload, wanted, *others):
        if wanted.number == 2:
            await asyncio.wait_for(waiting.wait(), 20)
        return await read(upload, wanted, *others)

    monkeypatch.setattr(here.service.pages, "_read", wait_for_the_second)

    async def send(message):
        body = message.get("body", b"")
        if WORDS[0].encode() in body:
            seen.append(body)
            waiting.set()

    async def ask():
        messages = [{"type": "http.request", "body": scan, "more_body": False}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.sleep(60)
            return None

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "POST",
            "path": "/v1/document",
            "raw_path": b"/v1/document",
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "http_version": "1.1",
            "server": ("test", 80),
            "client": ("10.0.0.1", 1),
            "headers": [(b"host", b"test"), (b"content-length", b"%d" % len(scan))],
        }
        await asyncio.wait_for(here.app(scope, receive, send), 60)

    asyncio.run(ask())
    assert len(seen) == 1
    assert here.service.pages.capacity._taken.total() == 0


def test_what_is_in_progress_ends_with_the_answer(here, scan):
    for query in ("", "?format=md", "?pages=9"):
        post(here, scan, query)
        assert here.service.pages.capacity._taken.total() == 0


def test_operations_have_names_and_all_answers_are_declared(here):
    schema = here.get("/openapi.json").json()
    paths = schema["paths"]
    names = {
        path: paths[path]["post"]["operationId"]
        for path in ("/v1/read", "/v1/page", "/v1/document")
    }
    assert list(names.values()) == ["read_words", "read_page", "read_document"]
    for path in names:
        operation = paths[path]["post"]
        assert {"403", "421", "429"} <= {*operation["responses"]}
        kinds = operation["requestBody"]["content"]
        assert {"multipart/form-data", "image/*"} <= {*kinds}


@pytest.mark.skipif(
    shutil.which("openapi-python-client") is None, reason="openapi-python-client"
)
def test_a_generated_client_reads_a_document(here, scan, tmp_path):
    """As a person makes one who writes a program in another place."""
    (tmp_path / "openapi.json").write_text(here.get("/openapi.json").text)
    (tmp_path / "settings.yaml").write_text("post_hooks: []\n")
    command = ["openapi-python-client", "generate", "--path", "openapi.json"]
    command += ["--config", "settings.yaml", "--meta", "none"]
    made = subprocess.run(
        [*command, "--output-path", "reading_client"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(tmp_path))
    try:
        client_module = importlib.import_module("reading_client")
        models = importlib.import_module("reading_client.models")
        types = importlib.import_module("reading_client.types")
        operation = importlib.import_module("reading_client.api.default.read_document")
    finally:
        sys.path.remove(str(tmp_path))

    async def ask(http):
        client = client_module.Client(base_url="http://test")
        client.set_async_httpx_client(http)
        file = types.File(payload=io.BytesIO(scan), file_name="scan.tiff")
        return await operation.asyncio(
            client=client, body=models.ReadDocumentFilesBody(files=[file])
        )

    document = here.run(ask)
    assert [page.text for page in document.pages] == list(WORDS)
    assert document.pages[0].words[0].confidence > 0.5
