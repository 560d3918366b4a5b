"""Drafts tell of what script an image is, before other weights are asked."""

import shutil
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from scipy.special import softmax

from vit_str.decoding.search import Search
from vit_str.engines.weights_contents import resolve, stored_checksum
from vit_str.images.image_decoding import decode
from vit_str.scripts.script_detector import ScriptDetector, detector_for
from vit_str.torch_runtime.weights_file import load_weights, save_weights
from vit_str.words.reader import load

RUSSIAN = ("Москва", "карьере", "ПРОДУКТЫ", "больница", "Ещё")
GREEK = ("Αθήνα", "Ελλάδα", "ΕΛΛΗΝΙΚΗ")
ENGLISH = ("Museum", "hospital", "GARDEN", "career", "Products")


@pytest.fixture(scope="module")
def detector() -> ScriptDetector:
    found = detector_for(resolve("tiny"), [resolve("cyrillic-greek")])
    assert found is not None, "new weights? run data/make_script_detector.py"
    return found


@pytest.fixture
def drawn(matplotlib_fonts) -> Callable[[str], Image.Image]:
    """Draws a word with a margin, in a font that has all of these letters."""
    font = ImageFont.truetype(matplotlib_fonts / "DejaVuSans.ttf", 40)

    def draw(word: str) -> Image.Image:
        left, top, right, bottom = font.getbbox(word)
        size = (int(right - left) + 16, int(bottom - top) + 16)
        image = Image.new("RGB", size, "white")
        ImageDraw.Draw(image).text((8 - left, 8 - top), word, "black", font)
        return image

    return draw


def test_two_layers_over_columns_and_their_mean():
    detector = ScriptDetector(
        hidden_weight=np.array([[1.0, -1.0], [0.0, 2.0]]),
        hidden_bias=np.array([0.0, -1.0]),
        output_weight=np.array([[1.0, 3.0], [0.0, 1.0]]),
        output_bias=np.array([-1.0, 0.0]),
        readers=1,
    )
    scores = np.array([[[2.0, 1.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]])
    # First image: hidden (1, 1) and (0, 1), mean (0.5, 1), 0.5 + 3 - 1; second: (0, 1) and (0, 0)
    np.testing.assert_allclose(
        detector.probabilities(scores),
        softmax([[0, 2.5, 1.0], [0, 0.5, 0.5]], axis=1)[:, 1:],
    )
    (one,) = (detector.for_outputs([1], []),)
    odds = np.array([[1.0], [0.5]])
    np.testing.assert_allclose(one.probabilities(scores), 1 / (1 + np.exp(-odds)))


def test_large_scores_do_not_overflow():
    detector = ScriptDetector(
        hidden_weight=np.array([[1.0]]),
        hidden_bias=np.array([0.0]),
        output_weight=np.array([[1.0], [-1.0]]),
        output_bias=np.zeros(2),
    )
    found = detector.probabilities(np.array([[[5000.0]]]))
    np.testing.assert_allclose(found, [[1.0, 0.0]])


def test_the_detector_is_for_the_weights_of_the_package(detector):
    symbols = len(load(resolve("tiny"), "cpu").charset) + 1
    assert detector.hidden_weight.shape[1] == symbols


def test_copies_of_the_weights_have_it_and_others_do_not(detector, tmp_path):
    first = shutil.copy(resolve("tiny"), tmp_path / "tiny.safetensors")
    other = shutil.copy(resolve("cyrillic-greek"), tmp_path / "other.safetensors")
    found = detector_for(first, [other])
    assert found is not None
    np.testing.assert_array_equal(found.output_weight, detector.output_weight)
    assert detector_for(other, [first]) is None
    assert detector_for(first, [other, first]) is None
    assert detector_for(tmp_path / "none.safetensors", [other]) is None
    weights = load_weights(first)
    changed = tmp_path / "changed.safetensors"
    save_weights(
        changed,
        weights.recognizer,
        weights.charset,
        weights.preprocessing,
        {},
        temperature=weights.temperature,
    )
    assert stored_checksum(changed) not in (None, stored_checksum(first))
    assert detector_for(changed, [other]) is None


@pytest.mark.parametrize("backend", ["onnx", "onnx-int8"])
def test_words_of_all_scripts_are_read_right_and_latin_ones_by_the_first(
    drawn, backend
):
    reader = load("tiny", "cpu", backend=backend)
    others = [*RUSSIAN, *GREEK]
    readings = reader.read([drawn(word) for word in others])
    assert [reading.text for reading in readings] == others
    latin = reader.read([drawn(word) for word in ENGLISH])
    assert [reading.text for reading in latin] == list(ENGLISH)
    assert reader.read(drawn("EXIT")).text == "EXIT", "letters of every script"
    assert max(reading.other_script for reading in latin) < 0.25


@pytest.mark.parametrize("backend", ["onnx", "onnx-int8", "torch"])
def test_every_backend_tells_scripts_apart(drawn, backend):
    reader = load("tiny", "cpu", backend=backend)
    images = [
        decode(drawn(word), reader.preprocessing) for word in (*RUSSIAN, *ENGLISH)
    ]
    # Of the first reader, before the other one is asked
    found = [reading.other_script for reading in reader._batches.read(images)]
    assert min(found[: len(RUSSIAN)]) > 0.5 > max(found[len(RUSSIAN) :])


@pytest.mark.parametrize(
    ("effort", "language"), [("fast", None), (None, "en"), (None, "ru+de")]
)
def test_nobody_asks_where_nobody_has_to_choose(word_image, effort, language):
    reader = load("tiny", "cpu", effort=effort, search=Search(language=language))
    assert reader._batches.detector is None
    assert reader.read(word_image("Museum")).text == "Museum"


def test_readings_are_the_same_with_and_without_what_tells(word_image):
    reading = load("tiny", "cpu").read(word_image("Museum"))
    assert reading.other_script is not None
    assert reading == replace(reading, other_script=None)
