# SPDX-License-Identifier: Apache-2.0
"""Classes that make an embedding of a text by themselves, as `transformers` defines and saves them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from family_specials import specials_of
from library_models import attention_of, build
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from sentence_variants import BERT_SIZES, inputs_of
from token_ids import BERT, CLIP, ROBERTA, SIGLIP, XLM_ROBERTA, some_tokens
from unrounded import unrounded
from vocabularies import vocabulary_size, write_tokenizer


@dataclass(frozen=True)
class Embedder:
    """A class, its configuration, and what calls it with the inputs of a text."""

    model: str
    config: dict[str, Any]
    embed: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor] = lambda model, inputs: model(**inputs).pooler_output


def texts_of_whole(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """By the half that reads texts."""
    return model.get_text_features(**inputs).pooler_output


CLIP_SIZES = {
    "hidden_size": 18,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 23,
    "max_position_embeddings": 16,
}
SIGLIP_SIZES = CLIP_SIZES | {"bos_token_id": 2, "eos_token_id": 1}
IMAGES = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 9}
FEW_IMAGES = {
    **{"hidden_dim": 8, "in_channels": [4], "out_channels": [4], "strides": [1], "kernel_sizes": [3]},
    **{"num_block_repeats": [1], "expand_ratios": [1], "depthwise_padding": [], "width_coefficient": 0.25},
    **{"depth_coefficient": 1.0, "num_hidden_layers": 1, "image_size": 8},
}
SOUND = {
    **{"patch_embeds_hidden_size": 4, "depths": [1], "num_attention_heads": [1], "hidden_size": 4, "window_size": 2},
    **{"spec_size": 8, "num_mel_bins": 4, "patch_size": 4, "patch_stride": [4, 4]},
}
VIDEOS = {"mit_hidden_size": 4, "mit_intermediate_size": 5, "mit_num_hidden_layers": 1, "mit_num_attention_heads": 1}
GROUPS = {"depths": [1], "num_group_tokens": [2], "num_output_groups": [2], "assign_mlp_ratio": [0.5, 2]}
FEW_SEGMENTS = {
    **{"extract_layers": [0], "reduce_dim": 4, "decoder_num_attention_heads": 1, "decoder_intermediate_size": 5},
}
PATCHES = {"image_size": 4, "patch_size": 2}
_ROBERTAS = ("altclip", "clap")
VARIANTS: dict[str, Embedder] = {
    "clip_text_model/linear": Embedder(
        "CLIPTextModelWithProjection",
        CLIP_SIZES | {"projection_dim": 13, "eos_token_id": CLIP.separate},
        lambda model, inputs: model(**inputs).text_embeds,
    ),
    "clip_text_model/pooled": Embedder(
        "CLIPTextModel", CLIP_SIZES | {"num_hidden_layers": 1, "hidden_act": "gelu", "eos_token_id": 2}
    ),
    "clip/whole": Embedder(
        "CLIPModel",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "eos_token_id": 2},
            "vision_config": IMAGES | {"image_size": 4, "patch_size": 2},
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "siglip_text_model/base": Embedder("SiglipTextModel", SIGLIP_SIZES | {"projection_size": 13}),
    "siglip2_text_model/base": Embedder(
        "Siglip2TextModel", SIGLIP_SIZES | {"num_hidden_layers": 1, "hidden_act": "gelu", "layer_norm_eps": 1e-3}
    ),
    **{
        f"{name.lower()}/whole": Embedder(
            f"{name}Model",
            {
                "text_config": SIGLIP_SIZES | {"vocab_size": vocabulary_size(SIGLIP), "num_hidden_layers": layers},
                "vision_config": IMAGES | images,
            },
            texts_of_whole,
        )
        for name, layers, images in (
            ("Siglip", 2, {"image_size": 4, "patch_size": 2}),
            ("Siglip2", 1, {"num_patches": 4, "patch_size": 2}),
        )
    },
    "chinese_clip/whole": Embedder(
        "ChineseCLIPModel",
        {
            "text_config": BERT_SIZES | {"vocab_size": vocabulary_size(BERT), "hidden_act": "relu"},
            "vision_config": IMAGES | {"image_size": 4, "patch_size": 2},
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "altclip/whole": Embedder(
        "AltCLIPModel",
        {
            "text_config": BERT_SIZES | {"vocab_size": vocabulary_size(XLM_ROBERTA), "project_dim": 14},
            "vision_config": IMAGES | {"image_size": 4, "patch_size": 2},
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "align/whole": Embedder(
        "AlignModel",
        {
            "text_config": BERT_SIZES | {"vocab_size": vocabulary_size(BERT), "num_hidden_layers": 1},
            "vision_config": FEW_IMAGES,
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "clap/whole": Embedder(
        "ClapModel",
        {
            "text_config": BERT_SIZES | {"vocab_size": vocabulary_size(ROBERTA)},
            "audio_config": SOUND,
            "projection_dim": 11,
            "projection_hidden_act": "gelu",
        },
        texts_of_whole,
    ),
    "metaclip_2/whole": Embedder(
        "MetaClip2Model",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(XLM_ROBERTA), "eos_token_id": 2},
            "vision_config": IMAGES | PATCHES,
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "xclip/whole": Embedder(
        "XCLIPModel",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "num_hidden_layers": 1},
            "vision_config": IMAGES | PATCHES | VIDEOS,
            **{"projection_dim": 4, "prompt_layers": 1, "prompt_num_attention_heads": 1},
        },
        texts_of_whole,
    ),
    "clipseg/segments": Embedder(
        "CLIPSegForImageSegmentation",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "eos_token_id": CLIP.separate},
            "vision_config": IMAGES | PATCHES,
            "projection_dim": 11,
            **FEW_SEGMENTS,
        },
        lambda model, inputs: model.clip.get_text_features(**inputs).pooler_output,
    ),
    "owlvit/boxes": Embedder(
        "OwlViTForObjectDetection",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "num_hidden_layers": 1},
            "vision_config": IMAGES | PATCHES,
            "projection_dim": 11,
        },
        lambda model, inputs: model.owlvit.get_text_features(**inputs).pooler_output,
    ),
    "owlv2/whole": Embedder(
        "Owlv2Model",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "num_hidden_layers": 1},
            "vision_config": IMAGES | PATCHES,
            "projection_dim": 11,
        },
        texts_of_whole,
    ),
    "groupvit/whole": Embedder(
        "GroupViTModel",
        {
            "text_config": CLIP_SIZES | {"vocab_size": vocabulary_size(CLIP), "eos_token_id": 2},
            "vision_config": IMAGES | PATCHES | GROUPS,
            **{"projection_dim": 11, "projection_intermediate_dim": 14},
        },
        texts_of_whole,
    ),
    "dpr/question": Embedder("DPRQuestionEncoder", BERT_SIZES | {"projection_dim": 13}),
    "dpr/context": Embedder("DPRContextEncoder", BERT_SIZES | {"num_hidden_layers": 2, "hidden_act": "relu"}),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant, specials = VARIANTS[name], specials_of(name)
    model = build(variant.model, specials, variant.config, seed)
    model.half().save_pretrained(folder)
    config = getattr(model.config, "text_config", model.config)
    offset = config.pad_token_id + 1 if model.config.model_type in _ROBERTAS else 0
    limit = config.max_position_embeddings - offset
    write_tokenizer(folder, specials, limit)

    def run(dtype: torch.dtype) -> Callable[[Tokens], NDArray[np.floating]]:
        settings = {"dtype": dtype, "attn_implementation": attention_of(model.config), "local_files_only": True}
        loaded = type(model).from_pretrained(folder, **settings).eval()

        def embed(text: Tokens) -> NDArray[np.floating]:
            exact = unrounded(loaded) if dtype is torch.float64 else nullcontext()
            with exact, torch.inference_mode():
                return variant.embed(loaded, inputs_of(text, specials))[0].numpy()

        return embed

    source = f"{variant.model} of transformers {transformers.__version__}"
    texts = some_tokens(seed, limit, specials)
    write_recorded(folder, source, texts, run(torch.float32), run(torch.float64))
