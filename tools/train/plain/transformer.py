# SPDX-License-Identifier: Apache-2.0
"""The encoder of "Attention Is All You Need" (Vaswani et al., 2017) with a classifier, as tutorials write it.

Nothing but PyTorch: what README.md says of the folder, this module computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import nn
from torch.nn import functional

Activation = Literal["relu", "gelu", "gelu_pytorch_tanh", "quick_gelu", "silu"]

ACTIVATIONS: dict[Activation, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
}


@dataclass(frozen=True)
class Shape:
    """The keys of config.json that say what is computed."""

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    max_positions: int
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    scale_embedding: bool = True  # by sqrt(hidden_size), before the positions are added
    norm: Literal["post", "pre"] = "post"  # after each sum, as in 2017; or before each block, and one after the last
    activation: Activation = "relu"
    bias: bool = True  # of every linear and every norm
    layer_norm_eps: float = 1e-5
    pooling: Literal["mean", "max", "first", "last"] = "mean"


class LayerShape(Protocol):
    """What a layer has to know of a Shape."""

    @property
    def hidden_size(self) -> int: ...
    @property
    def num_heads(self) -> int: ...
    @property
    def intermediate_size(self) -> int: ...
    @property
    def norm(self) -> Literal["post", "pre"]: ...
    @property
    def activation(self) -> Activation: ...
    @property
    def bias(self) -> bool: ...
    @property
    def layer_norm_eps(self) -> float: ...


def sinusoids(count: int, width: int) -> torch.Tensor:
    """[count, width]: sin(i / 10000^(2k / width)) in column 2k, the cosine of the same angle in column 2k + 1.

    Computed in float64 and rounded once, to float32.
    """
    column = torch.arange(width)
    rate = 10000.0 ** (-(column - column % 2).double() / width)
    angle = torch.arange(count).double()[:, None] * rate
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).float()


class Attention(nn.Module):
    """Scaled dot-product attention of several heads, over the rows themselves or over those of another text."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        width, bias = shape.hidden_size, shape.bias
        self.heads = shape.num_heads
        self.query = nn.Linear(width, width, bias)
        self.key = nn.Linear(width, width, bias)
        self.value = nn.Linear(width, width, bias)
        self.output = nn.Linear(width, width, bias)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, memory: torch.Tensor | None = None) -> torch.Tensor:
        """x [n, tokens, width]; keys and values are of `memory` [n, keys, width], or of x. mask bool [n, keys], false
        where a token only fills the row, or [n, tokens, keys], false where one does not see another."""
        n, tokens, width = x.shape
        source = x if memory is None else memory
        seen = mask[:, None, None, :] if mask.dim() == 2 else mask[:, None]

        def split(y: torch.Tensor) -> torch.Tensor:
            return y.view(n, -1, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(source)), split(self.value(source))
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.heads)
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        return self.output((weights @ value).transpose(1, 2).reshape(n, tokens, width))


class FeedForward(nn.Module):
    """Two linears and the activation between them, for each token by itself."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.intermediate = nn.Linear(shape.hidden_size, shape.intermediate_size, shape.bias)
        self.output = nn.Linear(shape.intermediate_size, shape.hidden_size, shape.bias)
        self.activation = ACTIVATIONS[shape.activation]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.activation(self.intermediate(x)))


class Layer(nn.Module):
    """Attention and feed-forward, each with its residual and its norm."""

    def __init__(self, shape: LayerShape, dropout: float) -> None:
        super().__init__()
        self.pre = shape.norm == "pre"
        self.attention = Attention(shape)
        self.attention_norm = layer_norm(shape)
        self.feed_forward = FeedForward(shape)
        self.feed_forward_norm = layer_norm(shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if self.pre:
            x = x + self.dropout(self.attention(self.attention_norm(x), mask))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class TransformerEncoder(nn.Module):
    """Token ids to logits. `dropout` acts in training only: after the embedding, in each residual, before the
    classifier."""

    def __init__(self, shape: Shape, labels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocab_size, shape.hidden_size)
        nn.init.normal_(self.embedding.weight, std=shape.hidden_size**-0.5)  # near 1 where it is scaled
        if shape.positions == "learned":
            self.positions = nn.Embedding(shape.max_positions, shape.hidden_size)
        else:
            self.register_buffer("sinusoids", sinusoids(shape.max_positions, shape.hidden_size), persistent=False)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.num_layers))
        if shape.norm == "pre":
            self.final_norm = layer_norm(shape)
        self.classifier = nn.Linear(shape.hidden_size, labels, shape.bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits [n, labels] of ids [n, tokens]; mask bool [n, tokens], false where a token only fills the row."""
        x = self.embedding(ids)
        if self.shape.scale_embedding:
            x = x * math.sqrt(self.shape.hidden_size)
        table = self.positions.weight if self.shape.positions == "learned" else self.sinusoids
        x = self.dropout(x + table[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x, mask)
        if self.shape.norm == "pre":
            x = self.final_norm(x)
        return self.classifier(self.dropout(self.pool(x, mask)))

    def pool(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[n, width]: of each text's rows the mean, the maxima, the first ([CLS]) or the last ([SEP])."""
        kind = self.shape.pooling
        if kind == "first":
            return x[:, 0]
        count = mask.sum(1)
        if kind == "last":
            return x[torch.arange(len(x)), count - 1]
        if kind == "max":
            return x.masked_fill(~mask[:, :, None], -math.inf).amax(1)
        return (x * mask[:, :, None]).sum(1) / count[:, None]


def layer_norm(shape: LayerShape) -> nn.LayerNorm:
    """One norm over the width."""
    return nn.LayerNorm(shape.hidden_size, shape.layer_norm_eps, bias=shape.bias)
