# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE of a folder without tokenizer.json: tokenizer.model as `transformers` 5.23 reads it for a
LlamaTokenizer.

Of SentencePiece's file it takes the pieces alone, in their order: merges are all the ways to write one piece as two
others, the pieces of the first ids first. Neither the compiled map nor the flags of SentencePiece's normalizer count.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from .character_bpe_json import read_character_bpe_json
from .files import CheckpointFolder
from .folder_tokens import read_tokens
from .metaspace_json import METASPACE
from .refusal import refusal
from .sentencepiece_model import BPE, CONTROL, USER_DEFINED, SentencePieceModel, read_sentencepiece_model
from .template_json import without_segments
from .tokenizer_config import check_unsupported, class_of, flag_of, has_segments, read_config
from .tokenizer_spec import AddedToken, TokenizerSpec

FILE = "tokenizer.model"
CLASS = "LlamaTokenizer"
_MAX_MODEL_BYTES = 32 << 20
_TOKENS: dict[str, object] = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def is_llama_folder(folder: CheckpointFolder, class_in_config: object) -> bool:
    """Whether a folder without tokenizer.json has such a tokenizer."""
    named = read_config(folder).get("tokenizer_class", class_in_config)
    return folder.has(FILE) and named in (CLASS, f"{CLASS}Fast")


def read_llama_folder(folder: CheckpointFolder, class_in_config: object) -> TokenizerSpec:
    """`class_in_config` is as in `TokenizerConfig`."""
    config = read_config(folder)
    check_unsupported(config)
    class_of(config, class_in_config, CLASS, supported=(CLASS,), model="SentencePiece BPE")
    model = read_sentencepiece_model(folder.read(FILE, _MAX_MODEL_BYTES), FILE)
    if model.model_type != BPE:
        message = f"its model is of type {model.model_type}, {CLASS} needs BPE (2)"
        raise refusal("sentencepiece-type", message, file=FILE)
    vocab = {piece.text: i for i, piece in enumerate(model.pieces)}
    if len(vocab) != len(model.pieces):
        raise refusal("vocab-duplicate-piece", "two of its pieces are the same text", file=FILE)
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    added = {token.content: token for token in (*_own_tokens(model), *tokens.of(vocab))}
    described = _described(config, vocab, sorted(added.values(), key=lambda token: token.id))
    spec = read_character_bpe_json(described if has_segments(config, usual=False) else without_segments(described))
    tokens.check(spec)
    notes = (f"{CLASS} of transformers does not apply the compiled map of {FILE}",) if model.charsmap else ()
    return replace(spec, notes=spec.notes + tokens.notes + notes)


def _own_tokens(model: SentencePieceModel) -> list[AddedToken]:
    """Control pieces are special, those that users define are found as a whole."""
    return [
        AddedToken(piece.text, i, piece.type == CONTROL, False, False, False, False)
        for i, piece in enumerate(model.pieces)
        if piece.type in (CONTROL, USER_DEFINED)
    ]


def _described(config: dict[str, Any], vocab: dict[str, int], added: list[AddedToken]) -> dict[str, Any]:
    """The tokenizer.json of the class."""
    prepends = flag_of(config, "add_prefix_space", True)
    scheme = "always" if flag_of(config, "legacy", False) else "first"
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prepends else []),
    ]
    parts: list[dict[str, Any]] = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]
    return {
        "version": "1.0",
        "added_tokens": [asdict(token) for token in added],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": METASPACE,
            "prepend_scheme": scheme if prepends else "never",
            "split": False,
        },
        "post_processor": {"type": "TemplateProcessing", "single": parts[:1], "pair": parts, "special_tokens": {}},
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": vocab,
            "merges": derived_merges(vocab),
        },
    }


def derived_merges(vocab: dict[str, int]) -> list[list[str]]:
    """All pairs of pieces that make a piece: by its id, then by the length of the left one, as `generate_merges` of
    `transformers` sorts them."""
    return [
        [piece[:cut], piece[cut:]]
        for piece in sorted(vocab, key=vocab.__getitem__)
        for cut in range(1, len(piece))
        if piece[:cut] in vocab and piece[cut:] in vocab
    ]
