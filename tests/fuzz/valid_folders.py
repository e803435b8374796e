# SPDX-License-Identifier: Apache-2.0
"""One small valid checkpoint folder of every kind that the loaders read: what `checkpoint_edits` starts from."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from tiny_checkpoint import SPECIAL_TOKENS, split_weights, write_json, write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

PIECES = (*SPECIAL_TOKENS, "a")
WIDTH = 4
SHAPE = {"hidden": WIDTH, "intermediate": WIDTH, "labels": 2, "max_positions": 8, "vocab": PIECES}

Files = dict[str, bytes]  # by path in the folder


@functools.cache
def valid_folders() -> tuple[Files, ...]:
    """Their files, in an order that committed inputs rely on."""
    writers = (_plain, _vocab_text, _bfloat16, _sharded, _old_sentence, _new_sentence, _companions, _regression)
    return tuple(_files(writer) for writer in writers)


def _files(write: Callable[[Path], None]) -> Files:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _plain(folder: Path) -> None:
    write_tiny_checkpoint(folder, **SHAPE)


def _vocab_text(folder: Path) -> None:
    _plain(folder)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")


def _bfloat16(folder: Path) -> None:
    write_tiny_checkpoint(folder, **SHAPE, dtype="BF16")


def _sharded(folder: Path) -> None:
    _plain(folder)
    split_weights(folder)


def _old_sentence(folder: Path) -> None:
    write_tiny_sentence_model(folder, **SHAPE)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 6, "do_lower_case": False})


def _new_sentence(folder: Path) -> None:
    """As version 6 writes it."""
    write_tiny_sentence_model(folder, pooler=False, **SHAPE)
    kinds = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.base.modules.{kind}"}
        for i, (kind, path) in enumerate(kinds.items())
    ]
    write_json(folder / "modules.json", modules)
    pooling = {"embedding_dimension": WIDTH, "pooling_mode": "cls", "include_prompt": True}
    write_json(folder / "1_Pooling/config.json", pooling)
    (folder / "2_Normalize").mkdir()
    write_json(folder / "2_Normalize/config.json", {"module_input_name": "sentence_embedding"})
    settings = {"prompts": {"query": "", "document": ""}, "default_prompt_name": None}
    write_json(folder / "config_sentence_transformers.json", settings)


def _companions(folder: Path) -> None:
    """Every file that may lie beside the tokenizer, and settings that few checkpoints have."""
    write_tiny_checkpoint(folder, **SHAPE, problem_type="multi_label_classification")
    write_json(folder / "special_tokens_map.json", {"cls_token": "[CLS]", "additional_special_tokens": ["[MASK]"]})
    write_json(folder / "added_tokens.json", {"[PAD]": 0})
    token = _read(folder / "tokenizer.json")["added_tokens"][0]
    decoder = {"0": {key: token[key] for key in token if key != "id"}}
    settings = _read(folder / "tokenizer_config.json")
    write_json(folder / "tokenizer_config.json", settings | {"added_tokens_decoder": decoder, "max_len": 8})
    write_json(folder / "config.json", _read(folder / "config.json") | {"num_labels": 2})


def _regression(folder: Path) -> None:
    write_tiny_checkpoint(folder, **SHAPE | {"labels": 1}, dtype="F16", problem_type="regression")


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))
