# SPDX-License-Identifier: Apache-2.0
"""The added tokens of a folder as `transformers` 5.23 collects them, from four files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from ...ir.tokenizer_spec import AddedToken, TokenizerSpec, UnigramModel
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .sentencepiece_model import CONTROL, USER_DEFINED, SentencePieceModel
from .tokenizer_config import (
    ADDED_TOKENS_FILE,
    SPECIAL_TOKENS_FILE,
    check_is_added,
    check_same_token,
    content_of,
    decoded_tokens,
    extra_tokens,
    read_special_map,
)
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_json.fields import FILE as JSON_FILE
from .tokenizer_json.fields import added_tokens, check_vocab

_NO_ID = -1
# By file: keys in the place of whose values, be they empty, no tokens of SentencePiece's file count.
_LISTS_OF_TOKENS = {
    CONFIG_FILE: ("additional_special_tokens", "extra_special_tokens"),
    SPECIAL_TOKENS_FILE: ("extra_special_tokens",),
}
# RobertaTokenizer's defaults, which those of SentencePiece share, in the order in which `transformers` adds them.
ROBERTA_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
# BlenderbotTokenizer's, whose mask takes the space before it.
STRIPPING = {"lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
BLENDERBOT_TOKENS = ROBERTA_TOKENS | {"mask_token": {"content": "<mask>", **STRIPPING}}
# LukeTokenizer's: two marks around entities in a text, and four of its entities, which words do not have.
LUKE_ENTITIES: dict[str, object] = {
    "entity_unk_token": "[UNK]",
    "entity_pad_token": "[PAD]",
    "entity_mask_token": "[MASK]",
    "entity_mask2_token": "[MASK2]",
}
LUKE_TOKENS = ROBERTA_TOKENS | {"entity_1_token": "<ent>", "entity_2_token": "<ent2>"} | LUKE_ENTITIES

# GPT2Tokenizer's: one token is all three, and there may be one of padding.
GPT2_TOKENS: dict[str, object] = {
    **dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"),
    "pad_token": None,
}
# GPTNeoXTokenizer's.
GPT_NEOX_TOKENS: dict[str, object] = GPT2_TOKENS | {"pad_token": "<|padding|>"}
# DebertaTokenizer's.
DEBERTA_TOKENS: dict[str, object] = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
# CLIPTokenizer's, which ends, pads and misses words with one token.
CLIP_TOKENS: dict[str, object] = {
    "bos_token": "<|startoftext|>",
    **dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>"),
}
# CohereTokenizer's.
COHERE_TOKENS: dict[str, object] = {
    "bos_token": "<BOS_TOKEN>",
    "eos_token": "<|END_OF_TURN_TOKEN|>",
    "unk_token": "<UNK>",
    "sep_token": "<SEP>",
    "pad_token": "<PAD>",
    "cls_token": "<CLS>",
    "mask_token": "<MASK_TOKEN>",
}
# Qwen2Tokenizer's, which may have none of them.
QWEN2_TOKENS: dict[str, object] = {
    "bos_token": None,
    "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>",
    "pad_token": "<|endoftext|>",
}


@dataclass(frozen=True)
class FolderTokens:
    """Tokens as `transformers` collects them."""

    special: dict[str, str]  # by key: the text
    decoded: tuple[AddedToken, ...]  # that a file lists with their ids
    named: tuple[AddedToken, ...]  # special ones that none does
    extra: tuple[tuple[str, object, str], ...]  # more that a file names: key, value, file
    notes: tuple[str, ...]
    lists_extra: bool  # whether a file lists more of them, be it none
    of_map: frozenset[str] = frozenset()  # texts of special ones that special_tokens_map.json names
    said: frozenset[str] = frozenset()  # keys of special ones that a file has, the others are the class's

    def of(self, vocab: dict[str, int], own: dict[str, bool] | None = None) -> list[AddedToken]:
        """All by their ids, the named ones with those that they get. `own` are tokens that the pieces say, and whether
        they are special: their flags are none, whatever names them."""
        tokens = list(self.decoded)
        free = len(vocab) + sum(token.content not in vocab for token in tokens)
        named = {token.content: token for token in self.named}
        for text, special in (own or {}).items():
            if all(token.content != text for token in self.decoded):
                plain = _token(text, _NO_ID, special=special or text in named)
                named[text] = replace(plain, normalized=False)
        new = [token.content in self.of_map for token in named.values() if token.content not in vocab]
        if any(new) and not all(new):
            message = f"special tokens that no vocabulary has are named here and in {CONFIG_FILE}: say them in one file"
            raise refusal("tokenizer-conflict", message, file=SPECIAL_TOKENS_FILE)
        for token in named.values():
            tokens.append(replace(token, id=vocab.get(token.content, free)))
            free += token.content not in vocab
        return sorted(tokens, key=lambda token: token.id)

    def without(self, keys: Collection[str], rows: int | None) -> tuple[FolderTokens, set[str]]:
        """Without the special tokens of these keys whose ids are not among the `rows` of the words; their texts."""
        texts = {self.special[key] for key in keys if key in self.special}
        absent = (token for token in self.decoded if rows is not None and token.id >= rows)
        dropped = {token.content for token in absent if token.content in texts}
        if not dropped:
            return self, dropped
        note = f"{', '.join(sorted(dropped))}: no tokens of texts, since the word embedding has no rows for them"
        left = replace(
            self,
            special={key: text for key, text in self.special.items() if text not in dropped},
            decoded=tuple(token for token in self.decoded if token.content not in dropped),
            notes=(*self.notes, note),
        )
        return left, dropped

    def check(self, spec: TokenizerSpec) -> None:
        """Refuses what `transformers` would add to a tokenizer, or change."""
        known = {token.content: token for token in spec.added_tokens}
        for token in self.decoded:
            check_same_token(token, known, JSON_FILE)
        for key, text in self.special.items():
            check_is_added(text, key, known, JSON_FILE, CONFIG_FILE)
        for key, value, file in self.extra:
            check_is_added(value, key, known, JSON_FILE, file)


def read_tokens(
    folder: CheckpointFolder,
    config: dict[str, Any],
    described: dict[str, Any] | None,
    usual: dict[str, object],
    rebuilds: bool,
    *,
    null: bool = False,
) -> FolderTokens:
    """`usual` are the keys of a class's special tokens in the order of their adding, and if it `rebuilds` the tokenizer
    its tokens where no file names others; where one is None, or with `null`, files may say null. `described` is
    tokenizer.json, its vocabulary an object.

    added_tokens_decoder alone where the configuration has it; else special_tokens_map.json, added_tokens.json and
    tokenizer.json, what is later in this list before what is earlier."""
    may_lack = null or None in usual.values()
    values = {**(usual if rebuilds else {}), **{key: config[key] for key in usual if key in config}}
    sources = [(config, CONFIG_FILE)]
    notes: tuple[str, ...] = ()
    if "added_tokens_decoder" in config:
        decoded = decoded_tokens(config)
        unused = [name for name in (SPECIAL_TOKENS_FILE, ADDED_TOKENS_FILE) if folder.has(name)]
        notes = tuple(f"{name}: not used, {CONFIG_FILE} lists the added tokens" for name in unused)
    else:
        special_map = read_special_map(folder)
        values |= {key: special_map[key] for key in usual if key in special_map}
        sources.append((special_map, SPECIAL_TOKENS_FILE))
        decoded = _of_added_tokens(folder, _texts_named(sources, usual, may_lack)) | _of_json(described)
    if may_lack:
        values = {key: value for key, value in values.items() if value is not None}
    special = {key: content_of(value, key, CONFIG_FILE) for key, value in values.items()}
    named = _not_listed(special, values, {token.content for token in decoded.values()})
    for of, file in sources[1:]:
        _check_flags(of, file, named)
    # A token that a key names is special, whatever the list says.
    special_texts = set(special.values())
    listed = [replace(t, special=t.special or t.content in special_texts) for _, t in sorted(decoded.items())]
    return FolderTokens(
        special=special,
        decoded=tuple(listed),
        named=tuple(named.values()),
        extra=tuple((key, item, file) for of, file in sources for key, item in extra_tokens(of, usual, file)),
        notes=notes,
        lists_extra=any(_lists_extra(of, file) for of, file in sources),
        of_map=frozenset(content_of(of[key], key, file) for of, file in sources[1:] for key in usual if of.get(key)),
        said=frozenset(key for of, _ in sources for key in usual if key in of),
    )


def with_vocabulary(described: dict[str, Any] | None, spec: TokenizerSpec) -> dict[str, Any] | None:
    """The tokenizer.json of `spec` for `read_tokens`: the file of Unigram has a list of pieces and scores."""
    if described is None or not isinstance(spec.model, UnigramModel):
        return described
    return {**described, "model": {"vocab": {piece or "": i for i, piece in enumerate(spec.model.pieces)}}}


def _texts_named(sources: list[tuple[dict[str, Any], str]], usual: Collection[str], may_lack: bool) -> set[str]:
    """Texts of the special tokens that files name: these are special from the beginning, not what is the class's."""
    keys = [(of, file, key) for of, file in sources for key in usual if key in of]
    return {content_of(of[key], key, file) for of, file, key in keys if not (may_lack and of[key] is None)}


