# SPDX-License-Identifier: Apache-2.0
"""The head that is trained: nn.GRU over the encoder's rows, and a linear of its last states."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


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
        """Logits [n, labels] of rows [tokens, width] of each text. Padding is behind a text, in the order of either
        direction, so that no state that is used has read it. (Packed sequences would do the same; their gradients take
        PyTorch a time that grows with the square of the length.)"""
        lengths = torch.tensor([len(text) for text in texts])
        rows = pad_sequence(texts, batch_first=True)
        backwards = (lengths[:, None] - 1 - torch.arange(rows.shape[1])).clamp(min=0)[..., None]
        last: list[torch.Tensor] = []
        for layer in range(self.gru.num_layers):
            if layer > 0:
                rows = nn.functional.dropout(rows, self.gru.dropout, self.training)
            states = [self._one_way(rows, f"l{layer}")]
            last = [_state_at(states[0], lengths - 1)]
            if self.gru.bidirectional:
                turned = self._one_way(_turned(rows, backwards), f"l{layer}_reverse")
                states.append(_turned(turned, backwards))
                last.append(_state_at(turned, lengths - 1))
            rows = torch.cat(states, dim=-1)
        return self.linear(self.dropout(torch.cat(last, dim=-1)))

    def _one_way(self, rows: torch.Tensor, place: str) -> torch.Tensor:
        """States [n, tokens, hidden] of one direction of one layer, whose weights have `place` in their names."""
        weights = [getattr(self.gru, f"{kind}_{place}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        begin = rows.new_zeros(1, len(rows), self.gru.hidden_size)
        return torch.gru(rows, begin, weights, True, 1, 0.0, self.training, False, True)[0]

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


def _turned(rows: torch.Tensor, backwards: torch.Tensor) -> torch.Tensor:
    """Rows [n, tokens, width] of each text in the order of `backwards` [n, tokens, 1]."""
    return rows.gather(1, backwards.expand_as(rows))


def _state_at(states: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """[n, width] out of [n, tokens, width]: that of each text's own index."""
    return states[torch.arange(len(states)), index]
