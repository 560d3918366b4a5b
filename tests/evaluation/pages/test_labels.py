import numpy as np
import pytest
from PIL import Image

from vit_str.evaluation.pages.labels import Label, on_page, read_labels
from vit_str.images import loading
from vit_str.pages.find.geometry import rectangle
from vit_str.pages.page import Page


def test_labels_are_read_with_commas_in_their_text(tmp_path):
    (tmp_path / "a.txt").write_text(
        "\ufeff0,0,9,0,9,5,0,5,Oh, no\n\n1,1,2,1,2,2,1,2,###\n", "utf-8"
    )
    first, second = read_labels(tmp_path / "a.txt")
    assert first.text == "Oh, no" and first.is_judged and not second.is_judged
    np.testing.assert_array_equal(first.polygon, rectangle(0, 0, 9, 5))


@pytest.mark.parametrize(
    "content",
    [
        b"1,2,3\n",
        b"a,b,c,d,e,f,g,h,text\n",
        b"1,2,nan,4,5,6,7,8,text\n",
        b"1,2,3,4,5,6,7,1e999,text\n",
        b"\xff\xfe\xfd",
    ],
)
def test_labels_that_are_none_are_one_line(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.txt"):
        read_labels(tmp_path / "a.txt")


@pytest.mark.parametrize("orientation", [1, 6])
def test_labels_of_a_huge_picture_that_is_read_at_half_its_size(
    orientation, tmp_path, monkeypatch
):
    monkeypatch.setattr(loading, "MAX_PIXELS", 50_000)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "huge.jpg"
    Image.new("RGB", (320, 160), "white").save(path, exif=exif)
    read = next(loading.load_pages(path))
    assert sorted(read.size) == [80, 160]
    found = on_page([Label(rectangle(20, 40, 60, 80), "a")], path, Page(*read.size, ()))
    np.testing.assert_array_equal(found[0].polygon, rectangle(10, 20, 30, 40))


def test_labels_of_a_picture_that_is_read_as_it_is(tmp_path):
    path = tmp_path / "page.png"
    Image.new("RGB", (300, 100), "white").save(path)
    label = Label(rectangle(1.5, 2.5, 200, 90), "a")
    found = on_page([label], path, Page(300, 100, ()))
    np.testing.assert_array_equal(found[0].polygon, label.polygon)
