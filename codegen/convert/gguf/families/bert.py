# SPDX-License-Identifier: Apache-2.0
"""Encoders that make embeddings: BERT, XLM-RoBERTa, and Nomic's. The pooler is in no file, nor the normalization that
sentence-transformers' folders may ask for behind the pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .angles import angles_of
from .family import Config, Family, Made, Opened, Reorder

_OUTER = {
    "token_embd": "embeddings.word_embeddings",
    "position_embd": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "embeddings.LayerNorm",
}
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
_MOST_IN_FRONT = 1000
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
    positions = opened.shape("position_embd.weight")[0]
    if opened.meta.count("context_length", positions) > positions:
        raise opened.meta.refuse("gguf-key", f"context_length is more than position_embd.weight's {positions} rows")
    return {**_sizes(opened), "max_position_embeddings": positions, "hidden_act": "gelu"}


def _xlm_roberta(opened: Opened) -> Config:
    found = _bert(opened)
    return {**found, "max_position_embeddings": found["max_position_embeddings"] + _rows_in_front(opened)}


def _rows_in_front(opened: Opened) -> int:
    """Of the table of positions, which are counted from behind the padding's id on: no token has them, nor the file."""
    return opened.meta.count("tokenizer.ggml.padding_token_id", least=0, most=_MOST_IN_FRONT) + 1


def _made_behind_rows(opened: Opened, part: str, source: str) -> Made:
    if part != "position_embd":
        return _made(opened, part, source)
    count = _rows_in_front(opened)

    def with_rows(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([np.zeros((count, *values.shape[1:]), values.dtype), values])

    return Made(source, Reorder(with_rows, lambda shape: (shape[0] + count, *shape[1:])))


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


# What files call `bert`, too: the tokenizer tells it.
XLM_ROBERTA = Family(
    "xlm-roberta",
    ("XLMRobertaModel",),
    _xlm_roberta,
    _OUTER,
    _BERT,
    "encoder.layer",
    made=_made_behind_rows,
    writes=False,
    tokenizers=("t5",),
)
FAMILIES = {
    "bert": Family(
        "bert",
        ("BertModel",),
        _bert,
        _OUTER,
        _BERT,
        "encoder.layer",
        made=_made,
        writes=False,
        tokenizers=("bert", "t5"),
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
        tokenizers=("bert",),
    ),
}
