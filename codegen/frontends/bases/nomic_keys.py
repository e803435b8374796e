# SPDX-License-Identifier: Apache-2.0
"""Keys of configurations as the code has them that comes with Nomic's checkpoints: GPT-2's, and more. Models with
experts have them, and dense ones as they were published (nomic-embed-text-v1.5); `transformers` has BERT's keys for the
latter, and reads none of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...load.config import Config, is_neutral
from ..shared import parts

# Training's; how the code computes; pictures of it.
HARMLESS_KEYS = frozenset(
    {"attn_pdrop", "embd_pdrop", "resid_pdrop", "moe_resid_pdrop", "router_aux_loss_coef", "max_trained_positions"}
    | {"moe_impl", "use_flash_attn", "use_xentropy", "fused_bias_fc", "fused_dropout_add_ln", "dense_seq_output"}
    | {"add_pooling_layer", "reorder_and_upcast_attn", "parallel_block_tied_norm"}
    | {f"summary_{of}" for of in ("activation", "first_dropout", "proj_to_labels", "type", "use_proj")}
)
POSITIONS = "n_positions"
# What asks for another computation, and what it is when it does not.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "causal": (False,),
    "parallel_block": (False,),
    "prenorm": (False,),
    "rotary_emb_fraction": (1.0, 1),
    "rotary_emb_interleaved": (False,),
    "rotary_emb_scale_base": (None,),
    "rotary_scaling_factor": (None,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "scale_attn_weights": (True,),
    "use_rms_norm": (None, False),
}
_OF_DENSE: dict[str, tuple[object, ...]] = dict.fromkeys(("qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"), (False,))
_GATES = {"swiglu": "silu", "geglu": "gelu"}
_WIDTH, _EPSILON, _THETA = "n_embd", 1e-5, 10_000.0  # where the configuration does not say the last two


def check_neutral(config: Config, more: Mapping[str, tuple[object, ...]]) -> None:
    """EtchError where a key asks for another computation; `more` are those of a form."""
    for key, neutral in (_NEUTRAL | dict(more)).items():
        value = config.values.get(key)
        if key in config and not is_neutral(value, neutral):
            raise parts.refuse("config-not-supported", f"{key} {str(value)[:40]} is not supported")


def vocabulary_of(config: Config) -> int:
    """Rows of the table of words: up to a multiple."""
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    multiple = config.positive_int("pad_vocab_size_multiple", 1, maximum=parts.MAX_VOCABULARY)
    return -(-vocabulary // multiple) * multiple


def with_library_keys(config: Config) -> Config:
    """Of a dense model, with what its keys say by those of `transformers`, which count where they are there."""
    if _WIDTH not in config or "hidden_size" in config:
        return config
    check_neutral(config, _OF_DENSE)
    # A bias is there where no key says that there is none.
    missing = next((key for key in _OF_DENSE if key not in config), None)
    if missing is not None:
        raise parts.refuse("config-missing", f"'{missing}' is missing")
    activation = config.text("activation_function", "gelu")
    if activation not in _GATES:
        message = f"activation_function '{activation}' (supported: {', '.join(_GATES)})"
        raise parts.refuse("activation-not-supported", message)
    width = config.positive_int(_WIDTH, maximum=parts.MAX_WIDTH)
    said = {
        "vocab_size": vocabulary_of(config),
        "hidden_size": width,
        "num_hidden_layers": config.positive_int("n_layer", maximum=parts.MAX_LAYERS),
        "num_attention_heads": config.positive_int("n_head", maximum=parts.MAX_WIDTH),
        "intermediate_size": parts.inner_or_four_times(config, "n_inner", width),
        "max_position_embeddings": config.positive_int(POSITIONS, maximum=1 << 20),
        "type_vocab_size": config.natural_int("type_vocab_size", 2, maximum=256),
        "hidden_act": _GATES[activation],
        "layer_norm_eps": config.number("layer_norm_epsilon", _EPSILON),
        "rope_theta": config.number("rotary_emb_base", _THETA),
    }
    values = config.values
    for key, value in said.items():
        values = values.changed(key, value)
    return replace(config, values=values)
