# SPDX-License-Identifier: Apache-2.0
"""Small folders with the tokenizers of generative models: GPT-2's, Cohere's, mBART's, NLLB's, PEGASUS's, BARThez',
Marian's, M2M-100's, ByT5's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from byte_level import small_json
from character_bpe import character_bpe_json
from folder_edits import Files
from generation import m2m_files, marian_files

_RECORDED = Path(__file__).resolve().parents[1] / "codegen" / "generation"
_FIRST = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_LETTERS = "\u2581abcdefghijklmnopqrstuvwyzTB<>/[].,'12"
_AS_COHERE = {
    "<s>": "<BOS_TOKEN>",
    "</s>": "<|END_OF_TURN_TOKEN|>",
    "<pad>": "<PAD>",
    "<unk>": "<UNK>",
    "<mask>": "<MASK_TOKEN>",
}
_WMT21 = ("en", "ha", "is", "ja", "cs", "ru", "zh", "de")
_MERGES = (
    ("\u2581", "t"),
    ("h", "e"),
    ("\u2581t", "he"),
    ("a", "t"),
    ("c", "at"),
    ("\u2581", "cat"),
    ("i", "n"),
    ("in", "g"),
)


def writer_folders() -> dict[str, Files]:
    """By name; each has a config.json that says its family."""
    end = {
        "content": "<|endoftext|>",
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": True,
        "special": True,
    }
    gpt2 = small_json(processor="ByteLevel")
    gpt2["added_tokens"] = [{"id": len(gpt2["model"]["vocab"]), **end}]
    found: dict[str, Files] = {
        "gpt2": {"tokenizer.json": gpt2, "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}},
        "gpt2, merges.txt": _recorded("gpt2", "vocab.json", "merges.txt", "tokenizer_config.json"),
        **{
            name: _recorded(name, "tokenizer.json", "tokenizer_config.json") for name in ("m2m_100", "mbart", "pegasus")
        },
        "barthez": {"tokenizer.json": _barthez(), "tokenizer_config.json": {"tokenizer_class": "BarthezTokenizer"}},
        "barthez, as in json": {
            "tokenizer.json": _barthez(),
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "marian": _written(marian_files.write_files),
        "m2m_100, its own files": _written(lambda folder: m2m_files.write_files(folder, _WMT21, kind="wmt21")),
    }
    for name, files in found.items():
        family = name.partition(",")[0]
        files["config.json"] = {"model_type": "mbart" if family == "barthez" else family}
    return found | _byt5() | _cohere()


def _cohere() -> dict[str, Files]:
    """With tokens of other names, with the class's own, and without tokenizer.json."""
    described = small_json(segmenter="digit", processor="TemplateProcessing", steps=("NFC",))
    others = dict(zip(("bos_token", "eos_token", "pad_token", "unk_token", "mask_token"), _AS_COHERE, strict=True))
    others |= {"cls_token": others["bos_token"], "sep_token": others["eos_token"]}
    text = json.dumps(described)
    for theirs, name in _AS_COHERE.items():
        text = text.replace(json.dumps(theirs), json.dumps(name))
    own = json.loads(text)
    for number, name in enumerate(("<CLS>", "<SEP>"), len(own["model"]["vocab"])):
        own["added_tokens"].append({**own["added_tokens"][0], "content": name, "id": number})
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in described["model"]["merges"]]
    of_class = {"tokenizer_class": "CohereTokenizerFast"}
    found: dict[str, Files] = {
        "cohere": {"tokenizer.json": described, "tokenizer_config.json": of_class | others},
        "cohere, its own tokens": {
            "tokenizer.json": own,
            "tokenizer_config.json": {**of_class, "unk_token": None, "add_prefix_space": False},
        },
        "cohere, merges.txt": {
            "vocab.json": described["model"]["vocab"],
            "merges.txt": "\n".join(["#version: 0.2", *merges, ""]),
            "tokenizer_config.json": of_class | others,
        },
    }
    return {name: {**files, "config.json": {"model_type": "cohere"}} for name, files in found.items()}


def _byt5() -> dict[str, Files]:
    """As `transformers` saves it, as published, and by its class alone."""
    config = {"model_type": "t5", "tokenizer_class": "ByT5Tokenizer"}
    flags = {**dict.fromkeys(("single_word", "lstrip", "rstrip"), False), "normalized": True}
    texts = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    tokens = {key: {"content": text, **flags} for key, text in texts.items()}
    sentinels = {"additional_special_tokens": [f"<extra_id_{i}>" for i in range(125)]}
    typed = {key: {**token, "__type": "AddedToken"} for key, token in tokens.items()}
    published = {**typed, "extra_ids": 125, **sentinels, "tokenizer_class": "ByT5Tokenizer"}
    return {
        "byt5": {
            **{
                name: _content(_RECORDED / "t5" / "bytes" / name)
                for name in ("tokenizer_config.json", "added_tokens.json")
            },
            "config.json": {"model_type": "t5"},
        },
        "byt5, published": {
            "tokenizer_config.json": published,
            "special_tokens_map.json": {**tokens, **sentinels},
            "config.json": dict(config),
        },
        "byt5, its class": {"config.json": dict(config)},
    }


def _recorded(family: str, *names: str) -> Files:
    return {name: _content(_RECORDED / family / "texts" / name) for name in names}


def _written(write: Callable[[Path], None]) -> Files:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        return {path.name: _content(path) for path in sorted(Path(name).iterdir())}


def _content(path: Path) -> Any:
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    return path.read_text(encoding="utf-8") if path.suffix == ".txt" else path.read_bytes()


def _barthez() -> dict[str, Any]:
    """An older file, with BPE of characters."""
    pieces = dict.fromkeys((*_FIRST, *_LETTERS, *(left + right for left, right in _MERGES)))
    settings = {"dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model = {"type": "BPE", **settings, "fuse_unk": True, "byte_fallback": False}
    described = character_bpe_json(
        {**model, "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": [list(pair) for pair in _MERGES]},
        scheme="always",
    )
    return described
