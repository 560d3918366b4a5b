import io
import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vit_str.datasets import LabeledWord, Reason, Skipped, open_words
from vit_str.datasets.published.synthtext import SynthTextReader, cut_out

scipy_io = pytest.importorskip("scipy.io")

Corners = Sequence[tuple[float, float]]
BOX: Corners = [(10, 10), (60, 10), (60, 30), (10, 30)]


def cells(values: Sequence[Any]) -> np.ndarray:
    array = np.empty((1, len(values)), dtype=object)
    for place, value in enumerate(values):
        array[0, place] = value
    return array


def boxes(words: Sequence[Corners]) -> np.ndarray:
    """2 x 4 x words as in the file, and 2 x 4 for one word."""
    array = np.array(words, dtype=np.float32).reshape(-1, 4, 2).transpose(2, 1, 0)
    return array[:, :, 0] if len(words) == 1 else array


def save(
    folder: Path,
    names: Sequence[str],
    words: Sequence[Sequence[Corners]],
    texts: Sequence[Sequence[str]],
    compress: bool = True,
) -> Path:
    """``gt.mat`` with the variables of the distributed one; rows of a text are padded."""
    folder.mkdir(exist_ok=True)
    values = {
        "charBB": cells([boxes(image) for image in words]),
        "imnames": cells([np.array([name]) for name in names]),
        "txt": cells([np.array(list(text)) for text in texts]),
        "wordBB": cells([boxes(image) for image in words]),
    }
    scipy_io.savemat(folder / "gt.mat", values, do_compression=compress)
    return folder


def picture(folder: Path, name: str, color: str = "gray") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (120, 80), color).save(folder / name)


def pattern(height: int = 24, width: int = 90) -> Image.Image:
    """Smooth, without any symmetry: mirrored or turned, it is another."""
    y, x = np.mgrid[:height, :width]
    red = 255 * x / width
    green = 255 * y / height
    blue = 127 + 120 * np.sin(x / 9 + y / 15)
    return Image.fromarray(np.stack([red, green, blue], axis=-1).astype(np.uint8))