def _of_added_tokens(folder: CheckpointFolder, special: set[str]) -> dict[int, AddedToken]:
    """Those of added_tokens.json, by id."""
    found = {}
    for text, number in (folder.read_json_if_present(ADDED_TOKENS_FILE) or {}).items():
        if type(number) is not int or number < 0:
            message = f"the id of {shown(text)} must be an integer from 0, got {shown(number)}"
            raise refusal("config-type", message, file=ADDED_TOKENS_FILE)
        found[number] = _token(text, number, special=text in special)
    return found


def _of_json(described: dict[str, Any] | None) -> dict[int, AddedToken]:
    """Those of tokenizer.json, by id."""
    if described is None:
        return {}
    vocab = described["model"].get("vocab")
    check_vocab(vocab, None)
    return {token.id: token for token in added_tokens(described.get("added_tokens"), vocab)}


def _not_listed(special: dict[str, str], values: dict[str, Any], known: set[str]) -> dict[str, AddedToken]:
    """By text the special tokens that are not `known`, with the flags that the values of their keys give."""
    named: dict[str, AddedToken] = {}
    for key, text in special.items():
        if text not in known:
            token = _token(text, _NO_ID, special=True, flags=values[key])
            if named.setdefault(text, token) != token:
                message = f"{key} gives {shown(text)} other flags than another key does"
                raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    return named


