"""Augmentation: the same for the same number, and never one that makes a label wrong."""

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image, ImageDraw, ImageFont

from vit_str.datasets.augmentation import POLICIES, WORKING_HEIGHT, Augmentation, load_policy
from vit_str.datasets.augmentation.allowed import ALLOWED, MOVING
from vit_str.datasets.augmentation.augment import still_legible
from vit_str.datasets.augmentation.policy import Step, build, library, split

pytestmark = pytest.mark.filterwarnings("default")  # the library's own

Write = Callable[..., Path]

WITHIN_LIMITS: dict[str, dict[str, Any]] = {
    "Affine": {"rotate": 20, "shear": {"x": [-20, 20], "y": [0, 0]}},
    "SafeRotate": {"limit": 30},
    "ElasticTransform": {"alpha": 30, "sigma": 5},
    "CoarseDropout": {
        "num_holes_range": [1, 4],
        "hole_height_range": [2, 5],
        "hole_width_range": [2, 8],
    },
    "Defocus": {"radius": [1, 3]},
    "Pad": {"padding": 8},
    "GaussNoise": {"std_range": [0.05, 0.1]},
    "Downscale": {"scale_range": [0.3, 0.8]},
}
"""For transforms whose defaults are too much or nothing."""


def saved(step: Any) -> Any:
    """``{name: arguments}`` as albumentations saves it, with what has to be given for each."""
    if not isinstance(step, dict) or len(step) != 1:
        return step
    ((name, arguments),) = step.items()
    fixed = ALLOWED[name].fixed if name in ALLOWED else {}
    values = {"__class_fullname__": name, **fixed, **(arguments or {})}
    if isinstance(values.get("transforms"), list):
        values["transforms"] = [saved(each) for each in values["transforms"]]
    if name in ALLOWED and ALLOWED[name].padded:
        border = {"__class_fullname__": "Pad", "padding": 8, "border_mode": 1, "p": 1}
        p = values.pop("p", 0.5)
        steps = [border, {**values, "p": 1}]
        return {"__class_fullname__": "Sequential", "p": p, "transforms": steps}
    return values


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A policy as a file."""

    def write_policy(policy: Any, name: str = "own.yaml") -> Path:
        path = tmp_path / name
        if isinstance(policy, list):
            policy = {"transform": saved({"Compose": {"p": 1, "transforms": policy}})}
        text = policy if isinstance(policy, str) else yaml.safe_dump(policy)
        path.write_text(text, encoding="utf-8")
        return path

    return write_policy


def word(text: str = "Hamburg", color: str = "navy", background: str = "wheat") -> Image.Image:
    """A word that touches the edges of its picture on all sides, as a tight crop does."""
    font = ImageFont.load_default(60)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGB", (round(right - left), round(bottom - top)), background)
    ImageDraw.Draw(image).text((-left, -top), text, fill=color, font=font)
    return image


def same(first: Image.Image, second: Image.Image) -> bool:
    return first.size == second.size and first.tobytes() == second.tobytes()


def test_none_leaves_a_picture_as_it_is() -> None:
    image = word()
    assert Augmentation("none")(image, 3) is image


def test_the_number_alone_decides() -> None:
    image, policy = word(), "strong"
    before = image.tobytes()
    augmentation, other = Augmentation(policy, 5), Augmentation(policy, 5)
    forward = [augmentation(image, number) for number in range(12)]
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002 - what others draw from must not matter
    carried = pickle.loads(pickle.dumps(augmentation))  # noqa: S301 - as a loader's process gets it
    for number in reversed(range(12)):
        assert same(other(image, number), forward[number])
        assert same(carried(image, number), forward[number])
    assert len({picture.tobytes() for picture in forward}) > 6
    assert not all(same(Augmentation(policy, 6)(image, n), forward[n]) for n in range(12))
    assert image.tobytes() == before


@pytest.mark.parametrize("size", [(4, 4), (4, 300), (2500, 20), (3000, 2000), (1, 1)])
def test_pictures_of_any_size(size: tuple[int, int]) -> None:
    augmentation = Augmentation("strong")
    image = Image.effect_noise(size, 60).convert("RGB")
    for number in range(6):
        picture = augmentation(image, number)
        assert picture.mode == "RGB"
        assert max(picture.size) < 12 * WORKING_HEIGHT, "it takes as long as for any other"


def scaled(image: Image.Image) -> Image.Image:
    width = round(image.width * WORKING_HEIGHT / image.height)
    return image.resize((width, WORKING_HEIGHT), Image.Resampling.BICUBIC)


scaled_word = scaled(word("HMNWE", "black", "white"))
word_size = scaled_word.size


def strongest_moves() -> list[Step]:
    """All that moves pixels in ``strong``, always; with white around, not what is at the edges.

    What is repeated there would count as ink and hide that some is gone.
    """

    def always(step: Step) -> Step:
        if "transforms" in step:
            return {**step, "p": 1, "transforms": [always(each) for each in step["transforms"]]}
        return {**step, "p": 1, "border_mode": 0, "fill": 255}

    return [always(step) for step in split(load_policy("strong"))[0]]


def test_edges_stay_in_view() -> None:
    """To the pixel, for what turns, shears and tilts."""
    step = strongest_moves()[0]
    points = library().KeypointParams(format="xy", remove_invisible=False)
    moves = library().Compose([build(step)], keypoint_params=points)
    (width, height), picture = word_size, np.array(scaled_word)
    edge = [(x, y) for x in np.linspace(0, width - 1, 9) for y in (0, height - 1)]
    for number in range(100):
        moves.set_random_seed(number)
        moved = moves(image=picture, keypoints=np.array(edge, np.float32))
        places, (rows, columns) = moved["keypoints"], moved["image"].shape[:2]
        assert places.min() > -1
        assert (places < (columns, rows)).all()


@pytest.mark.parametrize("name", list(ALLOWED))
def test_every_allowed_transform_is_a_function_of_the_number(name: str, write: Write) -> None:
    arguments = {**WITHIN_LIMITS.get(name, {}), "p": 1}
    path = write([{name: arguments}])
    image = word()
    first = [Augmentation(path, 1)(image, number) for number in range(3)]
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    again = Augmentation(path, 1)
    for number in reversed(range(3)):
        assert same(again(image, number), first[number])
    if name in MOVING:
        assert all(picture.width >= 0.4 * picture.height for picture in first)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ([{"HorizontalFlip": {"p": 0.5}}], "HorizontalFlip mirrors or turns letters"),
        ([{"Transpose": None}], "Transpose mirrors"),
        ([{"RandomCrop": {"height": 20, "width": 20}}], "RandomCrop can cut characters off"),
        ([{"RandomResizedCrop": {}}], "can cut characters off"),
        ([{"Rotate": {"limit": 5}}], "use Affine or SafeRotate"),
        ([{"GridDropout": {}}], "can hide whole characters"),
        ([{"RandomGridShuffle": {}}], "moves pieces"),
        ([{"TextImage": {}}], "writes other words"),
        ([{"Normalize": {}}], "is not known to leave the word as it is"),
        ([{"OneOf": {"transforms": [{"HorizontalFlip": {}}]}}], "mirrors"),
        ([{"Affin": {"rotate": 3}}], "no transform 'Affin'; use OneOf"),
        ([{"Affine": {"rotat": 3}}], "Affine: Argument.s. 'rotat'"),
        ([{"Affine": {"rotate": [-90, 90]}}], "rotate of Affine must stay within -45 and 45"),
        ([{"Affine": {"rotate": 60}}], "must stay within -45 and 45, found"),
        ([{"Affine": {"scale": -1}}], "scale of Affine must stay within 0.5 and 2"),
        ([{"Affine": {"translate_percent": 0.3}}], "translate_percent of Affine must stay"),
        ([{"Affine": {"fit_output": False}}], "fit_output of Affine must be True"),
        ([{"SafeRotate": {}}], "limit of SafeRotate .* by default"),
        ([{"Perspective": {"scale": [0, 0.5]}}], "scale of Perspective must stay"),
        ([{"CoarseDropout": {"hole_width_range": [0.1, 0.5]}}], "must be whole numbers|by default"),
        ([{"MotionBlur": {"allow_shifted": True}}], "allow_shifted of MotionBlur must be False"),
        ([{"ColorJitter": {"brightness": 0.9}}], "brightness of ColorJitter must stay"),
        ([{"InvertImg": {"p": 2}}], "InvertImg: p"),
        ([{"ImageCompression": {"quality_range": "low"}}], "ImageCompression: quality_range"),
        ([{"OneOf": {}}], "OneOf needs a list named transforms"),
        ([3], "expected a transform with its __class_fullname__"),
        ({"Affine": {"rotate": 3}}, "expected what albumentations.save writes"),
        (
            {"transform": {"__class_fullname__": "Compose", "p": 0.5, "transforms": []}},
            "p of the whole pipeline must be 1",
        ),
        (
            [{"__class_fullname__": "ElasticTransform", "alpha": 5, "sigma": 5, "border_mode": 1}],
            "ElasticTransform needs a Pad with p 1 right before it",
        ),
        ("- [", "is not YAML"),
        ("- !!python/object/apply:os.getcwd []", "is not YAML"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(write: Write, policy: Any, said: str) -> None:
    path = write(policy)
    with pytest.raises(ValueError, match=said) as caught:
        Augmentation(path)
    assert str(caught.value).startswith(f"augmentation policy {path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", POLICIES)
def test_the_policies_of_the_package(name: str) -> None:
    steps = load_policy(name)
    places, looks = split(steps)
    assert (*places, *looks) == steps
    assert not any(moving in str(looks) for moving in MOVING)
    assert bool(places) == (name != "none")


def test_a_word_is_legible_in_other_colors_and_not_in_noise() -> None:
    before = np.array(scaled(word("Faint", "#7c7c7c", "#747474")))
    noise = np.random.default_rng(0).normal(0, 60, before.shape)
    noisy = (before + noise).clip(0, 255).astype(np.uint8)
    assert still_legible(before, 255 - before)
    assert still_legible(before, before[..., ::-1])
    assert not still_legible(before, noisy)
    assert not still_legible(before, np.zeros_like(before))
    bold = np.array(scaled(word("Bold", "black", "white")))
    noisy = (bold + np.random.default_rng(0).normal(0, 60, bold.shape)).clip(0, 255)
    assert still_legible(bold, noisy.astype(np.uint8)), "the same noise does little there"


def test_a_faint_word_is_not_lost_in_noise(write: Write) -> None:
    noise = {"GaussNoise": {"std_range": [0.3, 0.3], "p": 1}}
    turn = {"Affine": {"rotate": [10, 10], "p": 1}}
    faint = word("Faint", "#7c7c7c", "#747474")
    turned = Augmentation(write([turn], "turn.yaml"))(faint, 1)
    assert same(Augmentation(write([turn, noise]))(faint, 1), turned)
    bold = word("Bold", "black", "white")
    assert not same(
        Augmentation(write([turn, noise]))(bold, 1),
        Augmentation(write([turn], "turn.yaml"))(bold, 1),
    )


def test_what_the_library_saves_is_a_policy(tmp_path: Path) -> None:
    pipeline = library().Compose([library().ColorJitter(p=0.5), library().ToGray(p=0.1)])
    library().save(pipeline, tmp_path / "own.yaml", data_format="yaml")
    names = [step["__class_fullname__"] for step in load_policy(tmp_path / "own.yaml")]
    assert names == ["ColorJitter", "ToGray"]