def drawn(word: Image.Image, corners: Corners, size: tuple[int, int]) -> Image.Image:
    """A word drawn into a picture at its corners: where each pixel of the picture is in the word.

    u = (a x + b y + c) / (g x + h y + 1) and v = (d x + e y + f) / (g x + h y + 1).
    """
    rows, values = [], []
    own = [(0, 0), (word.width, 0), word.size, (0, word.height)]
    for (u, v), (x, y) in zip(own, corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    projection = np.linalg.solve(rows, values).tolist()
    return word.transform(size, Image.Transform.PERSPECTIVE, projection)


@pytest.mark.parametrize(
    "corners",
    [
        [(20, 15), (110, 15), (110, 39), (20, 39)],  # as it is
        [(40, 20), (128, 60), (118, 84), (30, 44)],  # falling
        [(150, 110), (60, 108), (61, 84), (150, 86)],  # on its head
        [(30, 140), (32, 50), (56, 52), (54, 140)],  # running up
        [(20, 20), (120, 35), (118, 62), (22, 44)],  # seen from the side
    ],
)
def test_a_word_comes_back_upright(corners: Corners, tmp_path: Path) -> None:
    word = pattern()
    (tmp_path / "1").mkdir()
    drawn(word, corners, (200, 150)).save(tmp_path / "1" / "a.png")
    save(tmp_path, ["1/a.png"], [[corners]], [["Word"]])
    (found,) = open_words(tmp_path)
    assert isinstance(found, LabeledWord)
    assert (found.label, found.name) == ("Word", "1/a.png#0")
    with Image.open(io.BytesIO(found.image)) as cut:
        assert cut.format == "PNG"
        sides = np.linalg.norm(np.roll(corners, -1, axis=0) - np.array(corners), axis=1)
        assert cut.size == (round(max(sides[::2])), round(max(sides[1::2])))
        assert cut.width > 3 * cut.height
        same = np.asarray(cut.convert("RGB").resize(word.size)).astype(int)
    difference = np.abs(same - np.asarray(word))[2:-2, 2:-2]
    assert difference.mean() < 3  # one pixel of the pattern is 5 to 13 of 255
    assert np.abs(same[:, ::-1] - np.asarray(word)).mean() > 30


def test_straight_boxes_keep_every_pixel() -> None:
    word = pattern()
    cut = cut_out(word, np.array([(10, 5), (70, 5), (70, 20), (10, 20)], dtype=float))
    assert np.array_equal(np.asarray(cut), np.asarray(word.crop((10, 5, 70, 20))))


def test_a_box_a_little_outside_repeats_the_edge() -> None:
    word = pattern()
    cut = cut_out(word, np.array([(-2, -1), (60, -1), (60, 20), (-2, 20)], dtype=float))
    assert cut.size == (62, 21)
    assert np.array_equal(np.asarray(cut)[1:, 2:], np.asarray(word.crop((0, 0, 60, 20))))
    assert np.array_equal(np.asarray(cut)[1:, 0], np.asarray(word)[:20, 0])


@pytest.mark.parametrize(
    ("corners", "trouble"),
    [
        ([(60, 10), (10, 10), (10, 30), (60, 30)], "do not enclose an area clockwise"),  # mirrored
        ([(10, 10), (60, 30), (60, 10), (10, 30)], "do not enclose an area clockwise"),  # crossed
        ([(10, 10), (60, 10), (60, 10), (10, 10)], "do not enclose an area clockwise"),  # a line
        ([(10, 10), (60, 10), (20, 12), (10, 30)], "do not enclose an area clockwise"),  # hollow
        ([(80, 10), (130, 10), (130, 30), (80, 30)], "% of its area outside the image"),
        ([(10, 10), (500, 10), (500, 30), (10, 30)], "far outside the image"),
        ([(10, 10), (float("nan"), 10), (60, 30), (10, 30)], "not a finite number"),
        ([(10, 10), (float("inf"), 10), (60, 30), (10, 30)], "not a finite number"),
    ],
)
def test_boxes_that_are_none(corners: Corners, trouble: str, tmp_path: Path) -> None:
    picture(tmp_path, "a.png")
    save(tmp_path, ["a.png"], [[corners, BOX]], [["bad good"]])
    bad, good = SynthTextReader(tmp_path)
    assert isinstance(bad, Skipped)
    assert (bad.name, bad.reason) == ("a.png#0", Reason.DAMAGED)
    assert trouble in bad.detail
    assert isinstance(good, LabeledWord)
    assert good.label == "good"


@pytest.mark.parametrize("compress", [True, False])
def test_words_of_several_images_and_rows(compress: bool, tmp_path: Path) -> None:
    for name in ("8/ballet.png", "8/b.png"):
        picture(tmp_path, name)
    texts = [["Lines:\nI lost\nKevin ", "will        "], ["one"], [], ["two words"], ["a b c"]]
    names = ["8/ballet.png", "8\\b.png", "8/b.png", "8/b.png", "8/gone.png"]
    words = [[BOX] * 5, [BOX], [], [BOX] * 3, [BOX] * 3]
    source = SynthTextReader(save(tmp_path, names, words, texts, compress))
    found = list(source)
    assert [word.label for word in found[:6]] == ["Lines:", "I", "lost", "Kevin", "will", "one"]
    assert [word.reason for word in found[6:]] == [Reason.DAMAGED] * 3 + [Reason.MISSING] * 3
    assert found[6].detail == "3 boxes for 2 words in this image"
    assert [word.name for word in found[9:]] == [f"8/gone.png#{i}" for i in range(3)]
    assert len(source) == 12
    places = random.Random(1).sample(range(12), 12)
    assert [source[place] for place in places] == [found[place] for place in places]
    with pytest.raises(IndexError):
        source[12]
    assert list(pickle.loads(pickle.dumps(source))) == found  # noqa: S301 - made above


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (b"", "cannot be read as a MATLAB file"),
        (b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(600), "save it with -v7"),
        (b"MATLAB 5.0".ljust(124) + b"\x00\x01IM", "no cell array imnames"),
    ],
)
def test_files_that_are_something_else(data: bytes, trouble: str, tmp_path: Path) -> None:
    (tmp_path / "gt.mat").write_bytes(data)
    with pytest.raises(ValueError, match=trouble):
        len(open_words(tmp_path))


def test_a_folder_without_truth(tmp_path: Path) -> None:
    assert not SynthTextReader.recognizes(tmp_path)
    with pytest.raises(ValueError, match=r"expected gt.mat of SynthText in"):
        SynthTextReader(tmp_path)


def test_variables_that_do_not_go_together(tmp_path: Path) -> None:
    save(tmp_path, ["a.png"], [[BOX], [BOX]], [["a"], ["b"]])
    with pytest.raises(ValueError, match="has 1 names, boxes for 2 images and words for 2"):
        len(SynthTextReader(tmp_path))
