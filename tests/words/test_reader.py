import json
import pickle
import subprocess
import sys
import threading
from collections import UserList, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import vit_str
from vit_str.characters.charset import Charset
from vit_str.decoding.readings import Reading, json_line, reading_row
from vit_str.decoding.search import Search
from vit_str.engines import weights_contents
from vit_str.engines.graph_files import GraphFiles
from vit_str.images.image_decoding import Source
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.models import (
    ParallelDecoder,
    PermutedDecoder,
    Recognizer,
    VisionTransformer,
)
from vit_str.torch_runtime.engine import generate
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights, save_weights
from vit_str.words import streaming
from vit_str.words.reader import Reader, load

ROOT = Path(__file__).parents[2]
WORDS = ["one", "Two", "3", "vier", "5:00", "SIX", "seven!", "8", "nueve"]


@pytest.mark.usefixtures("number_format")
def test_load_is_the_public_entrance(weights_path, word_image):
    reading = vit_str.load(weights_path, device="cpu").read(word_image("word"))
    assert isinstance(reading, vit_str.Reading)
    assert reading.text
    assert set(reading.text) <= set(Charset().characters)


def test_the_second_look_can_be_left_out_for_one_reader(word_image):
    blurred = word_image("word").resize((12, 5)).resize((96, 40))
    usual = load("tiny", "cpu")
    once = usual.with_rereading(doubtful=0.0)
    fast = load("tiny", "cpu", effort="fast")
    assert once.engine is usual.engine
    assert once.read(blurred).confidence == fast.read(blurred).confidence
    assert usual.read(blurred).confidence != once.read(blurred).confidence


def test_a_model_that_can_choose_reads_with_the_care_that_is_asked_for(tmp_path):
    torch.manual_seed(0)
    encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(8, 16))
    decoder = PermutedDecoder(94, dim=32, heads=2, maximum_length=6)
    path = tmp_path / "permuted.safetensors"
    recognizer = Recognizer(encoder, decoder).eval()
    save_weights(path, recognizer, Charset(), Preprocessing(), {})
    pixels = torch.randint(256, (8, 3, 32, 128), dtype=torch.uint8)
    options = {
        "fast": ("parallel", 1),
        "careful": ("autoregressive", 1),
        None: (None, None),
    }
    for effort, (decoding, refinements) in options.items():
        reader = Reader(load_weights(path), "cpu", torch.float32, effort=effort)
        features = recognizer.encode(reader.preprocessing.normalize(pixels))
        labels = generate(decoder, features, 1.0, decoding, refinements).labels
        expected = [reader.charset.decode(ids) for ids in labels.tolist()]
        assert [reading.text for reading in reader.read_pixels(pixels)] == expected
    with pytest.raises(ValueError, match="fast or careful, found 'slow'"):
        load(path, "cpu", effort="slow")


def test_a_reading_hangs_together(reader, word_image):
    readings = reader.read([word_image(word) for word in WORDS])
    # The random model tells them apart
    assert len({reading.text for reading in readings}) > 3
    for reading in readings:
        assert "".join(each.character for each in reading.characters) == reading.text
        assert all(0 < each.confidence <= 1 for each in reading.characters)
        product = np.prod([each.confidence for each in reading.characters])
        assert 0 < reading.confidence <= product * (1 + 1e-5)
        assert type(reading.confidence) is float


def test_sources_of_every_kind_read_alike(reader, tmp_path, word_image):
    image = word_image("word")
    path = tmp_path / "word.png"
    image.save(path)
    array = np.asarray(image)
    expected = reader.read(image)
    assert expected.path is None
    with path.open("rb") as file:
        sources: list[Any] = [
            *(
                path.read_bytes(),
                file,
                array,
                array[..., 0],
                array[..., :1],
                array / 255,
            ),
            array.astype(np.float32).transpose(2, 0, 1) / 255,
            np.concatenate([array, np.full_like(array[..., :1], 255)], -1),
            torch.from_numpy(array.copy()).permute(2, 0, 1),
            torch.from_numpy(array.copy()) / 255,
        ]
        assert [reader.read(source) for source in sources] == [expected] * len(sources)
    for source in (path, str(path)):
        reading = reader.read(source)
        assert reading.path == str(path)
        assert (reading.text, reading.confidence) == (
            expected.text,
            expected.confidence,
        )


