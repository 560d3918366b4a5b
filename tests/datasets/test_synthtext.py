"""SynthText: a ``gt.mat`` as it is distributed, with pictures of scenes made here."""

import os
import pickle
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vit_str.datasets import LabeledWord, Reason, Skipped, open_words
from vit_str.datasets.synthtext import SynthTextReader
from vit_str.datasets.synthtext_words import cut_out

savemat = pytest.importorskip("scipy.io").savemat
pytest.importorskip("cv2")

Corners = list[tuple[float, float]]

SIZE = (200, 120)  # width and height of a scene
UPRIGHT: Corners = [(20, 30), (80, 30), (80, 50), (20, 50)]


def quarters(corners: Corners) -> Image.Image:
    """A scene with a word in four colors: red, green, blue and white, clockwise from top left."""
    columns, rows = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5)
    top_left, top_right, _, bottom_left = map(np.array, corners)
    along = top_right - top_left
    down = bottom_left - top_left
    places = np.stack([columns, rows], -1) - top_left
    u = places @ along / (along @ along)
    v = places @ down / (down @ down)
    pixels = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
    inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
    for color, part in (
        ((255, 0, 0), (u < 0.5) & (v < 0.5)),
        ((0, 255, 0), (u >= 0.5) & (v < 0.5)),
        ((0, 0, 255), (u >= 0.5) & (v >= 0.5)),
        ((255, 255, 255), (u < 0.5) & (v >= 0.5)),
    ):
        pixels[inside & part] = color
    return Image.fromarray(pixels)


def cells(values: list[Any]) -> np.ndarray:
    """A cell array of MATLAB, 1 x number."""
    array = np.empty((1, len(values)), object)
    for index, value in enumerate(values):
        array[0, index] = value
    return array


def write_truth(
    path: Path, pictures: list[tuple[str, list[str], list[Corners]]], **more: Any
) -> Path:
    """``gt.mat``: names, blocks of text, and boxes as 2 x 4 x words, 2 x 4 for a single one."""
    boxes = [np.array(corners, float).transpose(2, 1, 0) for _, _, corners in pictures]
    values = {
        "imnames": cells([np.array([name]) for name, _, _ in pictures]),
        "txt": cells([np.array(blocks) for _, blocks, _ in pictures]),
        "wordBB": cells([box[:, :, 0] if box.shape[2] == 1 else box for box in boxes]),
        "charBB": cells([np.zeros((2, 4, 9)) for _ in pictures]),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {**values, **more}, do_compression=True)
    return path


