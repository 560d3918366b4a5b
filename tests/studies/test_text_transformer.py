import pytest
import torch

from studies.text_transformer import TextTransformer
from vit_str.runtime.charset import PADDING


def make_encoder() -> TextTransformer:
    torch.manual_seed(0)
    return TextTransformer(5, dim=32, depth=1, heads=2, maximum_length=4)


def test_a_text_alone_is_read_as_beside_others():
    encoder, lengths = make_encoder(), torch.randint(1, 5, (8, 1))
    sources = torch.randint(5, (8, 4)).masked_fill(torch.arange(4) >= lengths, PADDING)
    for source, together in zip(sources, encoder(sources), strict=True):
        alone = source[source != PADDING][None]
        torch.testing.assert_close(encoder(alone)[0], together)


def test_texts_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="texts of up to 5 characters, but maximum_length is 4"):
        make_encoder()(torch.zeros(1, 5, dtype=torch.int64))
