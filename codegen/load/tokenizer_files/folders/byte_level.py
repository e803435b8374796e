# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE of a folder: tokenizer.json, or vocab.json with merges.txt, and what the files beside them say.

As `transformers` 5.23 reads them. A RobertaTokenizer, DebertaTokenizer, GPT2Tokenizer, GPTNeoXTokenizer, CLIPTokenizer,
LukeTokenizer, Qwen2Tokenizer, CohereTokenizer or BlenderbotTokenizer is rebuilt: vocabulary and merges are those of the
files, the other parts are the class's, with the settings of tokenizer_config.json. Of other classes tokenizer.json
counts as it is. Where it, which the `tokenizers` library follows by itself, says something else, that is a
`tokenizer-conflict`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....ir.tokenizer_spec import TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import LUKE_ENTITIES, ROBERTA_TOKENS, STRIPPING, read_tokens
from ..tokenizer_config import (
    BLENDERBOT_TOKENIZER,
    COHERE_TOKENIZER,
    DEBERTA_TOKENIZER,
    LLAMA_TOKENIZER,
    LUKE_TOKENIZER,
    QWEN3_5_TOKENIZER,
    ROBERTA_TOKENIZER,
    check_segments,
    check_unsupported,
    class_of,
    has_segments,
    needs_json,
    read_config,
)
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_json.bpe import is_bpe
from ..tokenizer_json.byte_level import read_byte_level_json
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.fields import check_vocab
from ..tokenizer_json.template import without_segments
from .byte_level_classes import CLASSES, has_its_prefix, rebuilt

VOCAB_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
_MASK, _DECODER = "mask_token", "added_tokens_decoder"
_IN_JSON: dict[str, object] = dict.fromkeys(ROBERTA_TOKENS)  # keys that a file of any other class may have, or null
# Nothing else says the ids of Luke's own tokens; the class of Qwen 3.5 reads no other file.
_OF_JSON_ONLY = (LUKE_TOKENIZER, QWEN3_5_TOKENIZER)
# By the fields of tokenizer.json; a normalizer is another one behind some pre-tokenizers, so it comes last.
_PARTS = {
    "segmenter": "pre_tokenizer",
    "model": "model",
    "template": "post_processor",
    "added_tokens": "added_tokens",
    "trimming": "trim_offsets",
    "normalizer": "normalizer",
}


def is_byte_level(folder: CheckpointFolder, described: dict[str, Any] | None) -> bool:
    """Whether a folder has such a tokenizer; `described` is its tokenizer.json."""
    if described is None:
        return folder.has(VOCAB_FILE) and folder.has(MERGES_FILE)
    return is_bpe(described.get("model"))


def read_byte_level_folder(
    folder: CheckpointFolder,
    described: dict[str, Any] | None = None,
    class_in_config: object = None,
    usual_class: str = ROBERTA_TOKENIZER,
    rows: int | None = None,
) -> TokenizerSpec:
    """The tokenizer of a folder whose tokenizer.json is `described`, or that has none. `class_in_config` and
    `usual_class` are as in `WordPieceConfig`, `rows` those of the word embedding."""
    config = read_config(folder)
    # A LlamaTokenizer is not rebuilt where the pieces are bytes, as in Llama 3.
    supported = *CLASSES, LLAMA_TOKENIZER
    name = class_of(config, class_in_config, usual_class, supported=supported, model="byte-level BPE")
    made = CLASSES.get(name)
    check_unsupported(config, has_template=described is not None or (made is not None and made.adds_ends))
    of_luke = name == LUKE_TOKENIZER
    if described is None and (made is None or name in _OF_JSON_ONLY):
        raise needs_json(config, class_in_config, usual_class)
    of_blenderbot = name == BLENDERBOT_TOKENIZER and described is None and _DECODER not in config
    if of_blenderbot and isinstance(mask := config.get(_MASK), str):
        config = config | {_MASK: {"content": mask, **STRIPPING}}
    usual = _IN_JSON if made is None else made.special_tokens
    tokens = read_tokens(folder, config, described, usual, made is not None, null=name == COHERE_TOKENIZER)
    if of_blenderbot and any(token.content == tokens.special[_MASK] and not token.lstrip for token in tokens.named):
        message = f"{name} makes a bare {_MASK} strip the space before it, which another file has: say it in one"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if described is not None and of_luke:
        _check_no_entities(config)
        tokens, dropped = tokens.without(LUKE_ENTITIES, rows)
        described = _without(described, dropped)
    with_segments = name in (ROBERTA_TOKENIZER, LUKE_TOKENIZER) or has_segments(config, usual=name == DEBERTA_TOKENIZER)
    whole = None
    if described is not None:
        check_same_pieces(folder, described)
        whole = read_byte_level_json(described if with_segments else without_segments(described))
        check_segments(whole, with_segments=with_segments)
    if made is not None:
        values = rebuilt(made, config, described, tokens, *read_pieces(folder, described))
        spec = read_byte_level_json(values if with_segments else without_segments(values))
        if whole is not None:
            assert described is not None
            spec = _agreed(spec, whole, name, may_differ=has_its_prefix(made, config, described))
    else:
        assert whole is not None
        spec = whole
    tokens.check(spec)
    return replace(spec, notes=spec.notes + tokens.notes)


