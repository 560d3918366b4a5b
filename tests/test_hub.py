"""Weights as folders with a model card, and what goes to and comes from the Hub."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from PIL import Image

import vit_str
from vit_str import hub


def test_a_folder_reads_as_its_weights(weights_path, tmp_path, run):
    folder = hub.save_pretrained(weights_path, tmp_path / "my-model", licence="mit")
    image = Image.new("RGB", (90, 30), "white")
    expected = vit_str.load(weights_path, "cpu").read(image)
    assert hub.from_pretrained(folder, device="cpu").read(image) == expected
    image.save(tmp_path / "word.png")
    code, out, _ = run(
        "read", tmp_path / "word.png", "--model", folder, "--device", "cpu"
    )
    assert code == 0 and out.split("\t")[1] == expected.text
    _, front, card = (folder / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(front)["license"] == "mit"
    assert yaml.safe_load(front)["pipeline_tag"] == "image-to-text"
    assert 'from_pretrained("my-model")' in card and '"note": "random"' in card


def test_the_card_of_the_bundled_weights_has_a_data_statement(tmp_path):
    card = (hub.save_pretrained("tiny", tmp_path) / "README.md").read_text()
    assert "Trained on: text rendered by vit-str." in card
    assert "## License\n\napache-2.0" in card


def test_files_of_others_are_not_replaced(tmp_path):
    """As in the folder of a project, or of a model of another library."""
    for name, content in (("README.md", b"# Mine\n"), ("model.safetensors", b"other")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            hub.save_pretrained("tiny", folder)
        assert [path.name for path in folder.iterdir()] == [name]
        assert (folder / name).read_bytes() == content
    for _ in range(2):  # our own are
        assert hub.save_pretrained("tiny", tmp_path / "own").is_dir()


def test_what_is_uploaded_comes_back(weights_path, tmp_path, monkeypatch):
    """The Hub is a folder here."""
    calls: list[Any] = []

    class Api:
        def __init__(self, token):
            calls.append(token)

        def create_repo(self, name, **options):
            calls.append((name, options))

        def upload_folder(self, repo_id, folder_path, **_):
            Path(folder_path).rename(tmp_path / "remote")
            Path(folder_path).mkdir()
            return f"commit of {repo_id}"

    def download(name, file, revision):
        calls.append((name, revision))
        return str(tmp_path / "remote" / file)

    fake = SimpleNamespace(HfApi=Api, hf_hub_download=download)
    monkeypatch.setattr(hub, "_hub", lambda: fake)
    assert hub.push_to_hub(weights_path, "me/words", token="t") == "commit of me/words"  # noqa: S106
    reader = hub.from_pretrained("me/words", revision="main", device="cpu")
    assert reader.provenance == {"note": "random"}
    expected = [
        "t",
        ("me/words", {"private": False, "exist_ok": True}),
        ("me/words", "main"),
    ]
    assert calls == expected
    assert (
        'from_pretrained("me/words")' in (tmp_path / "remote" / "README.md").read_text()
    )


def test_without_the_library_of_the_hub(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match="needs huggingface_hub, run: pip install"):
        hub.from_pretrained("me/words")
