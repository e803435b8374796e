# SPDX-License-Identifier: Apache-2.0
"""RoBERTa's shape and files, as `transformers` and etch read them; its tokenizer is a real one's, with fewer pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from common.checkpoint import write_half, write_json
from transformers import RobertaConfig, RobertaForSequenceClassification

from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.vocabulary import pruning as vocabulary
from codegen.vocabulary.prunable import keep_pieces

TOKENS = 64  # of a text; longer ones are cut
_LEAST_USES = 80  # of a piece that stays


def configuration(pieces: int, labels: Sequence[str]) -> RobertaConfig:
    """Two layers."""
    return RobertaConfig(
        vocab_size=pieces,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=TOKENS + 2,  # they begin behind that of the padding token, 1
        type_vocab_size=1,
        pad_token_id=1,
        hidden_dropout_prob=0.0,  # each row is read once
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )


def pruned_tokenizer(file: Path, texts: Sequence[str]) -> str:
    """tokenizer.json with the pieces that the texts use often."""
    spec = read_byte_level_json(json.loads(file.read_text(encoding="utf-8")))
    kept = vocabulary.prune(spec, texts, vocabulary.Bound(_LEAST_USES)).kept
    return keep_pieces(spec, np.array(kept)).json


def write_folder(folder: Path, model: RobertaForSequenceClassification, tokenizer: str, settings: Path) -> None:
    """All files of the checkpoint, weights in float16; `settings` is the whole tokenizer's tokenizer_config.json."""
    config = model.config.to_dict() | {"architectures": ["RobertaForSequenceClassification"], "dtype": "float16"}
    write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})
    write_half(folder / "model.safetensors", model.state_dict())
    (folder / "tokenizer.json").write_text(tokenizer + "\n", encoding="utf-8")
    of_tokenizer = json.loads(settings.read_text(encoding="utf-8"))
    write_json(folder / "tokenizer_config.json", of_tokenizer | {"model_max_length": TOKENS})
