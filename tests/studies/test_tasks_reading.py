from dataclasses import replace

import pytest
import torch

from vit_str.charset import Charset
from vit_str.models import Recognizer
from studies.tasks_reading import (
    SMALL,
    STANDARD,
    SYSTEMS,
    build_reader,
    read_words,
    same_labels,
    train_reader,
)
from studies.tasks_words import ANY_STRINGS, word_renderer
from vit_str.synthesis.renderer import RenderedBatch

DIGITS = Charset("0123456789")
TINY = replace(SMALL, dim=16, depth=1, heads=2, widths=(4, 8))


@pytest.fixture(scope="module")
def words() -> RenderedBatch:
    renderer = word_renderer(DIGITS, TINY.image_size, TINY.grid, ANY_STRINGS, 2)
    return renderer.batch(4, seed=0, index=0, difficulty=0.0)


def learn(system: str, words: RenderedBatch, steps: int) -> Recognizer:
    reader = build_reader(system, TINY, 10, seed=1)
    return train_reader(reader, words, steps, 4, seed=0, learning_rate=1e-2)


@pytest.mark.parametrize("system", SYSTEMS)
def test_training_learns_a_few_words_by_heart(system: str, words: RenderedBatch) -> None:
    assert all(read_words(learn(system, words, steps=100), words))


@pytest.mark.parametrize("system", SYSTEMS)
def test_training_depends_on_the_seed_alone(system: str, words: RenderedBatch) -> None:
    before = torch.get_rng_state()
    first, again = (learn(system, words, steps=3) for _ in range(2))

    assert torch.get_rng_state().equal(before)
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert one.equal(other)


@pytest.mark.parametrize("sizes", [SMALL, STANDARD])
def test_both_systems_have_the_same_grid_and_about_as_many_parameters(sizes: object) -> None:
    assert isinstance(sizes, type(SMALL))
    vit, convolution = (build_reader(system, sizes, 94, 0).encoder for system in SYSTEMS)
    counts = [sum(p.numel() for p in each.parameters()) for each in (vit, convolution)]

    assert vit.grid == convolution.grid == sizes.grid
    assert max(counts) < 1.5 * min(counts)


def test_labels_of_different_widths_are_compared() -> None:
    found = torch.tensor([[1, 2, -1], [1, -1, -1], [1, 2, 3]])
    assert same_labels(found, torch.tensor([[1, 2], [1, 2], [1, 2]])) == [True, False, False]
