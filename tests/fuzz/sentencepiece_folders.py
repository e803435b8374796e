# SPDX-License-Identifier: Apache-2.0
"""Small folders with SentencePiece's tokenizers, as files by name: what folder_differences.py starts from."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from folder_edits import Files
from recorded.outputs import folder
from sentencepiece_files import BYTE, CONTROL, UNKNOWN, USER_DEFINED, sentencepiece_file

from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

_SPACE = "\u2581"
_WORDS = (f"{_SPACE}the", f"{_SPACE}cat", "at", "he", "th", "the", "ing", f"{_SPACE}", f"{_SPACE}t", "\u00e9", "\u4e2d")
_LETTERS = "abcdefghijklmnopqrstuvwyzTB<>/[].,'12"
_PIECES = [(text, -2.0 - i / 8) for i, text in enumerate((*_WORDS, *_LETTERS))]
_FAIRSEQ = (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL))
_ALBERT = tuple(
    (text, CONTROL if i != 1 else UNKNOWN) for i, text in enumerate(("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
)
_T5 = (("<pad>", CONTROL), ("</s>", CONTROL), ("<unk>", UNKNOWN))
_DEBERTA = tuple((text, UNKNOWN if text == "[UNK]" else CONTROL) for text in ("[PAD]", "[CLS]", "[SEP]", "[UNK]"))
_BYTES = tuple((piece, BYTE) for piece in BYTE_PIECES)
# (class, file, its special pieces, type of the model) by family
_MODELS: dict[str, tuple[str, str, tuple[tuple[str, int], ...], int]] = {
    "xlm-roberta": ("XLMRobertaTokenizer", "sentencepiece.bpe.model", _FAIRSEQ, 1),
    "camembert": ("CamembertTokenizer", "sentencepiece.bpe.model", _FAIRSEQ, 1),
    "albert": ("AlbertTokenizer", "spiece.model", (*_ALBERT, ("(", USER_DEFINED)), 1),
    "t5": ("T5Tokenizer", "spiece.model", _T5, 1),
    "deberta-v2 alone": ("DebertaV2Tokenizer", "spm.model", _DEBERTA, 1),
    "llama": ("LlamaTokenizer", "tokenizer.model", (*_FAIRSEQ, ("<new>", USER_DEFINED), *_BYTES), 2),
}
_BERT_GENERATION = (("<pad>", CONTROL), ("</s>", CONTROL), ("<s>", CONTROL), ("<unk>", UNKNOWN), ("<::::>", CONTROL))
_REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}
_PREPEND = {"type": "Prepend", "prepend": _SPACE}


def sentencepiece_folders() -> dict[str, Files]:
    """By name; each has a config.json that says its family."""
    found: dict[str, Files] = {}
    for family, (name, file, first, model_type) in _MODELS.items():
        config = {"config.json": {"model_type": family.split()[0]}, "tokenizer_config.json": {"tokenizer_class": name}}
        found[f"{family}, {file}"] = {**config, file: sentencepiece_file(first, _PIECES, model_type=model_type)}
        found[family] = {**config, "tokenizer.json": _described(found[f"{family}, {file}"])}
    found["bert-generation"] = {
        "config.json": {"model_type": "bert-generation"},
        "tokenizer_config.json": {"tokenizer_class": "BertGenerationTokenizer"},
        "spiece.model": sentencepiece_file(_BERT_GENERATION, _PIECES),
    }
    llama = found["llama"]["tokenizer.json"]
    old = {"normalizer": {"type": "Sequence", "normalizers": [_PREPEND, _REPLACE]}, "pre_tokenizer": None}
    found["llama, older"] = {**found["llama"], "tokenizer.json": {**llama, **old}}
    v3 = {
        name: json.loads((folder("deberta-v2/v3") / name).read_text())
        for name in ("tokenizer.json", "tokenizer_config.json")
    }
    found["deberta-v2"] = {**v3, "config.json": {"model_type": "deberta-v2"}}
    return found


def _described(files: Files) -> dict[str, Any]:
    """The tokenizer.json that etch makes of the other files."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        for file, content in files.items():
            (path / file).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return json.loads(load_tokenizer(CheckpointFolder(path), 1 << 20).json)
