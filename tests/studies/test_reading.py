from dataclasses import replace

import pytest
import torch

from studies import reading
from vit_str.charset import Charset
from vit_str.models import Recognizer
from vit_str.synthesis.renderer import RenderedBatch

DIGITS = Charset("0123456789")
TINY = replace(reading.SMALL, dim=16, depth=1, heads=2, widths=(4, 8))


def draw(count: int) -> RenderedBatch:
    renderer = reading.word_renderer(DIGITS, TINY.image_size, TINY.grid, reading.ANY_STRINGS, 2)
    return renderer.batch(count, seed=0, index=0, difficulty=0.0)


@pytest.fixture(scope="module")
def words() -> RenderedBatch:
    return draw(5)


def learn(system: str, words: RenderedBatch, steps: int) -> Recognizer:
    reader = reading.build_reader(system, TINY, 10, seed=1)
    return reading.train_reader(
        reader, words, steps=steps, batch_size=4, seed=0, learning_rate=1e-2
    )


def test_words_are_the_same_every_time_and_fit_the_size(words: RenderedBatch) -> None:
    again = draw(5)
    assert words.images.shape == (5, 3, *TINY.image_size)
    assert words.labels.shape[1] <= 2
    assert words.images.equal(again.images)
    assert words.labels.equal(again.labels)


def test_words_are_selected_and_repeated_ones_left_out(words: RenderedBatch) -> None:
    chosen = reading.select(words, [1, 0, 1, 0])
    assert chosen.images.equal(words.images[[1, 0, 1, 0]])
    assert reading.distinct(chosen).images.equal(words.images[[1, 0]])


def test_analyses_get_every_drawn_word_once(words: RenderedBatch) -> None:
    parts = list(reading.DrawnWords(words, DIGITS).batches(2))
    assert [len(part) for part in parts] == [2, 2, 1]
    labels = [label for part in parts for label in part.labels or []]
    assert labels == [DIGITS.decode(ids) for ids in words.labels.tolist()]
    assert parts[1].names == ["rendered 000002", "rendered 000003"]


@pytest.mark.parametrize("system", reading.SYSTEMS)
def test_training_learns_a_few_words_by_heart(system: str, words: RenderedBatch) -> None:
    few = reading.select(words, slice(4))
    assert all(reading.read_words(learn(system, few, steps=100), few))


@pytest.mark.parametrize("system", reading.SYSTEMS)
def test_training_depends_on_the_seed_alone(system: str, words: RenderedBatch) -> None:
    before = torch.get_rng_state()
    first, again = (learn(system, words, steps=3) for _ in range(2))
    assert torch.get_rng_state().equal(before)
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert one.equal(other)


@pytest.mark.parametrize("sizes", [reading.SMALL, reading.STANDARD])
def test_both_systems_have_the_same_grid_and_about_as_many_parameters(sizes: object) -> None:
    assert isinstance(sizes, type(reading.SMALL))
    vit, convolution = (
        reading.build_reader(system, sizes, 94, 0).encoder for system in reading.SYSTEMS
    )
    counts = [sum(p.numel() for p in encoder.parameters()) for encoder in (vit, convolution)]
    assert vit.grid == convolution.grid == sizes.grid
    assert max(counts) < 1.5 * min(counts)


def test_labels_of_different_widths_are_compared() -> None:
    written, labels = torch.tensor([[1, 2, -1], [1, -1, -1], [1, 2, 3]]), torch.tensor([[1, 2]] * 3)
    assert reading.same_labels(written, labels).tolist() == [True, False, False]
    assert reading.same_labels(labels, written).tolist() == [True, False, False]
