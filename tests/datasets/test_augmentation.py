"""Augmentation: the same for the same number, and never one that makes a label wrong."""

import pickle
import random

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

pytest.importorskip("albumentations")

import albumentations

from vit_str.datasets.augmentation import (
    PIPELINES,
    WORKING_HEIGHT,
    Augmentation,
    Pipeline,
    strong,
)

pytestmark = pytest.mark.filterwarnings("default")  # the library's own


def word(
    text: str = "Hamburg", color: str = "navy", background: str = "wheat"
) -> Image.Image:
    """A word that touches the edges of its picture on all sides, as a tight crop does."""
    font = ImageFont.load_default(60)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGB", (round(right - left), round(bottom - top)), background)
    ImageDraw.Draw(image).text((-left, -top), text, fill=color, font=font)
    return image


def scaled(image: Image.Image) -> Image.Image:
    width = round(image.width * WORKING_HEIGHT / image.height)
    return image.resize((width, WORKING_HEIGHT), Image.Resampling.BICUBIC)


def same(first: Image.Image, second: Image.Image) -> bool:
    return first.size == second.size and first.tobytes() == second.tobytes()


def test_none_leaves_a_picture_as_it_is():
    image = word()
    assert Augmentation("none")(image, 3) is image


@pytest.mark.parametrize("name", ["light", "strong"])
def test_the_number_alone_decides(name):
    image = word()
    before = image.tobytes()
    augmentation = Augmentation(name, 5)
    other = Augmentation(name, 5)
    forward = [augmentation(image, number) for number in range(12)]
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002 - what others draw from must not matter
    carried = pickle.loads(pickle.dumps(augmentation))  # noqa: S301 - as a loader's process gets it
    for number in reversed(range(12)):
        assert same(other(image, number), forward[number])
        assert same(carried(image, number), forward[number])
    assert len({picture.tobytes() for picture in forward}) > 6
    assert not all(same(Augmentation(name, 6)(image, n), forward[n]) for n in range(12))
    assert image.tobytes() == before


@pytest.mark.parametrize("size", [(4, 4), (4, 300), (2500, 20), (3000, 2000), (1, 1)])
def test_pictures_of_any_size(size):
    augmentation = Augmentation("strong")
    image = Image.effect_noise(size, 60).convert("RGB")
    for number in range(6):
        picture = augmentation(image, number)
        assert picture.mode == "RGB"
        assert max(picture.size) < 12 * WORKING_HEIGHT, (
            "it takes as long as for any other"
        )


def test_edges_stay_in_view():
    """To the pixel, for what turns, shears and tilts."""
    group = strong().geometry[0]
    group.p = 1
    points = albumentations.KeypointParams(format="xy", remove_invisible=False)
    moves = albumentations.Compose([group], keypoint_params=points)
    picture = np.array(scaled(word("HMNWE", "black", "white")))
    height, width = picture.shape[:2]
    edge = [(x, y) for x in np.linspace(0, width - 1, 9) for y in (0, height - 1)]
    for number in range(100):
        moves.set_random_seed(number)
        moved = moves(image=picture, keypoints=np.array(edge, np.float32))
        places = moved["keypoints"]
        rows, columns = moved["image"].shape[:2]
        assert places.min() > -1
        assert (places < (columns, rows)).all()


OWN = """
import albumentations as A
from vit_str.datasets.augmentation import Pipeline

TURN = A.Affine(rotate=(10, 10), fit_output=True, border_mode=1, p=1)

def turned():
    return Pipeline([TURN], [])

def noisy():
    return Pipeline([TURN], [A.GaussNoise(std_range=(0.3, 0.3), p=1)])

def wrong():
    return [TURN]
"""


@pytest.fixture
def own(tmp_path, monkeypatch) -> str:
    """A module of the user's with pipelines."""
    (tmp_path / "own_pipelines.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_pipelines"


def test_a_faint_word_is_not_lost_in_noise(own):
    for image, kept in (
        (word("Faint", "#7c7c7c", "#747474"), False),
        (word("Bold", "black", "white"), True),
    ):
        turned = Augmentation(f"{own}.turned")(image, 1)
        assert turned.height > WORKING_HEIGHT
        assert same(Augmentation(f"{own}.noisy")(image, 1), turned) is not kept


def test_mistakes_are_one_line(own):
    for name, said in (
        ("wild", "no augmentation 'wild'"),
        ("policy.yaml", "give one of none, light, strong or module.function"),
        (f"{own}.absent", "has no attribute 'absent'"),
        (
            f"{own}.wrong",
            "must return a vit_str.datasets.augmentation.Pipeline, found list",
        ),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            Augmentation(name)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="expected an RGB image, found L"):
        Augmentation()(Image.new("L", (8, 8)), 0)
    assert all(isinstance(pipeline(), Pipeline) for pipeline in PIPELINES.values())
