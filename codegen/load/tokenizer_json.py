# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json: only the BERT pipeline is understood, and only with fields that are known."""

from __future__ import annotations

import json
from typing import Any

from tokenizers import Tokenizer

from ..errors import printable
from .refusal import kind, refusal, shown
from .tokenizer_parts import TokenizerParts, bert_processor
from .tokenizer_spec import AddedToken, BertNormalizer

FILE = "tokenizer.json"
MAX_WORD_CHARS = 10_000
TOP_FIELDS = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
    "model",
}  # fmt: skip
_NORMALIZER = {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}
_MODEL = {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}
_ADDED = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}


def read_tokenizer_json(values: dict[str, Any], second_segment: int) -> TokenizerParts:
    """The parts of a parsed tokenizer.json; a pair's second text is of `second_segment`. `decoder` plays no part in
    encoding and is not looked at."""
    check_top(values)
    normalizer = _normalizer(values["normalizer"])
    pre_tokenizer = typed(values["pre_tokenizer"], "pre_tokenizer", "BertPreTokenizer")
    only_fields(pre_tokenizer, "pre_tokenizer", {"type"})
    model = read_word_piece_model(values["model"])
    classify, separate, separators = _special_tokens(values["post_processor"], model["vocab"])
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
    if type(longest) is not int or not 1 <= longest <= MAX_WORD_CHARS:
        raise refusal(
            "tokenizer-type",
            f"model.max_input_chars_per_word must be in 1..{MAX_WORD_CHARS}, got {shown(longest)}",
            file=FILE,
        )
    check_vocab(model["vocab"], model["unk_token"])
    return model


def check_vocab(vocab: object, unknown: str | None, file: str = FILE) -> None:
    """Pieces to ids from 0 on, each once, without a gap; `unknown`, where there is one, is among them."""
    if not isinstance(vocab, dict):
        raise refusal("tokenizer-type", f"model.vocab must be an object, got {kind(vocab)}", file=file)
    owner: dict[int, str] = {}
    for piece, index in vocab.items():
        if type(index) is not int or index < 0:
            raise refusal(
                "vocab-id-type", f"the id of {shown(piece)} must be an integer from 0, got {shown(index)}", file=file
            )
        if index in owner:
            raise refusal(
                "vocab-duplicate-id", f"{shown(owner[index])} and {shown(piece)} both have the id {index}", file=file
            )
        owner[index] = piece
    if unknown is not None and unknown not in vocab:
        raise refusal("missing-special-token", f"the vocabulary has no {shown(unknown)}, the unk_token", file=file)
    gap = next((i for i in range(len(owner)) if i not in owner), None)
    if gap is not None:
        raise refusal(
            "vocab-gap", f"{len(owner)} pieces must have the ids 0..{len(owner) - 1}; none has {gap}", file=file
        )


def added_tokens(value: object, vocab: dict[str, int]) -> tuple[AddedToken, ...]:
    """The checked list of added tokens."""
    if not isinstance(value, list):
        raise refusal("tokenizer-type", f"added_tokens must be a list, got {kind(value)}", file=FILE)
    tokens: list[AddedToken] = []
    contents: set[str] = set()
    next_id = len(vocab)
    for i, item in enumerate(value):
        token = read_added_token(item, f"added_tokens[{i}]", FILE)
        if token.content in contents:
            raise refusal("added-token-conflict", f"{shown(token.content)} is added twice", file=FILE)
        # `tokenizers` gives a token its id in the vocabulary, or the next free one, whatever the file says.
        expected = vocab.get(token.content, next_id)
        if token.id != expected:
            raise refusal(
                "added-token-conflict",
                f"added token {shown(token.content)} has the id {token.id}, by the vocabulary it is {expected}",
                file=FILE,
            )
        next_id += expected == next_id
        contents.add(token.content)
        tokens.append(token)
    return tuple(tokens)


def read_added_token(item: object, where: str, file: str, index: int | None = None) -> AddedToken:
    """One added token; `index` is its id where the object itself does not hold it."""
    known = _ADDED if index is None else _ADDED - {"id"}
    if not isinstance(item, dict) or set(item) != known:
        raise refusal(
            "tokenizer-field", f"{where} must be an object with exactly {', '.join(sorted(known))}", file=file
        )
    for key in ("single_word", "lstrip", "rstrip", "normalized", "special"):
        if not isinstance(item[key], bool):
            raise refusal("tokenizer-type", f"{where}.{key} must be true/false, got {shown(item[key])}", file=file)
    number = item.get("id", index)
    if type(number) is not int or number < 0:
        raise refusal("tokenizer-type", f"{where}.id must be an integer from 0, got {shown(number)}", file=file)
    if not isinstance(item["content"], str) or not item["content"]:
        raise refusal(
            "tokenizer-type", f"{where}.content must be a non-empty string, got {shown(item['content'])}", file=file
        )
    return AddedToken(
        content=item["content"],
        id=number,
        special=item["special"],
        normalized=item["normalized"],
        single_word=item["single_word"],
        lstrip=item["lstrip"],
        rstrip=item["rstrip"],
    )


