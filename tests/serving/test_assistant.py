"""``vit-str mcp``, asked by the client of the protocol's own library."""

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.cli import main

mcp = pytest.importorskip("mcp")
from vit_str.serving import assistant  # noqa: E402 - needs it
from vit_str.serving.assistant import Folders, Readers, create_server  # noqa: E402
from vit_str.serving.limits import Limits  # noqa: E402

pytestmark = pytest.mark.skipif(
    find_spec("cv2") is None, reason="pip install vit-str[page]"
)
WORDS = ("Hallo", "Museum", "Garten")


def drawn(text: str) -> Image.Image:
    image = Image.new("RGB", (400, 80), "white")
    font = ImageFont.load_default(40)
    ImageDraw.Draw(image).text((20, 10), text, fill="black", font=font)
    return image


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    first, *others = map(drawn, WORDS)
    first.save(folder / "scan.tiff", save_all=True, append_images=others)
    (folder / "inside").mkdir()
    first.save(folder / "inside" / "word.png")
    (folder / "notes.txt").write_text("secret")
    (folder / "broken.png").write_bytes(b"nothing")
    first.save(folder.parent / "outside.png")
    os.symlink(folder.parent / "outside.png", folder / "link.png")
    return folder


@pytest.fixture(scope="module")
def readers() -> Readers:
    return Readers()


@pytest.fixture
def ask(folder, readers):
    """Calls a tool; gives its result, or the text of its error."""

    def call(name, limits=None, **arguments):
        server = create_server(Folders([folder], limits or Limits()), readers)

        async def go():
            async with mcp.Client(server) as client:
                return await client.call_tool(name, arguments)

        result = asyncio.run(go())
        if result.is_error:
            return "\n".join(each.text for each in result.content)
        found = result.structured_content
        return found["result"] if set(found) == {"result"} else found

    return call


def test_files_are_listed(ask, folder):
    names = {Path(path).name for path in ask("list_files")}
    assert names == {"scan.tiff", "word.png", "broken.png"}


def test_pictures(ask, folder):
    page = ask("read_image", path="inside/word.png")
    assert page["text"] == "Hallo" and (page["width"], page["height"]) == (400, 80)
    (word,) = page["words"]
    assert word["text"] == "Hallo" and word["confidence"] > 0.8
    assert 0 <= word["box"][0] < word["box"][2] <= 400
    word = ask("read_image", path=str(folder / "inside" / "word.png"), kind="word")
    assert word["text"] == "Hallo" and word["confidence"] > 0.8


def test_documents(ask, monkeypatch):
    text = ask("read_document", path="scan.tiff")
    assert [part.lstrip("# ") for part in text.split()[:1]] and WORDS[2] in text
    assert text.count("---") == 2
    assert WORDS[0] not in ask("read_document", path="scan.tiff", pages="2-")
    monkeypatch.setattr(assistant, "MOST_PAGES", 2)
    text = ask("read_document", path="scan.tiff")
    assert WORDS[2] not in text
    assert text.endswith("there are more pages: ask for pages 3-")


def test_texts_are_checked(ask):
    right = ask("check_text", path="scan.tiff", text="# Hallo\n\nMuseum Garten")
    assert right["right"] and right["confirmed"] == 3
    assert right["unconfirmed"] == [] and right["errors"] == []
    wrong = ask("check_text", path="scan.tiff", text="Hallo Museen Garten und")
    contradicted, absent = wrong["unconfirmed"]
    assert not wrong["right"] and wrong["expected_errors"] > 1.5
    assert (contradicted["text"], contradicted["found"]) == ("Museen", "Museum")
    assert contradicted["verdict"] == "contradicted" and contradicted["page"] == 2
    assert contradicted["probability"] < 0.1 and len(contradicted["box"]) == 4
    assert (absent["verdict"], absent["box"]) == ("absent", None)
    missing = ask("check_text", path="scan.tiff", text="Hallo Museum")["unconfirmed"]
    assert [(row["text"], row["found"]) for row in missing] == [(None, "Garten")]


def test_texts_of_many_pages_are_checked_in_parts(ask, monkeypatch):
    monkeypatch.setattr(assistant, "MOST_PAGES", 2)
    first = ask("check_text", path="scan.tiff", text="Hallo Museum")
    assert first["right"] and first["note"].endswith("with pages 3-")
    rest = ask("check_text", path="scan.tiff", text="Garten", pages="3-")
    assert rest["right"] and "note" not in rest
    assert "note" not in ask("check_text", path="scan.tiff", text="Museum", pages="2")


@pytest.mark.parametrize(
    "path",
    ["../outside.png", "link.png", "/etc/passwd", "missing.png", "inside", ""],
)
def test_nothing_outside_the_folders_is_read(path, ask):
    for tool in ("read_image", "read_document"):
        assert "no file in the folders that may be read" in ask(tool, path=path)
    assert "no file in the folders" in ask("check_text", path=path, text="Hallo")


def test_mistakes_are_one_line(ask, folder):
    assert "broken.png: not an image" in ask("read_image", path="broken.png")
    assert str(folder) not in ask("read_document", path="broken.png")
    assert "expected pages such as" in ask("read_document", path="scan.tiff", pages="x")
    assert "more than 10 bytes" in ask("read_image", Limits(body=10), path="scan.tiff")
    assert "the text has no words" in ask("check_text", path="scan.tiff", text=" ")
    many = ask("check_text", path="scan.tiff", text="a " * 20_001)
    assert "a text may hold 20,000 words; send fewer" in many
    few = Limits(pixels=100)
    assert "more than 100 pixels" in ask("read_image", few, path="inside/word.png")


def test_the_command_answers_over_standard_input_and_output(folder):
    code = "from vit_str.cli import main; raise SystemExit(main())"
    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-c", code, "mcp", str(folder)],
        env={**os.environ},
    )

    async def go():
        async with mcp.Client(parameters) as client:
            tools = await client.list_tools()
            result = await client.call_tool(
                "read_image", {"path": "inside/word.png", "kind": "word"}
            )
            return {tool.name for tool in tools.tools}, result

    names, result = asyncio.run(go())
    assert names == {"list_files", "read_image", "read_document", "check_text"}
    assert result.structured_content["text"] == "Hallo"


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    assert main(["mcp", str(tmp_path / "missing")]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "missing: no such folder; check the path" in err
