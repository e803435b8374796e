# SPDX-License-Identifier: Apache-2.0
"""Llama's shape and files, as `transformers` and etch read them; its tokenizer is byte-level BPE, as Llama 3's."""

from __future__ import annotations

import shutil
from pathlib import Path

from common.checkpoint import write_half, write_json
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM

BEGIN, END = "<|begin_of_text|>", "<|end_of_text|>"
BEGIN_ID, END_ID = 0, 1
VOCABULARY, POSITIONS, LONGEST = 768, 64, 48  # LONGEST: tokens that are written at most


def configuration() -> LlamaConfig:
    """Small enough for a microcontroller."""
    return LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=POSITIONS,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        bos_token_id=BEGIN_ID,
        eos_token_id=END_ID,
        pad_token_id=None,
    )


def train_tokenizer(texts: list[str]) -> Tokenizer:
    """Of the captions' bytes; a text begins with BEGIN."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN} $B", special_tokens=[(BEGIN, BEGIN_ID)]
    )
    return tokenizer


def write_folder(folder: Path, model: LlamaForCausalLM, tokenizer: Path) -> None:
    """All files of the checkpoint: the weights in float16, without those that are tied."""
    config = model.config.to_dict() | {"architectures": ["LlamaForCausalLM"], "dtype": "float16"}
    write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})
    kept = {name: value for name, value in model.state_dict().items() if name != "lm_head.weight"}
    write_half(folder / "model.safetensors", kept)
    generation = {"bos_token_id": BEGIN_ID, "eos_token_id": END_ID, "max_new_tokens": LONGEST}
    write_json(folder / "generation_config.json", generation)
    tokens = {"bos_token": BEGIN, "eos_token": END, "tokenizer_class": "PreTrainedTokenizerFast"}
    write_json(folder / "tokenizer_config.json", tokens)
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
