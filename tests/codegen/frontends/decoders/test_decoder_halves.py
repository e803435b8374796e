# SPDX-License-Identifier: Apache-2.0
"""Models of images whose texts a decoder reads: what published folders say, what a folder may say otherwise, and what
is refused. lower/test_generation.py has what they write, test_recorded_models.py what their rows are read with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from test_generation import HERE, graph_of, recorded, settings_of
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends import FRONT_ENDS, family_of, limits_of
from codegen.ir import graph as g
from codegen.load.config import Config
from codegen.load.config_keys import unused_keys
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

GEMMA, MISTRAL, MINISTRAL, LLAVA = "gemma3/whole", "mistral3/whole", "mistral3/ministral3", "llava/whole"
NOT_USED = "not used: {} tensors that are not about texts"
# Of google/gemma-3-4b-it and -27b-it, mistralai/Mistral-Small-3.1-24B-Instruct-2503.
GEMMA_4B = {
    **{"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "eos_token_id": [1, 106]},
    **{"boi_token_index": 255_999, "eoi_token_index": 256_000, "image_token_index": 262_144},
    **{"initializer_range": 0.02, "mm_tokens_per_image": 256},
    "text_config": {
        **{"hidden_size": 2560, "intermediate_size": 10_240, "model_type": "gemma3_text", "num_hidden_layers": 34},
        **{"rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024},
    },
    "vision_config": {"hidden_size": 1152, "image_size": 896, "model_type": "siglip_vision_model"},
}
SMALL = {
    **{"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3", "image_token_index": 10},
    **{"multimodal_projector_bias": False, "projector_hidden_act": "gelu", "spatial_merge_size": 2},
    "text_config": {
        **{"attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120, "use_cache": True},
        **{"initializer_range": 0.02, "intermediate_size": 32_768, "max_position_embeddings": 131_072},
        **{"model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8},
        **{"rms_norm_eps": 1e-5, "rope_theta": 1e9, "sliding_window": None, "vocab_size": 131_072},
    },
    "vision_config": {"hidden_size": 1024, "model_type": "pixtral"},
    "vision_feature_layer": -1,
}
# llava-hf/llava-1.5-7b-hf, HuggingFaceTB/SmolVLM-256M-Instruct, LiquidAI/LFM2-VL-450M.
LLAVA_7B = {
    **{"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", "image_token_index": 32_000},
    **{"ignore_index": -100, "pad_token_id": 32_001, "projector_hidden_act": "gelu", "vision_feature_layer": -2},
    "text_config": {"max_position_embeddings": 4096, "model_type": "llama", "rms_norm_eps": 1e-5, "vocab_size": 32_064},
    "vision_config": {"hidden_size": 1024, "model_type": "clip_vision_model"},
    "vision_feature_select_strategy": "default",
}
SMOL = {
    **{"architectures": ["Idefics3ForConditionalGeneration"], "model_type": "idefics3", "image_token_id": 49_190},
    **{"scale_factor": 4, "tie_word_embeddings": False, "vocab_size": 49_280},
    "text_config": {
        **{"hidden_size": 576, "intermediate_size": 1536, "model_type": "llama", "num_attention_heads": 9},
        **{"num_hidden_layers": 30, "num_key_value_heads": 3, "vocab_size": 49_280, "max_position_embeddings": 8192},
        **{"head_dim": 64, "rope_theta": 100_000, "rms_norm_eps": 1e-5},
    },
    "vision_config": {"hidden_size": 768, "model_type": "idefics3"},
}
LIQUID = {
    **{"architectures": ["Lfm2VlForConditionalGeneration"], "model_type": "lfm2_vl", "image_token_id": 396},
    **{"downsample_factor": 2, "projector_hidden_size": 2560, "tie_embedding": True},
    "text_config": {
        **{"hidden_size": 1024, "block_ff_dim": 6656, "model_type": "lfm2", "num_attention_heads": 16},
        **{"num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size": 65_536, "max_position_embeddings": 128_000},
        "full_attn_idxs": [2, 5, 8, 10, 12, 14],
    },
    "vision_config": {"hidden_size": 768, "model_type": "siglip2_vision_model"},
}


@pytest.mark.parametrize(
    ("published", "limits"),
    [
        (GEMMA_4B, (2560, 262_208, 131_072)),
        (SMALL, (5120, 131_072, 131_072)),
        (LLAVA_7B, (4096, 32_064, 4096)),
        (SMOL, (576, 49_280, 8192)),
        (LIQUID, (1024, 65_536, 128_000)),
    ],
)
def test_limits_of_published_folders(published: dict[str, Any], limits: tuple[int, int, int]) -> None:
    """And no key of theirs is told to be unused."""
    config = Config.from_json(published)
    found = limits_of(config)
    assert (found.width, found.vocabulary, found.positions) == limits
    assert found.writes_texts
    assert unused_keys(config, FRONT_ENDS[config.model_type].HARMLESS_KEYS) == ()


@pytest.mark.parametrize(
    ("variant", "count"),
    [(GEMMA, 23), (MISTRAL, 15), (MINISTRAL, 15), (LLAVA, 27), ("smolvlm/whole", 22), ("lfm2_vl/whole", 27)],
)
def test_what_is_left_aside_is_told(variant: str, count: int) -> None:
    assert NOT_USED.format(count) in graph_of(variant).notes


def renamed(variant: str, place: Path, *changes: tuple[str, str]) -> g.Graph:
    """Of a folder, its tensors by names with other beginnings."""
    copy = place / "folder"
    shutil.copytree(HERE / variant, copy)
    header, data = read_raw_safetensors(copy / "model.safetensors")
    for old, new in changes:
        header = {new + name[len(old) :] if name.startswith(old) else name: entry for name, entry in header.items()}
    write_raw_safetensors(copy / "model.safetensors", header, data)
    files = CheckpointFolder(copy)
    config = Config.from_json(files.read_json("config.json"))
    return family_of(config.model_type).graph_of(config, open_weights(files)[0], 24, 17, settings_of(variant, config))


@pytest.mark.parametrize("variant", [GEMMA, MISTRAL])
def test_newer_names_of_tensors(variant: str, tmp_path: Path) -> None:
    """As the library calls them since it has one name for the decoder of all such classes."""
    made = renamed(
        variant,
        tmp_path,
        ("language_model.lm_head.", "lm_head."),
        ("language_model.model.", "model.language_model."),
        ("vision_tower.", "model.vision_tower."),
        ("multi_modal_projector.", "model.multi_modal_projector."),
    )
    text = recorded(variant)["outputs"][2]
    assert Interpreter(made).generate(text["ids"], [0] * len(text["ids"])) == text["written"]
    assert made.notes == graph_of(variant).notes


def test_words_are_tied_unless_the_file_has_both() -> None:
    """As the library ties them, where no key says it."""
    assert "tie_word_embeddings" not in json.loads((HERE / MISTRAL / "config.json").read_text())
    ids = recorded(MISTRAL)["outputs"][2]["ids"]
    untied, said = (Interpreter(graph_of(MISTRAL, **more)) for more in ({}, {"tie_word_embeddings": False}))
    assert np.array_equal(untied.logits(ids, [0] * 5, []), said.logits(ids, [0] * 5, []))
    with pytest.raises(EtchError, match="though the two are tied"):
        graph_of(MISTRAL, tie_word_embeddings=True)


def test_where_words_are_tied_by_what_texts_say() -> None:
    """Of LLaVA, whose published folders say it there."""
    assert "tie_word_embeddings" not in json.loads((HERE / LLAVA / "config.json").read_text())
    with pytest.raises(EtchError, match=r"lm_head\.weight"):
        graph_of(LLAVA, text_config=texts_of(LLAVA) | {"tie_word_embeddings": False})


def test_rows_are_those_of_the_decoder(tmp_path: Path) -> None:
    """A classifier's, whose answers the library recorded for its decoder alone."""
    before, place = folder("gemma3_text/softmax"), tmp_path / "checkpoint"
    shutil.copytree(before, place)
    config = json.loads((place / "config.json").read_text())
    labels = {key: config.pop(key) for key in ("id2label", "label2id") if key in config}
    images = {"architectures": ["Gemma3ForSequenceClassification"], "model_type": "gemma3", "vision_config": {}}
    write_json(place / "config.json", {"text_config": config, **labels, **images})
    header, data = read_raw_safetensors(place / "model.safetensors")
    header = {f"language_model.{name}" if name.startswith("model.") else name: at for name, at in header.items()}
    write_raw_safetensors(place / "model.safetensors", header, data)
    whole, alone = (pipeline.to_graph(pipeline.load(each, Reading()), None) for each in (place, before))
    ids = list(range(5, 15))
    rows = [Interpreter(each).output(ids, [0] * len(ids)) for each in (whole, alone)]
    assert np.array_equal(*rows)
    assert whole.task == alone.task


