import pytest
import torch

from studies.text_transformer import TextTransformer, Translator
from studies.translation import write
from vit_str.models import TransformerDecoder
from vit_str.runtime.charset import PADDING


def make_encoder() -> TextTransformer:
    torch.manual_seed(0)
    return TextTransformer(5, dim=32, depth=1, heads=2, maximum_length=4)


def task(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of one to four characters, and the same read backwards."""
    lengths = torch.randint(1, 5, (count, 1))
    places = torch.arange(4).expand(count, -1)
    sources = torch.randint(5, (count, 4)).masked_fill(places >= lengths, PADDING)
    backwards = sources.gather(1, (lengths - 1 - places).clamp(min=0))
    return sources, backwards.masked_fill(places >= lengths, PADDING)


def test_it_learns_to_write_backwards() -> None:
    model = Translator(make_encoder(), TransformerDecoder(5, 32, 1, 2, maximum_length=4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(400):
        optimizer.zero_grad()
        loss = model.loss(*task(64))
        loss.backward()
        optimizer.step()
        if loss < 0.01:
            break
    sources, labels = task(200)
    for width in (1, 3):
        written = write(model.decoder, model.eval().encoder(sources), width)
        assert (written == labels[:, : written.shape[1]]).all(1).float().mean() > 0.95


def test_a_text_alone_is_read_as_beside_others() -> None:
    encoder, sources = make_encoder(), task(8)[0]
    for source, together in zip(sources, encoder(sources), strict=True):
        alone = source[source != PADDING][None]
        torch.testing.assert_close(encoder(alone)[0], together)


def test_texts_that_are_too_long_are_refused() -> None:
    with pytest.raises(ValueError, match="texts of up to 5 characters, but maximum_length is 4"):
        make_encoder()(torch.zeros(1, 5, dtype=torch.int64))
