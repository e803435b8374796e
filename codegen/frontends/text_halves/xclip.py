# SPDX-License-Identifier: Apache-2.0
"""The texts' half of X-CLIP (Ni et al., 2022, arXiv:2208.02816), beside one of videos:
`XCLIPModel.get_text_features` of `transformers`. It is CLIP's; a text's vector is the one before a video's prompts."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ..bases import clip_texts, text_half

MODEL_TYPE = "xclip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS | {
    *("prompt_layers", "prompt_alpha", "prompt_hidden_act", "prompt_num_attention_heads"),
    *("prompt_attention_dropout", "prompt_projection_dropout"),
}
_VIDEOS = ("mit.*", "prompts_visual_layernorm.*", "prompts_visual_projection", "prompts_generator.*")
FAMILY = clip_texts.ClipFamily("XCLIP", CLIP_TOKENIZER, takes_largest=True, others=_VIDEOS, base="x_clip.")
