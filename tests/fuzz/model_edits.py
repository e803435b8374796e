# SPDX-License-Identifier: Apache-2.0
"""Random changes of a model's folder: keys of config.json that go, change or come, tensors by other names and types."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

WEIGHTS = "model.safetensors"
_KEPT = ("model_type", "architectures", "id2label", "label2id")
# Keys of this family or another one, with values that may say something.
_VALUES: dict[str, tuple[Any, ...]] = {
    "is_decoder": (True, False),
    "is_encoder_decoder": (True, False),
    "is_causal": (True, False, None),
    "add_cross_attention": (True,),
    "position_embedding_type": ("absolute", "relative_key"),
    "rope_scaling": (None, {"type": "linear", "factor": 2.0}, {"rope_type": "default"}),
    "rope_parameters": (None, {"rope_theta": 77.0, "rope_type": "default"}),
    "rope_theta": (55.0,),
    "partial_rotary_factor": (0.5,),
    "attention_bias": (True, False),
    "mlp_bias": (True,),
    "scale_embedding": (True, False),
    "tie_word_embeddings": (True, False),
    "tie_encoder_decoder": (True,),
    "pruned_heads": ({}, {"0": [0]}),
    "output_past": (True,),
    "use_cache": (False,),
    "num_labels": (2, 3),
    "problem_type": ("regression", "single_label_classification", None),
    "hidden_act": ("relu", "silu", "mish", None),
    "activation_function": ("relu", "gelu"),
    "feed_forward_proj": ("gated-gelu", "relu"),
    "layer_norm_eps": (1e-5, 1e-2, None),
    "type_vocab_size": (0, 1, 2),
    "vocab_size": (None, 44),
    "embedding_size": (8, 16),
    "max_position_embeddings": (10, 24),
    "num_key_value_heads": (1,),
    "head_dim": (4,),
    "n_inner": (None, 20),
    "relative_attention": (True, False),
    "share_att_key": (True, False),
    "norm_rel_ebd": ("none", "layer_norm"),
    "position_buckets": (4, -1),
    "pos_att_type": ("c2p", ["p2c"]),
    "conv_kernel_size": (0, 3),
    "num_hidden_groups": (1,),
    "use_task_id": (True,),
    "summary_activation": ("relu",),
    "classifier_pooling": ("cls", "mean", "max"),
    "local_attention": (3, 4),
    "global_attn_every_n_layers": (2, 3),
    "layer_types": (None,),
    "normalize_before": (True, False),
    "normalize_embedding": (True, False),
    "add_final_layer_norm": (True, False),
    "static_position_embeddings": (True, False),
    "decoder_vocab_size": (45, 40),
    "scale_decoder_outputs": (True, False),
    "is_gated_act": (True, False),
    "num_hidden_layers": (1, 2),
    "hidden_size": (8, 11),
    "scale_attn_weights": (False,),
    "logit_scale": (2.0,),
    "unknown_key": (3,),
    "dtype": ("float32", "bfloat16"),
}


_WORDS = tuple(f"{of}.weight" for of in ("word_embeddings", "embed_tokens", "tok_embeddings", "shared", "wte"))
# What predicts words, in files of most families.
_TIED = tuple(f"{of}.weight" for of in ("lm_head", "lm_head.decoder", "cls.predictions.decoder", "generator_lm_head"))


def edit_config(source: random.Random, config: dict[str, Any]) -> str:
    """Changes `config`; what was done."""
    kind = source.choice(("remove", "change", "add", "add"))
    if kind == "remove":
        key = source.choice(sorted(set(config) - {"model_type"}))
        del config[key]
        return f"no {key}"
    if kind == "change":
        key = source.choice(sorted(set(config) - set(_KEPT)))
        config[key] = _other(source, config[key])
    else:
        key = source.choice(sorted(_VALUES))
        config[key] = copy.deepcopy(source.choice(_VALUES[key]))
    return f"{key} = {config[key]!r}"


def _other(source: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return max(0, value + source.choice((-2, -1, 1, 2)))
    if isinstance(value, float):
        return value * source.choice((0.1, 3, 10))
    return None


def edit_tensors(source: random.Random, folder: Path, prefix: str) -> str:
    """Changes the tensors of the folder; `prefix` is that of an encoder's."""
    tensors = load_file(folder / WEIGHTS)
    name = source.choice(sorted(tensors))
    kinds = ("no prefix", "all with it", "one without it", "tied", "old names", "one less", "one more", "all f32")
    kind = source.choice((*kinds, "one type"))
    if kind == "no prefix":
        tensors = {key.removeprefix(prefix): value for key, value in tensors.items()}
    elif kind == "all with it":
        tensors = {f"{prefix}{key.removeprefix(prefix)}": value for key, value in tensors.items()}
    elif kind == "one without it":
        tensors[name.removeprefix(prefix)] = tensors.pop(name)
    elif kind == "tied":
        words = next((key for key in sorted(tensors) if key.endswith(_WORDS)), name)
        name = source.choice(_TIED)
        tensors[name] = tensors.pop(words)
    elif kind == "old names":
        pairs = (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta"))
        for new, old in pairs:
            tensors = {key.replace(new, old): value for key, value in tensors.items()}
    elif kind == "one less":
        del tensors[name]
    elif kind == "one more":
        tensors[f"more.{name}"] = tensors[name].copy()
    elif kind == "all f32":
        tensors = {key: value.astype(np.float32) for key, value in tensors.items()}
    else:
        tensors[name] = tensors[name].astype(source.choice((np.float32, np.float64, np.int8)))
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})
    return kind if kind in ("no prefix", "all with it", "old names", "all f32") else f"{kind}: {name}"
