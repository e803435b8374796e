# SPDX-License-Identifier: Apache-2.0
"""The student with int8 tables and int8 activations, simulated in float32.

The same operations as the generated code: int8 weights with one scale per output channel, int8
embedding rows, activations quantized per token (queries, keys and values per token and head),
7-bit probabilities, exact integer products. Only the order of float sums and the last bits of
exp, erf and tanh differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from transformers import BertForSequenceClassification
from transformers.activations import ACT2FN

SMALLEST = 2.0**-40


def quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(q as float32 integers in [-127, 127], scale) of each row along the last dimension."""
    m = x.abs().amax(-1, keepdim=True)
    live = m >= SMALLEST
    r = torch.where(live, 127.0 / m, torch.zeros_like(m))
    return torch.round(x * r), torch.where(live, m * (1 / 127), torch.zeros_like(m))


def quantize_weights(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(q, scale [n]) of a table [n, k], computed in float64."""
    wide = w.double()
    m = wide.abs().amax(1)
    live = m / 127.0 >= SMALLEST
    q = torch.round(wide * 127.0 / torch.where(live, m, torch.ones_like(m))[:, None])
    zero = torch.zeros_like(m)
    return (q * live[:, None]).float(), torch.where(live, m / 127.0, zero).float()


@dataclass(frozen=True)
class Linear:
    """y = (sum of int8 products) * row scale * channel scale + bias."""

    q: torch.Tensor
    scale: torch.Tensor
    bias: torch.Tensor

    @staticmethod
    def of(layer: torch.nn.Linear) -> Linear:
        """The int8 form of a float layer."""
        return Linear(*quantize_weights(layer.weight), layer.bias.float())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        q, s = quantize(x)
        # Every sum stays below 2^24 here (768 * 127 * 127 < 2^24), so float32 holds it exactly.
        return (q @ self.q.T) * s * self.scale + self.bias


def _table(weight: torch.Tensor) -> torch.Tensor:
    q, s = quantize_weights(weight)
    return q * s[:, None]


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """q, k, v [n, heads, tokens, d]; mask [n, 1, 1, tokens], true where a key counts."""
    (qq, sq), (qk, sk), (qv, sv) = quantize(q), quantize(k), quantize(v)
    c = math.log2(math.e) / math.sqrt(q.shape[-1])
    t = (qq @ qk.transpose(-1, -2)) * (sq * c) * sk.transpose(-1, -2)
    t = t.masked_fill(~mask, -math.inf)
    e = torch.exp2(t - t.amax(-1, keepdim=True))
    w = e * sv.transpose(-1, -2)
    m = w.amax(-1, keepdim=True)
    live = m >= SMALLEST
    p = torch.round(w * torch.where(live, 127.0 / m, torch.zeros_like(m)))
    return (p @ qv) * ((m * (1 / 127)) / e.sum(-1, keepdim=True))


class Quantized:
    """Calls like the model it is made from: (ids, mask) -> logits."""

    def __init__(self, model: BertForSequenceClassification) -> None:
        bert = model.bert
        self.heads = model.config.num_attention_heads
        self.activation = ACT2FN[model.config.hidden_act]
        self.words = _table(bert.embeddings.word_embeddings.weight)
        self.positions = _table(bert.embeddings.position_embeddings.weight)
        self.segments = _table(bert.embeddings.token_type_embeddings.weight)
        self.norm = bert.embeddings.LayerNorm
        self.layers = [
            {
                "q": Linear.of(layer.attention.self.query),
                "k": Linear.of(layer.attention.self.key),
                "v": Linear.of(layer.attention.self.value),
                "out": Linear.of(layer.attention.output.dense),
                "norm1": layer.attention.output.LayerNorm,
                "up": Linear.of(layer.intermediate.dense),
                "down": Linear.of(layer.output.dense),
                "norm2": layer.output.LayerNorm,
            }
            for layer in bert.encoder.layer
        ]
        self.pooler = Linear.of(bert.pooler.dense)
        self.classifier = model.classifier

    @torch.inference_mode()
    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        n, tokens = ids.shape
        keys = mask[:, None, None, :].bool()
        x = self.norm(self.words[ids] + self.segments[0] + self.positions[:tokens])
        for layer in self.layers:
            q, k, v = (layer[name](x).view(n, tokens, self.heads, -1).transpose(1, 2) for name in "qkv")
            mixed = _attention(q, k, v, keys).transpose(1, 2).reshape(n, tokens, -1)
            x = layer["norm1"](layer["out"](mixed) + x)
            inner = self.activation(layer["up"](x))
            x = layer["norm2"](layer["down"](inner) + x)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))
