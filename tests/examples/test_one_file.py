"""The example computes what the library computes, and needs nothing but torch and Pillow."""

import ast
import inspect
import random
import re
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from examples import one_file
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer, attention
from vit_str.models.auxiliary import TokenClassifier
from vit_str.models.blocks import DecoderBlock, EncoderBlock
from vit_str.torch_runtime.engine import generate

ROOT = Path(__file__).parents[2]
WORDS = ["abc", "reads", "patches", "a", "longword"]


def same(ours: Tensor, librarys: Tensor) -> None:
    torch.testing.assert_close(ours, librarys, atol=1e-6, rtol=0)


def copied(target: nn.Module, source: nn.Module) -> nn.Module:
    """With the weights of the source, all of them, in float64."""
    target.load_state_dict(source.state_dict())
    source.double()
    return target.double()


def lively(module: nn.Module) -> nn.Module:
    """Larger weights than at the start, so that attention is far from uniform."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.3)
    return module


@pytest.fixture
def tokens():
    torch.manual_seed(1)
    return torch.randn(3, 11, one_file.DIM).double()


@pytest.fixture
def features():
    torch.manual_seed(2)
    return torch.randn(3, 17, one_file.DIM).double()


@pytest.fixture
def causal():
    return torch.ones(11, 11, dtype=torch.bool).tril()


@pytest.fixture(scope="module")
def batch():
    torch.manual_seed(3)
    return one_file.make_batch(WORDS, random.Random(4))


@pytest.fixture
def pair():
    """The recognizer of the example and that of the library, with the same weights."""
    torch.manual_seed(5)
    ours = one_file.Recognizer()
    for block in (*ours.encoder.blocks, *ours.decoder.blocks):
        lively(block)
    library = Recognizer(
        VisionTransformer(
            dim=one_file.DIM,
            depth=one_file.ENCODER_DEPTH,
            heads=one_file.HEADS,
            image_size=(one_file.HEIGHT, one_file.WIDTH),
            patch_size=(one_file.PATCH_HEIGHT, one_file.PATCH_WIDTH),
            mlp_ratio=float(one_file.MLP_RATIO),
        ),
        TransformerDecoder(
            charset_size=len(one_file.CHARSET),
            dim=one_file.DIM,
            depth=one_file.DECODER_DEPTH,
            heads=one_file.HEADS,
            maximum_length=one_file.MAXIMUM_LENGTH,
            mlp_ratio=float(one_file.MLP_RATIO),
        ),
    )
    keys = library.load_state_dict(ours.state_dict(), strict=False)
    assert keys.missing_keys == ["encoder.special"], "tokens of which there are none"
    assert library.encoder.special.numel() == 0
    assert keys.unexpected_keys == ["classify_tokens.weight", "classify_tokens.bias"]
    return ours.double().eval(), library.double().eval()


@pytest.mark.parametrize("masked", [False, True])
def test_attention_weights(tokens, causal, masked):
    queries, keys = tokens, tokens.flip(0)
    mask = causal if masked else None
    same(
        one_file.attention_weights(queries, keys, mask),
        attention.attention_weights(queries, keys, mask),
    )


@pytest.mark.parametrize("crossed", [False, True])
def test_multi_head_attention(tokens, features, causal, crossed):
    library = lively(attention.MultiHeadAttention(one_file.DIM, one_file.HEADS))
    ours = copied(one_file.MultiHeadAttention(), library)
    source = features if crossed else tokens
    mask = None if crossed else causal
    with attention.record_attention(library) as maps:
        expected = library(tokens, library.project_keys_values(source), mask)
    found, weights = ours(tokens, source, mask)
    same(found, expected)
    same(weights.float(), maps["attend"][0])
    assert weights.amax(-1).mean() > 2 / source.shape[1], "far from uniform"


def test_encoder_block(tokens):
    library = lively(
        EncoderBlock(
            one_file.DIM, one_file.HEADS, float(one_file.MLP_RATIO), dropout=0.0
        )
    )
    same(copied(one_file.EncoderBlock(), library)(tokens), library(tokens))


def test_decoder_block(tokens, features, causal):
    library = lively(
        DecoderBlock(
            one_file.DIM, one_file.HEADS, float(one_file.MLP_RATIO), dropout=0.0
        )
    )
    ours = copied(one_file.DecoderBlock(), library)
    image = library.cross_attention.project_keys_values(features)
    same(ours(tokens, features, causal)[0], library(tokens, image, mask=causal))


def test_features_and_loss(pair, batch):
    ours, library = pair
    images = batch.images.double()
    features = ours.encoder(images)
    same(features, library.encode(images))
    same(
        one_file.word_loss(ours, features, batch.labels).float(),
        library.loss(images, batch.labels),
    )


def test_loss_of_tokens(pair, batch):
    ours, _ = pair
    features = ours.encoder(batch.images.double())
    classifier = TokenClassifier(one_file.DIM, len(one_file.CHARSET))
    copied(classifier.classify, ours.classify_tokens)
    same(
        one_file.token_loss(ours, features, batch.characters).float(),
        classifier.loss(features, batch.characters),
    )


def test_positions_start_as_those_of_the_library(pair):
    _, library = pair
    fresh = VisionTransformer(
        dim=one_file.DIM,
        depth=1,
        heads=1,
        image_size=library.encoder.image_size,
        patch_size=library.encoder.patch_size,
    )
    same(one_file.grid_sinusoids(), fresh.embed_positions.weight.detach())


def test_it_reads_what_the_library_reads(pair):
    _, library = pair
    torch.manual_seed(0)
    ours = one_file.Recognizer()
    nn.init.normal_(ours.decoder.classify.weight, std=2)
    nn.init.normal_(ours.decoder.embed_characters.weight)
    for block in ours.decoder.blocks:  # that what they see decides what they write
        nn.init.normal_(block.cross_attention.to_queries.weight, std=0.5)
        nn.init.normal_(block.cross_attention.to_keys_values.weight, std=0.5)
        nn.init.normal_(block.cross_attention.to_output.weight, std=0.5)
    library.load_state_dict(ours.state_dict(), strict=False)
    images = torch.randn(24, 3, one_file.HEIGHT, one_file.WIDTH).double()
    expected = generate(library.decoder, library.encode(images)).labels
    lengths = set()
    for row, image in zip(expected, images, strict=True):
        reading = one_file.read(ours.double(), image)
        symbols = row[row != one_file.PADDING].tolist()
        assert reading.text == "".join(one_file.CHARSET[index] for index in symbols)
        assert reading.looks.shape[0] == len(reading.text)
        lengths.add(len(symbols))
    assert len(lengths) > 2, "the test needs texts that end at different places"


def test_the_character_under_a_token_has_its_ink():
    drawing = one_file.draw("il", random.Random(0))
    under = one_file.character_under_tokens("il", drawing.edges)
    rows = under.view(one_file.ROWS, one_file.COLUMNS)
    assert torch.equal(rows[0], rows[1])
    known = [one_file.CHARSET.index(letter) for letter in "il"]
    assert [int(index) for index in rows[0].unique_consecutive()] == [
        one_file.NONE,
        *known,
        one_file.NONE,
    ]
    pixels = one_file.pixels(drawing.image)
    columns = (pixels - pixels[:, :1, :1]).abs().sum((0, 1))
    inked = columns > columns.max() / 2
    tokens = inked.view(one_file.COLUMNS, one_file.PATCH_WIDTH).any(1)
    spread = (rows[0] != one_file.NONE).float()[None]
    near = nn.functional.max_pool1d(spread, 3, stride=1, padding=1)[0].bool()
    assert tokens.any()
    assert not (tokens & ~near).any(), "ink is under tokens of characters, or beside"


def test_words_to_learn_from_are_not_those_to_be_tested_with():
    words, held_out = one_file.manual_words()
    assert not set(words) & set(held_out)
    assert len(held_out) > 100


def test_it_learns_and_draws_where_it_looked(monkeypatch, tmp_path, capsys):
    """A smaller model, four words: its losses fall, and it writes the picture."""
    sizes = {"DIM": 32, "ENCODER_DEPTH": 1, "DECODER_DEPTH": 1, "BATCH_SIZE": 8}
    for name, value in sizes.items():
        monkeypatch.setattr(one_file, name, value)
    words = ["abc", "mind", "zone", "hi"]
    monkeypatch.setattr(one_file, "manual_words", lambda: (words, words * 2))
    out = tmp_path / "looks.png"
    monkeypatch.setattr(
        sys, "argv", ["one_file.py", "--steps", "60", "--out", str(out)]
    )
    one_file.main()
    printed = capsys.readouterr().out
    losses = [float(loss) for loss in re.findall(r"loss (\S+) a symbol", printed)]
    assert losses[-1] < losses[0] / 1.5
    assert "of 8 words read right" in printed
    with Image.open(out) as picture:
        assert picture.height == 8 * (one_file.SCALE * one_file.HEIGHT + 24)


def test_it_needs_torch_and_pillow_only():
    tree = ast.parse(inspect.getsource(one_file))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names}
    names |= {node.module or "" for node in froms}
    others = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    assert others == {"torch", "PIL"}


def test_the_files_that_it_names_are_there():
    named = re.findall(r"\bvit_str/[\w/]+(?:\.py|/)", inspect.getsource(one_file))
    assert len(named) >= 8
    assert [name for name in named if not (ROOT / name).exists()] == []
