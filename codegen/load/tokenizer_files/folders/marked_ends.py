# SPDX-License-Identifier: Apache-2.0
"""HerbertTokenizer and OpenAIGPTTokenizer as `transformers` 5.23 makes them: BERT's words, merged as BPE over
characters, where `</w>` ends the pieces that end a word. Of tokenizer.json, or of vocab.json and merges.txt, they take
pieces, merges and added tokens; GPT's has no template of its own, and takes that of tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ....ir.tokenizer_spec import END_OF_WORD, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import asked_ends, check_segments, check_unsupported, has_segments, read_config
from ..tokenizer_json.character_bpe import is_character_bpe, read_character_bpe_json
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.template import template_between, template_of, without_segments
from .byte_level import MERGES_FILE, VOCAB_FILE, check_same_pieces, read_pieces

_Values = dict[str, Any]


@dataclass(frozen=True)
class _Class:
    """One of them."""

    special_tokens: dict[str, object]  # by their keys, with their defaults, in the order in which they are added
    strip_accents: bool | None
    lowercase: bool
    # What tokenizer.json has or would have, by it, the configuration, the tokens and all ids.
    template: Callable[[_Values | None, _Values, FolderTokens, dict[str, int]], _Values | None]


_ENDS = {"cls_token": 0, "sep_token": 2}  # of HerBERT's texts, by the ids that the class gives them whatever they are


def _template_of_herbert(_: _Values | None, config: _Values, tokens: FolderTokens, ids: dict[str, int]) -> _Values:
    begin, end = (tokens.special[key] for key in _ENDS)
    for key, number in _ENDS.items():
        if ids[tokens.special[key]] != number:
            message = f"{key} {shown(tokens.special[key])} has the id {ids[tokens.special[key]]}, not {number}"
            raise refusal("tokenizer-template", message, file=CONFIG_FILE)
    segment = int(has_segments(config, usual=False))
    return template_of(f"{begin} $A {end}", f"{begin} $A {end} $B {end}", ids, segment)


def _template_of_gpt(
    described: _Values | None, config: _Values, tokens: FolderTokens, ids: dict[str, int]
) -> _Values | None:
    if described is None:
        made: _Values = {"post_processor": template_between(asked_ends(config, tokens.special), ids)}
    else:
        made = {"post_processor": described.get("post_processor")}
    return (made if has_segments(config, usual=False) else without_segments(made))["post_processor"]


CLASSES = {
    "HerbertTokenizer": _Class(
        {
            "unk_token": "<unk>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            "cls_token": "<s>",
            "mask_token": "<mask>",
        },
        strip_accents=False,
        lowercase=False,
        template=_template_of_herbert,
    ),
    "OpenAIGPTTokenizer": _Class(
        {
            **dict.fromkeys(("bos_token", "eos_token")),
            "unk_token": "<unk>",
            **dict.fromkeys(("sep_token", "pad_token", "cls_token", "mask_token")),
        },
        strip_accents=None,
        lowercase=True,
        template=_template_of_gpt,
    ),
}
_PARTS = {
    "normalizer": "normalizer",
    "segmenter": "pre_tokenizer",
    "model": "model",
    "template": "post_processor",
    "added_tokens": "added_tokens",
}


def read_marked_ends_folder(folder: CheckpointFolder, described: _Values | None, name: str) -> TokenizerSpec:
    """The checked tokenizer of one of `CLASSES`; `described` is tokenizer.json, where the folder has one."""
    config = read_config(folder)
    made = CLASSES[name]
    check_unsupported(config, has_template=True)
    if described is not None and not is_character_bpe(described):
        message = f"{name} needs BPE over characters, whose words BertPreTokenizer finds"
        raise refusal("tokenizer-model", message, file=JSON_FILE)
    missing = next((file for file in (VOCAB_FILE, MERGES_FILE) if described is None and not folder.has(file)), None)
    if missing is not None:
        message = f"{name} needs {JSON_FILE}, or {VOCAB_FILE} and {MERGES_FILE}"
        raise refusal("tokenizer-missing", message, file=missing)
    with_segments = has_segments(config, usual=False)
    whole = None
    if described is not None:
        check_same_pieces(folder, described)
        whole = read_character_bpe_json(described)
    tokens = read_tokens(folder, config, described, made.special_tokens, rebuilds=True)
    if "unk_token" not in tokens.special:
        message = f"unk_token is null: {name} has no text then for what it does not know"
        raise refusal("missing-special-token", message, file=CONFIG_FILE)
    vocab, merges = read_pieces(folder, described)
    added = tokens.of(vocab)
    ids = vocab | {token.content: token.id for token in added}
    spec = read_character_bpe_json(
        {
            **_pipeline(made),
            "added_tokens": [asdict(token) for token in added],
            "post_processor": made.template(described, config, tokens, ids),
            "model": _model(vocab, merges, tokens.special["unk_token"]),
        }
    )
    check_segments(spec, with_segments=with_segments)
    tokens.check(spec)
    if whole is not None:
        _check_same(spec, whole, name, with_segments=with_segments)
    return replace(spec, notes=spec.notes + tokens.notes)


def _pipeline(made: _Class) -> _Values:
    """Of the tokenizer.json that a class makes what no file changes."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": made.strip_accents,
            "lowercase": made.lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "BPEDecoder", "suffix": END_OF_WORD},
    }


def _model(vocab: dict[str, int], merges: object, unknown: str) -> _Values:
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


def _check_same(spec: TokenizerSpec, whole: TokenizerSpec, name: str, *, with_segments: bool) -> None:
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
            message = f"{name} of transformers has another {part} than {JSON_FILE} says"
            raise refusal("tokenizer-conflict", message, file=JSON_FILE)
