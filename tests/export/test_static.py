"""Graphs in 8 bits with known ranges, and the same in float32."""

import numpy as np
import onnxruntime
import pytest
import torch

from vit_str.engines.initializers import initializer
from vit_str.export.graphs import Encode, TransformerStep, Verify
from vit_str.export.static import external_shapes, static_graphs
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import largest_int8_weight
from vit_str.models import (
    CtcDecoder,
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.torch_runtime.ranges import measure_ranges

DEEP_STEM = {"stem_widths": (8, 12), "stem_depths": (2, 1), "patch_size": (8, 16)}
FINE_ROWS = DEEP_STEM | {"fine_depth": 2}


def recognizer_of(**arguments) -> Recognizer:
    """A small model with random weights, biases and norms."""
    torch.manual_seed(0)
    arguments = {"dim": 32, "depth": 2, "heads": 2, "patch_size": (8, 16)} | arguments
    draft_grid = (4, 8) if arguments.pop("drafts", True) else None
    decoder = TransformerDecoder(
        20, 32, depth=3, heads=4, maximum_length=6, draft_grid=draft_grid
    )
    return randomized(Recognizer(VisionTransformer(**arguments), decoder))


def line_recognizer() -> Recognizer:
    """A small reader of lines with random weights."""
    torch.manual_seed(0)
    encoder = LineTransformer(
        dim=32,
        depth=2,
        heads=2,
        image_size=(32, 256),
        stem_widths=(8, 12),
        stem_depths=(1, 1),
    )
    return randomized(Recognizer(encoder, CtcDecoder(20, 32, maximum_length=6)))


def randomized(recognizer: Recognizer) -> Recognizer:
    """With random biases, norms and convolutions over neighbors, which start as nothing."""
    for name, parameter in recognizer.named_parameters():
        if parameter.ndim == 1 or "neighbors" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    return recognizer.eval()


def session_of(recognizer, name, ranges=None):
    """A graph with the weights of the model, in 8 bits if there are ranges."""
    graph = static_graphs(recognizer, int8=ranges is not None)[name]
    tensors = {name: tensor.numpy() for name, tensor in recognizer.state_dict().items()}
    names = list(external_shapes(graph))
    largest = largest_int8_weight()
    given = [initializer(name, tensors, ranges or {}, largest) for name in names]
    assert [list(values.shape) for values in given] == list(
        external_shapes(graph).values()
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_external_initializers(
        names, [onnxruntime.OrtValue.ortvalue_from_numpy(values) for values in given]
    )
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def random_images(count: int, width: int = 128) -> torch.Tensor:
    """Normalized images."""
    return (
        torch.rand(count, 3, 32, width, generator=torch.Generator().manual_seed(1)) * 2
        - 1
    )


def assert_equal(session, inputs, expected) -> None:
    """That a graph computes what a model has computed."""
    found = session.run(None, {name: values.numpy() for name, values in inputs.items()})
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one.numpy(), other, atol=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        DEEP_STEM,
        FINE_ROWS,
        {"drafts": False},
        {"patch_size": (32, 4), "drafts": False},
    ],
)
def test_in_float32_the_encoder_computes_what_the_model_does(arguments):
    recognizer = recognizer_of(**arguments)
    images = random_images(3)
    with torch.no_grad():
        expected = Encode(recognizer)(images)
    assert_equal(session_of(recognizer, "encoder"), {"pixel_values": images}, expected)


@pytest.mark.parametrize("width", [32, 224])
def test_in_float32_the_reader_of_lines_computes_what_the_model_does(width):
    recognizer = line_recognizer()
    images = random_images(2, width)
    with torch.no_grad():
        expected = Encode(recognizer)(images)
    assert_equal(session_of(recognizer, "encoder"), {"pixel_values": images}, expected)


def encoded(recognizer, count: int) -> dict[str, torch.Tensor]:
    """Keys and values of random images, by name."""
    with torch.no_grad():
        pairs = recognizer.decoder.begin(recognizer.encode(random_images(count))).image
    return {
        f"past_key_values.{block}.encoder.{kind}": values
        for block, pair in enumerate(pairs)
        for kind, values in zip(("key", "value"), pair, strict=True)
    }


