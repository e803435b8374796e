# SPDX-License-Identifier: Apache-2.0
"""GPT-2, whose linears the folder has as [inputs, outputs]."""

from __future__ import annotations

from .family import TRANSPOSED, Config, Family, Made, Opened

_LINEARS = {"attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}


def _config(opened: Opened) -> Config:
    meta = opened.meta
    positions = opened.shape("position_embd.weight")[0]
    if meta.count("context_length", positions) > positions:
        raise meta.refuse("gguf-key", f"context_length is more than position_embd.weight's {positions} rows")
    return {
        "vocab_size": opened.shape("token_embd.weight")[0],
        "n_positions": positions,
        "n_embd": meta.count("embedding_length"),
        "n_inner": meta.count("feed_forward_length"),
        "n_layer": opened.layers,
        "n_head": meta.count("attention.head_count"),
        "layer_norm_epsilon": meta.number("attention.layer_norm_epsilon"),
        "activation_function": "gelu_new",
        "tie_word_embeddings": not opened.has("output.weight"),
    }


def _made(_: Opened, part: str, source: str) -> Made:
    return Made(source, TRANSPOSED if part in _LINEARS and source.endswith(".weight") else None)


FAMILIES = {
    "gpt2": Family(
        "gpt2",
        ("GPT2LMHeadModel",),
        _config,
        {
            "token_embd": "transformer.wte",
            "position_embd": "transformer.wpe",
            "output_norm": "transformer.ln_f",
            "output": "lm_head",
        },
        _LINEARS | {"attn_norm": "ln_1", "ffn_norm": "ln_2"},
        "transformer.h",
        made=_made,
    )
}