def read_pieces(folder: CheckpointFolder, described: dict[str, Any] | None) -> tuple[dict[str, int], Any]:
    """(vocabulary, merges), of `described` or of the two files of BPE; merges are not checked."""
    if described is not None:
        return described["model"]["vocab"], described["model"].get("merges")
    vocab, merges = folder.read_json(VOCAB_FILE), merge_lines(folder.read(MERGES_FILE))
    check_vocab(vocab, None, VOCAB_FILE)
    return vocab, merges


def _check_no_entities(config: dict[str, Any]) -> None:
    """Refuses what marks entities in texts, which a caller has to name."""
    for key in ("task", "entity_token_1", "entity_token_2"):
        if config.get(key) is not None:
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)


def _without(described: dict[str, Any], dropped: set[str]) -> dict[str, Any]:
    """A tokenizer.json without the added tokens of these texts; what is none is refused where it is read."""
    added = described.get("added_tokens")
    if not isinstance(added, list):
        return described
    kept = [one for one in added if not (isinstance(one, dict) and one.get("content") in dropped)]
    return described | {"added_tokens": kept}


def merge_lines(raw: bytes) -> list[str]:
    """The lines of merges.txt; those that begin with #version say nothing."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at byte {error.start}"
        raise refusal("vocab-not-utf8", message, file=MERGES_FILE) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return [line for line in lines[: len(lines) - (not lines[-1])] if not line.startswith("#version")]


def check_same_pieces(folder: CheckpointFolder, described: dict[str, Any]) -> None:
    """Where the folder has the older files beside tokenizer.json, they must agree: different tools read either."""
    model = described["model"]
    if folder.has(VOCAB_FILE) and folder.read_json(VOCAB_FILE) != model.get("vocab"):
        raise refusal("tokenizer-conflict", f"{JSON_FILE} has another vocabulary", file=VOCAB_FILE)
    merges = model.get("merges")
    if folder.has(MERGES_FILE) and isinstance(merges, list):
        spelled = [" ".join(map(str, pair)) if isinstance(pair, list) else pair for pair in merges]
        if merge_lines(folder.read(MERGES_FILE)) != spelled:
            raise refusal("tokenizer-conflict", f"{JSON_FILE} has other merges", file=MERGES_FILE)


def _agreed(made: TokenizerSpec, whole: TokenizerSpec, name: str, *, may_differ: bool) -> TokenizerSpec:
    """What tokenizer.json says, refused where the class has other parts. Since version 5 DeBERTa's has two separators
    between two texts, CLIP's finds the texts of special tokens as words, and GPT-2's does not part digits as files of
    it say (SmolLM2, StarCoder2); before they had not, and they did."""
    other = [part for part in _PARTS if getattr(made, part) != getattr(whole, part)]
    if may_differ and other == [CLASSES[name].kept]:
        note = f"{name} of transformers has another {_PARTS[other[0]]}: {JSON_FILE} counts"
        return replace(whole, notes=(*whole.notes, note))
    if other:
        raise refusal(
            "tokenizer-conflict",
            f"{name} of transformers has another {_PARTS[other[0]]} than {JSON_FILE} says; make {CONFIG_FILE} and "
            f"{JSON_FILE} agree",
            file=JSON_FILE,
        )
    return made
