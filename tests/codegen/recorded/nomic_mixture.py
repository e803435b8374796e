# SPDX-License-Identifier: Apache-2.0
"""Nomic's encoder with experts, in float32 or float64: what the code that comes with nomic-embed-text-v2-moe computes,
written once more, for `transformers` has no class for it. Names of tensors are the checkpoint's."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import gelu, silu, softmax

ACTIVATIONS = {"gelu": gelu, "silu": silu}
Config = dict[str, Any]


class Router(nn.Module):
    """The weights of all experts, of which the largest are taken as they are: they do not add up to 1."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.layer = nn.Linear(config["n_embd"], config["num_experts"], bias=False)
        self.top = config["moe_top_k"]

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each row the weights and the numbers of its experts."""
        return torch.topk(softmax(self.layer(rows), dim=-1), self.top)


class Weights(nn.Module):
    """Of all experts, one below the other; both are [inner, width] of each."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        shape = config["num_experts"] * config["n_inner"], config["n_embd"]
        self.w1, self.w2 = nn.Parameter(torch.empty(shape)), nn.Parameter(torch.empty(shape))


class Experts(nn.Module):
    """Row by row, expert by expert; the bias is added once."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.mlp = Weights(config)
        self.bias = nn.Parameter(torch.empty(config["n_embd"]))
        self.count, self.activation = config["num_experts"], ACTIVATIONS[config["activation_function"]]

    def forward(self, rows: torch.Tensor, weights: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The sum of what each row's experts make of it."""
        first, second = self.mlp.w1.chunk(self.count), self.mlp.w2.chunk(self.count)
        made = [
            sum(
                weight * (self.activation(first[expert] @ row) @ second[expert])
                for weight, expert in zip(of_row, numbers, strict=True)
            )
            for row, of_row, numbers in zip(rows, weights, chosen.tolist(), strict=True)
        ]
        return torch.stack(made) + self.bias  # type: ignore[arg-type]


class Mixture(nn.Module):
    """What some layers have in the place of a feed-forward block."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.router, self.experts = Router(config), Experts(config)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[tokens, width]."""
        return self.experts(rows, *self.router(rows))


class FeedForward(nn.Module):
    """What the others have."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config["n_embd"], config["n_inner"], bias=config["mlp_fc1_bias"])
        self.fc2 = nn.Linear(config["n_inner"], config["n_embd"], bias=config["mlp_fc2_bias"])
        self.activation = ACTIVATIONS[config["activation_function"]]

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[tokens, width]."""
        return self.fc2(self.activation(self.fc1(rows)))


class Attention(nn.Module):
    """Of all tokens to all tokens; queries and keys are turned, halves of heads with each other."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config["n_embd"]
        self.Wqkv = nn.Linear(width, 3 * width, bias=config["qkv_proj_bias"])
        self.out_proj = nn.Linear(width, width, bias=config["qkv_proj_bias"])
        self.heads, self.base = config["n_head"], config["rotary_emb_base"]

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[tokens, width]."""
        query, key, value = (
            part.unflatten(1, (self.heads, -1)).transpose(0, 1) for part in self.Wqkv(rows).chunk(3, dim=1)
        )
        query, key = self._turned(query), self._turned(key)
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        return self.out_proj((softmax(scores, dim=-1) @ value).transpose(0, 1).flatten(1))

    def _turned(self, heads: torch.Tensor) -> torch.Tensor:
        width = heads.shape[-1]
        rates = 1.0 / (self.base ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
        angles = torch.arange(heads.shape[1], dtype=torch.float64)[:, None] * rates.double()
        cosines, sines = (of(angles).float().to(heads.dtype) for of in (torch.cos, torch.sin))
        first, second = heads.chunk(2, dim=-1)
        return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)


class Layer(nn.Module):
    """Norms behind both blocks."""

    def __init__(self, config: Config, *, mixed: bool) -> None:
        super().__init__()
        self.attn, self.mlp = Attention(config), (Mixture if mixed else FeedForward)(config)
        width, epsilon = config["n_embd"], config["layer_norm_epsilon"]
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=epsilon), nn.LayerNorm(width, eps=epsilon)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[tokens, width]."""
        rows = self.norm1(self.attn(rows) + rows)
        return self.norm2(self.mlp(rows) + rows)


class Encoder(nn.Module):
    """The rows of one text."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width, every = config["n_embd"], config["moe_every_n_layers"]
        tables = {"word_embeddings": nn.Embedding(config["vocab_size"], width)}
        if config["type_vocab_size"]:
            tables["token_type_embeddings"] = nn.Embedding(config["type_vocab_size"], width)
        self.embeddings = nn.ModuleDict(tables)
        self.emb_ln = nn.LayerNorm(width, eps=config["layer_norm_epsilon"])
        layers = (Layer(config, mixed=layer % every == 1) for layer in range(config["n_layer"]))
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList(layers)})

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """[tokens, width] of the ids of a text, all of whose segments are 0."""
        rows = self.embeddings["word_embeddings"](ids)
        if "token_type_embeddings" in self.embeddings:
            rows = rows + self.embeddings["token_type_embeddings"].weight[0]
        rows = self.emb_ln(rows)
        for layer in self.encoder["layers"]:
            rows = layer(rows)
        return rows
