"""How far the numbers inside a model reach."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

import vit_str
from vit_str import machine
from vit_str.cli import main
from vit_str.decoding.search import Search
from vit_str.engines import onnx_engine
from vit_str.engines.onnx_steps import OnnxSteps
from vit_str.engines.ranges import PIXELS
from vit_str.engines.weights_contents import is_intact, load_header, resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import CPU_DTYPE
from vit_str.synthesis import glyph_cache
from vit_str.torch_runtime.ranges import measure_ranges, rendered_words
from vit_str.torch_runtime.weights_file import load_weights, renew_weights, save_weights

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "samples" / "images").iterdir())


def with_texts(batches, symbols: int = 90):
    """Batches of images with random texts."""
    generator = torch.Generator().manual_seed(0)
    for images in batches:
        yield images, torch.randint(0, symbols, (len(images), 5), generator=generator)


def test_one_image_in_a_hundred_may_go_beyond(small_recognizer):
    recognizer = small_recognizer()
    preprocessing = Preprocessing()
    pixels = torch.full((301, 3, 32, 128), 128, dtype=torch.uint8)
    usual = measure_ranges(recognizer, preprocessing, with_texts(pixels.split(100)))
    pixels[7] = 255
    with_one = measure_ranges(recognizer, preprocessing, with_texts(pixels.split(100)))
    pixels[:30] = 255
    with_many = measure_ranges(recognizer, preprocessing, with_texts(pixels.split(100)))
    assert usual[PIXELS] == with_many[PIXELS] == (-1, 1)
    point = "encoder.embed_patches.input"
    assert (
        usual[point] == with_one[point] == pytest.approx((1 / 255, 1 / 255), rel=1e-4)
    )
    assert with_many[point] == pytest.approx((1 / 255, 1), rel=1e-4)


def test_a_model_in_training_is_measured_as_it_reads(small_recognizer):
    recognizer = small_recognizer()
    for module in recognizer.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    pixels = [torch.randint(0, 256, (4, 3, 32, 128), dtype=torch.uint8)]
    expected = measure_ranges(recognizer.eval(), Preprocessing(), with_texts(pixels))
    assert (
        measure_ranges(recognizer.train(), Preprocessing(), with_texts(pixels))
        == expected
    )
    assert recognizer.training


def test_a_weights_file_keeps_ranges_under_its_checksum(tmp_path, weights):
    path = tmp_path / "a.safetensors"
    other = tmp_path / "b.safetensors"
    ranges = {"a.input": (-1.5, 2.0), "b.output": (0.0, 0.25)}
    save_weights(
        path,
        weights.recognizer,
        weights.charset,
        weights.preprocessing,
        {},
        ranges=ranges,
    )
    assert load_header(path).ranges == ranges
    renew_weights(path, other, load_weights(path))
    assert load_weights(other).ranges == ranges
    assert is_intact(other)
    save_weights(path, weights.recognizer, weights.charset, weights.preprocessing, {})
    assert load_weights(path).ranges == {}


@pytest.mark.parametrize(
    "limits", [(2.0, 1.0), (0.0,), ("0", "1"), (0.0, 1e9), (0.0, float("nan"))]
)
def test_ranges_that_are_none(tmp_path, weights, limits):
    path = tmp_path / "a.safetensors"
    with pytest.raises(ValueError, match=r"the range of a\.input is two numbers"):
        save_weights(
            path,
            weights.recognizer,
            weights.charset,
            weights.preprocessing,
            {},
            ranges={"a.input": limits},
        )
    assert not path.exists()


@pytest.fixture(scope="module")
def static_path(tmp_path_factory, font_folder):
    """The weights of the package, with ranges, of words in one font."""
    path = tmp_path_factory.mktemp("weights") / "static.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glyph_cache, "find_fonts", lambda _: [font_folder / "Sans.ttf"])
        assert main(["calibrate", "tiny", "--ranges", "--out", str(path)]) == 0
    return path


@pytest.fixture
def plain_path(tmp_path) -> Path:
    """The weights of the package without ranges."""
    return without_ranges("tiny", tmp_path / "plain.safetensors")


def without_ranges(name: str, path: Path) -> Path:
    renew_weights(resolve(name), path, replace(load_weights(resolve(name)), ranges={}))
    return path


@pytest.fixture
def _fast_int8(monkeypatch):
    monkeypatch.setenv(CPU_DTYPE, "int8")
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")


def is_alone_as_in_a_batch(reader) -> bool:
    """Whether the encoder makes the same of a pale image, with others and without them."""
    images = np.random.default_rng(0).uniform(-1, 1, (4, 3, 32, 128)).astype(np.float32)
    images[2] *= 0.1
    together = reader.engine.encode(images)
    alone = reader.engine.encode(images[2:3])
    return all(
        np.array_equal(together[name][2:3], values) for name, values in alone.items()
    )


@pytest.mark.usefixtures("_fast_int8")
def test_weights_with_ranges_are_read_with_the_static_encoder(static_path, plain_path):
    reader = vit_str.load(static_path, "cpu")
    exact = vit_str.load("tiny", "cpu", backend="onnx")
    assert reader.engine.number_format == "int8"
    assert is_alone_as_in_a_batch(reader)
    assert not is_alone_as_in_a_batch(vit_str.load(plain_path, "cpu"))
    for image in SAMPLES:
        found = reader.read(image)
        expected = exact.read(image)
        assert found.text == expected.text
        assert found.confidence == pytest.approx(expected.confidence, abs=0.06)


@pytest.mark.usefixtures("_fast_int8")
def test_rows_of_an_image_together_write_what_rows_alone_do(static_path, monkeypatch):
    paths = [*SAMPLES, *SAMPLES[:4]]

    def read() -> list[tuple[str, float]]:
        reader = vit_str.load(static_path, "cpu", search=Search(beams=7, n_best=3))
        alternatives = [reading.alternatives for reading in reader.read(paths)]
        return [
            (text.text, text.confidence) for texts in alternatives for text in texts
        ]

    together = read()
    monkeypatch.setattr(onnx_engine, "GroupedSteps", OnnxSteps)
    alone = read()
    assert [text for text, _ in together] == [text for text, _ in alone]
    confidences = [[confidence for _, confidence in each] for each in (together, alone)]
    np.testing.assert_allclose(*confidences, rtol=1e-3)


@pytest.mark.usefixtures("_fast_int8")
def test_readings_do_not_depend_on_their_batch(static_path):
    reader = vit_str.load(static_path, "cpu")
    together = reader.read(SAMPLES)
    alone = [reader.read(path) for path in SAMPLES]
    assert [reading.text for reading in together] == [reading.text for reading in alone]
    confidences = [
        [reading.confidence for reading in each] for each in (together, alone)
    ]
    np.testing.assert_allclose(*confidences, rtol=1e-3)


@pytest.mark.usefixtures("_fast_int8")
def test_other_processors_and_number_formats_keep_their_graphs(
    static_path, monkeypatch
):
    images = np.full((1, 3, 32, 128), 0.5, np.float32)
    for backend, processor in (("onnx", "x86_64"), ("onnx-int8", "arm64")):
        monkeypatch.setattr(machine.platform, "machine", lambda name=processor: name)
        readers = [
            vit_str.load(each, "cpu", backend=backend) for each in (static_path, "tiny")
        ]
        found, expected = (reader.engine.encode(images)["logits"] for reader in readers)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("_fast_int8")
def test_a_file_whose_ranges_leave_out_a_point(static_path, plain_path, tmp_path):
    file = load_weights(static_path)
    ranges = dict(file.ranges)
    del ranges["encoder.stem.0.0.output"]
    path = tmp_path / "a.safetensors"
    renew_weights(static_path, path, replace(file, ranges=ranges))
    images = np.full((1, 3, 32, 128), 0.5, np.float32)
    partly, usual, static = (
        vit_str.load(each, "cpu").engine for each in (path, plain_path, static_path)
    )
    logits = [engine.encode(images)["logits"] for engine in (partly, usual)]
    np.testing.assert_array_equal(*logits)
    encoded = usual.encode(images)
    labels = np.array([[3, 4, 5]])
    verified = [engine.verify(encoded, labels) for engine in (partly, static)]
    np.testing.assert_array_equal(*verified)


@pytest.mark.usefixtures("_fast_int8")
def test_a_reader_of_lines_has_ranges_too(tmp_path, font_folder):
    file = load_weights(resolve("line"))
    words = rendered_words(file.charset, file.preprocessing, [font_folder])
    path = tmp_path / "line.safetensors"
    ranges = measure_ranges(file.recognizer, file.preprocessing, islice(words, 8))
    renew_weights(resolve("line"), path, replace(file, ranges=ranges))
    plain_path = without_ranges("line", tmp_path / "plain.safetensors")
    static, usual = (vit_str.load(each, "cpu") for each in (path, plain_path))
    compared = 0
    for image in SAMPLES:
        expected = usual.read(image)
        if expected.confidence > 0.5:  # not photographs that a reader of lines guesses
            compared += 1
            assert static.read(image).text == expected.text
    assert compared > 5


def test_ranges_need_no_labeled_words(tmp_path, run, weights):
    out = tmp_path / "a.safetensors"
    other = tmp_path / "other.safetensors"
    save_weights(other, weights.recognizer, weights.charset, weights.preprocessing, {})
    for wrong, trouble in (
        (["tiny", "--ranges", SAMPLES[0].parents[1]], "give it without labeled ones"),
        ([other, "--ranges"], "the package has no graph of this model for ranges"),
    ):
        code, _, err = run("calibrate", *wrong, "--out", out)
        assert (code, trouble in err) == (2, True)
    with pytest.raises(SystemExit):
        run("calibrate", "tiny", "--out", out)
    assert not out.exists()