def test_lists_give_lists_in_order(reader, word_image):
    images = [word_image(word) for word in WORDS]
    alone = [reader.read(image).text for image in images]
    for batch_size in (1, 2, 4, 32):
        assert [reading.text for reading in reader.read(images, batch_size)] == alone
    for sequence in (tuple, deque, UserList):
        assert [reading.text for reading in reader.read(sequence(images))] == alone
    assert reader.read([]) == []


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        (np.full((32, 128), 2.0), "floats from 0 to 1, found float64 from 2.0 to 2.0"),
        (np.full((32, 128), np.nan), "floats from 0 to 1"),
        (np.zeros((32, 128), np.int64), "found int64"),
        (np.zeros((2, 32, 128, 3), np.uint8), "give several images as a list"),
        (np.zeros(5, np.uint8), r"\(height, width\)"),
        (np.zeros((0, 5), np.uint8), "without pixels"),
        (None, "an image is a path, .* found NoneType"),
        (5, "found int"),
        ({"image": 1}, "found dict"),
        ((each for each in "ab"), "a list of images; give others to stream"),
    ],
)
def test_what_is_no_image(reader, source, trouble):
    with pytest.raises(ValueError, match=trouble):
        reader.read(source)


def test_stream_continues_where_read_stops_and_keeps_the_order(
    reader, tmp_path, word_image
):
    paths = []
    for number, word in enumerate(WORDS * 3):
        path = tmp_path / f"{number}.png"
        if number % 4 == 1:
            path.write_text("no image")
        else:
            word_image(word).save(path)
        paths.append(path)
    outcomes = list(reader.stream(paths, batch_size=4, workers=3))
    assert [path for path, _ in outcomes] == paths
    for number, (path, outcome) in enumerate(outcomes):
        if number % 4 == 1:
            assert isinstance(outcome, UnreadableImage)
            assert outcome.name == str(path)
        else:
            assert isinstance(outcome, Reading)
            assert outcome.path == str(path)
            assert outcome.text == reader.read(path).text
    for unreadable in (paths[1], paths[:4]):
        with pytest.raises(UnreadableImage, match="not an image"):
            reader.read(unreadable)


def test_what_resizing_raises_costs_one_image(reader, word_image, monkeypatch):
    def refuse(self, *_):
        raise MemoryError if self.width == 50 else ArithmeticError("odd")

    monkeypatch.setattr(Image.Image, "resize", refuse)
    sizes = ((128, 32), (50, 30), (60, 30), (128, 32))
    images = [word_image("many letters", size=size) for size in sizes]
    first, second, third, last = (outcome for _, outcome in reader.stream(images))
    assert isinstance(first, Reading)
    assert isinstance(last, Reading)
    assert "does not fit into memory" in str(second)
    assert "damaged or cut short (odd)" in str(third)


def test_stream_takes_no_more_than_it_needs_ahead(reader, word_image):
    taken = 0

    def images():
        nonlocal taken
        while True:  # a list would never end
            taken += 1
            yield word_image(str(taken))

    stream = reader.stream(images(), batch_size=4, workers=2)
    for number in range(1, 30):
        next(stream)
        assert taken <= number + 2 * 4 + 2 + 4
    stream.close()
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith("decode")
    ]


@pytest.mark.parametrize(("batch_size", "workers"), [(0, 1), (1, 0), (-1, None)])
def test_batches_and_workers_from_one_on(reader, batch_size, workers):
    with pytest.raises(ValueError, match="must be 1 or more"):
        reader.stream([], batch_size, workers)


def test_an_exported_training_image_has_the_same_pixels(reader):
    rendered = torch.randint(256, (4, 3, 32, 128), dtype=torch.uint8)
    files = []
    for pixels in rendered:
        file = BytesIO()
        Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(file, "PNG")
        files.append(file.getvalue())
    assert np.array_equal([reader.pixels(file) for file in files], rendered)
    assert reader.read_pixels(rendered) == reader.read(files)


@pytest.mark.usefixtures("number_format")
def test_an_image_without_text_gives_an_empty_text(
    weights, small_recognizer, word_image
):
    recognizer = small_recognizer()
    recognizer.decoder.classify.bias.data[94] = 1e4  # always the end
    silent = WeightsFile(recognizer, weights.charset, weights.preprocessing, {})
    for boxes in (False, True):
        reading = Reader(silent, "cpu").read(word_image("word"), boxes=boxes)
        assert reading == Reading("", 1.0, ())


