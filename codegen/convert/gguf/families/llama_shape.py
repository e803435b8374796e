# SPDX-License-Identifier: Apache-2.0
"""Decoders of Llama's shape: Llama (Mistral, SmolLM and TinyLlama, too, which llama.cpp calls so), Qwen 2 and 3,
OLMo 2."""

from __future__ import annotations

from typing import Any

from .angles import angles_of
from .family import Config, Family, Made, Opened, paired

OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
ATTENTION = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
}
FEED_FORWARD = {"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
NORMS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
HEAD_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
LAYERS = "model.layers"
INNER = ATTENTION | FEED_FORWARD | NORMS


def sizes(opened: Opened) -> Config:
    """What decoders of this shape have in common, but for angles."""
    meta = opened.meta
    width, heads = meta.count("embedding_length"), meta.count("attention.head_count")
    return {
        "vocab_size": opened.shape("token_embd.weight")[0],
        "hidden_size": width,
        "intermediate_size": meta.count("feed_forward_length"),
        "num_hidden_layers": opened.layers,
        "num_attention_heads": heads,
        "num_key_value_heads": meta.count("attention.head_count_kv", heads),
        "head_dim": head_width(opened),
        "max_position_embeddings": meta.count("context_length"),
        "rms_norm_eps": meta.number("attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": not opened.has("output.weight"),
    }


def head_width(opened: Opened) -> int:
    """Of keys, which values must have, too."""
    meta = opened.meta
    heads = meta.count("attention.head_count")
    width = meta.count("attention.key_length", max(1, meta.count("embedding_length") // heads))
    if meta.count("attention.value_length", width) != width:
        raise meta.refuse("gguf-not-supported", "attention.value_length: values of another width than keys")
    return width


def without_head_width(opened: Opened, config: Config) -> Config:
    """Of classes whose heads share the rows' width."""
    if config["head_dim"] * config["num_attention_heads"] != config["hidden_size"]:
        raise opened.meta.refuse("gguf-not-supported", "attention.key_length: heads that do not share the rows' width")
    return {key: value for key, value in config.items() if key != "head_dim"}


def has_bias(opened: Opened, part: str) -> bool:
    """Whether a linear of the first layer has one."""
    return opened.has(f"blk.0.{part}.bias")


def _llama(opened: Opened) -> Config:
    return {
        **sizes(opened),
        "hidden_act": "silu",
        "attention_bias": has_bias(opened, "attn_q"),
        "mlp_bias": has_bias(opened, "ffn_up"),
        "rope_parameters": angles_of(opened, head_width(opened)),
    }


def _qwen2(opened: Opened) -> Config:
    return {**without_head_width(opened, _with_silu(opened)), "use_sliding_window": False}


def _qwen3(opened: Opened) -> Config:
    return {**_with_silu(opened), "use_sliding_window": False, "attention_bias": has_bias(opened, "attn_q")}


def _olmo2(opened: Opened) -> Config:
    return {**without_head_width(opened, _with_silu(opened)), "attention_bias": has_bias(opened, "attn_q")}


def _with_silu(opened: Opened) -> dict[str, Any]:
    return {**sizes(opened), "hidden_act": "silu", "rope_parameters": angles_of(opened, head_width(opened))}


def _made_of_pairs(opened: Opened, part: str, source: str) -> Made:
    if part not in ("attn_q", "attn_k"):
        return Made(source)
    heads = opened.meta.count("attention.head_count")
    heads = opened.meta.count("attention.head_count_kv", heads) if part == "attn_k" else heads
    rows = opened.shape(source)[0]
    if rows % (2 * heads):
        raise opened.file.refuse("wrong-shape", f"{rows} rows are no pairs in each of {heads} heads", tensor=source)
    return Made(source, paired(heads))


FAMILIES = {
    "llama": Family(
        "llama",
        ("LlamaForCausalLM",),
        _llama,
        OUTER,
        INNER,
        LAYERS,
        made=_made_of_pairs,
        unread=frozenset({"rope_freqs.weight"}),
    ),
    "qwen2": Family("qwen2", ("Qwen2ForCausalLM",), _qwen2, OUTER, INNER, LAYERS),
    "qwen3": Family("qwen3", ("Qwen3ForCausalLM",), _qwen3, OUTER, INNER | HEAD_NORMS, LAYERS),
    "olmo2": Family(
        "olmo2",
        ("Olmo2ForCausalLM",),
        _olmo2,
        OUTER,
        ATTENTION
        | FEED_FORWARD
        | HEAD_NORMS
        | {"post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm"},
        LAYERS,
    ),
}
