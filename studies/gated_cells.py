"""Recurrent networks by the bias of the gate that keeps their state."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from vit_str.models.encoders.recurrent import NETWORKS


@dataclass(frozen=True, slots=True)
class Cell:
    """A recurrent network at its start.

    Attributes:
        kind: ``rnn``, ``lstm`` or ``gru``.
        keep: bias of the gate that keeps the state: forget gate of an LSTM, update gate of a GRU.
            None leaves the biases as torch draws them, about 0.
    """

    kind: str
    keep: float | None = None

    def build(self, width: int, dim: int) -> nn.RNN | nn.LSTM | nn.GRU:
        """The network, with weights from torch's generator."""
        network = NETWORKS[self.kind](width, dim, batch_first=True)
        open_gate(network, self.keep)
        return network


RNN, LSTM, GRU, OPEN_LSTM = "RNN", "LSTM", "GRU", "LSTM, bias 3"
CELLS: Mapping[str, Cell] = {
    RNN: Cell("rnn"),
    LSTM: Cell("lstm"),
    "LSTM, bias 0": Cell("lstm", 0),
    "LSTM, bias 1": Cell("lstm", 1),
    OPEN_LSTM: Cell("lstm", 3),
    "LSTM, bias 5": Cell("lstm", 5),
    GRU: Cell("gru"),
    "GRU, bias 3": Cell("gru", 3),
}


def open_gate(network: nn.RNNBase, bias: float | None) -> None:
    """Set the bias of the gate that keeps the state; torch adds two, the other becomes 0.

    It is the second of four gates of an LSTM and of three of a GRU.
    """
    if bias is None:
        return
    gate = slice(network.hidden_size, 2 * network.hidden_size)
    with torch.no_grad():
        _, _, first, second = network.all_weights[0]
        first[gate] = bias
        second[gate] = 0.0
