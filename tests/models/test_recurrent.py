"""The recurrent parts against their equations, written out."""

import pytest
import torch

from vit_str.models import PlainConvolutionalEncoder, RecurrentDecoder, RecurrentEncoder
from vit_str.models.attention import AdditiveAttention


def test_one_direction_never_sees_what_comes():
    columns = PlainConvolutionalEncoder((8,), (1,), ((32, 16),))
    for bidirectional, blind in ((False, True), (True, False)):
        encoder = RecurrentEncoder(columns, "gru", 2, bidirectional)
        images = torch.randn(1, 3, 32, 128, requires_grad=True)
        # The third column of eight
        (encoder(images)[0, 2] * torch.arange(8)).sum().backward()
        assert images.grad is not None
        # A convolution looks a pixel into the fourth
        beyond = images.grad[..., 4 * 16 :]
        assert bool((beyond == 0).all()) is blind


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("attention", ["none", "additive", "dot"])
def test_decoders_compute_their_equations(cell, attention):
    torch.manual_seed(0)
    decoder = RecurrentDecoder(5, 8, cell, attention, maximum_length=4).eval()
    features = torch.randn(2, 6, 8)
    labels = torch.tensor([[0, 1, 2], [3, 4, 0]])
    h = decoder.to_state(features.mean(1)).tanh()
    c = torch.zeros_like(h)
    context = features.mean(1)
    expected = []
    for symbols in (torch.tensor([5, 5]), *labels.unbind(1)):
        if decoder.look is not None:
            q = decoder.look.to_queries(h)
            k, v = decoder.look.to_keys_values(features).chunk(2, -1)
            if attention == "dot":
                scores = torch.einsum("bd,btd->bt", q, k) / 8**0.5
            else:
                v_a = decoder.look.attend.to_scores.weight[0]
                scores = (q[:, None] + k).tanh() @ v_a
            context = decoder.look.to_output(
                torch.einsum("bt,btd->bd", scores.softmax(-1), v)
            )
        x = torch.cat([decoder.embed_characters(symbols), context], -1)
        if cell == "lstm":
            h, c = torch.lstm_cell(x, (h, c), *decoder.recur.parameters())
        else:
            step = {"gru": torch.gru_cell, "rnn": torch.rnn_tanh_cell}[cell]
            h = step(x, h, *decoder.recur.parameters())
        expected.append(decoder.classify(torch.cat([h, context], -1)))
    torch.testing.assert_close(
        decoder.logits(features, labels), torch.stack(expected, 1)
    )


def test_additive_attention_leaves_out_what_is_masked():
    attend = AdditiveAttention(4)
    queries = torch.randn(2, 1, 3, 4)
    keys = torch.randn(2, 1, 5, 4)
    mask = torch.tensor([True, False, True, True, False])
    weights = attend.weights(queries, keys, mask)
    assert (weights[..., ~mask] == 0).all()
    torch.testing.assert_close(
        weights[..., mask], attend.weights(queries, keys[..., mask, :])
    )


def test_unknown_cells_and_attentions_are_refused():
    with pytest.raises(ValueError, match="rnn, lstm, gru, found 'mgu'"):
        RecurrentEncoder(PlainConvolutionalEncoder(), "mgu")
    with pytest.raises(ValueError, match="found 'gru' and 'some'"):
        RecurrentDecoder(attention="some")
