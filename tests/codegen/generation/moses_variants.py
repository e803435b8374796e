# SPDX-License-Identifier: Apache-2.0
"""Tiny models that write words which Moses' rules join, BioGPT and FSMT, and their tokenizers' files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from writer_shapes import BIOGPT, VOCABULARY

_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
_LETTERS = "abcdefghijklmnopqrstuvwxyzAEU0123456789.,!'-$()@&;"
# Words that rules are about are merged whole; the last piece has no id.
_MERGES = (
    *("t h", "th e</w>", "c a", "ca t</w>", "a n", "an d</w>", "i n</w>", "o n</w>", "& a", "&a p", "&ap o", "&apo s"),
    *("&apos ;</w>", "&apos ;", "&apos; s</w>", "@ -", "@- @</w>", "& q", "&q u", "&qu o", "&quo t", "&quot ;</w>"),
    *("o f</w>", "w a", "wa s</w>"),
)
_PIECES = (
    *_LETTERS,
    *(f"{letter}</w>" for letter in _LETTERS),
    *(merge.replace(" ", "") for merge in _MERGES[:-1]),
)
BIOGPT_PIECES = (*_FIRST, *_PIECES)
MOSES_SPECIAL: dict[str, dict[str, Any]] = {
    "biogpt/texts": {"vocab_size": len(BIOGPT_PIECES), "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2},
}
# Another order, and pieces that texts that are read have not; of one language letters that the other has not.
_COMMON = [piece for piece in reversed(_PIECES) if piece[0] not in "qxz"]
_TARGET_PIECES = (*_FIRST, *_COMMON, "\u00e4</w>", "\u00e4", "\u201e</w>", "\u201c</w>", "&lt;</w>")
FSMT = {
    "src_vocab_size": VOCABULARY + 7,
    "tgt_vocab_size": VOCABULARY,
    "d_model": 20,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 31,
    "decoder_ffn_dim": 33,
    "max_position_embeddings": 24,
}
_SIZES = {"src_vocab_size": len(BIOGPT_PIECES), "tgt_vocab_size": len(_TARGET_PIECES)}
_WRITES = {"bos_token_id": 0, "pad_token_id": 1, **dict.fromkeys(("eos_token_id", "decoder_start_token_id"), 2)}
MOSES_SPECIAL |= {"fsmt/en-de": _WRITES | {"num_beams": 3}, "fsmt/ru-en": _WRITES | {"forced_eos_token_id": 2}}
MOSES: dict[str, tuple[str, dict[str, Any]]] = {
    "fsmt/own": ("FSMT", FSMT),
    "fsmt/tied": (
        "FSMT",
        FSMT
        | {"src_vocab_size": VOCABULARY, "tie_word_embeddings": True, "scale_embedding": False, "d_model": 21}
        | {"encoder_attention_heads": 3, "decoder_attention_heads": 1, "activation_function": "gelu"},
    ),
    "fsmt/en-de": ("FSMT", FSMT | _SIZES | {"encoder_layers": 1}),
    "fsmt/ru-en": ("FSMT", FSMT | _SIZES | {"encoder_layers": 1, "d_model": 24}),
    "biogpt/texts": (
        "BioGpt",
        BIOGPT | {"num_hidden_layers": 1, "intermediate_size": 37} | MOSES_SPECIAL["biogpt/texts"],
    ),
}


def write_biogpt(folder: Path) -> None:
    """As its class reads it."""
    _write(folder, "vocab.json", {piece: i for i, piece in enumerate(BIOGPT_PIECES)})
    _write_merges(folder)
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "BioGptTokenizer", "model_max_length": 41})


def write_fsmt(folder: Path, variant: str) -> None:
    """With the languages of its name."""
    for name, pieces in (("vocab-src.json", BIOGPT_PIECES), ("vocab-tgt.json", _TARGET_PIECES)):
        _write(folder, name, {piece: i for i, piece in enumerate(pieces)})
    _write_merges(folder)
    langs = variant.removeprefix("fsmt/").split("-")
    _write(folder, "tokenizer_config.json", {"langs": langs, "do_lower_case": False, "model_max_length": 20})


def _write_merges(folder: Path) -> None:
    lines = (f"{merge} {len(_MERGES) - rank}\n" for rank, merge in enumerate(_MERGES))
    (folder / "merges.txt").write_text("".join(lines), encoding="utf-8")


def _write(folder: Path, name: str, values: object) -> None:
    (folder / name).write_text(json.dumps(values, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
