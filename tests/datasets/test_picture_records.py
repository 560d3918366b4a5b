"""Files of parts of pictures of pages."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vit_str.datasets.picture_records import (
    PictureRecord,
    picture_shard,
    picture_shards_of,
    pictures_of_shard,
    read_picture_shard,
    write_picture_shard,
)


def record(number: int) -> PictureRecord:
    """A picture with a word more than the one before."""
    words = number + 1
    starts = np.arange(words)[:, None] * 30.5
    boxes = np.concatenate([starts, starts - 4, starts + 20.25, starts + 8], 1)
    return PictureRecord(
        image=Image.new("RGB", (60 + number, 40), (255, 10 * number, 0)),
        family="letter",
        number=number,
        boxes=boxes.astype(np.float32),
        sizes=np.full(words, 10.5, np.float32),
        turns=np.full(words, 270, np.int32),
        lines=np.arange(words, dtype=np.int32) + 70_000,
        rules=np.array([[0, 3, 50, 3, 1.5]], np.float32)[: number % 2],
        pictures=np.zeros((0, 4), np.float32),
        checks=np.array([[1, 2, 9, 10, 1]], np.float32),
    )


def test_what_is_written_is_read(tmp_path):
    written = [record(number) for number in range(4)]
    write_picture_shard(tmp_path, 7, written)
    assert pictures_of_shard(tmp_path, 7) == 4
    assert pictures_of_shard(tmp_path, 8) == 0
    [path] = picture_shards_of(tmp_path)
    assert path == picture_shard(tmp_path, 7)
    shard = read_picture_shard(path)
    for one, other in zip(shard[:], written, strict=True):
        assert (one.family, one.number) == (other.family, other.number)
        assert one.image.size == other.image.size
        colors = np.asarray(one.image.convert("RGB")).mean((0, 1))
        assert np.abs(colors - other.image.getpixel((0, 0))).max() < 12
        for name in ("boxes", "sizes", "turns", "lines", "rules", "pictures", "checks"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(shard[-1].boxes, written[-1].boxes)
    with pytest.raises(IndexError):
        shard[4]


def test_places_outside_of_the_picture_stay(tmp_path):
    write_picture_shard(tmp_path, 0, [record(2)])
    shard = read_picture_shard(picture_shard(tmp_path, 0))
    assert shard[0].boxes.max() > shard[0].image.width
    assert shard[0].boxes.min() < 0


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_other_files_are_refused_in_one_line(content, tmp_path):
    path = Path(tmp_path, "00000.safetensors")
    if content is None:
        write_picture_shard(tmp_path, 0, [record(1)])
        content = path.read_bytes()[:-40]
    path.write_bytes(content)
    with pytest.raises(ValueError, match="no pictures of pages, or damaged") as error:
        read_picture_shard(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    with pytest.raises(ValueError, match="vit-str render --pages 2000 --find --out"):
        picture_shards_of(tmp_path)
