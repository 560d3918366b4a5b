"""Files whose few bytes stand for hours of decoding."""

import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import gif_of_frames, jpeg_of_scans

from vit_str.runtime import decoding_costs, images
from vit_str.runtime.decoding_costs import MOST_SCANS, has_many_scans
from vit_str.runtime.images import UnreadableImage, load_image, load_pages, pixels_of


def test_a_jpeg_of_endless_scans_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "scans.jpg"
    path.write_bytes(jpeg_of_scans((7070, 7070), 95_000))
    assert pixels_of(path) == 7070 * 7070
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


def test_only_pages_that_are_wanted_are_decoded():
    file = BytesIO()
    pages = [Image.new("L", (10 + n, 10)) for n in range(4)]
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    assert [picture.width for picture in load_pages(file.getvalue(), [2, 4])] == [
        11,
        13,
    ]
