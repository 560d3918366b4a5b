import pytest
import torch

from studies import Verdict, filters
from studies.reading import SMALL, VIT, build_reader
from vit_str.analysis.filters.measure import Components, first_filters


def test_patches_of_words_are_their_own_best_basis() -> None:
    basis = filters.patch_components(filters.digits(50))
    random = first_filters(build_reader(VIT, SMALL, 10, seed=0).encoder)
    of_basis = filters.measure(VIT, filters.TRAINED, basis.vectors[:16].float(), basis, seed=0)
    of_noise = filters.measure(VIT, filters.UNTRAINED, random, basis, seed=0)

    assert basis.vectors.shape == (192, 3, 8, 8)
    assert of_basis["in_patch_components"] == pytest.approx(1.0, abs=1e-5)
    assert of_noise["in_patch_components"] == pytest.approx(16 / 192, abs=0.02)
    assert of_noise["low_frequency_share"] == pytest.approx(0.25, abs=0.02)
    assert of_noise["roughness"] == pytest.approx(1.0, abs=0.05)
    assert float(of_basis["low_frequency_share"]) > 0.5


def test_flat_filters_are_all_low_frequency() -> None:
    flat = torch.ones(4, 3, 8, 8)
    row = filters.measure(
        VIT, filters.TRAINED, flat, Components.of_filters(torch.eye(192).view(-1, 3, 8, 8)), 0
    )

    assert row["low_frequency_share"] == pytest.approx(1.0)
    assert row["roughness"] == pytest.approx(0.0)
    assert row["gray_share"] == pytest.approx(1.0)
    assert row["effective_components"] == pytest.approx(1.0)


def test_the_verdict_follows_what_is_seen_and_learned() -> None:
    assert filters.judge((0.6, 0.7), [(0.1, 0.2), (0.1, 0.2)]) is Verdict.SUPPORTED
    assert filters.judge((0.6, 0.7), [(0.1, 0.2), (-0.1, 0.2)]) is Verdict.PARTLY
    assert filters.judge((0.3, 0.4), [(0.1, 0.2), (0.1, 0.2)]) is Verdict.PARTLY
    assert filters.judge((0.3, 0.4), [(0.01, 0.2), (0.1, 0.2)]) is Verdict.NOT_SUPPORTED
