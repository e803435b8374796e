# SPDX-License-Identifier: Apache-2.0
"""Weights of layers of linear attention by the gated delta rule, and of mixtures beside them, that random ones are
changed to."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def as_trained(model: nn.Module) -> None:
    """Queries that are like the keys of their row, and scores of experts that are not nearly equal: of a row that is
    rounded the rest then makes about the same. What a first row finds in its state would else be of either sign, to be
    normalized."""
    with torch.no_grad():
        for module in model.modules():
            kind = type(module).__name__
            if kind.endswith("GatedDeltaNet"):
                _with_queries_like_keys(module)
            if kind == "Qwen3NextTopKRouter":
                module.weight.mul_(4)


def _with_queries_like_keys(layer: Any) -> None:
    keys, width = layer.key_dim, layer.head_k_dim
    layer.conv1d.weight[:keys] *= 0.25
    layer.conv1d.weight[:keys] += layer.conv1d.weight[keys : 2 * keys]
    if hasattr(layer, "q_proj"):
        layer.q_proj.weight.mul_(0.25).add_(layer.k_proj.weight)
    elif hasattr(layer, "in_proj_qkv"):
        layer.in_proj_qkv.weight[:keys] *= 0.25
        layer.in_proj_qkv.weight[:keys] += layer.in_proj_qkv.weight[keys : 2 * keys]
    else:
        heads = layer.in_proj_qkvz.weight.view(layer.num_k_heads, -1, layer.hidden_size)
        heads[:, :width] *= 0.25
        heads[:, :width] += heads[:, width : 2 * width]
