# SPDX-License-Identifier: Apache-2.0
"""Settings that are drawn for families with layers of Mamba's state spaces."""

from __future__ import annotations

from decoder_settings import GRANITE_FACTORS, Rare

_LIMITS: Rare = {
    "time_step_limit": (0.15, (None, [0.0, 1e9], [0.0, {"__float__": "Infinity"}], [0.25, 0.75], [-1.0, 1e30])),
}
_HYBRID: Rare = _LIMITS | {
    "attention_bias": (0.3, (True,)),
    "hidden_act": (0.05, ("relu", "swish")),
    "mamba_n_heads": (1.0, (2, 4)),
    "mamba_d_head": (0.2, ("auto",)),
    "mamba_n_groups": (1.0, (1, 2)),
    "mamba_d_state": (1.0, (1, 5, 9)),
    "mamba_d_conv": (0.6, (2, 3, 9)),
    "mamba_expand": (0.4, (1, 3)),
    "mamba_chunk_size": (0.7, (1, 4, 7)),
    "mamba_conv_bias": (0.3, (False,)),
    "mamba_proj_bias": (0.3, (True,)),
}
_KINDS = (["attention", "mamba"] * 2, ["mamba", "mamba", "full_attention", "linear_attention"], ["mamba"] * 4, None)
_FACTORS = (0.5, 1.5, 0.35)

GRANITE: Rare = (
    GRANITE_FACTORS
    | _HYBRID
    | {
        "num_hidden_layers": (1.0, (4,)),
        "layer_types": (1.0, (*_KINDS, ["attention"] * 4, ["full_attention"] * 4)),
        "num_local_experts": (1.0, (0, 0, 3, 5)),
        "num_experts_per_tok": (0.7, (1, 3)),
        "position_embedding_type": (0.7, ("rope", "rope", "nope", None)),
        "shared_intermediate_size": (0.9, (11, 24, 30)),
    }
)


def mamba2_heads(heads: int, width: int, times: int) -> Rare:
    """Heads of so many times `width` values, in a model that is as wide as heads of `width`."""
    return {"num_heads": (1.0, (heads,)), "expand": (1.0, (times,)), "head_dim": (1.0, (times * width,))}


MAMBA: dict[str, tuple[str, Rare]] = {
    "bamba": (
        "Bamba",
        _HYBRID
        | {
            "num_hidden_layers": (1.0, (3,)),
            "attn_layer_indices": (1.0, ([1], [0, 2], [], None)),
            "mlp_bias": (0.3, (True,)),
            "num_key_value_heads": (0.3, (None, 1)),
            "rope_parameters": (
                0.5,
                (
                    {"rope_theta": 90.0, "rope_type": "default"},
                    {"rope_type": "linear", "factor": 2.5, "partial_rotary_factor": 1.0},
                ),
            ),
        },
    ),
    "falcon_h1": (
        "FalconH1",
        _HYBRID
        | {
            "mamba_d_ssm": (1.0, (None, 24, 32)),
            "mamba_rms_norm": (0.6, (True,)),
            "mamba_norm_before_gate": (0.5, (False, True)),
            "mlp_bias": (0.3, (True,)),
            "projectors_bias": (0.3, (True,)),
            "num_key_value_heads": (0.3, (None, 1)),
            "mlp_multipliers": (0.5, ([0.5, 1.5], [1.0, 0.3])),
            "ssm_multipliers": (0.5, ([0.35, 0.25, 0.6, 1.5, 0.9],)),
            "embedding_multiplier": (0.5, (5.5, 0.5)),
            "lm_head_multiplier": (0.5, (0.02, 2.0)),
            **{
                f"{name}_multiplier": (0.4, _FACTORS)
                for name in ("key", "attention_in", "attention_out", "ssm_in", "ssm_out")
            },
        },
    ),
    "mamba2": (
        "Mamba2",
        _LIMITS
        | {
            "n_groups": (1.0, (1, 2)),
            "state_size": (1.0, (1, 5, 9)),
            "conv_kernel": (0.6, (2, 3, 9)),
            "chunk_size": (0.7, (1, 4, 7)),
            "use_conv_bias": (0.3, (False,)),
            "use_bias": (0.3, (True,)),
            "hidden_act": (0.05, ("relu", "swish")),
            "residual_in_fp32": (0.3, (False,)),
            "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
        },
    ),
}
