# SPDX-License-Identifier: Apache-2.0
"""Gemma 1 to 3. Norms multiply by 1 + weight, and the file has the sum; what the classes have by default is in no
key: which layers see a window, and what scores are divided by (llama.cpp's src/llama-model.cpp)."""

from __future__ import annotations

from .angles import check_turned_whole, linear_factor, theta_of
from .family import Config, Family, Made, Opened, less_one
from .llama_shape import ATTENTION, FEED_FORWARD, HEAD_NORMS, INNER, LAYERS, OUTER, has_bias, head_width, sizes

_NORMS = {
    "attn_norm": "input_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_ACTIVATION = "gelu_pytorch_tanh"
_SLIDING, _FULL = "sliding_attention", "full_attention"
# Models of so many layers, both of 27 billion weights, divide scores by the rows' width of a head.
_LARGEST = {"gemma2": 46, "gemma3": 62}
_GLOBAL, _LOCAL, _EVERY = 1_000_000.0, 10_000.0, 6


def _gemma(opened: Opened) -> Config:
    found = sizes(opened)
    check_turned_whole(opened, found["head_dim"])
    angles = {"rope_type": "default", "rope_theta": _unscaled_theta(opened)}
    return {**found, "hidden_act": _ACTIVATION, "attention_bias": has_bias(opened, "attn_q"), "rope_parameters": angles}


def _gemma2(opened: Opened) -> Config:
    meta = opened.meta
    return {
        **_newer(opened),
        "attn_logit_softcapping": meta.number("attn_logit_softcapping", 50.0),
        "final_logit_softcapping": meta.number("final_logit_softcapping", 30.0),
        "rope_parameters": {"rope_type": "default", "rope_theta": _unscaled_theta(opened)},
        "layer_types": [(_SLIDING, _FULL)[layer % 2] for layer in range(opened.layers)],
    }


def _gemma3(opened: Opened) -> Config:
    meta = opened.meta
    _refuse_cap(opened)
    slower = linear_factor(opened)
    scaled = {"rope_type": "default"} if slower == 1 else {"rope_type": "linear", "factor": slower}
    every = meta.count("attention.sliding_window_pattern", _EVERY)
    return {
        **_newer(opened),
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "rope_parameters": {
            _FULL: {**scaled, "rope_theta": theta_of(opened, _GLOBAL)},
            _SLIDING: {"rope_type": "default", "rope_theta": meta.number("rope.freq_base_swa", _LOCAL)},
        },
        "layer_types": [_SLIDING if (layer + 1) % every else _FULL for layer in range(opened.layers)],
    }


def _embedding(opened: Opened) -> Config:
    """EmbeddingGemma: Gemma 3 whose tokens see all others, those of its windows half as many to each side."""
    opened.check_sees_all()
    return {**_gemma3(opened), "use_bidirectional_attention": True}


def _newer(opened: Opened) -> Config:
    meta = opened.meta
    found = sizes(opened)
    width = head_width(opened)
    check_turned_whole(opened, width)
    largest = _LARGEST.get(meta.architecture) == found["num_hidden_layers"]
    return {
        **found,
        "hidden_activation": _ACTIVATION,
        "attention_bias": has_bias(opened, "attn_q"),
        "query_pre_attn_scalar": found["hidden_size"] // found["num_attention_heads"] if largest else width,
        "sliding_window": meta.count("attention.sliding_window"),
    }


def _unscaled_theta(opened: Opened) -> float:
    if linear_factor(opened) != 1:
        raise opened.meta.refuse("gguf-not-supported", "rope.scaling.factor: angles that are slower")
    return theta_of(opened)


def _refuse_cap(opened: Opened) -> None:
    if opened.meta.has("final_logit_softcapping"):
        raise opened.meta.refuse("gguf-not-supported", "final_logit_softcapping: logits that a tanh bounds")


def _made(_: Opened, part: str, source: str) -> Made:
    return Made(source, change=less_one if part.endswith("norm") else None)


FAMILIES = {
    "gemma": Family("gemma", ("GemmaForCausalLM",), _gemma, OUTER, INNER, LAYERS, made=_made),
    "gemma2": Family(
        "gemma2", ("Gemma2ForCausalLM",), _gemma2, OUTER, ATTENTION | FEED_FORWARD | _NORMS, LAYERS, made=_made
    ),
    "gemma3": Family(
        "gemma3_text",
        ("Gemma3ForCausalLM",),
        _gemma3,
        OUTER,
        ATTENTION | FEED_FORWARD | _NORMS | HEAD_NORMS,
        LAYERS,
        made=_made,
    ),
    "gemma-embedding": Family(
        "gemma3_text",
        ("Gemma3TextModel",),
        _embedding,
        OUTER,
        ATTENTION | FEED_FORWARD | _NORMS | HEAD_NORMS,
        LAYERS,
        made=_made,
        writes=False,
        tokenizers=("llama",),
        linears=("dense_2.weight", "dense_3.weight"),
    ),
}
