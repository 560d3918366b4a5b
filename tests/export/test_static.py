"""The encoder in 8 bits with known ranges, and the same in float32."""

import numpy as np
import onnxruntime
import pytest
import torch

from vit_str.export.graphs import Encode
from vit_str.export.static import external_shapes, static_encoder
from vit_str.models import CtcDecoder, Recognizer, TransformerDecoder, VisionTransformer
from vit_str.runtime.images import Preprocessing
from vit_str.runtime.initializers import initializer
from vit_str.torch_runtime.ranges import measure_ranges

DEEP_STEM = {"stem_widths": (8, 12), "stem_depths": (2, 1), "patch_size": (8, 16)}


def recognizer_of(**arguments) -> Recognizer:
    """A small model with random weights, biases and norms."""
    torch.manual_seed(0)
    arguments = {"dim": 32, "depth": 2, "heads": 2, "patch_size": (8, 16)} | arguments
    draft_grid = (4, 8) if arguments.pop("drafts", True) else None
    decoder = TransformerDecoder(20, 32, depth=3, heads=4, maximum_length=6, draft_grid=draft_grid)
    recognizer = Recognizer(VisionTransformer(**arguments), decoder)
    for parameter in recognizer.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, std=0.5)
    return recognizer.eval()


def session_of(recognizer, ranges=None):
    """The graph with the weights of the model, in 8 bits if there are ranges."""
    graph = static_encoder(recognizer, int8=ranges is not None)
    tensors = {name: tensor.numpy() for name, tensor in recognizer.state_dict().items()}
    names = list(external_shapes(graph))
    given = [initializer(name, tensors, ranges or {}) for name in names]
    assert [list(values.shape) for values in given] == list(external_shapes(graph).values())
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_external_initializers(
        names, [onnxruntime.OrtValue.ortvalue_from_numpy(values) for values in given]
    )
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


@pytest.mark.parametrize(
    "arguments", [{}, DEEP_STEM, {"drafts": False}, {"patch_size": (32, 4), "drafts": False}]
)
def test_in_float32_the_graph_computes_what_the_model_does(arguments):
    recognizer = recognizer_of(**arguments)
    images = torch.rand(3, 3, 32, 128, generator=torch.Generator().manual_seed(1)) * 2 - 1
    with torch.no_grad():
        expected = Encode(recognizer)(images)
    found = session_of(recognizer).run(None, {"pixel_values": images.numpy()})
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one.numpy(), other, atol=1e-4)


def test_some_models_have_no_such_graph():
    decoder = CtcDecoder(94, dim=32, maximum_length=6)
    others = [
        recognizer_of(class_token=True, drafts=False),
        recognizer_of(positions="sinusoidal", drafts=False),
        Recognizer(VisionTransformer(dim=32, depth=1, heads=2, patch_size=(32, 4)), decoder),
    ]
    assert [static_encoder(recognizer) for recognizer in others] == [None] * len(others)


def images_of(count: int) -> torch.Tensor:
    """Random images, some of them pale."""
    generator = torch.Generator().manual_seed(2)
    pixels = torch.rand(count, 3, 32, 128, generator=generator)
    contrast = torch.rand(count, 1, 1, 1, generator=generator)
    return (255 * pixels * contrast).to(torch.uint8)


def test_in_8_bits_the_graph_computes_nearly_the_same_and_batches_do_not_matter():
    recognizer = recognizer_of(**DEEP_STEM)
    preprocessing = Preprocessing(mean=(0.5, 0.4, 0.6))
    pixels = images_of(48)
    ranges = measure_ranges(recognizer, preprocessing, pixels.split(16))
    session = session_of(recognizer, ranges)
    images = preprocessing.normalize(pixels[:7]).numpy()
    with torch.no_grad():
        expected = Encode(recognizer)(torch.from_numpy(images))
    together = session.run(None, {"pixel_values": images})
    alone = [session.run(None, {"pixel_values": image[None]}) for image in images]
    for exact, found, *single in zip(expected, together, *alone, strict=True):
        error = np.abs(exact.numpy() - found)
        assert 0 < error.mean() < 0.05 * exact.std()
        np.testing.assert_array_equal(np.concatenate(single), found)


def test_every_output_of_a_layer_has_a_scale():
    weights = np.array([[[0.5, -1.0]], [[100.0, 50.0]], [[0.0, 0.0]]], np.float32)
    tensors = {"a.weight": weights, "a.bias": np.array([1.0, 200.0, 0.0], np.float32)}
    scales = initializer("a.weight:scale-outputs", tensors, {})
    np.testing.assert_allclose(scales[:2], [1 / 127, 100 / 127])
    values = initializer("a.weight:int8-outputs", tensors, {})
    assert values.tolist() == [[[64, -127]], [[127, 64]], [[0, 0]]]
    biases = initializer("a.bias:int32@x", tensors, {"x": (-1.0, 4.1)})
    assert biases.tolist() == [round(127 / 0.02), round(200 * 1.27 / 0.02), 0]
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
