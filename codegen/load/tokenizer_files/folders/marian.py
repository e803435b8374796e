# SPDX-License-Identifier: Apache-2.0
"""Marian's tokenizer of a folder: `source.spm` finds the pieces of a text, `vocab.json` says their ids, for the target,
too. As MarianTokenizer of `transformers` 5.23 has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ....ir.normalizer_spec import SentencePieceNormalizer
from ....ir.target_tokenizer import DecoderSpec
from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import MetaspaceSegmenter, SentencePieceFile, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..sentencepiece_model import CONTROL, UNIGRAM, SentencePieceModel
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, check_unsupported, class_of, read_config
from ..tokenizer_json.fields import FILE as JSON_FILE
from .looked_up_pieces import (
    DECODER,
    MAX_MODEL_BYTES,
    VOCAB_FILE,
    read_ids,
    read_model,
    unigram_of,
    written_texts,
)

SOURCE_FILE, TARGET_FILE = "source.spm", "target.spm"
_CLASS = "MarianTokenizer"
_TOKENS: dict[str, object] = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"}


def is_marian_folder(folder: CheckpointFolder) -> bool:
    """Whether a folder has its files, or one of them."""
    return folder.has(SOURCE_FILE) or folder.has(TARGET_FILE)


def read_marian_folder(
    folder: CheckpointFolder, vocab_size: int, class_in_config: object
) -> tuple[TokenizerSpec, TokenizerSpec, DecoderSpec, Callable[[], TokenizerSpec]]:
    """Of the source, of the target, how the target's pieces are joined, and what finds them in a text of the target; no
    id reaches `vocab_size`."""
    config = read_config(folder)
    _check_settings(folder, config, class_in_config)
    vocab = read_ids(folder, vocab_size)
    files = (SOURCE_FILE, TARGET_FILE)
    raw = [folder.read(name, MAX_MODEL_BYTES) for name in files]
    source, target = (read_model(one, name, vocab, UNIGRAM) for one, name in zip(raw, files, strict=True))
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    for token in (*tokens.decoded, *tokens.named):
        number = vocab.get(token.content)
        if number is None:
            message = f"{VOCAB_FILE} has no {shown(token.content)}, a special token"
            raise refusal("missing-special-token", message, file=VOCAB_FILE)
        if token in tokens.decoded and number != token.id:
            message = f"added token {shown(token.content)} has the id {token.id} here, {number} in {VOCAB_FILE}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    added = {token.content: token for token in tokens.of(vocab)}
    check_are_added(tokens.extra, added, VOCAB_FILE)
    spec = _source(source, raw[0], vocab, tokens)
    reader = partial(_source, target, raw[1], vocab, tokens)
    return spec, _target((source, target), vocab, tokens), DECODER, reader


def _check_settings(folder: CheckpointFolder, config: dict[str, Any], class_in_config: object) -> None:
    check_unsupported(config)
    if class_of(config, class_in_config, _CLASS, supported=(_CLASS,), model=SOURCE_FILE) != _CLASS:
        raise refusal("tokenizer-class", f"only {_CLASS} has a {SOURCE_FILE}", file=CONFIG_FILE)
    for key in ("separate_vocabs", "sp_model_kwargs"):
        if config.get(key):
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)
    if folder.has(JSON_FILE):
        raise refusal("tokenizer-conflict", f"the folder has {SOURCE_FILE} as well", file=JSON_FILE)
    missing = next((name for name in (SOURCE_FILE, TARGET_FILE, VOCAB_FILE) if not folder.has(name)), None)
    if missing is not None:
        raise refusal("tokenizer-missing", f"the folder has no {missing}, which {_CLASS} needs")


def _source(model: SentencePieceModel, raw: bytes, vocab: dict[str, int], tokens: FolderTokens) -> TokenizerSpec:
    """SentencePiece finds the pieces, by numbers of its own; as in MarianTokenizer the text of each is looked up."""
    codes = tuple((text, number) for text, number in vocab.items() if text.startswith(">>") and text.endswith("<<"))
    added = tokens.of(vocab)
    whole = next((token.content for token in added if token.single_word), None)
    if whole is not None:
        message = f"added token {shown(whole)} has single_word, which is not supported with {SOURCE_FILE}"
        raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    end = TemplatePart(vocab[tokens.special["eos_token"]], 0)
    first, second = TemplatePart("A", 0), TemplatePart("B", 0)
    unknown_id = vocab[tokens.special["unk_token"]]
    return TokenizerSpec(
        normalizer=SentencePieceNormalizer(model.charsmap or None, codes, unknown_id),
        segmenter=MetaspaceSegmenter(prepend="doubled", split=True, split_whitespace=False),
        model=unigram_of(model, vocab, unknown_id),
        template=Template(single=(first, end), pair=(first, second, end)),
        added_tokens=tuple(replace(token, normalized=False) for token in added),
        json="",
        notes=tokens.notes,
        sentencepiece=SentencePieceFile(raw, vocab),
    )


def _target(models: tuple[SentencePieceModel, ...], vocab: dict[str, int], tokens: FolderTokens) -> TokenizerSpec:
    """Every piece by its id; those that read as nothing are special ones."""
    silent = {piece.text for model in models for piece in model.pieces if piece.type == CONTROL}
    special = sorted((silent | set(tokens.special.values())) & set(vocab), key=vocab.__getitem__)
    texts = tuple(sorted(vocab, key=vocab.__getitem__))
    return written_texts(texts, vocab[tokens.special["unk_token"]], special)
