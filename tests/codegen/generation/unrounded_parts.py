# SPDX-License-Identifier: Apache-2.0
"""Parts of generative models that the library computes in float32 whatever the model's type is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.mt5.modeling_mt5 import MT5LayerNorm
from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm
from transformers.models.t5.modeling_t5 import T5LayerNorm


@contextmanager
def unrounded_parts() -> Iterator[None]:
    """The library without these roundings."""
    with ExitStack() as stack:
        for norm in (LlamaRMSNorm, Qwen2RMSNorm, T5LayerNorm, MT5LayerNorm):
            stack.enter_context(patch.object(norm, "forward", normalized))
        stack.enter_context(patch.object(M2M100SinusoidalPositionalEmbedding, "forward", placed))
        yield


def normalized(norm: Any, rows: torch.Tensor) -> torch.Tensor:
    """As the library has it, without the rounding to float32."""
    mean = rows.pow(2).mean(-1, keepdim=True)
    return norm.weight * (rows * torch.rsqrt(mean + norm.variance_epsilon))


def placed(table: Any, ids: torch.Tensor | None, embedded: torch.Tensor, past: int = 0) -> torch.Tensor:
    """The library's sinusoids without the rounding of angles to float32; a padding token has a position, too."""
    half = table.embedding_dim // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000) / (half - 1)))
    first, count = table.padding_idx + 1 + past, embedded.shape[1]
    angles = torch.arange(first, first + count, dtype=torch.float64)[:, None] * rates
    odd = torch.zeros(count, table.embedding_dim % 2, dtype=torch.float64)
    rows = torch.cat([angles.sin(), angles.cos(), odd], dim=1)
    return rows.to(torch.float32).to(embedded.dtype).expand(embedded.shape[0], -1, -1)
