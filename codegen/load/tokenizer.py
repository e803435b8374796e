# SPDX-License-Identifier: Apache-2.0
"""The tokenizer of a checkpoint folder: tokenizer.json, or vocab.txt with tokenizer_config.json."""

from __future__ import annotations

from . import tokenizer_config, tokenizer_json, vocab_text
from .files import CheckpointFolder
from .refusal import refusal, shown
from .tokenizer_config import TokenizerConfig
from .tokenizer_parts import TokenizerParts
from .tokenizer_spec import AddedToken, WordPieceSpec


def load_tokenizer(folder: CheckpointFolder, vocab_size: int) -> WordPieceSpec:
    """The checked tokenizer; no id of it reaches `vocab_size`, the rows of the word embedding."""
    config = TokenizerConfig(folder)
    if folder.has(tokenizer_json.FILE):
        parts = tokenizer_json.read_tokenizer_json(folder.read_json(tokenizer_json.FILE))
        config.check_against(parts)
        if folder.has(vocab_text.FILE):
            _check_same_vocab(parts, vocab_text.read_vocab_text(folder.read(vocab_text.FILE, vocab_text.MAX_BYTES))[0])
    elif folder.has(vocab_text.FILE):
        parts = _from_vocab_text(folder, config)
        config.check_against(parts)
    else:
        raise refusal("tokenizer-missing", f"the folder has neither {tokenizer_json.FILE} nor {vocab_text.FILE}")
    return _spec(parts, vocab_size)


def _from_vocab_text(folder: CheckpointFolder, config: TokenizerConfig) -> TokenizerParts:
    if not config.rebuilds:
        raise refusal(
            "tokenizer-class",
            f"{shown(config.values['tokenizer_class'])} needs tokenizer.json, the folder has only {vocab_text.FILE}",
            file=tokenizer_config.FILE,
        )
    vocab, notes = vocab_text.read_vocab_text(folder.read(vocab_text.FILE, vocab_text.MAX_BYTES))
    special = {key: config.special_token(key) for key in tokenizer_config.SPECIAL_TOKENS}
    for key, token in special.items():
        if token not in vocab:
            raise refusal(
                "missing-special-token", f"the vocabulary has no {shown(token)}, the {key}", file=vocab_text.FILE
            )
    if special["cls_token"] == special["sep_token"]:
        raise refusal("tokenizer-template", "one token is both cls_token and sep_token", file=tokenizer_config.FILE)
    added = [
        AddedToken(
            content=token,
            id=vocab[token],
            special=True,
            normalized=False,
            single_word=False,
            lstrip=False,
            rstrip=False,
        )
        for token in sorted(set(special.values()), key=vocab.__getitem__)
    ]
    if not folder.has(tokenizer_config.FILE):
        notes += (f"no {tokenizer_config.FILE}: lower-casing assumed, as transformers does",)
    return TokenizerParts(
        file=vocab_text.FILE,
        vocab=vocab,
        added_tokens=tuple(added),
        clean_text=True,
        handle_chinese_chars=bool(config.setting("tokenize_chinese_chars")),
        strip_accents=config.setting("strip_accents"),
        lowercase=bool(config.setting("do_lower_case")),
        continuing_prefix="##",
        max_input_chars_per_word=100,
        unknown_token=special["unk_token"],
        classify_token=special["cls_token"],
        separate_token=special["sep_token"],
        notes=notes,
    )


def _check_same_vocab(parts: TokenizerParts, lines: dict[str, int]) -> None:
    """The folder has both files, and they must agree: different tools read different ones."""
    known = parts.vocab | {token.content: token.id for token in parts.added_tokens}
    different = next((p for p in lines if known.get(p) != lines[p]), None)
    if different is None:
        different = next((p for p in parts.vocab if p not in lines), None)
    if different is not None:
        raise refusal(
            "tokenizer-conflict",
            f"the piece {shown(different)} has the id {shown(lines.get(different))} in {vocab_text.FILE}, "
            f"{shown(known.get(different))} in {parts.file}",
            file=vocab_text.FILE,
        )


def _spec(parts: TokenizerParts, vocab_size: int) -> WordPieceSpec:
    ids = parts.vocab | {token.content: token.id for token in parts.added_tokens}
    last = max(ids, key=ids.__getitem__)
    if ids[last] >= vocab_size:
        raise refusal(
            "token-id-out-of-range",
            f"{shown(last)} has the id {ids[last]}, the word embedding only {vocab_size} rows (vocab_size)",
            file=parts.file,
        )
    notes = parts.notes
    if ids[last] + 1 < vocab_size:
        notes += (f"vocab_size is {vocab_size}, the tokenizer produces ids up to {ids[last]}",)
    pieces: list[str | None] = [None] * (ids[last] + 1)
    for piece, index in parts.vocab.items():
        pieces[index] = piece or None  # an empty piece never matches
    return WordPieceSpec(
        pieces=tuple(pieces),
        added_tokens=parts.added_tokens,
        clean_text=parts.clean_text,
        handle_chinese_chars=parts.handle_chinese_chars,
        strip_accents=parts.lowercase if parts.strip_accents is None else parts.strip_accents,
        lowercase=parts.lowercase,
        continuing_prefix=parts.continuing_prefix,
        max_input_chars_per_word=parts.max_input_chars_per_word,
        unknown_id=parts.vocab[parts.unknown_token],
        classify_id=parts.vocab[parts.classify_token],
        separate_id=parts.vocab[parts.separate_token],
        json=parts.to_json(),
        notes=notes,
    )
