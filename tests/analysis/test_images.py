import pytest
import torch

from vit_str.analysis.images import load_images
from vit_str.analysis.subjects import Subject
from vit_str.characters.charset import Charset
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer


@pytest.fixture(scope="module")
def subject() -> Subject:
    """A model that reads images of 16 x 64."""
    encoder = VisionTransformer(16, 1, 2, (16, 64), (4, 8))
    recognizer = Recognizer(encoder, TransformerDecoder(dim=16, depth=1, heads=2))
    return Subject("small", recognizer, Charset(), Preprocessing(16, 64), False)


def test_a_folder_with_labels(subject, labeled_folder):
    material = load_images(subject, str(labeled_folder), 10)
    batches = list(material.batches(4))
    assert [len(batch) for batch in batches] == [4, 1]  # one of six is damaged
    assert batches[0].labels == ["one", "two", "three", "five"]
    assert batches[0].names == ["0.png", "1.png", "2.png", "4.png"]
    assert batches[0].pixels.shape == (4, 3, 16, 64)
    assert batches[0].boxes is None
    assert len(material.skipped) == 1
    assert "3.png" in material.skipped[0]
    list(material.batches())
    assert len(material.skipped) == 1


def test_few_images_are_taken_evenly_spread(subject, labeled_folder):
    material = load_images(subject, str(labeled_folder), 3)
    names = [name for batch in material.batches() for name in batch.names]
    assert names == ["0.png", "2.png", "4.png"]
    assert "3 images of labeled" in material.description


def test_a_folder_without_labels(subject, labeled_folder):
    (labeled_folder / "labels.tsv").unlink()
    (batch,) = load_images(subject, str(labeled_folder), 10).batches()
    assert len(batch) == 5
    assert batch.labels is None


def test_rendered_words_come_with_boxes(subject, font_folder, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(font_folder.parent / "glyphs"))
    material = load_images(subject, "rendered", 70, 3, [font_folder])
    small, large = list(material.batches(16)), list(material.batches(64))
    assert [len(batch) for batch in small] == [16, 16, 16, 16, 6]
    assert [len(batch) for batch in large] == [64, 6]
    assert torch.equal(
        torch.cat([batch.pixels for batch in small]),
        torch.cat([batch.pixels for batch in large]),
    )
    labels = [label for batch in small for label in batch.labels or []]
    assert labels == [label for batch in large for label in batch.labels or []]
    assert small[-1].names[-1] == "rendered 000069"
    for batch in small:
        assert batch.boxes is not None
        for label, boxes in zip(batch.labels or [], batch.boxes, strict=True):
            there = boxes[:, 2] > boxes[:, 0]
            assert there[: len(label)].all()
            assert not there[len(label) :].any()


def test_nothing_to_look_at(subject, tmp_path):
    with pytest.raises(ValueError, match="no images"):
        load_images(subject, str(tmp_path), 1)
