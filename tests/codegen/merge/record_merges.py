# SPDX-License-Identifier: Apache-2.0
"""Writes adapters of recorded checkpoints, and the weights that PEFT merges of both in float64.

    python tests/codegen/merge/record_merges.py [--out DIR] [NAME ...]

Needs Python 3.11, torch 2.15.0, transformers 5.23.0, peft 0.21.2, accelerate 1.15.0 and safetensors 0.8.0.
merged.safetensors holds the tensors that differ from the base's, or are not there, rounded to float32 once.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from record_cases import record_cases  # noqa: E402 - of the folder above

BASES = HERE.parent
PINNED = {"torch": "2.15.0", "transformers": "5.23.0", "peft": "0.21.2", "safetensors": "0.8.0"}


@dataclass(frozen=True)
class Case:
    """An adapter: of which base, by which class of the library, and what LoraConfig is told."""

    base: str  # below tests/codegen
    model_class: Any
    lora: dict[str, Any]
    model: dict[str, Any] = field(default_factory=dict)  # what from_pretrained is told


CASES = {
    "head": Case(
        "recorded/masks/bert",
        AutoModelForSequenceClassification,
        {
            "task_type": "SEQ_CLS",
            "r": 2,
            "lora_alpha": 3,
            "use_rslora": True,
            "target_modules": ["query", "value"],
            "rank_pattern": {"^bert.encoder.layer.0.attention.self.query": 3},
            "alpha_pattern": {"value": 5.5},
            "modules_to_save": ["pooler", "classifier"],
        },
        {"num_labels": 3},
    ),
    "tags_biases": Case(
        "recorded/masks/roberta",
        AutoModelForTokenClassification,
        {"task_type": "TOKEN_CLS", "r": 2, "target_modules": ["key", "dense"], "bias": "all"},
        {"num_labels": 4},
    ),
    "bare_dora": Case(
        "recorded/bert/poolings",
        AutoModel,
        {
            "task_type": "FEATURE_EXTRACTION",
            "r": 2,
            "use_dora": True,
            "target_modules": ["query", "dense"],
            "exclude_modules": ["pooler.dense"],
            "bias": "lora_only",
        },
        {"add_pooling_layer": False},
    ),
    "conv1d": Case(
        "generation/gpt2/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 3, "target_modules": ["c_attn", "c_proj", "c_fc"], "lora_bias": True},
    ),
    "conv1d_dora": Case(
        "generation/gpt2/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["c_proj"], "use_dora": True},
    ),
    "tokens": Case(
        "generation/gpt2/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["c_attn"], "trainable_token_indices": {"wte": [7, 2]}},
    ),
    "words": Case(
        "generation/gpt_neox/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["embed_in", "lm_head", "query_key_value"]},
    ),
    "tied_words": Case(
        "generation/llama/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["embed_tokens", "down_proj"]},
    ),
    "tied_both": Case(
        "generation/llama/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["embed_tokens", "lm_head"]},
    ),
    "labels_of_decoder": Case(
        "generation/qwen3/texts",
        AutoModelForSequenceClassification,
        {"task_type": "SEQ_CLS", "r": 2, "target_modules": ["o_proj", "up_proj"]},
        {"num_labels": 2},
    ),
    "logits_of_their_own": Case(
        "generation/gpt2/texts",
        AutoModelForCausalLM,
        {"task_type": "CAUSAL_LM", "r": 2, "target_modules": ["c_attn"], "modules_to_save": ["wte", "lm_head"]},
    ),
    "seq2seq": Case(
        "generation/t5/texts",
        AutoModelForSeq2SeqLM,
        {"task_type": "SEQ_2_SEQ_LM", "r": 2, "target_modules": ["q", "v"]},
    ),
}


def record(name: str, case: Case, out: Path) -> None:
    """Writes one case's folder: the adapter, and what it is merged to."""
    torch.manual_seed(zlib.crc32(name.encode()))
    base = BASES / case.base
    model = case.model_class.from_pretrained(base, dtype=torch.float32, attn_implementation="eager", **case.model)
    adapted = get_peft_model(model, LoraConfig(**case.lora))
    with torch.no_grad():
        for key, values in adapted.named_parameters():
            if values.requires_grad:
                values.add_(torch.randn_like(values) * (0.1 if "lora_" in key else 0.02))
    adapted.peft_config["default"].base_model_name_or_path = case.base
    adapted.save_pretrained(out)
    (out / "README.md").unlink()
    told = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    told["target_modules"].sort()  # of a set
    (out / "adapter_config.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    _untie(adapted)
    merged = adapted.double().merge_and_unload()
    before = load_file(base / "model.safetensors")
    prefix = f"{merged.base_model_prefix}."
    kept = {}
    for name_of_class, values in merged.state_dict().items():
        if name_of_class.endswith("coder.embed_tokens.weight"):  # T5's words by other names
            continue
        renamed = name_of_class == "lm_head.weight" and "embed_out.weight" in before
        key = "embed_out.weight" if renamed else name_of_class  # GPT-NeoX's by the name of older versions
        old = before.get(key, before.get(prefix + key, before.get(key.removeprefix(prefix))))
        if old is None or old.shape != values.shape or not torch.equal(old.double(), values):
            kept[key] = values.float().contiguous().clone()
    if getattr(merged.config, "tie_word_embeddings", False):
        kept = {key: values for key, values in kept.items() if not key.startswith(("lm_head.weight", "cls.pred"))}
    save_file(kept, out / "merged.safetensors")
    said = {"base": case.base, "class": type(merged).__name__, "libraries": {key: version(key) for key in PINNED}}
    (out / "recorded.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def _untie(adapted: Any) -> None:
    """Before it is merged: PEFT adds what changes the words to the logits' weights as well, where both are one, though
    the adapted model does not."""
    model = adapted.get_base_model()
    words, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is None or not hasattr(words, "lora_embedding_A"):
        return
    layer = getattr(head, "base_layer", head)
    layer.weight = torch.nn.Parameter(layer.weight.detach().clone())
    model.config.tie_word_embeddings = False


if __name__ == "__main__":
    record_cases("Records what PEFT merges.", PINNED, CASES, record, HERE / "recorded")
