"""Records of pages are read as they were written."""

from dataclasses import fields, replace

import numpy as np
import pytest

from vit_str.datasets.page_records import (
    PageRecord,
    pages_of_shard,
    read_pages,
    read_shard,
    shard_paths,
    write_shard,
)


def page(number: int, words: list[str]) -> PageRecord:
    random = np.random.default_rng(number)
    count = len(words)
    return PageRecord(
        family="letter",
        way="scan",
        number=number,
        width=800,
        height=1100,
        words=words,
        polygons=random.random((count, 4, 2)).astype("f4"),
        sizes=random.random(count).astype("f4"),
        weights=random.random(count).astype("f4"),
        confidences=random.random(count).astype("f4"),
        word_block=np.arange(count, dtype="i4") - 1,
        word_place=np.arange(count, dtype="i4"),
        blocks=random.integers(0, 9, (2, 7)).astype("i4"),
        rules=random.random((number, 4)).astype("f4"),
        grounds=random.random((1, 5)).astype("f4"),
        pictures=np.zeros((0, 4), "f4"),
        checks=random.random((2, 6)).astype("f4"),
        missed=number,
    )


PAGES = [page(0, []), page(1, ["a", "Straße", "“x”\n"]), page(2, ["b"])]


def test_they_are_the_same(tmp_path):
    write_shard(tmp_path, 7, PAGES)
    assert pages_of_shard(tmp_path, 7) == 3
    assert pages_of_shard(tmp_path, 8) == 0
    for one, other in zip(PAGES, read_pages(tmp_path), strict=True):
        for field in fields(PageRecord):
            before, after = getattr(one, field.name), getattr(other, field.name)
            assert np.array_equal(before, after), field.name


def test_no_pages_say_how_to_draw_some(tmp_path):
    with pytest.raises(ValueError, match="vit-str render --pages 1000"):
        list(read_pages(tmp_path))


@pytest.mark.parametrize("which", [0, 1])
def test_damaged_files_are_named(tmp_path, which):
    write_shard(tmp_path, 0, [replace(PAGES[1])])
    path = shard_paths(tmp_path, 0)[which]
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match=r"00000\.safetensors: no pages, or damaged"):
        read_shard(tmp_path, 0)
