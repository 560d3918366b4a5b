import pytest
import torch
from PIL import Image

from vit_str.synthesis.pictures import load_pictures


def test_pictures_of_any_size_below_a_folder(tmp_path):
    (tmp_path / "deeper").mkdir()
    Image.new("RGB", (90, 300), "red").save(tmp_path / "deeper" / "a.jpg")
    Image.new("L", (500, 20), 200).save(tmp_path / "b.PNG")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "notes.txt").write_text("no picture either")
    pictures = load_pictures([tmp_path])
    assert pictures.shape == (2, 3, 128, 256)
    assert pictures.dtype == torch.uint8
    assert (pictures[0] == 200).all()
    assert pictures[1, 0].float().mean() > 200 > 60 > pictures[1, 1].float().mean()


def test_a_large_picture_is_many_tiles(tmp_path):
    picture = Image.new("RGB", (1100, 600), "blue")
    picture.paste("red", (0, 0, 550, 300))
    picture.save(tmp_path / "large.png")
    pictures = load_pictures([tmp_path])
    assert pictures.shape == (4, 3, 128, 256)
    red = pictures[:, 0].float().mean((1, 2))
    assert red[0] > 253 and red[1:].max() < 5


def test_mistakes_are_said(tmp_path):
    with pytest.raises(ValueError, match="no folder at"):
        load_pictures([tmp_path / "nowhere"])
    with pytest.raises(ValueError, match="no readable picture"):
        load_pictures([tmp_path])
