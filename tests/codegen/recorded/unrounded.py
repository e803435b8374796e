# SPDX-License-Identifier: Apache-2.0
"""The library without the roundings to float32 that it does whatever the type of a model is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from transformers.models.bamba import modeling_bamba
from transformers.models.bloom import modeling_bloom
from transformers.models.codegen import modeling_codegen
from transformers.models.cohere.modeling_cohere import CohereLayerNorm
from transformers.models.cohere2.modeling_cohere2 import Cohere2LayerNorm
from transformers.models.deberta import modeling_deberta
from transformers.models.deberta_v2 import modeling_deberta_v2
from transformers.models.deepseek_v3 import modeling_deepseek_v3
from transformers.models.dots1 import modeling_dots1
from transformers.models.ernie4_5_moe import modeling_ernie4_5_moe
from transformers.models.exaone_moe import modeling_exaone_moe
from transformers.models.falcon_h1 import modeling_falcon_h1
from transformers.models.flex_olmo import modeling_flex_olmo
from transformers.models.fsmt import modeling_fsmt
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.glm4_moe import modeling_glm4_moe
from transformers.models.glm4_moe_lite import modeling_glm4_moe_lite
from transformers.models.gpt_neo import modeling_gpt_neo
from transformers.models.gptj import modeling_gptj
from transformers.models.granite_swa import modeling_granite_swa
from transformers.models.granitemoe_swa import modeling_granitemoe_swa
from transformers.models.granitemoehybrid import modeling_granitemoehybrid
from transformers.models.hunyuan_v1_moe import modeling_hunyuan_v1_moe
from transformers.models.hy_v3 import modeling_hy_v3
from transformers.models.longformer import modeling_longformer
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.mamba2 import modeling_mamba2
from transformers.models.olmo.modeling_olmo import OlmoLayerNorm
from transformers.models.olmo_hybrid import modeling_olmo_hybrid
from transformers.models.olmoe import modeling_olmoe
from transformers.models.qwen2_moe import modeling_qwen2_moe
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe
from transformers.models.qwen3_moe import modeling_qwen3_moe
from transformers.models.qwen3_next import modeling_qwen3_next
from transformers.models.solar_open import modeling_solar_open
from transformers.models.t5gemma import modeling_t5gemma
from transformers.models.vaultgemma import modeling_vaultgemma
from transformers.models.xglm import modeling_xglm
from transformers.models.xglm.modeling_xglm import XGLMSinusoidalPositionalEmbedding

_COHERE = (CohereLayerNorm, Cohere2LayerNorm)
_DELTA = modeling_olmo_hybrid, modeling_qwen3_5, modeling_qwen3_5_moe, modeling_qwen3_next
_MAMBA = modeling_bamba, modeling_falcon_h1, modeling_granitemoehybrid, modeling_mamba2
_SINKS = modeling_granite_swa, modeling_granitemoe_swa
_ROUTERS = (
    modeling_deepseek_v3,
    modeling_dots1,
    modeling_ernie4_5_moe,
    modeling_exaone_moe,
    modeling_flex_olmo,
    modeling_glm4_moe,
    modeling_glm4_moe_lite,
    modeling_hunyuan_v1_moe,
    modeling_hy_v3,
    modeling_olmoe,
    modeling_qwen2_moe,
    modeling_qwen3_moe,
    modeling_solar_open,
)
_GATED = (
    modeling_olmo_hybrid.OlmoHybridRMSNormGated,
    modeling_qwen3_5.Qwen3_5RMSNormGated,
    modeling_qwen3_5_moe.Qwen3_5MoeRMSNormGated,
    modeling_qwen3_next.Qwen3NextRMSNormGated,
    modeling_bamba.BambaRMSNormGated,
    modeling_falcon_h1.FalconH1RMSNormGated,
    modeling_granitemoehybrid.GraniteMoeHybridRMSNormGated,
    modeling_mamba2.MambaRMSNormGated,
)


@contextmanager
def unrounded(model: torch.nn.Module) -> Iterator[None]:
    """What the library rounds to float32 whatever the model's type stays in float64, but for tables of cosines and
    sines: these are weights, as it were."""
    for parameter in model.parameters():  # a router of Hunyuan's stays in float32
        parameter.data = parameter.data.double()
    rotary = [module for module in model.modules() if hasattr(module, "compute_default_rope_parameters")]
    hooks = [module.register_forward_hook(_tables_rounded) for module in rotary]
    with ExitStack() as stack:
        stack.enter_context(patch.object(torch.Tensor, "float", torch.Tensor.double))
        for module in (modeling_deberta, modeling_deberta_v2):
            stack.enter_context(patch.object(module, "scaled_size_sqrt", _scale))
        for norm in {type(module) for module in model.modules() if _is_rms(module)}:
            stack.enter_context(patch.object(norm, "forward", _normalized))
        stack.enter_context(patch.object(OlmoLayerNorm, "forward", _standardized))
        for norm in _COHERE:
            stack.enter_context(patch.object(norm, "forward", _weighed))
        stack.enter_context(patch.object(modeling_longformer.nn.functional, "softmax", _softmax))
        stack.enter_context(patch.object(modeling_bloom, "bloom_gelu_forward", _gelu))  # whose constant has 8 digits
        eager = modeling_bloom, modeling_codegen, modeling_gemma2, modeling_gpt_neo, modeling_gptj, modeling_vaultgemma
        for module in (*eager, *_ROUTERS, *_SINKS, *_DELTA, *_MAMBA, modeling_t5gemma, modeling_xglm):
            stack.enter_context(patch.object(module, "torch", _Doubles()))
        stack.enter_context(patch.object(modeling_gptj.GPTJAttention, "_get_embed_positions", _turned))
        for module in model.modules():
            if isinstance(module, modeling_codegen.CodeGenAttention):
                stack.enter_context(patch.dict(module._buffers, embed_positions=_angles(module)))
        stack.enter_context(patch.object(XGLMSinusoidalPositionalEmbedding, "forward", _placed_behind_two))
        stack.enter_context(patch.object(M2M100SinusoidalPositionalEmbedding, "forward", _placed))
        stack.enter_context(patch.object(modeling_fsmt.SinusoidalPositionalEmbedding, "forward", _placed_or_stored))
        yield
    for hook in hooks:
        hook.remove()


class _Doubles:
    """PyTorch, whose float32 is float64."""

    float32 = float = torch.float64

    @staticmethod
    def full(size: Any, value: float, **options: Any) -> torch.Tensor:
        """Of doubles where no type is asked for, so that the least one fits."""
        return torch.full(size, value, **{"dtype": torch.float64, **options})

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def _tables_rounded(_: torch.nn.Module, __: object, tables: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(table.to(torch.float32).double() for table in tables)


def _is_rms(module: torch.nn.Module) -> bool:
    others = (*_COHERE, *_GATED)
    return hasattr(module, "variance_epsilon") and not hasattr(module, "bias") and not isinstance(module, others)


def _normalized(norm: Any, rows: torch.Tensor) -> torch.Tensor:
    mean = rows.pow(2).mean(-1, keepdim=True)
    return norm.weight * (rows * torch.rsqrt(mean + norm.variance_epsilon))


def _standardized(norm: Any, rows: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(rows, norm.normalized_shape, eps=1e-5)


def _weighed(norm: Any, rows: torch.Tensor) -> torch.Tensor:
    return norm.weight * torch.nn.functional.layer_norm(rows, rows.shape[-1:], eps=norm.variance_epsilon)


def _softmax(scores: torch.Tensor, dim: int, dtype: torch.dtype | None = None, **_: object) -> torch.Tensor:
    return torch.softmax(scores, dim)


def _gelu(rows: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(rows, approximate="tanh")


def _scale(rows: torch.Tensor, factor: int) -> torch.Tensor:
    """What DeBERTa divides scores by."""
    return torch.sqrt(torch.tensor(rows.size(-1), dtype=torch.float64) * factor)


def _turned(attention: Any, positions: torch.Tensor) -> torch.Tensor:
    return _angles(attention).repeat(positions.shape[0], 1, 1)


def _angles(attention: Any) -> torch.Tensor:
    """GPT-J's sines and cosines without the rounding of angles to float32, as other families have them."""
    width = attention.pos_embd_dim
    frequencies = 1.0 / (10000 ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
    angles = torch.arange(attention.max_positions, dtype=torch.float64)[:, None] * frequencies.double()
    return torch.cat([angles.sin(), angles.cos()], dim=1).to(torch.float32).double()


def _placed(table: Any, ids: torch.Tensor | None, embedded: torch.Tensor, past: int = 0) -> torch.Tensor:
    """The library's sinusoids without the rounding of angles to float32; a padding token has a position, too."""
    first, count = table.padding_idx + 1 + past, embedded.shape[1]
    rows = _sinusoids(torch.arange(first, first + count, dtype=torch.float64), table.embedding_dim)
    return rows.to(embedded.dtype).expand(embedded.shape[0], -1, -1)


def _placed_or_stored(table: Any, ids: torch.Tensor, *, past_key_values_length: int = 0) -> torch.Tensor:
    """The same of FSMT, whose files may have other rows."""
    first, count = table.padding_idx + 1 + past_key_values_length, ids.shape[1]
    computed = table.get_embedding(*table.weight.shape, table.padding_idx)
    if not torch.allclose(table.weight, computed.to(table.weight.dtype), atol=1e-5):
        return table.weight[first : first + count].expand(len(ids), -1, -1)
    rows = _sinusoids(torch.arange(first, first + count, dtype=torch.float64), table.embedding_dim)
    return rows.to(table.weight.dtype).expand(len(ids), -1, -1)


def _placed_behind_two(table: Any, positions: torch.Tensor, past: int = 0) -> torch.Tensor:
    """The same of XGLM."""
    return _sinusoids(positions[0].double() + table.offset, table.embedding_dim).expand(len(positions), -1, -1)


def _sinusoids(positions: torch.Tensor, width: int) -> torch.Tensor:
    half = width // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000) / (half - 1)))
    angles = positions[:, None] * rates
    odd = torch.zeros(len(positions), width % 2, dtype=torch.float64)
    return torch.cat([angles.sin(), angles.cos(), odd], dim=1).to(torch.float32).double()
