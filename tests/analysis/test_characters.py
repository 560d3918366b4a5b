"""Models over images: where they look for characters, and the command from weights to page."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch
from PIL import Image

from vit_str.analysis.characters.measure import Observer, Source, Word
from vit_str.analysis.characters.scores import COLUMNS
from vit_str.analysis.images import Batch, load_images
from vit_str.analysis.subjects import Subject, load_subject
from vit_str.cli import main
from vit_str.models.attention import record_attention
from vit_str.torch_runtime.weights_file import load_weights, save_weights
from vit_str.words.reader import Reader

Weights = Callable[..., Path]


def talkative(subject: Subject) -> Subject:
    """An untrained model that writes something instead of ending at once."""
    torch.manual_seed(3)
    decoder = subject.recognizer.decoder
    torch.nn.init.normal_(decoder.classify.weight, std=1.0)
    decoder.classify.bias.data[subject.recognizer.decoder.charset_size] = -2.0
    return subject


def observe(observer: Observer, batch: Batch) -> list[Word]:
    return observer.observe(
        batch, observer.subject.preprocessing.normalize(batch.pixels)
    )


@pytest.mark.parametrize(
    "options", [{}, {"class_token": True}, {"class_token": True, "registers": 3}]
)
def test_attention_is_that_of_teacher_forcing_without_special_tokens(
    options, small_weights, words
):
    subject = talkative(load_subject(str(small_weights(**options))))
    observer = Observer(subject)
    assert (observer.blocks, observer.heads) == (1, 2)
    special = observer.grid.special_tokens
    (batch,) = load_images(subject, str(words), 9).batches()
    observed = observe(observer, batch)
    assert any(word.text for word in observed)
    for word in observed:
        ids = torch.tensor([subject.charset.encode(word.text)], dtype=torch.int64)
        images = subject.preprocessing.normalize(word.pixels[None])
        with torch.no_grad(), record_attention(subject.recognizer.decoder) as maps:
            subject.recognizer.loss(images, ids.reshape(1, -1))
        whole = maps["blocks.0.cross_attention"][0][0, :, : len(word.text)].double()
        seen = whole[..., special:].unflatten(-1, (4, 8))
        expected = seen / seen.sum((-1, -2), keepdim=True)
        found = word.attention[subject.name]
        torch.testing.assert_close(found[0], expected, atol=1e-5, rtol=1e-4)
        mass = word.special_mass[subject.name][0]
        torch.testing.assert_close(
            mass, whole[..., :special].sum(-1), atol=1e-5, rtol=1e-4
        )
        assert len(word.confidences) == len(word.text)


def test_boxes_are_those_of_the_reader(small_weights, words):
    weights = load_weights(small_weights(registers=2))
    parts = weights.recognizer, weights.charset, weights.preprocessing
    subject = talkative(Subject("x", *parts, True))
    (batch,) = load_images(subject, str(words), 9).batches()
    reader = Reader(weights, "cpu", torch.float32)
    readings = reader.read_pixels(batch.pixels, boxes=True)
    observer = Observer(subject)
    for word, reading in zip(observe(observer, batch), readings, strict=True):
        assert word.text == reading.text
        boxes = word.character_attention(Source("x"), observer.grid).boxes
        found = torch.tensor([each.box for each in reading.characters]).reshape(-1, 4)
        torch.testing.assert_close(boxes.float(), found, atol=0.02, rtol=0)


def save(subject: Subject, path: Path) -> Path:
    save_weights(path, subject.recognizer, subject.charset, subject.preprocessing, {})
    return path


@pytest.fixture
def chatty_weights(tmp_path, small_weights) -> Path:
    """Weights that write text: a random model ends at once."""
    subject = talkative(load_subject(str(small_weights("quiet", registers=1))))
    return save(subject, tmp_path / "chatty.safetensors")


def test_the_command_on_rendered_words(
    chatty_weights, tmp_path, font_folder, capsys, monkeypatch
):
    monkeypatch.setenv("VIT_STR_CACHE", str(font_folder.parent / "glyphs"))
    out = tmp_path / "out"
    arguments = ["characters", str(chatty_weights), "--count", "60", "--show", "1"]
    where = ["--out", str(out), "--device", "cpu", "--fonts", str(font_folder)]
    assert main(["analyze", *arguments, *where]) == 0
    assert capsys.readouterr().out.strip() == str(out / "report.html")
    found = json.loads((out / "characters.json").read_text())
    assert found["image_size"] == {"height": 16, "width": 64}
    assert len(found["images"]) == 60
    for image in found["images"]:
        assert (
            "".join(each["character"] for each in image["characters"]) == image["text"]
        )
        assert image["right"] == (image["text"] == image["label"])
        for each in image["characters"]:
            left, top, right, bottom = each["box"]
            assert 0 <= left < right <= 64
            assert 0 <= top < bottom <= 16
            assert each["true_box"] is None or len(each["true_box"]) == 4
            assert 0 < each["special_mass"] < 1
    table = pd.read_csv(out / "characters.csv")
    assert list(table) == COLUMNS
    untrained = "untrained:chatty"
    assert set(table["model"]) == {"chatty", untrained, "equal-width slices"}
    assert set(table["versus"].dropna()) == {untrained, "equal-width slices"}
    assert (table["low"] <= table["mean"] + 1e-9).all()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["words"] > 0
    assert summary["not_better_than_slices"]
    page = (out / "report.html").read_text()
    assert "Attention is not explanation" in page
    assert "does not beat equal-width slices" in page
    for name in ("overlays-1", "scores-by-length", "center-errors", "heads"):
        with Image.open(out / f"{name}.png") as picture:
            assert picture.width > 100


@pytest.mark.usefixtures("undrawn")
def test_the_command_on_photographs(chatty_weights, labeled_folder, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["characters", str(chatty_weights), "--data", str(labeled_folder)]
    assert (
        main(
            ["analyze", *arguments, "--head", "2", "--out", str(out), "--device", "cpu"]
        )
        == 0
    )
    assert "3.png" in capsys.readouterr().err
    found = json.loads((out / "characters.json").read_text())
    assert (found["block"], found["head"]) == (1, 2)
    assert [image["label"] for image in found["images"]] == [
        "one",
        "two",
        "three",
        "five",
        "six",
    ]
    assert set(pd.read_csv(out / "characters.csv")["metric"]) <= {"monotonic"}
    assert (
        "is not known, so that nothing can be scored"
        in (out / "report.html").read_text()
    )


@pytest.mark.usefixtures("undrawn")
def test_a_model_that_sees_no_text(small_weights, labeled_folder, tmp_path):
    subject = load_subject(str(small_weights("quiet")))
    subject.recognizer.decoder.classify.bias.data[94] = 400.0  # always the end
    path = save(subject, tmp_path / "silent.safetensors")
    out = tmp_path / "out"
    arguments = [
        "characters",
        str(path),
        "--data",
        str(labeled_folder),
        "--out",
        str(out),
    ]
    assert main(["analyze", *arguments, "--device", "cpu"]) == 0
    assert "In 5 no text was seen" in (out / "report.html").read_text()
