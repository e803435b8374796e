# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE tokenizers for tests: small ones that the wheel trains, and the public one of the data folder."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tokenizer_texts import HARD_TEXTS, TRICKY
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json

_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
EXPRESSIONS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": _CL100K % "{1,3}",
    "qwen2": _CL100K % "",
}
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_ENGLISH = (
    "the quick brown fox's tail isn't where they're waiting; we've 1234 reasons, I'm sure, and you'll see 100 more "
)


@cache
def _trained() -> str:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=700,
        special_tokens=list(SPECIALS),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    words = [_ENGLISH[i:] for i in range(0, 100, 7)]
    tokenizer.train_from_iterator(
        [*words, *HARD_TEXTS, *("".join((a, b)) for a in TRICKY for b in TRICKY[:9])], trainer
    )
    return tokenizer.to_str()


def small_json(
    *,
    add_prefix_space: bool = False,
    trim_offsets: bool = True,
    processor: str = "RobertaProcessing",
    ignore_merges: bool = False,
    segmenter: str = "ByteLevel",
    steps: tuple[str, ...] = (),
    added: Iterable[AddedToken] = (),
) -> dict[str, Any]:
    """A tokenizer.json of 700 pieces."""
    values = copy.deepcopy(json.loads(_trained()))
    byte_level = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets}
    values["normalizer"] = {"type": "Sequence", "normalizers": [{"type": step} for step in steps]} if steps else None
    values["pre_tokenizer"] = _pre_tokenizer(segmenter, byte_level)
    template = {
        "type": "TemplateProcessing",
        "single": [_special("<s>"), _sequence("A"), _special("</s>", 3)],
        "pair": [_special("<s>", 2), _sequence("A"), _special("</s>"), _special("</s>", 1), _sequence("B", 1)],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
            "</s>": {"id": "</s>", "ids": [2, 4], "tokens": ["</s>", "<mask>"]},
        },
    }
    values["post_processor"] = {
        "RobertaProcessing": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], **byte_level},
        "ByteLevel": {"type": "ByteLevel", **byte_level, "use_regex": True},
        "TemplateProcessing": template,
        "Sequence": {"type": "Sequence", "processors": [{"type": "ByteLevel", **byte_level}, template]},
        "none": None,
    }[processor]
    if processor == "Sequence":
        values["post_processor"]["processors"][0]["use_regex"] = True
    values["model"]["ignore_merges"] = ignore_merges
    values["added_tokens"] += [vars(token) for token in added]
    return values


def _pre_tokenizer(segmenter: str, byte_level: dict[str, bool]) -> dict[str, Any]:
    """`segmenter`: ByteLevel, digits, digit, or the name of an expression."""
    split = segmenter in EXPRESSIONS
    second = {"type": "ByteLevel", **byte_level, "use_regex": not split}
    if segmenter == "ByteLevel":
        return second
    first = {"type": "Digits", "individual_digits": segmenter == "digit"}
    if split:
        first = {"type": "Split", "pattern": {"Regex": EXPRESSIONS[segmenter]}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [first, second]}


def _special(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _sequence(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


def small_spec(**options: Any) -> TokenizerSpec:
    return read_byte_level_json(small_json(**options))


def public_spec(data: Path) -> TokenizerSpec:
    """secroberta's, of 52,000 pieces."""
    file = data / "tokenizers" / "secroberta" / "tokenizer.json"
    return read_byte_level_json(json.loads(file.read_text(encoding="utf-8")))


def texts_of_pieces(spec: TokenizerSpec) -> list[bytes]:
    """What random texts are made of, so that merges meet each other."""
    return [piece for piece in spec.model.pieces if isinstance(piece, bytes)]
