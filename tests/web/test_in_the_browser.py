"""The exported page reads in Chromium what the command reads."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jaxtyping import config
from PIL import Image

import vit_str
from vit_str.charset import Charset
from vit_str.cli import main
from vit_str.export.web import RUNTIME_FILES
from vit_str.images import Preprocessing
from vit_str.models import (
    CtcDecoder,
    PlainConvolutionalEncoder,
    Recognizer,
    RecurrentEncoder,
)
from vit_str.reading import Search
from vit_str.weights import save_weights

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "images"


@pytest.fixture
def page_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    config.update("jaxtyping_disable", True)  # traced sizes are symbols
    try:
        assert main(["export", "tiny", "--web", str(tmp_path / "page")]) == 0
    finally:
        config.update("jaxtyping_disable", False)
    return tmp_path / "page"


def test_the_samples_read_as_by_the_command(
    browser: Any, page_folder: Path, serve_files: Callable[[Path], Any], tmp_path: Path
) -> None:
    paths = sorted(SAMPLES.iterdir())
    for name, turn in (("down.png", Image.Transpose.ROTATE_270), ("up.png", 2)):
        with Image.open(SAMPLES / "word-09.jpg") as image:
            image.transpose(turn).save(tmp_path / name)
        paths.append(tmp_path / name)
    (tmp_path / "no-picture.png").write_bytes(b"hello")
    expected = vit_str.load("tiny", "cpu", search=Search(n_best=3)).read([*paths], boxes=True)
    asked: list[str] = []
    with serve_files(page_folder) as address:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.set_input_files("#files", [*paths, tmp_path / "no-picture.png"])
        page.locator(".card[aria-busy=false]").nth(len(paths)).wait_for()
        card = page.locator(".card", has_text="no-picture.png")
        assert "not a picture that the browser can open" in card.inner_text()
        page.click("#copy-json")
        page.get_by_text("Copied").first.wait_for()
        lines = page.evaluate("() => navigator.clipboard.readText()").splitlines()
        page.close()
    assert all(url.startswith((address, f"blob:{address}")) for url in asked)
    found = [json.loads(line) for line in reversed(lines)]
    confidences, sides = [], []
    for path, reading, record in zip(paths, expected, found, strict=True):
        assert record["path"] == path.name
        assert record["text"] == reading.text
        texts = [other["text"] for other in record["alternatives"]]
        assert texts[0] == reading.alternatives[0].text
        confidences.append(abs(record["confidence"] - reading.confidence))
        for one, other in zip(record["characters"], reading.characters, strict=True):
            assert other.box is not None
            assert one["character"] == other.character
            confidences.append(abs(one["confidence"] - other.confidence))
            sides += [abs(a - b) for a, b in zip(one["box"], other.box, strict=True)]
    assert max(confidences) < 1e-3  # another JPEG decoder may give other last bits
    assert max(sides) < 0.1  # pixels


def test_what_cannot_become_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = RecurrentEncoder(
        PlainConvolutionalEncoder((8, 32), (1, 1), ((4, 4), (8, 4))), depth=1
    )
    recognizer = Recognizer(encoder, CtcDecoder(94, dim=32, maximum_length=6))
    save_weights(tmp_path / "ctc.safetensors", recognizer, Charset(), Preprocessing(), {})
    out = str(tmp_path / "page")

    def complaint(*arguments: str) -> str:
        assert main(["export", *arguments]) == 2
        return capsys.readouterr().err

    assert "does not read with a CtcDecoder" in complaint(
        str(tmp_path / "ctc.safetensors"), "--web", out
    )
    assert "--runtime needs --web" in complaint("tiny", "--out", out, "--runtime", "x")
    assert f"has no {RUNTIME_FILES[0]}" in complaint("tiny", "--web", out, "--runtime", "x")
    assert "there already, and not empty" in complaint("tiny", "--web", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert "from npm, which is not installed" in complaint("tiny", "--web", out)
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error no network' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "(npm error no network)" in complaint("tiny", "--web", out)
    npm.write_text('#!/bin/sh\necho damaged > "$4/onnxruntime-web.tgz"\n')
    assert "npm gave another onnxruntime-web" in complaint("tiny", "--web", out)
    assert not (tmp_path / "page").exists()
