"""Sequence to sequence with a recurrent network, with attention or without."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import (
    AdditiveAttention,
    KeysValues,
    MultiHeadAttention,
    ScaledDotProductAttention,
)
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder, Rows

CELLS: dict[str, type[nn.RNNCellBase]] = {
    "rnn": nn.RNNCell,
    "lstm": nn.LSTMCell,
    "gru": nn.GRUCell,
}
_ATTENTIONS = ("none", "additive", "dot")


@dataclass(slots=True)
class RecurrentState:
    """State of the decoding of a batch."""

    # The state of the network, and for an LSTM its memory
    hidden: tuple[Float[Tensor, "batch dim"], ...]
    context: Float[Tensor, "batch dim"]  # the image as one vector
    image: KeysValues | None  # keys and values of the image; none without attention

    def keep(self, rows: Rows) -> None:
        """See `DecodingState`."""
        self.hidden = tuple(part[rows] for part in self.hidden)
        self.context = self.context[rows]
        if self.image is not None:
            self.image = KeysValues(self.image.keys[rows], self.image.values[rows])


class RecurrentDecoder(AutoregressiveDecoder):
    """Writes with an RNN, LSTM or GRU, whose state is all that it knows of what it wrote.

    Without attention, the mean of all features is the one context vector of the whole image: it
    makes the first state and goes into every step (Cho et al. 2014). With attention, the state
    before a step chooses the context of that step: by an additive score (Bahdanau et al. 2014) or
    a scaled dot product (Luong et al. 2015).

    Args:
        charset_size: number of characters it writes.
        dim: width of a feature, and of the state.
        cell: ``rnn``, ``lstm`` or ``gru``.
        attention: ``none``, ``additive`` or ``dot``.
        maximum_length: most characters it writes.
        label_smoothing: share of the target spread over all symbols in training.

    Raises:
        ValueError: the cell or the attention is unknown.
    """

    def __init__(
        self,
        charset_size: int = 94,
        dim: int = 192,
        cell: str = "gru",
        attention: str = "additive",
        maximum_length: int = 25,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(charset_size, dim, maximum_length, label_smoothing)
        if cell not in CELLS or attention not in _ATTENTIONS:
            raise ValueError(
                f"cell must be one of {', '.join(CELLS)} and attention one of "
                f"{', '.join(_ATTENTIONS)}, found {cell!r} and {attention!r}"
            )
        self.cell = cell
        self.attention = attention
        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        self.to_state = nn.Linear(dim, dim)
        self.recur = CELLS[cell](2 * dim, dim)  # type: ignore[call-arg]
        self.look = _looking(attention, dim)
        self.classify = nn.Linear(2 * dim, charset_size + 1)

    def logits(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores step by step, each from the characters of the label before it."""
        state = self.begin(features)
        steps = enumerate(self.inputs(labels).unbind(1))
        return torch.stack(
            [self.step(symbols, position, state) for position, symbols in steps], 1
        )

    def begin(self, features: Float[Tensor, "batch token dim"]) -> RecurrentState:
        """The first state, from the image as one vector."""
        context = features.mean(1)
        first = self.to_state(context).tanh()
        hidden = (first, torch.zeros_like(first)) if self.cell == "lstm" else (first,)
        image = None if self.look is None else self.look.project_keys_values(features)
        return RecurrentState(hidden, context, image)

    def step(  # type: ignore[override]
        self, symbols: Int64[Tensor, " batch"], position: int, state: RecurrentState
    ) -> Float[Tensor, "batch symbol"]:
        """Scores of the position behind ``symbols``; the hidden state moves on by it."""
        context = state.context
        if self.look is not None:
            context = self.look(state.hidden[0][:, None], state.image)[:, 0]
        x = torch.cat([self.embed_characters(symbols).to(context.dtype), context], -1)
        if self.cell == "lstm":
            state.hidden = self.recur(x, state.hidden)
        else:
            state.hidden = (self.recur(x, state.hidden[0]),)
        return self.classify(torch.cat([state.hidden[0], context], -1))


def _looking(attention: str, dim: int) -> MultiHeadAttention | None:
    if attention == "none":
        return None
    if attention == "additive":
        return MultiHeadAttention(dim, heads=1, attend=AdditiveAttention(dim))
    return MultiHeadAttention(dim, heads=1, attend=ScaledDotProductAttention())