def texts_of(variant: str) -> dict[str, Any]:
    return json.loads((HERE / variant / "config.json").read_text())["text_config"]


@pytest.mark.parametrize(
    ("variant", "changes", "code", "words"),
    [
        (
            GEMMA,
            {"model_type": "gemma4_text"},
            "config-not-supported",
            "'gemma4_text' is not supported (supported: ",
        ),
        (MISTRAL, {"model_type": "llama"}, "config-not-supported", "(supported: mistral, ministral3)"),
        (GEMMA, {"use_bidirectional_attention": True}, "config-not-supported", "use_bidirectional_attention: of "),
        (GEMMA, {"final_logit_softcapping": 30.0}, "config-not-supported", "final_logit_softcapping"),
        (MISTRAL, {"model_type": 3}, "config-type", "model_type"),
        (MISTRAL, {"quantization_config": {"quant_method": "fp8"}}, "config-not-supported", "quantized already"),
    ],
)
def test_refused(variant: str, changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(variant, text_config=texts_of(variant) | changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_what_texts_need_not_say() -> None:
    """Their model type is that of the class; of Gemma's so are most sizes."""
    for variant, without in ((GEMMA, ("model_type",)), (MISTRAL, ("model_type",))):
        texts = {key: value for key, value in texts_of(variant).items() if key not in without}
        assert graph_of(variant, text_config=texts).body == graph_of(variant).body
    with pytest.raises(EtchError, match="262208"):
        graph_of(GEMMA, text_config={key: value for key, value in texts_of(GEMMA).items() if key != "vocab_size"})