def _lists_extra(values: dict[str, Any], file: str) -> bool:
    return any(key in values and not isinstance(values[key], dict) for key in _LISTS_OF_TOKENS[file])


def _check_flags(values: dict[str, Any], file: str, named: dict[str, AddedToken]) -> None:
    """Refuses other flags of a token than another file gives, whatever the key is."""
    for key, value in values.items():
        text = value.get("content") if isinstance(value, dict) else value
        found = named.get(text) if isinstance(text, str) else None
        if found is not None and found != _token(found.content, _NO_ID, special=True, flags=value):
            message = f"{key} gives {shown(text)} other flags than {CONFIG_FILE} does"
            raise refusal("tokenizer-conflict", message, file=file)


def own_tokens(model: SentencePieceModel, tokens: FolderTokens, vocab: Collection[str]) -> dict[str, bool]:
    """Control pieces, which are special, and those that users define, which are found as a whole. Where a file lists
    extra tokens, be it none, these count in their place: here those of them that are pieces."""
    if tokens.lists_extra:
        listed = (value for _, value, file in tokens.extra if file == CONFIG_FILE)
        return {text: True for text in listed if isinstance(text, str) and text in vocab}
    return {piece.text: piece.type == CONTROL for piece in model.pieces if piece.type in (CONTROL, USER_DEFINED)}


def _token(text: str, number: int, *, special: bool, flags: object = None) -> AddedToken:
    """With the flags that an object gives, or those of a bare string."""
    given = flags if isinstance(flags, dict) else {}
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": not special}
    chosen = {flag: given.get(flag, value if not given else flag == "normalized") for flag, value in usual.items()}
    for flag, value in chosen.items():
        if not isinstance(value, bool):
            raise refusal("config-type", f"{flag} of {shown(text)} must be true/false", file=CONFIG_FILE)
    return AddedToken(content=text, id=number, special=special, **chosen)