def test_half_precision_sees_about_the_same_and_leaves_the_model_alone(
    weights, word_image
):
    half = Reader(weights, "cpu", torch.bfloat16)
    full = Reader(weights, "cpu", torch.float32)
    assert next(half.engine.recognizer.parameters()).dtype == torch.bfloat16
    assert next(weights.recognizer.parameters()).dtype == torch.float32
    pixels = full.pixels(word_image("word"))[None]
    features = [each.encode(pixels).float() for each in (half, full)]
    torch.testing.assert_close(*features, atol=0.1, rtol=0)
    assert all(
        0 < each.confidence <= 1 for each in half.read(word_image("word")).characters
    )


def _sides(reading: Reading) -> np.ndarray:
    return np.array([each.box for each in reading.characters], dtype=float)


def test_boxes_change_nothing_else_and_are_the_same_alone(reader, word_image):
    images: list[Source] = [word_image(word) for word in WORDS]
    plain = reader.read(images)
    boxed = reader.read(images, boxes=True)
    for one, other in zip(plain, boxed, strict=True):
        assert all(each.box is None for each in one.characters)
        bare = tuple(replace(each, box=None) for each in other.characters)
        assert replace(other, characters=bare) == one
    for image, reading in zip(images, reader.read(images, 4, boxes=True), strict=True):
        alone = reader.read(image, boxes=True)
        np.testing.assert_allclose(_sides(reading), _sides(alone), atol=0.01)


@pytest.mark.parametrize("size", [(128, 32), (90, 30), (51, 200)])
def test_boxes_are_in_the_pixels_of_the_image(reader, word_image, size):
    image = word_image("wordwordword", size=size)  # nothing is blank beside it
    reading = reader.read(image, boxes=True)
    seen = reader.read_pixels(reader.pixels(image)[None], boxes=True)[0]
    scale = np.array([size[0] / 128, size[1] / 32] * 2)
    np.testing.assert_allclose(_sides(reading), _sides(seen) * scale, rtol=1e-4)
    left, top, right, bottom = _sides(reading).T
    assert ((left >= 0) & (left < right) & (right <= size[0] + 1e-3)).all()
    assert ((top >= 0) & (top < bottom) & (bottom <= size[1] + 1e-3)).all()


@pytest.mark.usefixtures("number_format")
def test_lines_that_run_up_are_read_as_well_as_those_that_run_down(weights, word_image):
    """The random model is surer of one way; a tall image gives that reading and its boxes."""
    preprocessing = replace(weights.preprocessing, turn_above=1.5)
    reader = Reader(replace(weights, preprocessing=preprocessing), "cpu")
    alike = 0
    for text in (
        "word",
        "Ag 10",
        "10,000",
        "lamp",
        "Exit",
        "seven!",
        "nueve",
        "long words",
    ):
        level = word_image(text)
        down, up = (
            level.transpose(getattr(Image.Transpose, f"ROTATE_{n}")) for n in (270, 90)
        )
        upright, reading, head_first = (
            reader.read(i, boxes=True) for i in (level, down, up)
        )
        # Whichever way it is held, the same two readings are to choose from. They come out of a
        # batch of two, whose 8-bit scales are shared: equal to `upright` within rounding.
        assert reading.text == head_first.text
        assert reading.confidence == pytest.approx(head_first.confidence, rel=1e-3)
        assert reading.confidence >= upright.confidence * (1 - 1e-3)
        left, top, right, bottom = _sides(reading).T
        turned = np.stack([32 - right, 128 - bottom, 32 - left, 128 - top], 1)
        np.testing.assert_allclose(_sides(head_first), turned, atol=1e-3)
        if reading.text == upright.text:
            alike += 1
            left, top, right, bottom = _sides(upright).T
            turned = np.stack([32 - bottom, left, 32 - top, right], 1)
            np.testing.assert_allclose(_sides(reading), turned, atol=1e-3)
    assert alike


def test_boxes_of_turned_and_reduced_photographs(reader, word_image):
    image = word_image("word", size=(2600, 800))
    upright = BytesIO()
    turned = BytesIO()
    image.save(upright, "JPEG")
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 270 degrees
    image.transpose(Image.Transpose.ROTATE_90).save(turned, "JPEG", exif=exif)
    expected = reader.read(image, boxes=True)  # not reduced: it was decoded before
    for file in (upright, turned):
        reading = reader.read(file.getvalue(), boxes=True)
        assert reading.text == expected.text
        # 0.5 % of 2600
        np.testing.assert_allclose(_sides(reading), _sides(expected), atol=13)


