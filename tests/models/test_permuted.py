import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.models import PermutedDecoder
from vit_str.models.decoders.permuted import permutation_mask, sample_orders
from vit_str.torch_runtime.engine import generate


def decoder(sharpness: float = 4.0, **arguments: object) -> PermutedDecoder:
    torch.manual_seed(0)
    made = PermutedDecoder(7, dim=24, heads=2, maximum_length=6, **arguments).eval()
    torch.nn.init.normal_(made.classify.weight)
    torch.nn.init.normal_(made.embed_characters.weight)
    torch.nn.init.normal_(made.embed_positions.weight)
    for parameter in made.block.parameters():
        parameter.data.mul_(sharpness)
    return made


FEATURES = torch.randn(40, 5, 24, generator=torch.Generator().manual_seed(3))


def test_orders_are_orders_and_the_first_two_are_plain():
    orders = sample_orders(5, 7)
    assert len(orders) == 7
    assert all(sorted(order.tolist()) == list(range(6)) for order in orders)
    assert orders[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert orders[1].tolist() == [5, 4, 3, 2, 1, 0]
    for first, reverse in zip(orders[2::2], orders[3::2], strict=False):
        assert (first[:-1] + reverse[:-1] == 4).all()


@pytest.mark.parametrize("order", sample_orders(4, 6))
def test_a_position_never_sees_itself_or_what_comes_later(order):
    model = decoder(sharpness=1)
    labels = torch.tensor([[1, 2, 3, 4]])
    before = model._logits(model._image(FEATURES[:1]), labels, permutation_mask(order))
    for place in range(4):
        changed = labels.clone()
        changed[0, place] = 6
        after = model._logits(
            model._image(FEATURES[:1]), changed, permutation_mask(order)
        )
        differs = (before - after).abs().amax(-1)[0] > 1e-6
        assert differs.tolist() == (order > order[place]).tolist()


def test_writing_with_a_cache_is_writing_without():
    model = decoder(refinements=0)
    written = generate(model, FEATURES)
    assert (written.labels == PADDING).any()
    scores = model.logits(FEATURES, written.labels)
    confidences, symbols = scores.softmax(-1).max(-1)
    targets = model.targets(written.labels)
    there = targets[:, : written.labels.shape[1]] != PADDING
    there &= targets[:, : written.labels.shape[1]] != model.end
    assert torch.equal(symbols[:, :-1][there], written.labels[there])
    torch.testing.assert_close(
        confidences[:, :-1][there], written.confidences[there], rtol=1e-4, atol=1e-4
    )


def test_all_at_once_a_character_depends_on_the_image_alone():
    model = decoder(decoding="parallel", refinements=0)
    nothing = torch.full((40, 6), PADDING)
    alone = model._logits(
        model._image(FEATURES),
        nothing,
        torch.eye(7, 7, dtype=torch.bool)[:1].expand(7, 7),
    )
    written = generate(model, FEATURES)
    first = alone[:, 0].argmax(-1)
    assert torch.equal(
        written.labels[:, 0].where(written.labels[:, 0] != PADDING, 7), first
    )


def test_a_refinement_reads_every_character_from_the_others():
    once = decoder(refinements=1)
    twice = decoder(refinements=2)
    first = generate(once, FEATURES).labels
    symbols = once.refine(FEATURES, first).argmax(-1)
    ended = (symbols == once.end).cumsum(1) > 0
    again = symbols.masked_fill(ended, PADDING)[:, :6]
    written = generate(twice, FEATURES).labels
    assert torch.equal(written, again[:, : written.shape[1]])
    assert (again[:, written.shape[1] :] == PADDING).all()
    assert not torch.equal(generate(decoder(refinements=0), FEATURES).labels, first)


def test_other_ways_to_decode_are_refused():
    with pytest.raises(ValueError, match="autoregressive or parallel, found 'fast'"):
        PermutedDecoder(decoding="fast")
    with pytest.raises(ValueError, match="found 0 and 1"):
        PermutedDecoder(orders=0)
