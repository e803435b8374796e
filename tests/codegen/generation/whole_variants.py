# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models beside an encoder of images, of which etch reads the texts' half."""

from __future__ import annotations

from typing import Any

from delta_variants import EXPERTS, TWO_LAYERS
from writer_shapes import BEGIN, END, GEMMA4, LFM2, LLAMA, QWEN3_5, VOCABULARY, WINDOWS, YARN

_WHOLE = {"vocab_size": VOCABULARY, "bos_token_id": BEGIN, "eos_token_id": END}
SIGLIP_IMAGES: dict[str, Any] = {
    **{"model_type": "siglip_vision_model", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1},
    **{"intermediate_size": 6, "image_size": 4, "patch_size": 2, "num_channels": 1, "vision_use_head": False},
}
IDEFICS_IMAGES = {key: SIGLIP_IMAGES[key] for key in SIGLIP_IMAGES if key not in ("model_type", "vision_use_head")}
CLIP_IMAGES = IDEFICS_IMAGES | {"model_type": "clip_vision_model", "projection_dim": 6}
NAFLEX_IMAGES = {key: IDEFICS_IMAGES[key] for key in IDEFICS_IMAGES if key != "image_size"} | {
    **{"model_type": "siglip2_vision_model", "num_patches": 4, "vision_use_head": False},
}
GEMMA4_IMAGES = {
    **{"hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 1, "head_dim": 4},
    **{"intermediate_size": 6, "patch_size": 2, "position_embedding_size": 4},
}
PIXTRAL_IMAGES = {
    **{"model_type": "pixtral", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "head_dim": 4},
    **{"intermediate_size": 6, "image_size": 4, "patch_size": 2, "num_channels": 1},
}
QWEN_IMAGES = {
    **{"depth": 1, "hidden_size": 8, "num_heads": 2, "intermediate_size": 6, "patch_size": 2, "in_channels": 1},
    "num_position_embeddings": 4,
}
# As published: of their texts what these have otherwise than the class.
_GEMMA3 = LLAMA | {
    **{"model_type": "gemma3_text", "head_dim": 10, "query_pre_attn_scalar": 12, "num_hidden_layers": 3},
    **{"sliding_window": 9, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
WHOLES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_5/whole": (
        "Qwen3_5Whole",
        _WHOLE
        | {
            "text_config": QWEN3_5 | TWO_LAYERS,
            "vision_config": QWEN_IMAGES | {"out_hidden_size": 24},
            "tie_word_embeddings": True,
        },
    ),
    "qwen3_5_moe/whole": (
        "Qwen3_5MoeWhole",
        _WHOLE
        | {
            "text_config": QWEN3_5 | EXPERTS | TWO_LAYERS | {"shared_expert_intermediate_size": 9},
            "vision_config": QWEN_IMAGES | {"out_hidden_size": 24},
        },
    ),
    "gemma3/whole": (
        "Gemma3Whole",
        _WHOLE | {"text_config": _GEMMA3, "vision_config": SIGLIP_IMAGES, "mm_tokens_per_image": 4},
    ),
    "gemma4/whole": (
        "Gemma4Whole",
        _WHOLE
        | {
            "text_config": GEMMA4
            | {"num_hidden_layers": 3, "layer_types": [*WINDOWS, WINDOWS[1]]}
            | {"num_kv_shared_layers": 1},
            "vision_config": GEMMA4_IMAGES,
            "audio_config": None,
        },
    ),
    "smolvlm/whole": (
        "SmolVLMWhole",
        _WHOLE
        | {
            "text_config": LLAMA | {"model_type": "llama", "head_dim": 10, "num_hidden_layers": 1, "pad_token_id": 0},
            "vision_config": IDEFICS_IMAGES,
        },
    ),
    "idefics3/whole": (
        "Idefics3Whole",
        _WHOLE
        | {
            "text_config": LLAMA | {"model_type": "llama", "num_hidden_layers": 1, "pad_token_id": 0},
            "vision_config": IDEFICS_IMAGES,
            "tie_word_embeddings": True,
        },
    ),
    "llava_next/whole": (
        "LlavaNextWhole",
        _WHOLE
        | {
            "text_config": LLAMA | {"model_type": "mistral", "num_hidden_layers": 1, "sliding_window": 9},
            "vision_config": CLIP_IMAGES,
            "image_grid_pinpoints": [[4, 4]],
        },
    ),
    "llava/whole": (
        "LlavaWhole",
        _WHOLE
        | {
            "text_config": LLAMA | {"model_type": "llama", "num_hidden_layers": 1, "tie_word_embeddings": True},
            "vision_config": CLIP_IMAGES,
        },
    ),
    "lfm2_vl/whole": (
        "Lfm2VlWhole",
        _WHOLE
        | {"text_config": LFM2 | {"model_type": "lfm2"}, "vision_config": NAFLEX_IMAGES, "projector_hidden_size": 6},
    ),
    "mistral3/whole": (
        "Mistral3Whole",
        _WHOLE
        | {
            "text_config": LLAMA | {"model_type": "mistral", "head_dim": 10, "sliding_window": None},
            "vision_config": PIXTRAL_IMAGES,
            "tie_word_embeddings": False,
        },
    ),
    "mistral3/ministral3": (
        "Mistral3Whole",
        _WHOLE
        | {
            "text_config": LLAMA
            | {"model_type": "ministral3", "head_dim": 10, "num_hidden_layers": 1, "pad_token_id": 0}
            | {"rope_parameters": YARN | {"llama_4_scaling_beta": 0.1, "mscale": 1.25, "mscale_all_dim": 0.5}},
            "vision_config": PIXTRAL_IMAGES,
        },
    ),
}
