# SPDX-License-Identifier: Apache-2.0
"""Marian's tokenizer of a folder: `source.spm` finds the pieces of a text, `vocab.json` says their ids, for the target,
too. As MarianTokenizer of `transformers` 5.23 has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from .character_tokenizers import character_spec
from .decoder_json import MOST_SPACES, DecoderSpec
from .files import CheckpointFolder
from .folder_tokens import FolderTokens, read_tokens
from .refusal import refusal, shown
from .sentencepiece_library import check_readable
from .sentencepiece_model import CONTROL, NORMAL, UNIGRAM, UNKNOWN, SentencePieceModel, read_sentencepiece_model
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import check_is_added, check_unsupported, class_of, read_config
from .tokenizer_json import FILE as JSON_FILE
from .tokenizer_json import check_vocab
from .tokenizer_spec import (
    MetaspaceSegmenter,
    SentencePieceFile,
    SentencePieceNormalizer,
    Template,
    TemplatePart,
    TokenizerSpec,
    UnigramModel,
)

SOURCE_FILE, TARGET_FILE, VOCAB_FILE = "source.spm", "target.spm", "vocab.json"
_CLASS = "MarianTokenizer"
_TOKENS: dict[str, object] = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"}
_MAX_BYTES = 32 << 20
_METASPACE = "\u2581"


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
    vocab = _vocabulary(folder, vocab_size)
    raw = [folder.read(name, _MAX_BYTES) for name in (SOURCE_FILE, TARGET_FILE)]
    source, target = (_model(one, name, vocab) for one, name in zip(raw, (SOURCE_FILE, TARGET_FILE), strict=True))
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
    for key, value, file in tokens.extra:
        check_is_added(value, key, added, VOCAB_FILE, file)
    spec = _source(source, raw[0], vocab, tokens)
    decoder = DecoderSpec(space=_METASPACE, strip=MOST_SPACES, drops_last_spaces=True)
    reader = partial(_source, target, raw[1], vocab, tokens)
    return spec, _target((source, target), vocab, tokens), decoder, reader


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


def _vocabulary(folder: CheckpointFolder, vocab_size: int) -> dict[str, int]:
    vocab = folder.read_json(VOCAB_FILE)
    check_vocab(vocab, None, VOCAB_FILE)
    if len(vocab) > vocab_size:
        message = f"it has {len(vocab)} pieces, the word embedding only {vocab_size} rows (vocab_size)"
        raise refusal("token-id-out-of-range", message, file=VOCAB_FILE)
    return vocab


def _model(raw: bytes, file: str, vocab: dict[str, int]) -> SentencePieceModel:
    model = read_sentencepiece_model(raw, file)
    if model.model_type != UNIGRAM:
        message = f"its model is of type {model.model_type}, only Unigram (1) is supported"
        raise refusal("sentencepiece-type", message, file=file)
    settings = model.add_dummy_prefix, model.remove_extra_whitespaces, model.escape_whitespaces, not model.byte_fallback
    if not all(settings):
        message = "a space before the text, without more spaces than one and without byte fallback: not so here"
        raise refusal("sentencepiece-setting", message, file=file)
    other = next((piece for piece in model.pieces if piece.type not in (NORMAL, UNKNOWN, CONTROL)), None)
    if other is not None:
        message = f"the piece {shown(other.text)} is of type {other.type}: normal and control ones are supported"
        raise refusal("sentencepiece-setting", message, file=file)
    crossing = next((piece.text for piece in model.pieces if _METASPACE in piece.text[1:]), None)
    if crossing is not None:
        raise refusal("sentencepiece-setting", f"the piece {shown(crossing)} goes over a space", file=file)
    normal = [piece.text for piece in model.pieces if piece.type == NORMAL]
    if sum(text in vocab for text in normal) * 2 < len(normal):
        message = f"most of its pieces are not in {VOCAB_FILE}: they are of two models"
        raise refusal("tokenizer-conflict", message, file=file)
    likely = next((piece for piece in model.pieces if piece.type == NORMAL and piece.score > 0), None)
    if likely is not None:
        message = f"the score of the piece {shown(likely.text)} is {likely.score:g}, no logarithm of probability"
        raise refusal("sentencepiece-setting", message, file=file)
    if _METASPACE not in normal:
        raise refusal("sentencepiece-setting", "the space is no piece: unknown text would go over it", file=file)
    if b"  " in model.charsmap[4 + int.from_bytes(model.charsmap[:4], "little") :]:
        message = "its compiled map makes two spaces of one character, which is not supported"
        raise refusal("sentencepiece-setting", message, file=file)
    check_readable(raw, file)
    return model


def _source(model: SentencePieceModel, raw: bytes, vocab: dict[str, int], tokens: FolderTokens) -> TokenizerSpec:
    """SentencePiece finds the pieces, by numbers of its own; as in MarianTokenizer the text of each is looked up."""
    scores = {piece.text: piece.score for piece in model.pieces if piece.type == NORMAL}
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
        model=_with_vocabulary(scores, vocab, unknown_id),
        template=Template(single=(first, end), pair=(first, second, end)),
        added_tokens=tuple(replace(token, normalized=False) for token in added),
        json="",
        notes=tokens.notes,
        sentencepiece=SentencePieceFile(raw, vocab),
    )


def _with_vocabulary(scores: dict[str, float], vocab: dict[str, int], unknown_id: int) -> UnigramModel:
    """Unknown text is looked up as well: it may be a piece of the target, of characters that are no pieces here."""
    by_id = sorted(vocab, key=vocab.__getitem__)
    return UnigramModel(
        pieces=tuple(text if text in scores else None for text in by_id),
        scores=tuple(scores.get(text, 0.0) for text in by_id),
        unknown_id=unknown_id,
        byte_fallback=False,
        without_id=tuple((text, score) for text, score in scores.items() if text not in vocab),
        named=tuple((text, vocab[text]) for text in by_id if text and not any(c in scores for c in text)),
        float_sums=True,
    )


def _target(models: tuple[SentencePieceModel, ...], vocab: dict[str, int], tokens: FolderTokens) -> TokenizerSpec:
    """Every piece by its id; those that read as nothing are special ones."""
    silent = {piece.text for model in models for piece in model.pieces if piece.type == CONTROL}
    silent = sorted((silent | set(tokens.special.values())) & set(vocab), key=vocab.__getitem__)
    pieces = tuple(sorted(vocab, key=vocab.__getitem__))
    steps: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": _METASPACE}, "content": " "},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": MOST_SPACES, "stop": 0},
    ]
    decoder = {"type": "Sequence", "decoders": steps}
    return character_spec(pieces, vocab[tokens.special["unk_token"]], silent, None, decoder)