def test_in_float32_texts_are_verified_as_the_model_does():
    recognizer = recognizer_of()
    image = encoded(recognizer, 3)
    ids = torch.tensor([[20, 3, 4, 5], [20, 1, 20, 20], [20, 0, 19, 7]])
    with torch.no_grad():
        expected = Verify(recognizer.decoder)(ids, *image.values())
    assert_equal(
        session_of(recognizer, "verify"), {"input_ids": ids, **image}, [expected]
    )


@pytest.mark.parametrize("length", [0, 4])
@pytest.mark.parametrize(("images", "rows"), [(6, 6), (1, 6), (2, 6)])
def test_in_float32_a_step_is_that_of_the_model(length, images, rows):
    recognizer = recognizer_of()
    image = encoded(recognizer, images)
    generator = torch.Generator().manual_seed(2)
    past = {
        f"past_key_values.{block}.decoder.{kind}": torch.randn(
            rows, 4, length, 8, generator=generator
        )
        for block in range(3)
        for kind in ("key", "value")
    }
    ids = torch.tensor([[20], [3], [4], [0], [19], [3]])
    of_rows = [values.repeat_interleave(rows // images, 0) for values in image.values()]
    with torch.no_grad():
        expected = TransformerStep(recognizer_of().decoder)(
            ids, *of_rows, *past.values()
        )
    inputs = {"input_ids": ids, **image, **past}
    assert_equal(session_of(recognizer, "step"), inputs, expected)


def test_some_models_have_no_such_graphs():
    decoder = CtcDecoder(94, dim=32, maximum_length=6)
    sinusoidal = TransformerDecoder(20, 32, depth=1, heads=4, positions="sinusoidal")
    encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(32, 4))
    rows = LineTransformer(
        dim=32, depth=1, heads=2, image_size=(32, 256), patch_size=(16, 4)
    )
    others = [
        recognizer_of(class_token=True, drafts=False),
        recognizer_of(positions="sinusoidal", drafts=False),
        Recognizer(encoder, sinusoidal),
        Recognizer(encoder, decoder),
        Recognizer(rows, decoder),
    ]
    assert [static_graphs(recognizer) for recognizer in others] == [{}] * len(others)


def images_of(count: int) -> torch.Tensor:
    """Random images, some of them pale."""
    generator = torch.Generator().manual_seed(2)
    pixels = torch.rand(count, 3, 32, 128, generator=generator)
    contrast = torch.rand(count, 1, 1, 1, generator=generator)
    return (255 * pixels * contrast).to(torch.uint8)


def measured(recognizer, preprocessing, pixels) -> dict[str, tuple[float, float]]:
    """Ranges on images with random texts."""
    texts = torch.randint(
        0, 20, (len(pixels), 6), generator=torch.Generator().manual_seed(3)
    )
    batches = zip(pixels.split(16), texts.split(16), strict=True)
    return measure_ranges(recognizer, preprocessing, batches)


def assert_nearly_equal(exact: torch.Tensor, found: np.ndarray) -> None:
    """That 8 bits make little difference, but some."""
    error = np.abs(exact.numpy() - found)
    assert 0 < error.mean() < 0.05 * exact.std()


def assert_alone_as_together(session, inputs: dict[str, np.ndarray]) -> None:
    """That images alone give what they give in a batch."""
    together = session.run(None, inputs)
    count = len(next(iter(inputs.values())))
    for row in range(count):
        alone = session.run(
            None, {name: values[row : row + 1] for name, values in inputs.items()}
        )
        for one, all_rows in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], all_rows[row])


@pytest.mark.parametrize(
    "make",
    [
        lambda: recognizer_of(**DEEP_STEM),
        lambda: recognizer_of(**FINE_ROWS),
        line_recognizer,
    ],
)
def test_in_8_bits_an_encoder_computes_nearly_the_same_and_batches_do_not_matter(make):
    recognizer = make()
    preprocessing = Preprocessing(mean=(0.5, 0.4, 0.6))
    pixels = images_of(48)
    ranges = measured(recognizer, preprocessing, pixels)
    session = session_of(recognizer, "encoder", ranges)
    images = preprocessing.normalize(pixels[:7])
    with torch.no_grad():
        expected = Encode(recognizer)(images)
    found = session.run(None, {"pixel_values": images.numpy()})
    for exact, output in zip(expected, found, strict=True):
        assert_nearly_equal(exact, output)
    assert_alone_as_together(session, {"pixel_values": images.numpy()})


