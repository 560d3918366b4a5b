"""The recurrent parts against their equations, written out."""

import pytest
import torch

from vit_str.models import PlainConvolutionalEncoder, RecurrentDecoder, RecurrentEncoder
from vit_str.models.attention import AdditiveAttention, record_attention


def lstm(x: torch.Tensor, network: torch.nn.LSTM, suffix: str = "") -> list[torch.Tensor]:
    """Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000."""
    w, u = (getattr(network, f"weight_{kind}_l0{suffix}") for kind in ("ih", "hh"))
    b = getattr(network, f"bias_ih_l0{suffix}") + getattr(network, f"bias_hh_l0{suffix}")
    h = c = x.new_zeros(len(x), u.shape[1])
    states = []
    for step in x.unbind(1):
        i, f, g, o = (step @ w.T + h @ u.T + b).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return states


def gru(x: torch.Tensor, network: torch.nn.GRU, suffix: str = "") -> list[torch.Tensor]:
    """Cho et al. 2014, with the reset gate after the product, as libraries have it."""
    w, u = (getattr(network, f"weight_{kind}_l0{suffix}") for kind in ("ih", "hh"))
    bw, bu = (getattr(network, f"bias_{kind}_l0{suffix}") for kind in ("ih", "hh"))
    h = x.new_zeros(len(x), u.shape[1])
    states = []
    for step in x.unbind(1):
        inner = zip((step @ w.T + bw).chunk(3, -1), (h @ u.T + bu).chunk(3, -1), strict=True)
        (rx, rh), (zx, zh), (nx, nh) = inner
        z = (zx + zh).sigmoid()
        h = (1 - z) * (nx + (rx + rh).sigmoid() * nh).tanh() + z * h
        states.append(h)
    return states


def rnn(x: torch.Tensor, network: torch.nn.RNN, suffix: str = "") -> list[torch.Tensor]:
    """Elman 1990."""
    w, u = (getattr(network, f"weight_{kind}_l0{suffix}") for kind in ("ih", "hh"))
    b = getattr(network, f"bias_ih_l0{suffix}") + getattr(network, f"bias_hh_l0{suffix}")
    h, states = x.new_zeros(len(x), u.shape[1]), []
    for step in x.unbind(1):
        h = (step @ w.T + h @ u.T + b).tanh()
        states.append(h)
    return states


EQUATIONS = {"rnn": rnn, "lstm": lstm, "gru": gru}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", EQUATIONS)
def test_encoders_compute_their_equations(cell: str, bidirectional: bool) -> None:
    torch.manual_seed(0)
    columns = PlainConvolutionalEncoder((8,), (1,), ((32, 16),))
    encoder = RecurrentEncoder(columns, cell, 1, bidirectional).eval()
    images = torch.randn(3, 3, 32, 128)
    x, equations = columns(images), EQUATIONS[cell]
    states = torch.stack(equations(x, encoder.recur), 1)  # type: ignore[operator]
    if bidirectional:
        backward = equations(x.flip(1), encoder.recur, "_reverse")  # type: ignore[operator]
        states = torch.cat([states, torch.stack(backward, 1).flip(1)], -1)
    torch.testing.assert_close(encoder(images), encoder.norm(states))


def test_one_direction_never_sees_what_comes() -> None:
    columns = PlainConvolutionalEncoder((8,), (1,), ((32, 16),))
    for bidirectional, blind in ((False, True), (True, False)):
        encoder = RecurrentEncoder(columns, "gru", 2, bidirectional)
        images = torch.randn(1, 3, 32, 128, requires_grad=True)
        (encoder(images)[0, 2] * torch.arange(8)).sum().backward()  # the third column of eight
        assert images.grad is not None
        beyond = images.grad[..., 4 * 16 :]  # a convolution looks a pixel into the fourth
        assert bool((beyond == 0).all()) is blind


@pytest.mark.parametrize("cell", EQUATIONS)
def test_a_context_vector_is_all_that_a_decoder_without_attention_knows(cell: str) -> None:
    torch.manual_seed(0)
    decoder = RecurrentDecoder(5, 8, cell, "none", maximum_length=4).eval()
    features, labels = torch.randn(2, 6, 8), torch.tensor([[0, 1, 2], [3, 4, 0]])
    shuffled = features[:, torch.randperm(6)]
    torch.testing.assert_close(decoder.logits(features, labels), decoder.logits(shuffled, labels))


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("attention", ["none", "additive", "dot"])
def test_decoders_compute_their_equations(cell: str, attention: str) -> None:
    torch.manual_seed(0)
    decoder = RecurrentDecoder(5, 8, cell, attention, maximum_length=4).eval()
    features, labels = torch.randn(2, 6, 8), torch.tensor([[0, 1, 2], [3, 4, 0]])
    h = decoder.to_state(features.mean(1)).tanh()
    c, context, expected = torch.zeros_like(h), features.mean(1), []
    for symbols in (torch.tensor([5, 5]), *labels.unbind(1)):
        if decoder.look is not None:
            q, (k, v) = (
                decoder.look.to_queries(h),
                decoder.look.to_keys_values(features).chunk(2, -1),
            )
            if attention == "dot":
                scores = torch.einsum("bd,btd->bt", q, k) / 8**0.5
            else:
                v_a = decoder.look.attend.to_scores.weight[0]  # type: ignore[union-attr]
                scores = (q[:, None] + k).tanh() @ v_a
            context = decoder.look.to_output(torch.einsum("bt,btd->bd", scores.softmax(-1), v))
        x = torch.cat([decoder.embed_characters(symbols), context], -1)
        if cell == "lstm":
            h, c = torch.lstm_cell(x, (h, c), *decoder.recur.parameters())
        else:
            step = {"gru": torch.gru_cell, "rnn": torch.rnn_tanh_cell}[cell]
            h = step(x, h, *decoder.recur.parameters())
        expected.append(decoder.classify(torch.cat([h, context], -1)))
    torch.testing.assert_close(decoder.logits(features, labels), torch.stack(expected, 1))


def test_additive_attention_leaves_out_what_is_masked() -> None:
    attend = AdditiveAttention(4)
    queries, keys = torch.randn(2, 1, 3, 4), torch.randn(2, 1, 5, 4)
    mask = torch.tensor([True, False, True, True, False])
    weights = attend.weights(queries, keys, mask)
    assert (weights[..., ~mask] == 0).all()
    torch.testing.assert_close(weights[..., mask], attend.weights(queries, keys[..., mask, :]))


def test_the_recorder_hears_additive_attention_step_by_step() -> None:
    decoder = RecurrentDecoder(5, 8, "gru", "additive", maximum_length=4)
    with record_attention(decoder) as maps:
        decoder.logits(torch.randn(2, 6, 8), torch.tensor([[0, 1, 2], [3, 4, 0]]))
    (calls,) = maps.values()
    assert [tuple(call.shape) for call in calls] == [(2, 1, 1, 6)] * 4


def test_unknown_cells_and_attentions_are_refused() -> None:
    with pytest.raises(ValueError, match="rnn, lstm, gru, found 'mgu'"):
        RecurrentEncoder(PlainConvolutionalEncoder(), "mgu")
    with pytest.raises(ValueError, match="found 'gru' and 'some'"):
        RecurrentDecoder(attention="some")
