# SPDX-License-Identifier: Apache-2.0
"""What to tell about a model type that no front-end knows: which families are near, and what its configuration asks for
that an encoder over absolute positions does not have."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from ...load.config import Config

# A key of config.json that is there and neither null, false nor 0 -> what it asks for.
_TRAITS = {
    "is_encoder_decoder": "a decoder with attention to an encoder",
    "num_experts": "mixtures of experts",
    "num_local_experts": "mixtures of experts",
    "relative_attention": "attention by distance",
    "relative_attention_num_buckets": "attention by distance",
    "rope_theta": "rotary positions",
    "rope_parameters": "rotary positions",
    "rotary_dim": "rotary positions",
    "sliding_window": "attention in a window",
    "attention_window": "attention in a window",
    "num_landmarks": "attention by landmarks",
    "conv_kernel_size": "convolutions",
    "token_dropout": "an embedding that depends on how many masks a text has",
    "local_attention": "attention in a window",
    "state_size": "a state space",
    "vision_config": "images",
    "image_size": "images",
    "audio_config": "sound",
    "num_mel_bins": "sound",
}
_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_MOST = 3


def advice(config: Config, known: Collection[str]) -> str:
    """Before the list of what is supported."""
    name = config.model_type.lower()
    near = difflib.get_close_matches(name, known, n=_MOST, cutoff=0.5)
    near += [family for family in sorted(known, key=len, reverse=True) if family in name and family not in near]
    asked = dict.fromkeys(words for key, words in _TRAITS.items() if config.values.get(key) not in (None, False, 0))
    if any(name.endswith(_GENERATES) for name in _architectures(config)):
        asked["text that is generated token by token"] = None
    parts = []
    if near:
        parts.append(f"nearest: {', '.join(near[:_MOST])}")
    if asked:
        parts.append(f"it asks for {', '.join(asked)}")
    parts.append("needed: a front-end (codegen/README.md, How to add)")
    return "; ".join(parts)


def _architectures(config: Config) -> list[str]:
    """Of a file that nobody has checked yet."""
    named = config.values.get("architectures")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
