# SPDX-License-Identifier: Apache-2.0
"""The transformer of "Attention Is All You Need" (Vaswani et al., 2017), encoder and decoder, as courses write it, and
greedy inference. What README.md says of the folder of a `"transformer"`, this module computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn
from transformer import Activation, Attention, FeedForward, Layer, layer_norm, sinusoids


@dataclass(frozen=True)
class TranslatorShape:
    """The keys of config.json that say what is computed."""

    vocab_size: int
    target_vocab_size: int
    hidden_size: int
    num_encoder_layers: int
    num_decoder_layers: int
    num_heads: int
    intermediate_size: int
    max_positions: int
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    scale_embedding: bool = True  # by sqrt(hidden_size), before the positions are added
    tied: bool = False  # one table for texts, targets and logits, as in 2017; courses have three
    norm: Literal["post", "pre"] = "post"  # after each sum, as in 2017; or before each block, and one after the last
    activation: Activation = "relu"
    bias: bool = True  # of every linear and every norm
    layer_norm_eps: float = 1e-5


class DecoderLayer(nn.Module):
    """Attention to the tokens so far, attention to the text, feed-forward, each with its residual and its norm."""

    def __init__(self, shape: TranslatorShape, dropout: float) -> None:
        super().__init__()
        self.pre = shape.norm == "pre"
        self.attention = Attention(shape)
        self.attention_norm = layer_norm(shape)
        self.cross_attention = Attention(shape)
        self.cross_attention_norm = layer_norm(shape)
        self.feed_forward = FeedForward(shape)
        self.feed_forward_norm = layer_norm(shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, seen: torch.Tensor, memory: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """x [n, tokens, width], seen bool [n, tokens, tokens]; memory [n, keys, width], mask bool [n, keys]."""
        if self.pre:
            x = x + self.dropout(self.attention(self.attention_norm(x), seen))
            x = x + self.dropout(self.cross_attention(self.cross_attention_norm(x), mask, memory))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, seen)))
        x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, mask, memory)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):
    """Token ids of a text and of a target to logits. `dropout` acts in training only: after the embeddings and in each
    residual."""

    def __init__(self, shape: TranslatorShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        width, sizes = shape.hidden_size, (shape.vocab_size, shape.target_vocab_size)
        if shape.tied:
            self.embedding = nn.Embedding(sizes[0], width)
            if shape.bias:
                self.output = nn.ParameterDict({"bias": nn.Parameter(torch.zeros(sizes[1]))})
        else:
            self.source_embedding, self.target_embedding = (nn.Embedding(size, width) for size in sizes)
            self.output = nn.Linear(width, sizes[1], shape.bias)
        for table in (module for module in self.children() if isinstance(module, nn.Embedding)):
            nn.init.normal_(table.weight, std=width**-0.5)  # near 1 where it is scaled
        if shape.positions == "learned":
            self.source_positions = nn.Embedding(shape.max_positions, width)
            self.target_positions = nn.Embedding(shape.max_positions, width)
        else:
            self.register_buffer("sinusoids", sinusoids(shape.max_positions, width), persistent=False)
        self.encoder_layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.num_encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(shape, dropout) for _ in range(shape.num_decoder_layers))
        if shape.norm == "pre":
            self.encoder_norm, self.decoder_norm = layer_norm(shape), layer_norm(shape)
        self.dropout = nn.Dropout(dropout)

    def encode(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Rows [n, tokens, width] of ids [n, tokens]; mask bool [n, tokens], false where a token only fills the row."""
        x = self._embedded(ids, "source")
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x) if self.shape.norm == "pre" else x

    def decode(self, target: torch.Tensor, memory: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits [n, tokens, target_vocab_size] of what follows each token of target [n, tokens]; `memory` are the rows
        of the texts, `mask` theirs. Tokens that only fill the row are behind the others, which do not see them."""
        x, tokens = self._embedded(target, "target"), target.shape[1]
        seen = torch.ones(tokens, tokens, dtype=torch.bool, device=target.device).tril()[None]
        for layer in self.decoder_layers:
            x = layer(x, seen, memory, mask)
        if self.shape.norm == "pre":
            x = self.decoder_norm(x)
        if not self.shape.tied:
            return self.output(x)
        logits = x @ self.embedding.weight.T
        return logits + self.output["bias"] if self.shape.bias else logits

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """As `decode`, of the texts themselves."""
        return self.decode(target, self.encode(ids, mask), mask)

    @torch.inference_mode()
    def translate(self, ids: list[int], begin: int, end: int, most: int) -> list[int]:
        """What is written for one text: the token with the largest logit, until it is `end` or there are `most`."""
        mask = torch.ones(1, len(ids), dtype=torch.bool)
        memory = self.encode(torch.tensor([ids]), mask)
        written: list[int] = []
        while len(written) < most and end not in written[-1:]:
            logits = self.decode(torch.tensor([[begin, *written]]), memory, mask)
            written.append(int(logits[0, -1].argmax()))
        return written

    def _embedded(self, ids: torch.Tensor, of: Literal["source", "target"]) -> torch.Tensor:
        table = self.embedding if self.shape.tied else getattr(self, f"{of}_embedding")
        x = table(ids)
        if self.shape.scale_embedding:
            x = x * math.sqrt(self.shape.hidden_size)
        positions = getattr(self, f"{of}_positions").weight if self.shape.positions == "learned" else self.sinusoids
        return self.dropout(x + positions[: ids.shape[1]])