def test_in_8_bits_a_decoder_computes_nearly_the_same_and_batches_do_not_matter():
    recognizer = recognizer_of()
    ranges = measured(recognizer, Preprocessing(), images_of(48))
    image = encoded(recognizer, 4)
    ids = torch.randint(0, 20, (4, 6), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        expected = Verify(recognizer.decoder)(ids, *image.values())
    inputs = {
        name: values.numpy() for name, values in {"input_ids": ids, **image}.items()
    }
    session = session_of(recognizer, "verify", ranges)
    assert_nearly_equal(expected, session.run(["logits"], inputs)[0])
    assert_alone_as_together(session, inputs)


def test_in_8_bits_steps_write_what_is_verified():
    recognizer = recognizer_of()
    ranges = measured(recognizer, Preprocessing(), images_of(48))
    image = {name: values.numpy() for name, values in encoded(recognizer, 4).items()}
    ids = np.random.default_rng(5).integers(0, 20, (4, 6))
    verified = session_of(recognizer, "verify", ranges).run(
        None, {"input_ids": ids, **image}
    )[0]
    step = session_of(recognizer, "step", ranges)
    names = [output.name for output in step.get_outputs()]
    past = {
        name.replace("present", "past_key_values"): np.zeros((4, 4, 0, 8), np.float32)
        for name in names
        if name.startswith("present")
    }
    for position in range(ids.shape[1]):
        inputs = {"input_ids": ids[:, position : position + 1], **image, **past}
        found = dict(zip(names, step.run(names, inputs), strict=True))
        past = {
            name: found[name.replace("past_key_values", "present")] for name in past
        }
        spread = verified[:, position].std()
        error = np.abs(found["logits"][:, 0] - verified[:, position]).mean()
        assert error < 0.02 * spread


def test_every_output_of_a_layer_has_a_scale():
    weights = np.array([[[0.5, -1.0]], [[100.0, 50.0]], [[0.0, 0.0]]], np.float32)
    tensors = {"a.weight": weights, "a.bias": np.array([1.0, 200.0, 0.0], np.float32)}
    scales = initializer("a.weight:scale-outputs", tensors, {})
    np.testing.assert_allclose(scales[:2], [1 / 127, 100 / 127])
    values = initializer("a.weight:int8-outputs", tensors, {})
    assert values.tolist() == [[[64, -127]], [[127, 64]], [[0, 0]]]
    biases = initializer("a.bias:int32@x", tensors, {"x": (-1.0, 4.1)})
    assert biases.tolist() == [round(127 / 0.02), round(200 * 1.27 / 0.02), 0]
    values = initializer("a.weight:int8-outputs", tensors, {}, 64)
    assert values.tolist() == [[[32, -64]], [[64, 32]], [[0, 0]]]
    scales = initializer("a.weight:scale-outputs", tensors, {}, 64)
    np.testing.assert_allclose(scales[:2], [1 / 64, 100 / 64])
    assert 2 * 255 * 64 < 2**15  # two products in 16 bits
    # Of damaged weights: a range where nothing happens
    unbounded = initializer("a.bias:int32@x", tensors, {"x": (0.0, 0.0)})
    assert unbounded.tolist() == [(1 << 31) - 128] * 2 + [0]
    zeros = initializer("z:int8", {"z": np.zeros((2, 3), np.float32)}, {})
    assert not zeros.any()
    joined = initializer("a.bias+a.bias", tensors, {})
    assert joined.tolist() == [1.0, 200.0, 0.0] * 2


@pytest.mark.parametrize(
    ("limits", "step", "zero"),
    [
        ((-1.0, 1.0), 2 / 255, 128),
        ((0.0, 5.1), 0.02, 0),
        ((2.0, 5.1), 0.02, 0),
        ((-5.1, -2.0), 0.02, 255),
    ],
)
def test_ranges_hold_0(limits, step, zero):
    assert initializer("x:step", {}, {"x": limits}) == pytest.approx(step)
    assert initializer("x:zero", {}, {"x": limits}) == zero
