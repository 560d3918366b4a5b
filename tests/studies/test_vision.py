"""Studies of images: patches, filters, fields and the small readers."""

from dataclasses import replace

import pytest
import torch

from studies import Table, distance, filters, first_layer, patches, reading
from studies.data_hunger import FULL, QUICK, train, unseen_words
from vit_str.analysis.subjects import Subject
from vit_str.analysis.vit_paper.filters import first_filters
from vit_str.characters.charset import Charset
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import (
    ConvolutionalEncoder,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.synthesis.renderer import RenderedBatch

DIGITS = Charset("0123456789")
TINY = replace(reading.SMALL, dim=16, depth=1, heads=2, widths=(4, 8))
SIZE = (16, 64)


@pytest.fixture(scope="module")
def words() -> RenderedBatch:
    renderer = reading.word_renderer(DIGITS, TINY, reading.ANY_STRINGS)
    return renderer.batch(5, seed=0, index=0, difficulty=0.0)


@pytest.fixture
def images() -> torch.Tensor:
    return torch.rand(2, 3, *SIZE, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("image_size", "patch_size"), patches.SHAPES)
def test_patches_and_blocks_are_exact(image_size, patch_size):
    worst = {
        name: error
        for *_, name, error in patches.measure(image_size, patch_size, seed=3)
    }
    assert worst[patches.ROUND_TRIP] == worst[patches.BLOCKS] == 0
    assert worst[patches.CONVOLUTION] < 1e-10


def test_patches_of_words_are_their_own_best_basis():
    basis = filters.patch_components(filters.digits(50))
    random = first_filters(
        reading.build_reader(reading.VIT, reading.SMALL, 10, seed=0).encoder
    )
    assert basis.vectors.shape == (192, 3, 8, 8)
    assert basis.captured(basis.vectors[:16].float())[15] == pytest.approx(
        1.0, abs=1e-5
    )
    assert basis.captured(random)[15] == pytest.approx(16 / 192, abs=0.02)


def test_heads_that_look_everywhere_alike_are_on_the_chance_line():
    torch.manual_seed(0)
    encoder = VisionTransformer(16, 2, 2, (16, 24), (4, 8))
    for block in encoder.blocks:
        torch.nn.init.zeros_(block.attention.to_queries.weight)
        torch.nn.init.zeros_(block.attention.to_queries.bias)
    recognizer = Recognizer(encoder, TransformerDecoder(10, 16, 1, 2, 2)).eval()
    subject = Subject("even", recognizer, DIGITS, Preprocessing(16, 24), False)
    renderer = reading.word_renderer(
        DIGITS,
        replace(TINY, image_size=(16, 24), patch_size=(4, 8)),
        reading.ANY_STRINGS,
    )
    rows = list(distance.measure_heads(subject, renderer.batch(3, seed=0, index=0)))
    assert [row[:2] for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [share for *_, share in rows] == pytest.approx([1.0] * 4)


def test_means_of_heads_are_one_value_for_each_layer_and_seed():
    rows = ((0, 1, 0.2), (0, 2, 0.4), (1, 1, 0.4), (1, 2, 0.6))
    cells = ((seed, "a", 1, head, value, value) for seed, head, value in rows)
    table = Table.of("seed system layer head distance share_of_uniform", cells)
    found = distance.mean_of_heads(table)
    assert found.values("distance", system="a", layer=1) == pytest.approx([0.3, 0.5])


def test_a_token_sees_its_patch_before_attention_and_everything_after(images):
    torch.manual_seed(0)
    encoder = VisionTransformer(16, 2, 2, SIZE, (4, 8))
    layers, seen, near = zip(*first_layer.measure(encoder, images, seed=0), strict=True)
    assert layers == (0, 1, 2)
    assert seen == (4 * 8 / (16 * 64), 1.0, 1.0)
    assert near[0] == pytest.approx(1.0)


def test_a_convolution_sees_its_window(images):
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder((4, 8), (1, 1), ((2, 2), (2, 2)), SIZE)
    layers, seen, _ = zip(*first_layer.measure(encoder, images, seed=0), strict=True)
    # A stride of 2 with a reach of 3 pixels on each side: 8 x 8.
    assert seen[0] == pytest.approx(8 * 8 / (16 * 64))
    assert all(share < 1 for share in seen)
    assert layers == (1, 2, 3, 4)


def test_every_system_learns_from_every_number_of_words_and_the_seed_decides():
    training = QUICK.training | {"steps": 3, "batch_size": 4}
    plan = replace(QUICK, words=(4, 8), training=training, test_words=24)
    state = torch.get_rng_state()
    rows = list(train(plan, 0))
    assert [row[1:3] for row in rows] == [
        (name, n) for n in (4, 8) for name in reading.SYSTEMS
    ]
    assert all(0 <= accuracy <= 1 for *_, accuracy, _ in rows)
    assert rows == list(train(plan, 0))
    assert torch.get_rng_state().equal(state)


def test_words_of_the_test_are_new_and_of_known_characters():
    plan = replace(FULL, charset=DIGITS, words=(2, 60), shares=reading.ANY_STRINGS)
    renderer = reading.word_renderer(
        DIGITS, replace(TINY, image_size=(16, 24)), reading.ANY_STRINGS
    )
    everything = renderer.batch(60, 0, 0)
    drawn = renderer.batch(300, 1, 0)
    chosen = unseen_words(drawn, everything, plan)
    texts, known = (
        [DIGITS.decode(ids) for ids in batch.labels.tolist()]
        for batch in (chosen, everything)
    )
    assert len(set(texts)) == len(texts) > 0
    assert not set(texts) & set(known)
    assert set("".join(texts)) <= set("".join(known[:2]))


def test_words_are_selected_and_repeated_ones_left_out(words):
    chosen = reading.select(words, [1, 0, 1, 0])
    assert chosen.images.equal(words.images[[1, 0, 1, 0]])
    assert reading.distinct(chosen).images.equal(words.images[[1, 0]])


@pytest.mark.parametrize("system", reading.SYSTEMS)
def test_training_learns_a_few_words_by_heart(system, words):
    few = reading.select(words, slice(4))
    reader = reading.build_reader(system, TINY, 10, seed=1)
    reading.train_reader(reader, few, 0, steps=100, batch_size=4, learning_rate=1e-2)
    assert all(reading.read_words(reader, few))


@pytest.mark.parametrize("sizes", [reading.SMALL, reading.STANDARD])
def test_both_systems_have_the_same_grid_and_about_as_many_parameters(sizes):
    assert isinstance(sizes, type(reading.SMALL))
    vit, convolution = (
        reading.build_reader(system, sizes, 94, 0).encoder for system in reading.SYSTEMS
    )
    counts = [
        sum(p.numel() for p in encoder.parameters()) for encoder in (vit, convolution)
    ]
    assert vit.grid == convolution.grid == sizes.grid
    assert max(counts) < 1.5 * min(counts)


def test_labels_of_different_widths_are_compared():
    written = torch.tensor([[1, 2, -1], [1, -1, -1], [1, 2, 3]])
    labels = torch.tensor([[1, 2]] * 3)
    assert reading.same_labels(written, labels).tolist() == [True, False, False]
    assert reading.same_labels(labels, written).tolist() == [True, False, False]
