import pytest
from PIL import Image

from vit_str.images.headers import upright_size
from vit_str.images.loading import load_sized_image


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "BMP"])
@pytest.mark.parametrize("orientation", [None, 6])
def test_sizes_are_those_of_the_image_upright(kind, orientation, tmp_path, word_image):
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    path = tmp_path / "image"
    keep = {} if kind == "BMP" else {"exif": exif}
    word_image("x", size=(90, 31)).save(path, kind, **keep)
    expected = load_sized_image(path)[1]
    assert expected == ((90, 31) if orientation == 6 and kind != "BMP" else (31, 90))
    assert upright_size(path.read_bytes()) == expected
    assert upright_size(path) == expected


def test_what_is_no_image_has_no_size(tmp_path):
    (tmp_path / "image").write_text("none")
    assert upright_size(tmp_path / "image") is None
    assert upright_size(b"none") is None
