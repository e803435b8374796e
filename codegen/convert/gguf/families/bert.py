# SPDX-License-Identifier: Apache-2.0
"""Encoders that make embeddings: BERT, and Nomic's. The pooler is in no file, nor the normalization that
sentence-transformers' folders may ask for behind the pooling."""

from __future__ import annotations

from .angles import angles_of
from .family import Config, Family, Made, Opened, Reorder

_BERT = {
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
    "layer_output_norm": "output.LayerNorm",
}
_NOMIC = {
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.out_proj",
    "attn_output_norm": "norm1",
    "ffn_up": "mlp.fc11",
    "ffn_gate": "mlp.fc12",
    "ffn_down": "mlp.fc2",
    "layer_output_norm": "norm2",
}
_ONE_ROW = Reorder(lambda values: values[None], lambda shape: (1, *shape))


def _sizes(opened: Opened) -> Config:
    meta = opened.meta
    opened.check_sees_all()
    return {
        "vocab_size": opened.shape("token_embd.weight")[0],
        "hidden_size": meta.count("embedding_length"),
        "intermediate_size": meta.count("feed_forward_length"),
        "num_hidden_layers": opened.layers,
        "num_attention_heads": meta.count("attention.head_count"),
        "layer_norm_eps": meta.number("attention.layer_norm_epsilon"),
        "type_vocab_size": _segments(opened),
    }


def _segments(opened: Opened) -> int:
    """One alone lies there without a dimension of its own."""
    shape = opened.shape("token_types.weight")
    return shape[0] if len(shape) == 2 else 1


def _made(opened: Opened, part: str, source: str) -> Made:
    one_row = part == "token_types" and len(opened.shape(source)) == 1
    return Made(source, _ONE_ROW if one_row else None)


def _bert(opened: Opened) -> Config:
    if opened.meta.text("tokenizer.ggml.model") != "bert":
        message = "an encoder without WordPiece: RoBERTa's and XLM-RoBERTa's, which the file does not tell apart"
        raise opened.meta.refuse("gguf-not-supported", message)
    positions = opened.shape("position_embd.weight")[0]
    if opened.meta.count("context_length", positions) > positions:
        raise opened.meta.refuse("gguf-key", f"context_length is more than position_embd.weight's {positions} rows")
    return {**_sizes(opened), "max_position_embeddings": positions, "hidden_act": "gelu"}


def _nomic(opened: Opened) -> Config:
    found = _sizes(opened)
    meta = opened.meta
    if meta.has("moe_every_n_layers") or meta.has("expert_count"):
        raise meta.refuse("gguf-not-supported", "a mixture of experts")
    width = max(1, found["hidden_size"] // found["num_attention_heads"])
    return {
        **found,
        "head_dim": width,
        "max_position_embeddings": meta.count("context_length"),
        "hidden_act": "silu",
        "rope_parameters": angles_of(opened, width, 1000.0),
    }


FAMILIES = {
    "bert": Family(
        "bert",
        ("BertModel",),
        _bert,
        {
            "token_embd": "embeddings.word_embeddings",
            "position_embd": "embeddings.position_embeddings",
            "token_types": "embeddings.token_type_embeddings",
            "token_embd_norm": "embeddings.LayerNorm",
        },
        _BERT,
        "encoder.layer",
        made=_made,
        writes=False,
    ),
    "nomic-bert": Family(
        "nomic_bert",
        ("NomicBertModel",),
        _nomic,
        {
            "token_embd": "embeddings.word_embeddings",
            "token_types": "embeddings.token_type_embeddings",
            "token_embd_norm": "emb_ln",
        },
        _NOMIC,
        "encoder.layers",
        made=_made,
        writes=False,
    ),
}
