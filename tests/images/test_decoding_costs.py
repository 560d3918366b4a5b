"""Files whose few bytes stand for hours of decoding."""

import struct
import sys
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import (
    gif_of_frames,
    jp2_of_parts,
    jpeg_of_scans,
    jpeg_of_segments,
    png_of_chunks,
    tiff_of_strips,
    tiff_of_tile,
)

from vit_str.images import decoding_costs, image_decoding, loading, refusals
from vit_str.images.decoding_costs import (
    MOST_PARTS,
    MOST_SCANS,
    MOST_VALUES,
    has_many_parts,
    has_many_scans,
)
from vit_str.images.headers import announced, is_costly
from vit_str.images.image_decoding import decode_batches
from vit_str.images.loading import load_image, load_pages
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage


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
    monkeypatch.setattr(loading, "MOST_COMPOSED", 5 * 40 * 40)
    assert len(list(load_pages(gif_of_frames(40, 5)))) == 5
    assert not list(load_pages(gif_of_frames(40, 5), [6]))
    with pytest.raises(UnreadableImage, match="page 6: the frames"):
        list(load_pages(gif_of_frames(40, 6)))
    assert decoding_costs.MOST_COMPOSED > 20 * refusals.MAX_PIXELS


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


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (jpeg_of_segments, MOST_PARTS),
        (png_of_chunks, MOST_PARTS),
        (tiff_of_strips, MOST_VALUES),
        (partial(tiff_of_strips, big=True), MOST_VALUES),
    ],
)
def test_headers_without_an_end_are_refused_before_pillow_reads_them(
    make, most, monkeypatch
):
    """Two megabytes of such a TIFF took 3.5 s and 125 MB."""
    few = make(most // 100)
    assert not has_many_parts(BytesIO(few))
    assert announced(few).pixels == 160 * 40
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("too late"))
    for source in (make(most + 1), make(2 * most)):
        assert announced(source) == (0, False)
        for read in (load_image, lambda file: next(load_pages(file))):
            with pytest.raises(UnreadableImage, match="many parts; save it again"):
                read(source)


def test_parts_of_a_jpeg_are_counted_behind_what_fills_space():
    data = jpeg_of_segments(2 * MOST_PARTS)
    for filling in (
        b"\xff" * 100,
        bytes(200_000),
        b"\xff\xd8",
        b"\xff\xd9",
        b"\xff\x01",
    ):
        assert has_many_parts(BytesIO(data[:6] + filling + data[6:])), filling[:2]
        few = jpeg_of_segments(3)
        assert not has_many_parts(BytesIO(few[:6] + filling + few[6:]))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "GIF", "BMP", "WEBP"])
def test_files_that_are_cut_short_have_few_parts(form):
    file = BytesIO()
    Image.new("RGB", (64, 48)).save(file, form)
    for size in (*range(40), len(file.getvalue()) - 1):
        assert not has_many_parts(BytesIO(file.getvalue()[:size]))


def test_tags_of_a_tiff_may_be_long_where_they_are_bytes():
    """As profiles of colors and notes of editors are, but not as lists of numbers."""
    most = 10 * MOST_VALUES
    file = BytesIO()
    picture = Image.new("L", (160, 40))
    picture.save(file, "TIFF", tiffinfo={37724: bytes(most), 700: bytes(most)})
    assert load_image(file.getvalue()).size == (160, 40)
    numbers = struct.pack("<2sHIHHHII", b"II", 42, 8, 1, 700, 4, most, 26)
    assert has_many_parts(BytesIO(numbers + bytes(4 + 4 * most)))
    assert not has_many_parts(BytesIO(numbers + bytes(4 * most - 100)))  # cut short
