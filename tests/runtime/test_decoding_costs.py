"""Files whose few bytes stand for hours of decoding."""

import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import gif_of_frames, jp2_of_parts, jpeg_of_scans, tiff_of_tile

from vit_str.runtime import decoding_costs, image_decoding, images
from vit_str.runtime.decoding_costs import MOST_SCANS, has_many_scans
from vit_str.runtime.image_decoding import decode_batches
from vit_str.runtime.images import (
    UnreadableImage,
    announced,
    is_costly,
    load_image,
    load_pages,
)
from vit_str.runtime.preprocessing import Preprocessing


def test_a_jpeg_of_endless_scans_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "scans.jpg"
    path.write_bytes(jpeg_of_scans((7070, 7070), 95_000))
    assert announced(path) == (7070 * 7070, True)
    for source in (path, path.read_bytes()):
        with pytest.raises(
            UnreadableImage, match="a JPEG of over 100 scans; save it again"
        ):
            load_image(source)
    with pytest.raises(UnreadableImage, match="100 scans"):
        next(load_pages(path))


def test_jpegs_with_as_many_scans_as_encoders_write_are_decoded():
    most = jpeg_of_scans((64, 48), MOST_SCANS)
    assert not has_many_scans(most)
    assert load_image(most).getpixel((3, 3)) == (255, 255, 255)
    assert has_many_scans(jpeg_of_scans((64, 48), MOST_SCANS + 1))


@pytest.mark.parametrize("progressive", [False, True])
def test_only_scans_of_the_picture_count(progressive):
    """Not what looks like one in metadata, or in a film that a telephone adds to the picture."""
    file = BytesIO()
    marks = 500 * b"\xff\xda\x00\x02"
    Image.new("RGB", (64, 48)).save(
        file, "JPEG", progressive=progressive, comment=marks
    )
    assert not has_many_scans(file.getvalue() + marks)
    load_image(file.getvalue() + marks)


def test_frames_that_would_be_composed_for_long_are_refused(tmp_path):
    path = tmp_path / "frames.gif"
    path.write_bytes(gif_of_frames(7000, 5000))
    with pytest.raises(
        UnreadableImage, match="page 1000: the frames up to it have over 2,000 mil"
    ):
        next(load_pages(path, [1000]))


def test_frames_are_bounded_only_where_there_are_any(monkeypatch):
    monkeypatch.setattr(images, "MOST_COMPOSED", 5 * 40 * 40)
    assert len(list(load_pages(gif_of_frames(40, 5)))) == 5
    assert not list(load_pages(gif_of_frames(40, 5), [6]))
    with pytest.raises(UnreadableImage, match="page 6: the frames"):
        list(load_pages(gif_of_frames(40, 6)))
    assert decoding_costs.MOST_COMPOSED > 20 * images.MAX_PIXELS


def test_what_may_take_much_memory_is_left_to_a_process_with_limits():
    """200 bytes of JPEG 2000 took 3.2 GB, a TIFF file of 100 x 100 pixels all that it said."""
    assert announced(jp2_of_parts(1400)) == (1400 * 1400, True)
    assert announced(tiff_of_tile(100, 20_000)) == (100 * 100, True)
    assert is_costly(tiff_of_tile(100, 20_000))
    file = BytesIO()
    for form in ("TIFF", "JPEG2000"):
        file.seek(0)
        Image.new("L", (200, 50)).save(file, form)
        assert announced(file.getvalue()) == (200 * 50, False)


def test_what_may_take_much_memory_is_decoded_apart(monkeypatch):
    apart = []

    def refuse(source, *_):
        apart.append(source)
        raise UnreadableImage("image data", "takes over 2 GB of memory to decode")

    monkeypatch.setattr(image_decoding, "decode_apart", refuse)
    sources = [jp2_of_parts(1400), tiff_of_tile(100, 112), jp2_of_parts(100)]
    ((*_, (_, small)),) = decode_batches(sources, Preprocessing(), 3, 1)
    assert apart == sources[:2]
    assert small.size == (100, 100)


def test_only_pages_that_are_wanted_are_decoded():
    file = BytesIO()
    pages = [Image.new("L", (10 + n, 10)) for n in range(4)]
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    assert [picture.width for picture in load_pages(file.getvalue(), [2, 4])] == [
        11,
        13,
    ]
