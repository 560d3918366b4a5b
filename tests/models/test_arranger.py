"""The network that arranges pages."""

import pytest
import torch
from torch import Tensor

from vit_str.models.arranger import RELATIONS, PageArranger

FEATURES, ROLES = 9, 5


@pytest.fixture(scope="module")
def arranger() -> PageArranger:
    """A small one with random weights."""
    torch.manual_seed(0)
    return PageArranger(FEATURES, ROLES, buckets=50, dim=32, depth=2, heads=2).eval()


def page(count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(1, count, FEATURES, generator=generator)
    corners = torch.rand(1, count, 2, generator=generator) * 30
    size = torch.rand(1, count, 2, generator=generator) * 5 + 0.5
    rest = torch.rand(1, count, 7, generator=generator)
    places = torch.cat([corners, corners + size, rest], -1)
    ngrams = torch.randint(0, 50, (1, count, 6), generator=generator)
    return features, places, ngrams, torch.ones(1, count, dtype=torch.bool)


def padded(values: Tensor, room: int) -> Tensor:
    return torch.cat([values, values.new_zeros(1, room, *values.shape[2:])], 1)


@torch.no_grad()
def test_room_at_the_end_changes_nothing(arranger):
    inputs = page(7, seed=1)
    alone = arranger(*inputs)
    together = arranger(*(padded(each, 4) for each in inputs))
    for one, other in zip(alone[:2], together[:2], strict=True):
        torch.testing.assert_close(one, other[:, :7], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        alone.relations, together.relations[..., :7, :7], rtol=1e-4, atol=1e-5
    )


@torch.no_grad()
def test_the_order_of_tokens_does_not_matter(arranger):
    inputs = page(6, seed=2)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    straight = arranger(*inputs)
    mixed = arranger(*(each[:, order] for each in inputs))
    torch.testing.assert_close(
        mixed.roles, straight.roles[:, order], rtol=1e-4, atol=1e-5
    )
    relations = straight.relations[:, :, order][..., order]
    torch.testing.assert_close(mixed.relations, relations, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_relations_go_both_ways(arranger):
    scores = arranger(*page(5, seed=3)).relations
    before = scores[:, RELATIONS.index("before")]
    torch.testing.assert_close(before, -before.mT)
    for name in ("block", "table", "row", "column"):
        same = scores[:, RELATIONS.index(name)]
        torch.testing.assert_close(same, same.mT)
    following = scores[:, RELATIONS.index("next")]
    assert not torch.allclose(following, following.mT)


def test_every_parameter_learns(arranger):
    found = arranger(*page(5, seed=4))
    sum(part.square().sum() for part in found).backward()
    for name, parameter in arranger.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    arranger.zero_grad()


@torch.no_grad()
def test_places_count(arranger):
    features, places, ngrams, mask = page(5, seed=5)
    moved = places.clone()
    moved[0, 2, [0, 2]] += 12
    first = arranger(features, places, ngrams, mask).relations
    assert not torch.allclose(first, arranger(features, moved, ngrams, mask).relations)
