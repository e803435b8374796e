# SPDX-License-Identifier: Apache-2.0
"""The head that is trained: nn.GRU over the encoder's rows, and a linear of its last states."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence


class GruClassifier(nn.Module):
    """Its state_dict has the names of head.safetensors."""

    def __init__(
        self, width: int, hidden: int, layers: int, labels: int, *, both_ways: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.gru = nn.GRU(
            width, hidden, layers, bidirectional=both_ways, dropout=dropout if layers > 1 else 0.0, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(hidden * (2 if both_ways else 1), labels)

    def forward(self, texts: list[torch.Tensor]) -> torch.Tensor:
        """Logits [n, labels] of rows [tokens, width] of each text, which are packed: padding is never read."""
        _, last = self.gru(pack_sequence(texts, enforce_sorted=False))
        states = torch.cat((last[-2], last[-1]), dim=-1) if self.gru.bidirectional else last[-1]
        return self.linear(self.dropout(states))

    def settings(self, labels: tuple[str, ...]) -> dict[str, object]:
        """head.json."""
        return {
            "type": "gru",
            "labels": list(labels),
            "activation": "softmax",
            "input_size": self.gru.input_size,
            "hidden_size": self.gru.hidden_size,
            "num_layers": self.gru.num_layers,
            "bidirectional": self.gru.bidirectional,
        }
