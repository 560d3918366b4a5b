"""A deeper network begins as the shallower one that it grows from, and all of it learns."""

import copy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import yaml

from vit_str.characters.charset import Charset
from vit_str.engines.weights_contents import resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import (
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
    build,
    describe,
)
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights
from vit_str.training.growth import Growth, growth_of, is_new
from vit_str.training.initialization import start_from
from vit_str.training.muon import make_optimizer, orthogonalize

CONFIG = Path(__file__).parents[2] / "configs" / "vit_base_transformer.yaml"
CHARSET = Charset("abcdefgh")


@pytest.fixture(scope="module")
def tiny():
    """The weights of the package."""
    return load_weights(resolve("tiny"))


@pytest.fixture(params=[0, 2])
def base(tiny, request):
    """A model as of `configs/vit_base_transformer.yaml`, grown from `tiny`, and what was said.

    Also with fine rows.
    """
    description = describe(tiny.recognizer)
    configuration = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    parts = configuration["model"]["recognizer"]["init_args"]
    for part in ("encoder", "decoder"):
        arguments = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in parts[part]["init_args"].items()
        }
        description[part]["arguments"] |= arguments
    description["encoder"]["arguments"]["fine_depth"] = request.param
    torch.manual_seed(0)
    recognizer = build(description).eval()
    lines = start_from(recognizer, tiny.charset, tiny, "tiny")
    return recognizer, lines


@torch.no_grad()
def results(recognizer, labels):
    """Features, log-probabilities of labels, and of the draft."""
    images = torch.randn(3, 3, 32, 128, generator=torch.Generator().manual_seed(3))
    images = images.to(next(recognizer.parameters()).dtype)
    features = recognizer.encode(images)
    scores = recognizer.decoder.logits(features, labels)
    draft = recognizer.decoder.draft(features)
    return features, scores.log_softmax(-1), draft.log_softmax(-1)


def test_base_computes_what_tiny_does(tiny, base):
    recognizer, lines = base
    labels = tiny.charset.encode_batch(["word", "é-1", "Straße"])
    before = results(tiny.recognizer, labels)
    after = results(recognizer, labels)
    # Fine rows add the two halves of a patch in another order, and layers make more of it.
    near = 1e-6 if recognizer.encoder.fine is None else 1e-3
    for expected, found in zip(before, after, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=near)
    before = results(copy.deepcopy(tiny.recognizer).double(), labels)
    after = results(recognizer.double(), labels)
    for expected, found in zip(before, after, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    assert (
        "encoder grown from 4 to 12 blocks: 8 new ones start as identity" in lines
        and "decoder grown from 2 to 3 blocks: 1 new one starts as identity" in lines
    )
    fine = "encoder.fine has 2 new blocks, which start as identity"
    assert (fine in lines) == (recognizer.encoder.fine is not None)
    assert not any("fresh" in line or "without a place" in line for line in lines)


def test_base_writes_step_by_step_what_tiny_does(tiny, base):
    """The blocks of the cache stand with theirs."""
    recognizer, _ = base
    images = torch.randn(2, 3, 32, 128)
    symbols = torch.full((2,), len(tiny.charset))
    found = []
    for model in (tiny.recognizer, recognizer):
        with torch.no_grad():
            state = model.decoder.begin(model.encode(images))
            first = model.decoder.step(symbols, 0, state)
            second = model.decoder.step(first.argmax(-1).clamp(max=9), 1, state)
        found.append(second)
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("base", "muon", "number_format"),
    [(0, None, "float32"), (2, 0.002, "float32"), (2, 0.002, "bfloat16")],
    indirect=["base", "number_format"],
)
def test_fresh_blocks_come_alive(tiny, base, muon, number_format):
    """The zero layers move in the first step, those before them in the second."""
    if number_format == "bfloat16" and not torch.cpu._is_avx512_bf16_supported():
        pytest.skip("torch takes minutes for such products on this processor")
    recognizer, _ = base
    recognizer.train()
    growths = growth_of(recognizer, tiny.recognizer)
    new = {
        name: parameter
        for name, parameter in recognizer.named_parameters()
        if is_new(name, growths)
    }
    start = {name: parameter.detach().clone() for name, parameter in new.items()}
    last = (".to_output.weight", ".feed_forward.2.weight")
    optimizer = make_optimizer(
        recognizer, recognizer.named_parameters(), 1e-3, muon, weight_decay=0.0
    )
    images = torch.randn(4, 3, 32, 128)
    labels = tiny.charset.encode_batch(["one", "two", "three", "four"])
    for step in range(2):
        optimizer.zero_grad()
        loss = recognizer.loss(images, labels)
        draft = recognizer.decoder.draft(recognizer.encode(images))
        loss = loss + F.cross_entropy(draft.flatten(0, 1), torch.zeros(4 * 32).long())
        loss.backward()
        gradients = {name: parameter.grad.norm() for name, parameter in new.items()}
        ends = [norm for name, norm in gradients.items() if name.endswith(last)]
        inner = [
            norm
            for name, norm in gradients.items()
            if name.endswith((".to_queries.weight", ".feed_forward.0.weight"))
        ]
        fine = recognizer.encoder.fine_depth
        assert len(ends) == (8 + fine) * 2 + 3
        assert len(inner) == len(ends)
        assert min(ends) > 0
        assert min(inner) > 0 if step else max(inner) == 0
        optimizer.step()
    for name, parameter in new.items():
        assert parameter.isfinite().all(), name
        if name.endswith(".weight"):
            assert not torch.equal(parameter, start[name]), name


