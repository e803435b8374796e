# SPDX-License-Identifier: Apache-2.0
"""What to tell about a model type that no front-end knows: which families are near, and what its configuration asks for
beyond attention and feed-forward blocks, of which families have some."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from ...load.config import Config

# A key of config.json that is there and neither null, false nor 0 -> what it asks for.
_TRAITS = {
    "num_experts": "mixtures of experts",
    "num_local_experts": "mixtures of experts",
    "num_landmarks": "attention by landmarks",
    "conv_kernel_size": "convolutions",
    "state_size": "a state space",
    "attn_logit_softcapping": "scores that a tanh bounds",
    "final_logit_softcapping": "logits that a tanh bounds",
    "vision_config": "images",
    "image_size": "images",
    "audio_config": "sound",
    "num_mel_bins": "sound",
}
_MOST = 3


def advice(config: Config, known: Collection[str]) -> str:
    """Before the list of what is supported."""
    name = config.model_type.lower()
    near = difflib.get_close_matches(name, known, n=_MOST, cutoff=0.6)
    near += [family for family in sorted(known, key=len, reverse=True) if family in name and family not in near]
    asked = dict.fromkeys(words for key, words in _TRAITS.items() if config.values.get(key) not in (None, False, 0))
    parts = []
    if near:
        parts.append(f"nearest: {', '.join(near[:_MOST])}")
    if asked:
        parts.append(f"it asks for {', '.join(asked)}")
    parts.append("needed: a front-end (codegen/README.md, How to add)")
    return "; ".join(parts)
