# SPDX-License-Identifier: Apache-2.0
"""Marian's tokenizer of a folder: `source.spm` finds the pieces of a text, `vocab.json` says their ids, for the target,
too. As MarianTokenizer of `transformers` 5.23 has it, but for what the notes say."""

from __future__ import annotations

import base64
from dataclasses import asdict, replace
from typing import Any

from .character_tokenizers import character_spec
from .decoder_json import MOST_SPACES, DecoderSpec
from .files import CheckpointFolder
from .folder_tokens import FolderTokens, read_tokens
from .refusal import refusal, shown
from .sentencepiece_model import CONTROL, NORMAL, UNIGRAM, UNKNOWN, SentencePieceModel, read_sentencepiece_model
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import check_unsupported, class_of, read_config
from .tokenizer_json import FILE as JSON_FILE
from .tokenizer_json import check_vocab
from .tokenizer_spec import TokenizerSpec, UnigramModel
from .unigram_json import read_unigram_json

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
) -> tuple[TokenizerSpec, TokenizerSpec, DecoderSpec]:
    """Of the source, of the target, and how the target's pieces are joined; no id reaches `vocab_size`."""
    config = read_config(folder)
    _check_settings(folder, config, class_in_config)
    vocab = _vocabulary(folder, vocab_size)
    source, target = (_model(folder, name, vocab) for name in (SOURCE_FILE, TARGET_FILE))
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    for token in (*tokens.decoded, *tokens.named):
        number = vocab.get(token.content)
        if number is None:
            message = f"{VOCAB_FILE} has no {shown(token.content)}, a special token"
            raise refusal("missing-special-token", message, file=VOCAB_FILE)
        if token in tokens.decoded and number != token.id:
            message = f"added token {shown(token.content)} has the id {token.id} here, {number} in {VOCAB_FILE}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    spec = _source(source, vocab, tokens)
    cleans = (f"{CONFIG_FILE}: clean_up_tokenization_spaces is not done: texts keep spaces that the model writes",)
    notes = cleans if config.get("clean_up_tokenization_spaces") else ()
    decoder = DecoderSpec(space=_METASPACE, strip=MOST_SPACES, drops_last_spaces=True)
    return spec, _target((source, target), vocab, tokens, notes), decoder


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


def _model(folder: CheckpointFolder, file: str, vocab: dict[str, int]) -> SentencePieceModel:
    model = read_sentencepiece_model(folder.read(file, _MAX_BYTES), file)
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
    return model


def _source(model: SentencePieceModel, vocab: dict[str, int], tokens: FolderTokens) -> TokenizerSpec:
    """Pieces of the target only are gaps: they lie at their ids under texts with a space, which no word has."""
    normal = {piece.text: piece.score for piece in model.pieces if piece.type == NORMAL}
    lowest = min(normal.values())
    known = {text: score for text, score in normal.items() if text in vocab}
    letters = set("".join(normal))
    # What source.spm does not know may be in vocab.json all the same: then it is no unknown token.
    strangers = [text for text in vocab if text and letters.isdisjoint(text)]
    by_id = sorted(vocab, key=vocab.__getitem__)
    codes = [text for text in by_id if text.startswith(">>") and text.endswith("<<")]
    scores = known | dict.fromkeys(strangers, lowest) | dict.fromkeys((*tokens.special.values(), *codes), 0.0)
    pieces = [(text, scores[text]) if text in scores else (f" {i}", 0.0) for i, text in enumerate(by_id)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    added = [asdict(token) for token in tokens.of(vocab)] + [{"content": t, "id": vocab[t], **flags} for t in codes]
    end = tokens.special["eos_token"]
    first, second = ({"Sequence": {"id": text, "type_id": 0}} for text in "AB")
    closing = {"SpecialToken": {"id": end, "type_id": 0}}
    steps: list[dict[str, Any]] = [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]
    if model.charsmap:
        steps.insert(0, {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.charsmap).decode()})
    described = {
        "version": "1.0",
        "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Metaspace", "replacement": _METASPACE, "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, closing],
            "pair": [first, second, closing],
            "special_tokens": {end: {"id": end, "ids": [vocab[end]], "tokens": [end]}},
        },
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": vocab[tokens.special["unk_token"]], "vocab": list(map(list, pieces))},
    }
    spec = read_unigram_json(described, scores=tuple(score for _, score in pieces))
    assert isinstance(spec.model, UnigramModel)
    found = tuple(text if text in scores else None for text in by_id)
    notes = tokens.notes + _differences(len(normal) - len(known), strangers, codes)
    return replace(spec, model=replace(spec.model, pieces=found), notes=notes)


def _differences(without_id: int, strangers: list[str], codes: list[str]) -> tuple[str, ...]:
    notes = []
    if without_id:
        message = f"{without_id} pieces of {SOURCE_FILE} have no id in {VOCAB_FILE}: unknown, character by character"
        notes.append(f"{message}; one token for each of them in {_CLASS}")
    if strangers:
        message = f"{len(strangers)} pieces of {VOCAB_FILE} are of characters that {SOURCE_FILE} does not know"
        notes.append(f"{message}: found one by one, by {_CLASS} only where no two such characters meet")
    if codes:
        notes.append(f"codes of languages, such as {codes[0]}, are found anywhere in a text, not at its beginning only")
    return tuple(notes)


def _target(
    models: tuple[SentencePieceModel, ...], vocab: dict[str, int], tokens: FolderTokens, notes: tuple[str, ...]
) -> TokenizerSpec:
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
    return replace(character_spec(pieces, vocab[tokens.special["unk_token"]], silent, None, decoder), notes=notes)