def word_model(**changes):
    """A small reader of words."""
    torch.manual_seed(1)
    encoder = VisionTransformer(
        **{"dim": 32, "depth": 1, "heads": 2, "patch_size": (16, 4)} | changes
    )
    return Recognizer(encoder, TransformerDecoder(len(CHARSET), 32, 1, 2, 6)).eval()


def test_fine_rows_without_room_are_refused():
    """Half a patch of this model has 96 values."""
    given = WeightsFile(word_model(), CHARSET, Preprocessing(32, 128), {})
    with pytest.raises(ValueError, match=r"needs encoder\.dim 96 at least, found 32"):
        start_from(word_model(fine_depth=1), CHARSET, given)


def test_fine_rows_grow_too():
    given = word_model(fine_depth=1)
    deeper = word_model(fine_depth=3)
    file = WeightsFile(given, CHARSET, Preprocessing(32, 128), {})
    lines = start_from(deeper, CHARSET, file)
    assert any("encoder.fine grown from 1 to 3 blocks" in line for line in lines)
    images = torch.randn(2, 3, 32, 128)
    with torch.no_grad():
        torch.testing.assert_close(deeper.encode(images), given.encode(images))


@pytest.mark.usefixtures("number_format")
def test_orthogonalized_zero_is_zero():
    matrices = torch.stack([torch.zeros(4, 6), torch.eye(4, 6)])
    zero, unit = orthogonalize(matrices)
    assert torch.equal(zero, torch.zeros(4, 6))
    assert unit.norm() > 1


def test_old_blocks_are_spread_and_keep_the_ends():
    growth = Growth("encoder", 4, 12)
    assert growth.places == [0, 3, 7, 11]
    assert growth.fresh == [1, 2, 4, 5, 6, 8, 9, 10]
    assert Growth("decoder", 2, 3).places == [0, 2]
    assert Growth("decoder", 3, 4).places == [0, 1, 3]
    assert Growth("decoder", 1, 3).places == [2]
    assert Growth("encoder.fine", 0, 2).fresh == [0, 1]


def lines_model(depth):
    """A reader of lines after some training."""
    torch.manual_seed(depth)
    encoder = LineTransformer(
        dim=32, depth=depth, heads=2, image_size=(32, 64), stem_widths=(8, 8)
    )
    decoder = TransformerDecoder(len(CHARSET), 32, 1, 2, 6)
    recognizer = Recognizer(encoder, decoder)
    with torch.no_grad():
        for parameter in recognizer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return recognizer.eval()


def test_a_reader_of_lines_grows_with_its_neighbors():
    given = lines_model(2)
    torch.manual_seed(7)
    encoder = LineTransformer(
        dim=32, depth=5, heads=2, image_size=(32, 64), stem_widths=(8, 8)
    )
    grown = Recognizer(encoder, TransformerDecoder(len(CHARSET), 32, 1, 2, 6)).eval()
    file = WeightsFile(given, CHARSET, Preprocessing(32, 64), {})
    start_from(grown, CHARSET, file)
    images = torch.randn(2, 3, 32, 64)
    with torch.no_grad():
        torch.testing.assert_close(grown.encode(images), given.encode(images))