def picture_at(path: Path, corners: Corners = UPRIGHT) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    quarters(corners).save(path, "PNG")


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two scenes; the second has one word."""
    folder = tmp_path / "SynthText"
    picture_at(folder / "8" / "ballet_106_0.jpg")
    picture_at(folder / "9" / "desert_78_83.jpg")
    moved = [[(x + dx, y) for x, y in UPRIGHT] for dx in (0, 1, 2, 3)]
    write_truth(
        folder / "gt.mat",
        [
            # As rows of one length, which MATLAB has: blocks of lines, lines of words.
            ("8/ballet_106_0.jpg", ["Lines:\nI lost  ", "Kevin           "], moved),
            ("9/desert_78_83.jpg", ["will"], [UPRIGHT]),
        ],
    )
    return folder


def words_in(source: SynthTextReader) -> list[LabeledWord]:
    words = list(source)
    assert all(isinstance(word, LabeledWord) for word in words), words
    return words  # type: ignore[return-value]


def test_every_word_of_every_picture(folder):
    for path in (folder, folder.parent, folder / "gt.mat"):
        source = open_words(path)
        assert isinstance(source, SynthTextReader)
        assert len(source) == 5
        assert [word.label for word in words_in(source)] == [
            "Lines:",
            "I",
            "lost",
            "Kevin",
            "will",
        ]
    words = words_in(source)
    assert [word.name for word in words][3:] == [
        "8/ballet_106_0.jpg#3",
        "9/desert_78_83.jpg#0",
    ]
    assert [source[place] for place in (4, 0, 3, 1, 2)] == [
        words[i] for i in (4, 0, 3, 1, 2)
    ]
    with pytest.raises(IndexError):
        source[5]
    assert list(pickle.loads(pickle.dumps(source))) == words  # noqa: S301
    with Image.open(BytesIO(words[4].image)) as image:
        assert (image.size, image.format) == ((60, 20), "PNG")


TURNED = [
    pytest.param(UPRIGHT, id="upright"),
    pytest.param(
        [(100, 20), (150, 50), (140, 66.7), (90, 36.7)], id="turned by 31 degrees"
    ),
    pytest.param([(60, 100), (60, 30), (80, 30), (80, 100)], id="upwards"),
    pytest.param([(150, 80), (90, 80), (90, 60), (150, 60)], id="upside down"),
    pytest.param([(30, 40), (90, 40), (100, 60), (40, 60)], id="sheared"),
]


@pytest.mark.parametrize("corners", TURNED)
def test_words_come_out_upright(corners):
    # `quarters` paints rectangles only; this one is a parallelogram
    if corners[2][0] == 100:
        shear = Image.Transform.AFFINE
        scene = quarters(UPRIGHT).transform(SIZE, shear, (1, -0.5, 10, 0, 1, -10))
    else:
        scene = quarters(corners)
    cut = cut_out(scene, np.array(corners, float))
    top, right, bottom, left = np.linalg.norm(
        np.roll(corners, -1, axis=0) - np.array(corners), axis=1
    )
    assert cut.size == (round(max(top, bottom)), round(max(left, right)))
    width, height = cut.size
    found = [
        cut.getpixel((x, y))
        for x, y in (
            (width // 4, height // 4),
            (width * 3 // 4, height // 4),
            (width * 3 // 4, height * 3 // 4),
            (width // 4, height * 3 // 4),
        )
    ]
    assert found == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]


def test_an_upright_box_on_whole_pixels_is_a_crop():
    scene = quarters([(25, 33), (75, 28), (77, 48), (27, 53)])
    cut = cut_out(scene, np.array(UPRIGHT, float))
    assert np.array_equal(np.asarray(cut), np.asarray(scene.crop((20, 30, 80, 50))))


def test_perspective_is_straightened():
    """The middle of a plane seen from the side is where its diagonals cross."""
    scene = Image.new("RGB", SIZE, (0, 0, 0))
    corners = np.array([(20, 20), (180, 50), (180, 70), (20, 110)], float)
    first = corners[2] - corners[0]
    second = corners[3] - corners[1]
    along = np.linalg.solve(np.stack([first, -second], 1), corners[1] - corners[0])[0]
    x, y = corners[0] + along * first
    scene.paste((255, 255, 255), (int(x) - 2, int(y) - 2, int(x) + 3, int(y) + 3))
    pixels = np.asarray(cut_out(scene, corners).convert("L"), float)
    rows, columns = np.indices(pixels.shape) + 0.5
    weights = pixels / pixels.sum()
    assert (columns * weights).sum() == pytest.approx(pixels.shape[1] / 2, abs=2)
    assert (rows * weights).sum() == pytest.approx(pixels.shape[0] / 2, abs=2)


def test_words_that_cannot_be_cut_out(folder):
    picture_at(folder / "a.png")
    (folder / "cut.png").write_bytes((folder / "a.png").read_bytes()[:200])
    mirrored = UPRIGHT[::-1]
    beyond: Corners = [(x + 125, y) for x, y in UPRIGHT]
    a_little: Corners = [(x + 124, y) for x, y in UPRIGHT]
    flat: Corners = [(20, 30), (80, 30), (80, 30), (20, 30)]
    far: Corners = [(20, 30), (9e9, 30), (9e9, 50), (20, 50)]
    endless: Corners = [(20, 30), (float("nan"), 30), (80, 50), (20, 50)]
    boxes = [mirrored, flat, far, endless, a_little, [(x + 10, y) for x, y in beyond]]
    write_truth(
        folder / "gt.mat",
        [
            ("a.png", ["a b c d e f"], boxes),
            ("a.png", ["three words here"], [UPRIGHT, UPRIGHT]),
            ("gone.png", ["one"], [UPRIGHT]),
            ("cut.png", ["one"], [UPRIGHT]),
        ],
    )
    words = list(open_words(folder))
    found = [word.reason if isinstance(word, Skipped) else word.label for word in words]
    damaged = Reason.DAMAGED
    of_boxes = [damaged, damaged, damaged, damaged, "e", damaged]
    assert found == [
        *of_boxes,
        damaged,
        damaged,
        damaged,
        Reason.MISSING,
        Reason.UNREADABLE,
    ]
    details = [word.detail for word in words if isinstance(word, Skipped)]
    assert details[:7] == [
        "the corners of the box enclose no area clockwise",
        "the corners of the box enclose no area clockwise",
        "a corner of the box is far outside of the picture",
        "a corner of the box is no finite number",
        "25% of the box is outside of the picture",
        "2 boxes for 3 words in this picture",
        "2 boxes for 3 words in this picture",
    ]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_pictures_outside_of_the_folder_are_not_read(folder, tmp_path):
    """A ``gt.mat`` of somebody else could name any file of this machine."""
    outside = tmp_path / "outside.png"
    picture_at(outside)
    (folder / "8" / "link.png").symlink_to(outside)
    names = [str(outside), "../outside.png", "8/../../outside.png", "8/link.png"]
    names.append("8/../8/ballet_106_0.jpg")
    write_truth(folder / "gt.mat", [(name, ["word"], [UPRIGHT]) for name in names])
    *others, inside = SynthTextReader(folder)
    assert [word.reason for word in others if isinstance(word, Skipped)] == [
        Reason.OUTSIDE
    ] * 4
    assert isinstance(inside, LabeledWord)


def test_what_is_no_synthtext(tmp_path):
    with pytest.raises(
        ValueError, match=r"found no gt\.mat of SynthText there; check the path"
    ):
        SynthTextReader(tmp_path)
    path = tmp_path / "gt.mat"
    whole = write_truth(path, [("a.png", ["a"], [UPRIGHT])]).read_bytes()
    for content, message in (
        (b"", "no MATLAB file, or damaged"),
        (b"x" * 3000, "no MATLAB file, or damaged"),
        (whole[: len(whole) // 2], "no MATLAB file, or damaged"),
        (b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM", "version 7.3"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            len(open_words(path))
    savemat(path, {"imnames": cells([np.array(["a.png"])])})
    with pytest.raises(ValueError, match="no cell array wordBB"):
        len(open_words(path))
    write_truth(path, [("a.png", ["a"], [UPRIGHT])], txt=cells([np.array(["a"])] * 2))
    with pytest.raises(ValueError, match="expected as many of each"):
        len(open_words(path))


def test_no_pickle_is_loaded(tmp_path, monkeypatch):
    """A MATLAB file with an object in it runs no code."""
    path = write_truth(tmp_path / "gt.mat", [("a.png", ["a"], [UPRIGHT])])

    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("a pickle was loaded")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    assert len(open_words(path)) == 1


def test_what_is_kept_of_the_truth_is_small(tmp_path):
    """Of 858,750 pictures with 8.5 words each, the whole fits where a training runs."""
    pictures = [
        (f"8/scene_{number}.jpg", ["some words here"], [UPRIGHT] * 3)
        for number in range(500)
    ]
    path = write_truth(tmp_path / "gt.mat", pictures)
    source = open_words(path)
    tracemalloc.start()
    assert len(source) == 1500
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500 * 400  # bytes: name, words, three boxes of 32 bytes, two places
    assert most < 500 * 12_000