def _special_tokens(value: object, vocab: dict[str, int]) -> tuple[str, str, int]:
    """([CLS], [SEP], how many of these between two texts) of a post-processor that does what BERT's or RoBERTa's
    does."""
    processor = typed(value, "post_processor", "TemplateProcessing", "BertProcessing", "RobertaProcessing")
    separators = 1
    if processor["type"] == "BertProcessing":
        only_fields(processor, "post_processor", {"type", "sep", "cls"}, required={"sep", "cls"})
        pairs = [processor["cls"], processor["sep"]]
    elif processor["type"] == "RobertaProcessing":
        # The two settings are about the leading spaces of byte-level tokens: there are none here.
        known = {"type", "sep", "cls", "trim_offsets", "add_prefix_space"}
        only_fields(processor, "post_processor", known, required={"sep", "cls"})
        pairs, separators = [processor["cls"], processor["sep"]], 2
    else:
        known = {"type", "single", "pair", "special_tokens"}
        only_fields(processor, "post_processor", known, required=known)
        pairs = _template_tokens(processor)
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


def _template_tokens(processor: dict[str, Any]) -> list[list[object]]:
    try:
        names = [processor["single"][place]["SpecialToken"]["id"] for place in (0, 2)]
    except (KeyError, IndexError, TypeError):
        names = []
    if (
        not all(isinstance(name, str) for name in names)
        or not names
        or not all(_same(processor[key], want) for key, want in bert_processor(names[0], names[1]).items())
    ):
        raise refusal(
            "tokenizer-template", "post_processor is not [CLS] A [SEP] and [CLS] A [SEP] B:1 [SEP]:1", file=FILE
        )
    table = processor["special_tokens"]
    if not isinstance(table, dict) or set(table) != set(names):
        raise refusal("tokenizer-template", "post_processor.special_tokens must hold the template's two", file=FILE)
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


def wheel_of(text: str, file: str = FILE) -> Tokenizer:
    """What the `tokenizers` library reads, which refuses what nobody here looks at, too."""
    try:
        return Tokenizer.from_str(text)
    except Exception as error:  # it has no class of its own
        message = f"`tokenizers` does not read it: {printable(str(error))}"
        raise refusal("tokenizer-unreadable", message, file=file) from None


def notes_of(values: dict[str, Any]) -> tuple[str, ...]:
    """What the file asks for and nobody does here."""
    notes = []
    truncation = values.get("truncation")
    if isinstance(truncation, dict):
        notes.append(f"{FILE} truncates at {shown(truncation.get('max_length'))} tokens: not used")
    if values.get("padding") is not None:
        notes.append(f"{FILE} asks for padding: not used")
    return tuple(notes)


def typed(value: object, where: str, *types: str) -> dict[str, Any]:
    """An object whose `type` is one of `types`."""
    found = value.get("type") if isinstance(value, dict) else value
    if not isinstance(value, dict) or found not in types:
        raise refusal(
            f"tokenizer-{where.replace('_', '-')}",
            f"{where} {shown(found)} is not supported (supported: {', '.join(types)})",
            file=FILE,
        )
    return value


def check_top(values: dict[str, Any]) -> None:
    """The fields of the whole file, and its version."""
    only_fields(values, "the file", TOP_FIELDS, required=TOP_FIELDS - {"version", "truncation", "padding", "decoder"})
    if values.get("version", "1.0") != "1.0":
        raise refusal("tokenizer-version", f"expected version '1.0', got {shown(values['version'])}", file=FILE)


def only_fields(value: dict[str, Any], where: str, known: set[str], required: set[str] | None = None) -> None:
    """Refuses fields that are not known, and those that are missing."""
    unknown = sorted(set(value) - known)
    if unknown:
        raise refusal("tokenizer-field", f"{where} has the unknown field {shown(unknown[0])}", file=FILE)
    missing = sorted((required or set()) - set(value))
    if missing:
        raise refusal("tokenizer-field", f"{where} lacks the field '{missing[0]}'", file=FILE)


def _same(left: object, right: object) -> bool:
    """Equal as JSON: unlike `==`, false is not 0 and 1.0 is not 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
