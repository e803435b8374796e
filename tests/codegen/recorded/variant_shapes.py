# SPDX-License-Identifier: Apache-2.0
"""Classes of `transformers` and their shapes, as the variants say them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BERT_KEYS = "hidden_size num_attention_heads num_hidden_layers intermediate_size max_position_embeddings"
GPT2_KEYS = "n_embd n_head n_layer n_inner n_positions"
GPT_NEO_KEYS = BERT_KEYS.replace("num_attention_heads num_hidden_layers", "num_heads num_layers")
FALCON_KEYS = BERT_KEYS.replace("intermediate_size", "ffn_hidden_size")
XLNET_KEYS = "d_model n_head n_layer d_inner"
XLM_KEYS = "emb_dim n_heads n_layers max_position_embeddings"
FUNNEL_KEYS = "d_model n_head d_head d_inner"
OPT_KEYS = BERT_KEYS.replace("intermediate_size", "ffn_dim")
MULTI_LABEL = "multi_label_classification"
REGRESSION = "regression"


@dataclass(frozen=True)
class Variant:
    """A class of `transformers` with its configuration; vocabulary and names of the labels are added."""

    model: str
    labels: int
    config: dict[str, Any] = field(default_factory=dict)


def distilbert(labels: int, sizes: tuple[int, int, int, int, int], **config: Any) -> Variant:
    return bert_like("DistilBert", labels, sizes, "dim n_heads n_layers hidden_dim max_position_embeddings", **config)


def t5(model: str, labels: int, sizes: tuple[int, int, int, int, int], **config: Any) -> Variant:
    """Sizes: width, heads, layers, inner width, positions, as that of others; heads of a width of their own."""
    keys = ("d_model", "num_heads", "num_layers", "d_ff", "n_positions")
    buckets = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 12}
    settings = dict(zip(keys, sizes, strict=True)) | {"d_kv": 5} | buckets
    return Variant(f"{model}ForSequenceClassification", labels, settings | config)


# Of Qwen 3.5, small: linear attention with more heads than keys have.
QWEN3_5 = {
    **{"num_key_value_heads": 2, "head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4},
    **{"linear_key_head_dim": 7, "linear_value_head_dim": 6},
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}


def qwen3_5(ending: str, labels: int, sizes: tuple[int, int, int, int, int], **config: Any) -> Variant:
    """With an encoder of images. Sizes of the half that reads texts: width, heads, layers, inner width, positions; its
    words are those of `token_ids.QWEN3_5`."""
    kinds = QWEN3_5["layer_types"][: sizes[2]]
    texts = dict(zip(BERT_KEYS.split(), sizes, strict=True)) | QWEN3_5 | {"vocab_size": 268, "layer_types": kinds}
    images = {
        **{"depth": 1, "hidden_size": 8, "num_heads": 2, "intermediate_size": 6, "patch_size": 2, "in_channels": 1},
        **{"out_hidden_size": sizes[0], "num_position_embeddings": 4},
    }
    return Variant(f"Qwen3_5{ending}", labels, {"text_config": texts, "vision_config": images} | config)


# Of both halves of T5Gemma, where its words are those of `token_ids.GEMMA`.
T5GEMMA = {"vocab_size": 318, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2}


def t5gemma(
    model: str, labels: int, encoder: tuple[int, ...], decoder: tuple[int, ...], more: dict[str, Any], **config: Any
) -> Variant:
    """Sizes of each half: width, heads, heads of keys, their width, layers, inner width, positions. `more` is of
    both."""
    keys = BERT_KEYS.split()
    names = (*keys[:2], "num_key_value_heads", "head_dim", *keys[2:])
    halves = {
        of: T5GEMMA | dict(zip(names, sizes, strict=True)) | more
        for of, sizes in (("encoder", encoder), ("decoder", decoder))
    }
    return Variant(f"T5Gemma{model}", labels, halves | config)


def bart(
    labels: int,
    sizes: tuple[int, int, int, int, int],
    model: str = "Bart",
    positions_key: str = "max_position_embeddings",
    **config: Any,
) -> Variant:
    """Sizes: width, heads, layers, inner width, positions, those of the encoder and the decoder alike."""
    width, heads, layers, inner, positions = sizes
    both = {"attention_heads": heads, "layers": layers, "ffn_dim": inner}
    of_each = {f"{of}_{key}": value for key, value in both.items() for of in ("encoder", "decoder")}
    settings = {"d_model": width, positions_key: positions} | of_each
    return Variant(f"{model}ForSequenceClassification", labels, settings | config)


def funnel(labels: int, sizes: tuple[int, int, int, int], blocks: list[int], **config: Any) -> Variant:
    """Sizes: width, heads, their width, inner width; layers of each block. Of both ways to compute attention, which are
    the same but for rounding, the one that takes texts of any length."""
    settings = {"block_sizes": blocks, "attention_type": "factorized", "num_decoder_layers": 1} | config
    return Variant(
        "FunnelForSequenceClassification", labels, dict(zip(FUNNEL_KEYS.split(), sizes, strict=True)) | settings
    )


def canine(labels: int, sizes: tuple[int, int, int, int, int], **config: Any) -> Variant:
    """Sizes as BERT's; of three hash functions, and groups, blocks and taps of sizes that do not fit each other."""
    settings = {
        **{"num_hash_functions": 3, "num_hash_buckets": 97, "type_vocab_size": 2},
        **{"downsampling_rate": 4, "upsampling_kernel_size": 4, "local_transformer_stride": 7},
    }
    return bert_like("Canine", labels, sizes, **settings | config)


FNET_KEYS = "hidden_size num_hidden_layers intermediate_size max_position_embeddings"


def bert_like(
    model: str, labels: int, sizes: tuple[int, int, int, int, int], keys: str = BERT_KEYS, **config: Any
) -> Variant:
    """Sizes: width, heads, layers, inner width, positions."""
    return Variant(f"{model}ForSequenceClassification", labels, dict(zip(keys.split(), sizes, strict=True)) | config)