def test_boxes_in_several_threads_are_those_of_one(reader, word_image):
    images = [word_image(word) for word in WORDS]
    alone = [reader.read(image, boxes=True) for image in images]
    assert any(reading.characters for reading in alone)
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda image: reader.read(image, boxes=True), images * 20)
        )
    assert found == alone * 20
    assert not any(
        module._forward_pre_hooks for module in reader.engine.recognizer.modules()
    )


def test_boxes_need_a_decoder_that_looks(weights, word_image):
    encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(8, 16))
    recognizer = Recognizer(
        encoder, ParallelDecoder(94, dim=32, maximum_length=6)
    ).eval()
    reader = Reader(replace(weights, recognizer=recognizer), "cpu")
    assert not reader.describe().has_boxes
    for ask in (reader.read, reader.stream):
        with pytest.raises(ValueError, match="ParallelDecoder has no cross-attention"):
            ask([word_image("word")], boxes=True)


def test_the_temperature_changes_confidences_and_no_text(weights, word_image):
    images: list[Source] = [word_image(word) for word in WORDS]
    plain, hot, cold = (
        Reader(replace(weights, temperature=t), "cpu", torch.float32).read(
            images, boxes=True
        )
        for t in (1.0, 3.0, 0.3)
    )
    for one, other, third in zip(plain, hot, cold, strict=True):
        assert one.text == other.text == third.text
        assert other.confidence < one.confidence < third.confidence
        for a, b, c in zip(
            one.characters, other.characters, third.characters, strict=True
        ):
            assert b.confidence < a.confidence < c.confidence
            assert a.box == b.box == c.box
    # Another temperature is another reader, with the same engine.
    first = Reader(weights, "cpu", torch.float32)
    warmer = first.with_temperature(3.0)
    assert warmer.read(images, boxes=True) == hot
    assert first.read(images, boxes=True) == plain
    assert warmer.engine is first.engine
    assert (first.describe().temperature, warmer.describe().temperature) == (1.0, 3.0)
    with pytest.raises(ValueError, match=r"above 0, found 0\.0"):
        first.with_temperature(0.0)
    # Loss and training are as they were: the model that came in knows of no temperature.
    assert weights.temperature == 1


def test_doubtful_images_are_read_again_at_the_temperature_that_is_asked_for(
    weights, word_image
):
    doubtful = replace(weights, preprocessing=Preprocessing(reread_below=1.0))
    images: list[Source] = [word_image(word) for word in WORDS]
    expected = Reader(replace(doubtful, temperature=3.0), "cpu", torch.float32).read(
        images
    )
    reader = Reader(doubtful, "cpu", torch.float32)
    assert reader.with_temperature(3.0).read(images) == expected != reader.read(images)


def test_how_doubtful_images_are_read_again_can_be_changed(weights, word_image):
    images: list[Source] = [word_image(word) for word in WORDS]
    once, again = (
        Reader(
            replace(weights, preprocessing=Preprocessing(reread_below=p)),
            "cpu",
            torch.float32,
        )
        for p in (0.0, 1.0)
    )
    expected = once.read(images)
    assert (
        again.with_rereading(doubtful=0.0).read(images)
        == expected
        != again.read(images)
    )
    assert again.without_augmentation().read(images) == again.with_rereading(
        rounds=()
    ).read(images)
    with pytest.raises(TypeError, match="beam_count"):
        again.with_rereading(beam_count=3)


def test_a_reader_says_what_it_is(reader):
    about = reader.describe()
    assert about.characters == reader.charset.characters
    assert (about.maximum_length, about.image_size, about.grid) == (
        6,
        (32, 128),
        (4, 8),
    )
    assert (about.has_boxes, about.reads_lines) == (True, False)
    assert (about.backend, about.device, about.number_format) == (
        "torch",
        "cpu",
        "float32",
    )


def test_the_weights_are_loaded_once(weights_path, monkeypatch):
    loaded = []

    def counted(path: Path) -> dict[str, np.ndarray]:
        loaded.append(path)
        return tensors(path)

    tensors = weights_contents._tensors
    monkeypatch.setattr(weights_contents, "_tensors", counted)
    for name in ("tiny", weights_path):  # with graphs and without
        loaded.clear()
        load(name, "cpu")
        assert len(loaded) == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_weights_of_every_format_are_read_as_numpy_reads_them(dtype, tmp_path):
    """Also where the tensors begin at odd places, as in files of other writers."""
    values = np.random.default_rng(1).standard_normal((3, 5)).astype(dtype)
    values[0, :3] = (0.0, -0.0, np.finfo(np.float16).smallest_subnormal)
    stored = values.tobytes()
    entry = {
        "dtype": {2: "F16", 4: "F32", 8: "F64"}[values.itemsize],
        "shape": [3, 5],
        "data_offsets": [0, len(stored)],
    }
    header = json.dumps({"a": entry}).encode()
    header += b" " * (1 - len(header) % 2)
    path = tmp_path / "odd.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + stored)
    (tensor,) = weights_contents._tensors(path).values()
    assert tensor.tobytes() == values.astype(np.float32).tobytes()
    path.write_bytes(b"")  # what was read does not follow the file
    assert tensor.tobytes() == values.astype(np.float32).tobytes()


