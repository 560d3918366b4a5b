"""A service with the weights of the package, and requests to it without a network."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from PIL import Image, ImageDraw, ImageFont

from vit_str.serving import page_readers
from vit_str.serving.app import create_app
from vit_str.serving.guard import Metrics
from vit_str.serving.limits import Limits
from vit_str.serving.service import ReadingService
from vit_str.words.reader import Reader, load


class Site:
    """A service, its application, and a way to ask it."""

    def __init__(self, reading: ReadingService, **options: Any) -> None:
        self.service = reading
        self.app: FastAPI = create_app(reading, "tiny", **options)

    def run(self, ask: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
        """What a coroutine that gets a client returns."""

        async def go() -> Any:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test"
            ) as client:
                return await ask(client)

        return asyncio.run(go())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.run(lambda client: client.get(path, **options))

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.run(lambda client: client.post(path, **options))

    def metric(self, line: str) -> float:
        text = self.get("/metrics").text
        return sum(
            float(n.split()[-1]) for n in text.splitlines() if n.startswith(line)
        )


@pytest.fixture(scope="session")
def tiny() -> Reader:
    return load("tiny", "cpu", backend="onnx")


@pytest.fixture
def site(tiny, monkeypatch) -> Iterator[Callable[..., Any]]:
    """Opens a site with given limits; all are closed in the end. It has no detector of lines."""
    monkeypatch.setattr(page_readers, "_open_parts", lambda reader: None)
    services = []

    def open_site(
        reader: Reader = tiny, options: Any = None, model: Any = None, **limits: Any
    ) -> Site:
        services.append(
            ReadingService(reader, Limits(**limits), Metrics(), model=model)
        )
        return Site(services[-1], **(options or {}))

    yield open_site
    for each in services:
        each.close()


@pytest.fixture(scope="session")
def word() -> Callable[..., bytes]:
    """A word as the bytes of a picture."""

    def draw(text: str, size: tuple[int, int] = (120, 32), form: str = "PNG") -> bytes:
        image = Image.new("RGB", size, "white")
        font = ImageFont.load_default(min(size) * 0.7)
        ImageDraw.Draw(image).text((4, 2), text, fill="black", font=font)
        file = io.BytesIO()
        image.save(file, form)
        return file.getvalue()

    return draw
