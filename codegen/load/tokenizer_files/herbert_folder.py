# SPDX-License-Identifier: Apache-2.0
"""HerbertTokenizer as `transformers` 5.23 makes it: BERT's words, merged as BPE over characters, where `</w>` ends the
pieces that end a word. Of tokenizer.json, or of vocab.json and merges.txt, it takes pieces, merges and added tokens."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from ...ir.tokenizer_spec import END_OF_WORD, TokenizerSpec
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .byte_level_folder import MERGES_FILE, VOCAB_FILE, check_same_pieces, read_pieces
from .character_bpe_json import is_character_bpe, read_character_bpe_json
from .folder_tokens import read_tokens
from .template_json import template_of
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import check_unsupported, class_name, has_segments, read_config
from .tokenizer_json import FILE as JSON_FILE

TOKENIZER_CLASS = "HerbertTokenizer"
# With their defaults, in the order in which `transformers` adds them.
_TOKENS: dict[str, object] = {
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
_ENDS = {"cls_token": 0, "sep_token": 2}  # of a text, by the ids that the class gives them whatever they are
# Of the tokenizer.json that it makes what no file changes.
_PIPELINE: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": False,
        "lowercase": False,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "BPEDecoder", "suffix": END_OF_WORD},
}
_PARTS = {
    "normalizer": "normalizer",
    "segmenter": "pre_tokenizer",
    "model": "model",
    "template": "post_processor",
    "added_tokens": "added_tokens",
}


def is_herbert_folder(folder: CheckpointFolder, class_in_config: object, usual_class: str) -> bool:
    """Whether `transformers` makes this class of a folder; arguments are as in `TokenizerConfig`."""
    return class_name(read_config(folder), class_in_config, usual_class) == TOKENIZER_CLASS


def read_herbert_folder(folder: CheckpointFolder, described: dict[str, Any] | None) -> TokenizerSpec:
    """The checked tokenizer; `described` is tokenizer.json, where the folder has one."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if described is not None and not is_character_bpe(described):
        message = f"{TOKENIZER_CLASS} needs BPE over characters, whose words BertPreTokenizer finds"
        raise refusal("tokenizer-model", message, file=JSON_FILE)
    missing = next((name for name in (VOCAB_FILE, MERGES_FILE) if described is None and not folder.has(name)), None)
    if missing is not None:
        message = f"{TOKENIZER_CLASS} needs {JSON_FILE}, or {VOCAB_FILE} and {MERGES_FILE}"
        raise refusal("tokenizer-missing", message, file=missing)
    segment = int(has_segments(config, usual=False))
    whole = None
    if described is not None:
        check_same_pieces(folder, described)
        whole = read_character_bpe_json(described)
    tokens = read_tokens(folder, config, described, _TOKENS, rebuilds=True)
    vocab, merges = read_pieces(folder, described)
    added = tokens.of(vocab)
    ids = vocab | {token.content: token.id for token in added}
    begin, end = (tokens.special[key] for key in _ENDS)
    for key, number in _ENDS.items():
        if ids[tokens.special[key]] != number:
            message = f"{key} {shown(tokens.special[key])} has the id {ids[tokens.special[key]]}, not {number}"
            raise refusal("tokenizer-template", message, file=CONFIG_FILE)
    template = template_of(f"{begin} $A {end}", f"{begin} $A {end} $B {end}", ids, segment)
    model = _model(vocab, merges, tokens.special["unk_token"])
    spec = read_character_bpe_json(
        {
            **_PIPELINE,
            "added_tokens": [asdict(token) for token in added],
            "post_processor": template,
            "model": model,
        }
    )
    tokens.check(spec)
    if whole is not None:
        _check_same(spec, whole, with_segments=bool(segment))
    return replace(spec, notes=spec.notes + tokens.notes)


def _model(vocab: dict[str, int], merges: object, unknown: str) -> dict[str, Any]:
    """`model` of the tokenizer.json that the class makes."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": END_OF_WORD,
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": vocab,
        "merges": merges,
    }


def _check_same(spec: TokenizerSpec, whole: TokenizerSpec, *, with_segments: bool) -> None:
    """Refuses a tokenizer.json from which others would make something else than the class does."""
    for field, part in _PARTS.items():
        ours, theirs = getattr(spec, field), getattr(whole, field)
        if field == "template" and not with_segments:  # which a model that is not told of them does not read
            theirs = replace(
                theirs,
                single=tuple(replace(one, segment=0) for one in theirs.single),
                pair=tuple(replace(one, segment=0) for one in theirs.pair),
            )
        if ours != theirs:
            message = f"{TOKENIZER_CLASS} of transformers has another {part} than {JSON_FILE} says"
            raise refusal("tokenizer-conflict", message, file=JSON_FILE)
