"""Words that can be used, and all that cannot."""

from io import BytesIO

import pytest
from PIL import Image

from vit_str.characters.charset import Charset
from vit_str.datasets import LabeledWord, Reason, Rules, Skipped

RULES = Rules(Charset("abc가"), maximum_length=4, least_size=6)


def picture(height: int = 12, width: int = 30, orientation: int = 1) -> bytes:
    file = BytesIO()
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (width, height), "red").save(file, "JPEG", exif=exif)
    return file.getvalue()


@pytest.mark.parametrize(
    ("label", "reason", "detail"),
    [
        ("abc", None, ""),
        ("가가가가", None, ""),
        ("", Reason.NO_LABEL, ""),
        ("  ", Reason.NO_LABEL, "only spaces: '  '"),
        ("ab ", Reason.CHARSET, "' ' in 'ab '"),
        ("A b b가x", Reason.CHARSET, "'A x' in 'A b b가x'"),
        ("\u1100\u1161", None, ""),  # 가 in two letters
        ("abcab", Reason.LONG, "5 characters, more than 4: 'abcab'"),
    ],
)
def test_labels(label, reason, detail):
    word = LabeledWord(b"no picture", label, name="a.png")
    skipped = RULES.label(word)
    assert skipped == (Skipped("a.png", reason, detail) if reason else None)
    if reason:
        assert RULES.decode(word) == skipped


def test_no_label_has_two_lines():
    skipped = Rules().label(LabeledWord(b"", "a\nb"))
    assert skipped and skipped.reason is Reason.CHARSET


def test_images_come_upright_and_in_rgb():
    image = RULES.decode(LabeledWord(picture(orientation=6), "abc"))
    assert isinstance(image, Image.Image)
    assert (image.mode, image.height, image.width) == ("RGB", 30, 12)


@pytest.mark.parametrize(
    ("image", "reason", "detail"),
    [
        (b"", Reason.UNREADABLE, "empty, 0 bytes"),
        (b"no picture", Reason.UNREADABLE, "not an image"),
        (picture()[:200], Reason.UNREADABLE, ""),
        (picture(5, 30), Reason.SMALL, "5 x 30 pixels, less than 6"),
        (picture(30, 5), Reason.SMALL, "30 x 5 pixels, less than 6"),
    ],
)
def test_images(image, reason, detail):
    skipped = RULES.decode(LabeledWord(image, "abc", name="a.png"))
    assert isinstance(skipped, Skipped)
    assert (skipped.name, skipped.reason) == ("a.png", reason)
    assert detail in skipped.detail
    assert "\n" not in skipped.detail


def test_accents_that_are_apart_are_no_other_characters(words_of):
    """As in files from macOS: é is é, whichever way it is written."""
    image = words_of(1)[0].image
    rules = Rules(Charset("naïve"), maximum_length=5)
    assert rules.label(LabeledWord(image, "nai\u0308ve")) is None
    assert rules.text_of("nai\u0308ve") == "naïve"
    assert Rules(Charset("naive\u0308")).text_of("nai\u0308ve") == "nai\u0308ve"
    assert Rules().text_of("nai\u0308ve") == "nai\u0308ve"
    skipped = rules.label(LabeledWord(image, "no\u0308"))
    assert skipped is not None
    assert skipped.reason == Reason.CHARSET


@pytest.mark.parametrize("label", ["a\tb", "a\nb", "a\u2028b", "a\x85b"])
def test_what_label_files_cannot_hold(label, words_of):
    skipped = Rules().label(LabeledWord(words_of(1)[0].image, label))
    assert skipped is not None
    assert skipped.reason == Reason.CHARSET