def test_steps_are_opened_at_the_first_doubt(monkeypatch):
    opened = []

    def noted(files: GraphFiles, name: str, *arguments: Any) -> Any:
        opened.append(name)
        return session(files, name, *arguments)

    session = GraphFiles._session
    monkeypatch.setattr(GraphFiles, "_session", noted)
    reader = load(weights_contents.resolve("tiny"), "cpu", backend="onnx")
    word = ROOT / "data/samples/images/word-01.png"
    assert reader.at_one_look().read(word).text == "Museum"
    assert sorted(opened) == ["encoder", "verify"]
    certain = reader.with_rereading(doubtful=1.0)
    assert certain.read([word, word])[0].text == "Museum"
    assert sorted(opened) == ["encoder", "step", "verify"]


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_a_reader_computes_with_so_many_threads(backend, monkeypatch):
    before = torch.get_num_threads()
    try:
        reader = load("tiny", "cpu", backend=backend, threads=1)
        assert reader.describe().threads == 1
        if backend == "onnx":
            options = reader.engine.session("encoder").get_session_options()
            assert options.intra_op_num_threads == 1
        else:
            assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    started = []
    monkeypatch.setattr(
        streaming, "decode_batches", lambda *given: started.append(given)
    )
    with pytest.raises(AttributeError):  # of what was handed out instead of batches
        list(reader.stream([]))
    assert started[0][-1] == 1, "images are decoded by the caller's thread"
    with pytest.raises(ValueError, match="threads must be 1 to 1,024, found 0"):
        load("tiny", "cpu", threads=0)


@pytest.mark.slow
def test_mypy_takes_lists_of_paths(tmp_path):
    """A list of paths is no list of sources, but a sequence of them."""
    program = tmp_path / "program.py"
    program.write_text(
        "from pathlib import Path\nfrom vit_str.decoding.readings import Reading\n"
        "from vit_str.words.reader import Reader\n"
        "def texts(reader: Reader, paths: list[Path], names: list[str]) -> list[Reading]:\n"
        "    one: Reading = reader.read(paths[0])\n"
        "    other: Reading = reader.read(names[0])\n"
        "    list(reader.stream(paths))\n"
        "    return [one, other, *reader.read(paths), *reader.read(names)]\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert "program.py" not in done.stdout, done.stdout
    assert done.returncode in (0, 1), done.stderr


def test_readers_of_load_can_be_pickled(word_image):
    reader = load("tiny", effort="fast", search=Search(alphabet="0123456789"))
    again = pickle.loads(pickle.dumps(reader))  # noqa: S301 (ours)
    image = word_image("2024")
    assert again.read(image) == reader.read(image)
    assert again.effort == "fast" and again.is_constrained
    for changed in (reader.with_temperature(2.0), reader.at_one_look()):
        with pytest.raises(TypeError, match=r"only readers of vit_str\.load can be"):
            pickle.dumps(changed)


def test_arrays_of_other_types_and_bytes_that_change(word_image):
    reader = load("tiny")
    image = word_image("Museum", "L")
    gray = np.asarray(image)
    text = reader.read(image).text
    color = np.repeat(gray[..., None], 3, 2)
    for array in (gray, gray > 127, gray.astype(np.uint16) * 257):
        assert reader.read(array).text == text
    assert reader.read(color.astype(np.uint16) * 257).text == text
    file = BytesIO()
    image.save(file, "PNG")
    for data in (bytearray(file.getvalue()), memoryview(file.getvalue())):
        assert reader.read(data).text == text
        assert next(reader.stream([data]))[1].text == text


def test_readings_of_several_images_are_a_table_too(word_image):
    readings = load("tiny").read([word_image("Museum"), word_image("Open")])
    frame = readings.to_frame()
    assert list(frame.columns) == ["path", "text", "confidence"]
    assert list(frame["text"]) == [reading.text for reading in readings]
    row = json.loads(json_line(reading_row("", readings[0])))
    assert readings[0].to_dict() == row
