# SPDX-License-Identifier: Apache-2.0
"""The texts' half of CLIPSeg (Lüddecke and Ecker, 2021, arXiv:2112.10003), which is CLIP's:
`CLIPSegModel.get_text_features` of `transformers`, also of folders of `CLIPSegForImageSegmentation`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ..bases import clip_texts, text_half

MODEL_TYPE = "clipseg"
HARMLESS_KEYS = text_half.HARMLESS_KEYS | {
    *("extract_layers", "reduce_dim", "decoder_num_attention_heads", "decoder_attention_dropout"),
    *("decoder_hidden_act", "decoder_intermediate_size", "conditional_layer", "use_complex_transposed_convolution"),
}
FAMILY = clip_texts.ClipFamily(
    "CLIPSeg",
    CLIP_TOKENIZER,
    others=("decoder.*",),
    holders=("CLIPSegForImageSegmentation",),
    base="clip.",
)
