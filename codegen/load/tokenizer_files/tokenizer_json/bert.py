# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of BERT's pipeline, only with fields that are known."""

from __future__ import annotations

import json
from typing import Any

from ....ir.normalizer_spec import BertNormalizer
from ....ir.tokenizer_spec import MOST_WORD_CHARS, Trimming
from ...refusal import refusal, shown
from .fields import FILE, added_tokens, check_top, check_vocab, notes_of, only_fields, typed
from .spelled_word_piece import TokenizerParts, bert_processor
from .template import read_trimming

_NORMALIZER = {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}
_MODEL = {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}


def read_bert_json(
    values: dict[str, Any], second_segment: int, first_type: int = 0, behind_first: tuple[str, ...] = ()
) -> TokenizerParts:
    """The parts of a parsed tokenizer.json; a pair's second text is of `second_segment`, [CLS] of
    `first_type` where segments are told, and has these tokens `behind_first`. Its decoder is not read: it plays no part
    in encoding."""
    check_top(values)
    normalizer = _normalizer(values["normalizer"])
    pre_tokenizer = typed(values["pre_tokenizer"], "pre_tokenizer", "BertPreTokenizer")
    only_fields(pre_tokenizer, "pre_tokenizer", {"type"})
    model = read_word_piece_model(values["model"])
    classify, separate, separators = _special_tokens(values["post_processor"], model["vocab"], first_type, behind_first)
    return TokenizerParts(
        file=FILE,
        vocab=model["vocab"],
        added_tokens=added_tokens(values["added_tokens"], model["vocab"]),
        clean_text=normalizer["clean_text"],
        handle_chinese_chars=normalizer["handle_chinese_chars"],
        strip_accents=normalizer.get("strip_accents"),
        lowercase=normalizer["lowercase"],
        continuing_prefix=model["continuing_subword_prefix"],
        max_input_chars_per_word=model["max_input_chars_per_word"],
        unknown_token=model["unk_token"],
        classify_token=classify,
        separate_token=separate,
        second_segment=second_segment if separators == 1 else 0,
        separators=separators,
        trimming=_trimming(values["post_processor"]),
        first_segment=first_type if second_segment else 0,
        behind_first=behind_first,
        notes=notes_of(values),
    )


def _normalizer(value: object) -> dict[str, Any]:
    normalizer = typed(value, "normalizer", "BertNormalizer")
    only_fields(normalizer, "normalizer", _NORMALIZER, required=_NORMALIZER - {"strip_accents"})
    for key in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"):
        setting = normalizer.get(key)
        if not isinstance(setting, bool) and not (key == "strip_accents" and setting is None):
            raise refusal("tokenizer-type", f"normalizer.{key} must be true/false, got {shown(setting)}", file=FILE)
    return normalizer


def read_bert_normalizer(value: object) -> BertNormalizer:
    """The checked value of `normalizer` where it is BERT's."""
    settings = _normalizer(value)
    strips = settings["lowercase"] if settings.get("strip_accents") is None else settings["strip_accents"]
    return BertNormalizer(settings["clean_text"], settings["handle_chinese_chars"], strips, settings["lowercase"])


def read_word_piece_model(value: object) -> dict[str, Any]:
    """The checked value of `model`."""
    if isinstance(value, dict) and set(value) == _MODEL - {"type"}:  # files of 2020 do not name the type
        value = {"type": "WordPiece", **value}
    model = typed(value, "model", "WordPiece")
    only_fields(model, "model", _MODEL, required=_MODEL)
    for key in ("unk_token", "continuing_subword_prefix"):
        if not isinstance(model[key], str) or not model[key]:
            raise refusal(
                "tokenizer-type", f"model.{key} must be a non-empty string, got {shown(model[key])}", file=FILE
            )
    longest = model["max_input_chars_per_word"]
    if type(longest) is not int or not 1 <= longest <= MOST_WORD_CHARS:
        raise refusal(
            "tokenizer-type",
            f"model.max_input_chars_per_word must be in 1..{MOST_WORD_CHARS}, got {shown(longest)}",
            file=FILE,
        )
    check_vocab(model["vocab"], model["unk_token"])
    return model


def _special_tokens(
    value: object, vocab: dict[str, int], first_type: int, behind_first: tuple[str, ...]
) -> tuple[str, str, int]:
    """([CLS], [SEP], how many of these between two texts) of a post-processor that does what BERT's or RoBERTa's
    does."""
    processor = typed(value, "post_processor", "TemplateProcessing", "BertProcessing", "RobertaProcessing")
    separators = 1
    if processor["type"] == "BertProcessing":
        only_fields(processor, "post_processor", {"type", "sep", "cls"}, required={"sep", "cls"})
        pairs = [processor["cls"], processor["sep"]]
    elif processor["type"] == "RobertaProcessing":
        # Without its two settings `tokenizers` reads BertProcessing.
        known = {"type", "sep", "cls", "trim_offsets", "add_prefix_space"}
        only_fields(processor, "post_processor", known, required=known)
        pairs, separators = [processor["cls"], processor["sep"]], 2
    else:
        known = {"type", "single", "pair", "special_tokens"}
        only_fields(processor, "post_processor", known, required=known)
        pairs = _template_tokens(processor, first_type, behind_first)
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int):
            raise refusal("tokenizer-type", "post_processor: expected a pair of token and id", file=FILE)
        if vocab.get(pair[0]) != pair[1]:
            raise refusal(
                "special-token-conflict",
                f"post_processor gives {shown(pair[0])} the id {shown(pair[1])}, "
                f"the vocabulary {shown(vocab.get(pair[0]))}",
                file=FILE,
            )
    if pairs[0] == pairs[1]:
        raise refusal("tokenizer-template", "post_processor uses one token as [CLS] and as [SEP]", file=FILE)
    return pairs[0][0], pairs[1][0], separators


def _trimming(processor: dict[str, Any]) -> Trimming | None:
    return read_trimming(processor) if processor["type"] == "RobertaProcessing" else None


def _template_tokens(processor: dict[str, Any], first_type: int, behind_first: tuple[str, ...]) -> list[list[object]]:
    try:
        names = [processor["single"][place]["SpecialToken"]["id"] for place in (0, 2)]
    except (KeyError, IndexError, TypeError):
        names = []
    if (
        not all(isinstance(name, str) for name in names)
        or not names
        or not all(
            _same(processor[key], want)
            for key, want in bert_processor(
                names[0], names[1], first_segment=first_type, behind_first=behind_first
            ).items()
        )
    ):
        wanted = " ".join(("[CLS] A", *behind_first, "[SEP] B:1 [SEP]:1"))
        raise refusal("tokenizer-template", f"post_processor is not [CLS] A [SEP] and {wanted}", file=FILE)
    names += behind_first
    table = processor["special_tokens"]
    if not isinstance(table, dict) or set(table) != set(names):
        raise refusal("tokenizer-template", "post_processor.special_tokens must hold the template's own", file=FILE)
    pairs: list[list[object]] = []
    for name in names:
        entry = table[name]
        ids = entry.get("ids") if isinstance(entry, dict) else None
        if not isinstance(ids, list) or len(ids) != 1 or not _same(entry, {"id": name, "ids": ids, "tokens": [name]}):
            raise refusal(
                "tokenizer-template", f"post_processor.special_tokens: {shown(name)} must be one token", file=FILE
            )
        pairs.append([name, ids[0]])
    return pairs


def _same(left: object, right: object) -> bool:
    """Equal as JSON: unlike `==`, false is not 0 and 1.0 is not 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
