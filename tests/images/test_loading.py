import os
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, ImageOps

from vit_str.images import loading, rgb
from vit_str.images.loading import load_image, load_pages, load_sized_image
from vit_str.images.refusals import MAX_PIXELS, MAX_SIDE, UnreadableImage

COLORS = np.random.default_rng(0).integers(0, 256, (20, 50, 3), dtype=np.uint8)


def word_image(
    text: str, mode: str = "RGB", size: tuple[int, int] = (128, 32)
) -> Image.Image:
    """Black text on white, (width, height) as Pillow has it."""
    image = Image.new("RGB", size, "white")
    font = ImageFont.load_default(size[1] * 0.7)
    ImageDraw.Draw(image).text((4, 2), text, fill="black", font=font)
    return image.convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises many pixels and holds one."""
    data = encoded(Image.new("RGB", (1, 1)), "PNG")
    header = b"IHDR" + struct.pack(">II", width, height) + data[24:29]
    return data[:12] + header + struct.pack(">I", zlib.crc32(header)) + data[33:]


def difference(first: Image.Image, second: Image.Image) -> float:
    return float(np.abs(np.asarray(first, float) - np.asarray(second, float)).max())


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "PPM"])
def test_lossless_formats_keep_every_pixel(kind):
    image = load_image(encoded(Image.fromarray(COLORS), kind))
    assert image.mode == "RGB"
    assert np.array_equal(np.asarray(image), COLORS)


@pytest.mark.parametrize(
    "mode", ["1", "L", "P", "LA", "RGBA", "CMYK", "YCbCr", "LAB", "I", "F"]
)
def test_every_mode_shows_the_same_word(mode):
    original = word_image("Word").convert("1", dither=Image.Dither.NONE)
    image = load_image(encoded(original.convert("RGB").convert(mode), "TIFF"))
    assert image.mode == "RGB"
    assert difference(image, original.convert("RGB")) <= 8


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = (
        {"quality": 100}
        if kind == "JPEG"
        else {"lossless": True}
        if kind == "WEBP"
        else {}
    )
    data = encoded(word_image("Up"), kind, exif=exif, **options)
    with Image.open(BytesIO(data)) as image:
        expected = ImageOps.exif_transpose(image)
    assert difference(load_image(data), expected) == 0
    assert load_image(data).size == ((32, 128) if orientation > 4 else (128, 32))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "TIFF"])
@pytest.mark.parametrize("orientation", range(10))
def test_pictures_are_turned_once(kind, orientation, monkeypatch):
    """Also their parts, and pictures that are converted in strips or made smaller."""
    Image.init()
    if kind not in Image.SAVE:
        pytest.skip(f"a Pillow without {kind}")
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(word_image("Up"), kind, exif=exif)
    with Image.open(BytesIO(data)) as image:
        expected = ImageOps.exif_transpose(image).convert("RGB")
    for strip, large in ((1 << 20, 1 << 24), (1000, 1 << 24), (1000, 1 << 10)):
        with monkeypatch.context() as smaller:
            smaller.setattr(rgb, "_STRIP", strip)
            smaller.setattr(rgb, "_LARGE", large)
            found = [load_image(data), *load_pages(data)]
        for loaded in found:
            is_tall = loaded.height > loaded.width
            assert is_tall == (expected.height > expected.width)
            if loaded.size == expected.size:
                assert difference(loaded, expected) == 0
            for part in (loaded, loaded.crop((0, 0, 30, 20)), loaded.resize((40, 30))):
                assert difference(load_image(part), part) == 0


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA"])
def test_pillow_images_are_turned_once(mode):
    image = word_image("Up").convert(mode)
    image.getexif()[0x0112] = 6
    image.info["exif"] = image.getexif().tobytes()
    loaded = load_image(image)
    assert loaded.size == (32, 128)
    assert difference(load_image(loaded), loaded) == 0


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_damaged_exif_does_not_matter():
    data = encoded(
        word_image("x"), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x09\x01\x12"
    )
    assert load_image(data).size == (128, 32)


@pytest.mark.parametrize(
    ("text", "background"), [((0, 0, 90), 255), ((255, 250, 200), 0)]
)
def test_transparent_background_stands_out_from_the_text(text, background):
    # The hidden color under a transparent pixel must not count.
    mask = ImageOps.invert(word_image("Clear", "L"))
    image = Image.merge("RGBA", [*Image.new("RGB", mask.size, text).split(), mask])
    loaded = load_image(encoded(image, "PNG"))
    assert loaded.getpixel((127, 31)) == (background,) * 3
    assert difference(loaded, Image.new("RGB", mask.size, (background,) * 3)) > 150


@pytest.mark.parametrize(
    ("texts", "box", "grounds"),
    [
        (("black",), (250, 240, 200), {255}),
        (("black",), None, {255}),
        (("white",), (20, 20, 60), {0}),
        (("white",), (120, 120, 120), {0}),
        (("black", "white"), None, {128}),
    ],
)
def test_words_beside_boxes_stand_out_from_a_transparent_ground(texts, box, grounds):
    """However large the boxes are: light ones do not take the dark ground from dark words."""
    image = Image.new("RGBA", (600, 400))
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(20)
    for row in range(3 if box else 0):
        pen.rectangle((200, 20 + 120 * row, 590, 120 + 120 * row), fill=box)
        pen.text((300, 60 + 120 * row), "Inside", texts[0], font=font)
    for row, text in enumerate(texts):
        pen.text((20, 100 + 100 * row), "Outside", text, font=font)
    loaded = load_image(encoded(image, "PNG"))
    assert loaded.getpixel((2, 2))[0] in grounds
    for row in range(len(texts)):
        word = loaded.convert("L").crop((20, 100 + 100 * row, 110, 125 + 100 * row))
        low, high = word.getextrema()
        assert high - low > 100


def test_transparent_palette_and_color_key():
    gray = word_image("P", "L").point(lambda value: 255 * (value > 127))
    palette = gray.convert("P")
    white = palette.getpixel((127, 31))
    for image, key in (
        (palette, white),
        (gray, 255),
        (gray.convert("RGB"), (255, 255, 255)),
    ):
        inverted_key = load_image(encoded(image, "PNG", transparency=key))
        assert inverted_key.getpixel((127, 31)) == (255, 255, 255)
        assert inverted_key.getextrema() == ((0, 255),) * 3


def test_fully_transparent_is_white():
    assert load_image(Image.new("RGBA", (4, 2))).getextrema() == ((255, 255),) * 3


def test_sixteen_bit_gray():
    gray = np.asarray(word_image("16", "L"))
    wide = gray.astype(np.uint16) * 257
    for kind in ("PNG", "TIFF"):
        image = load_image(encoded(Image.fromarray(wide), kind))
        assert np.array_equal(np.asarray(image)[..., 0], gray)
    twelve_bits = Image.fromarray((wide >> 4).astype(np.uint16))
    assert (
        difference(load_image(twelve_bits), word_image("16", "L").convert("RGB")) <= 1
    )
    assert np.array_equal(
        np.asarray(load_image(Image.fromarray(wide // 257)))[..., 0], gray
    )


def test_floats_are_scaled_by_their_range():
    values = np.array([[-1.0, 0.0, 1.0, np.nan, np.inf, -np.inf]], dtype=np.float32)
    image = load_image(Image.fromarray(values))
    assert np.asarray(image)[0, :, 0].tolist() == [0, 128, 255, 0, 255, 0]
    assert load_image(Image.new("F", (2, 2), 7.0)).getextrema() == ((0, 0),) * 3


def test_large_photographs_are_decoded_smaller():
    photo = word_image("Big", size=(4096, 2048))
    assert load_image(encoded(photo, "JPEG")).size == (1024, 512)
    assert load_image(encoded(photo, "PNG")).size == (4096, 2048)


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_size_is_that_of_the_whole_picture_upright(kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = Image.new("RGB", (2500, 800), "white")
    expected = (2500, 800) if orientation > 4 else (800, 2500)  # height, width
    image, size = load_sized_image(encoded(stored, kind, exif=exif))
    assert size == expected
    assert (image.height > image.width) == (orientation > 4)
    reduction = 2 if kind == "JPEG" else 1
    assert (image.height, image.width) == tuple(side // reduction for side in expected)


def test_a_photograph_with_a_preview_is_one_picture():
    data = encoded(
        word_image("1"), "MPO", save_all=True, append_images=[word_image("2")]
    )
    with Image.open(BytesIO(data)) as image:
        assert image.n_frames == 2
    assert load_image(data).size == (128, 32)


@pytest.mark.parametrize("kind", ["GIF", "TIFF", "WEBP", "PNG"])
def test_frames_and_pages_are_refused(kind):
    more = [word_image("2"), word_image("3")]
    data = encoded(word_image("1"), kind, save_all=True, append_images=more)
    with pytest.raises(
        UnreadableImage, match=r"image data: holds several frames or pages; save the"
    ):
        load_image(data)
    alone = encoded(word_image("1"), kind, save_all=True)
    assert load_image(alone).size == (128, 32)


DAMAGED = {
    "empty.png": (b"", "empty, 0 bytes"),
    "text.png": (b"hello\n", "not an image that can be read"),
    "noise.jpg": (bytes(range(256)) * 10, "not an image that can be read"),
    "cut.jpg": (encoded(word_image("cut"), "JPEG")[:900], "damaged or cut short"),
    "cut.png": (encoded(word_image("cut"), "PNG")[:200], "damaged or cut short"),
    "cut.webp": (
        encoded(word_image("cut"), "WEBP")[:100],
        "damaged or cut short|not an image",
    ),
    "cut.tiff": (
        encoded(word_image("cut"), "TIFF")[:2000],
        "damaged or cut short|not an image",
    ),
    "cut.bmp": (encoded(word_image("cut"), "BMP")[:2000], "damaged or cut short"),
    "page.pdf": (b"%PDF-1.4\n", "a PDF file; read it with --page on the command line"),
    "photo.heic": (
        b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
        "a HEIC file; convert it to JPEG",
    ),
    "bomb.png": (png_header(30_000, 30_000), "larger than 89 million pixels"),
    "large.png": (png_header(10_000, 10_000), "larger than 89 million pixels"),
    "flat.png": (
        png_header(0, 5),
        "not an image that can be read|without pixels|damaged",
    ),
    "drawing.eps": (
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n",
        "not an image that can be read",
    ),
}


@pytest.mark.parametrize("file", DAMAGED)
def test_what_cannot_be_read_is_reported_in_one_line(file, tmp_path):
    data, trouble = DAMAGED[file]
    path = tmp_path / file
    path.write_bytes(data)
    with pytest.raises(UnreadableImage, match=trouble) as caught:
        load_image(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "; " in caught.value.reason  # what is wrong; what to do
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("progressive", [False, True])
def test_huge_photographs_are_decoded_at_half_their_size(progressive, tmp_path):
    path = tmp_path / "phone.jpg"
    Image.new("L", (12_000, 9_000), "white").save(path, progressive=progressive)
    if progressive:
        with pytest.raises(UnreadableImage, match="larger than 89 million pixels"):
            next(load_pages(path))
        return
    assert next(load_pages(path)).size == (3000, 2250)
    image, size = load_sized_image(path)
    assert size == (9_000, 12_000)
    assert image.width >= 1024


def test_libraries_print_nothing(capfd):
    tiff = encoded(word_image("x"), "TIFF", compression="tiff_lzw")
    for place in range(10, 200, 10):
        try:
            load_image(tiff[:place] + b"\xff\xfe" + tiff[place + 2 :])
        except UnreadableImage:
            continue
    assert capfd.readouterr() == ("", "")


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(UnreadableImage, match="no such file"):
        load_image(tmp_path / "missing.png")
    with pytest.raises(UnreadableImage, match="a folder"):
        load_image(tmp_path)
    if Path(os.devnull).is_char_device():
        os.mkfifo(tmp_path / "pipe.png")  # which is not waited for
        for path in (os.devnull, tmp_path / "pipe.png"):
            with pytest.raises(UnreadableImage, match="a device or pipe"):
                load_image(path)


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "secret.png"
    word_image("x").save(path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    # An administrator, as in a container, may read all
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnreadableImage, match="no permission"):
        load_image(path)


def test_the_largest_image_is_read_and_one_pixel_more_is_not():
    most = MAX_PIXELS // 9000
    with pytest.raises(UnreadableImage, match="damaged"):  # so it went on to the pixels
        load_image(png_header(9000, most))
    with pytest.raises(UnreadableImage, match="larger than 89 million pixels"):
        load_image(png_header(9000, most + 1))
    for size in ((MAX_SIDE + 1, 1), (1, MAX_SIDE + 1)):
        with pytest.raises(
            UnreadableImage, match="larger than 100,000 pixels on one side"
        ):
            load_image(png_header(*size))
        with pytest.raises(
            UnreadableImage, match="larger than 100,000 pixels on one side"
        ):
            load_image(Image.new("1", size))


@pytest.mark.parametrize("mode", ["RGBA", "I;16", "F", "P", "1", "RGB"])
def test_large_images_are_scaled_down_strip_by_strip(mode, monkeypatch):
    image = word_image("Large", "L", size=(203, 61))
    if mode == "I;16":
        image = Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
    else:
        image = image.convert(mode)
    whole, size = load_sized_image(image)
    monkeypatch.setattr(rgb, "_STRIP", 1000)
    strips, _ = load_sized_image(image)
    assert strips.tobytes() == whole.tobytes()
    monkeypatch.setattr(rgb, "_LARGE", 203 * 61 // 4)
    reduced, full = load_sized_image(image)
    assert full == size == (61, 203)
    assert reduced.size == (68, 21)
    assert difference(reduced, whole.reduce(3)) == 0


def test_all_threads_together_decode_a_bounded_number_of_pixels():
    in_flight = loading._PixelsInFlight()
    inside = []
    most = []

    def decode(pixels):
        with in_flight.reserve(pixels):
            inside.append(pixels)
            most.append(sum(inside))
            time.sleep(0.001)
            inside.remove(pixels)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(decode, [MAX_PIXELS // 3] * 20 + [MAX_PIXELS] * 3))
    assert max(most) <= MAX_PIXELS


def test_pages_are_not_counted():
    page = encoded(Image.new("1", (1, 1)), "TIFF")
    with Image.open(BytesIO(page)) as image:
        start = struct.unpack("<I", page[4:8])[0]
        directory = page[start : start + 2 + 12 * len(image.tag_v2)]
    data = bytearray(page[:start])
    for _ in range(60_000):
        data += directory + struct.pack("<I", len(data) + len(directory) + 4)
    began = time.process_time()
    with pytest.raises(UnreadableImage, match="several frames or pages"):
        load_image(bytes(data))
    assert time.process_time() - began < 5


def test_endless_and_text_files(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "MAX_BYTES", 1000)
    with (
        open("/dev/zero", "rb") as endless,
        pytest.raises(UnreadableImage, match="larger than"),
    ):
        load_image(endless)
    (tmp_path / "long.png").write_bytes(bytes(1001))
    with pytest.raises(UnreadableImage, match="larger than"):
        load_image(tmp_path / "long.png")
    with (
        (tmp_path / "long.png").open() as text,
        pytest.raises(UnreadableImage, match="for text"),
    ):
        load_image(text)


def test_names_with_line_breaks_stay_on_one_line():
    error = UnreadableImage("a\nb\t\udcff.png", "odd; rename it")
    assert str(error) == "a\\nb\\t\udcff.png: odd; rename it"
