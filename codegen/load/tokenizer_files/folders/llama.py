# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE of a folder: tokenizer.json, or tokenizer.model as `transformers` 5.23 reads it for a
LlamaTokenizer.

A tokenizer.json counts as it is; where the class would be rebuilt with other parts a note says so. Of SentencePiece's
file it takes the pieces alone, in their order: merges are all the ways to write one piece as two others, the pieces of
the first ids first. Neither the compiled map nor the flags of SentencePiece's normalizer count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, Literal

from ....ir.tokenizer_spec import METASPACE, AddedToken, CharacterBpeModel, MetaspaceSegmenter, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal
from ..folder_tokens import ROBERTA_TOKENS, FolderTokens, own_tokens, read_tokens
from ..sentencepiece_model import BPE, read_sentencepiece_model
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import (
    GEMMA_TOKENIZER,
    LLAMA_TOKENIZER,
    SIGLIP2_TOKENIZER,
    asked,
    asked_ends,
    check_unsupported,
    has_segments,
    read_config,
)
from ..tokenizer_json.character_bpe import REPLACE, SPLIT, read_character_bpe_json
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.metaspace import prepend_of
from ..tokenizer_json.template import template_between, without_segments
from .described import RebuiltClass, read_described_folder
from .nllb import found_raw, other_than_nllb
from .unigram import BARE, CLASSES

FILE = "tokenizer.model"
_MAX_MODEL_BYTES = 32 << 20
_TOKENS: dict[str, object] = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_GEMMA_TOKENS: dict[str, object] = {
    "bos_token": "<bos>",
    "eos_token": "<eos>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
# Gemma's tokenizer.json as SigLIP 2 reads it.
_IN_LOWER_CASE: dict[str, object] = {
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, REPLACE]},
    "pre_tokenizer": SPLIT,
}


def read_character_bpe_folder(
    folder: CheckpointFolder, described: dict[str, Any], class_in_config: object, usual_class: str
) -> TokenizerSpec:
    """Of a folder whose tokenizer.json is `described`; the rest as in `WordPieceConfig`."""
    spec = read_described_folder(
        folder,
        described,
        class_in_config,
        usual_class,
        read=read_character_bpe_json,
        model="BPE of characters",
        classes=_CLASSES,
    )
    if folder.has(FILE):
        model = read_sentencepiece_model(folder.read(FILE, _MAX_MODEL_BYTES), FILE)
        if [piece.text for piece in model.pieces] != sorted(
            described["model"]["vocab"], key=described["model"]["vocab"].get
        ):
            raise refusal("tokenizer-conflict", f"{JSON_FILE} has other pieces", file=FILE)
    return spec


def _other_than_llama(config: dict[str, Any], spec: TokenizerSpec, _: FolderTokens) -> Iterator[str]:
    prepends = asked(config, "add_prefix_space", True)
    prepend = prepend_of(spec.segmenter)
    if config.get("add_prefix_space") is not None and prepends != (prepend not in (None, "never")):
        raise refusal("tokenizer-conflict", f"add_prefix_space is not what {JSON_FILE} says", file=CONFIG_FILE)
    yield from _other_parts(spec, MetaspaceSegmenter(_scheme(config, prepends), split=False, split_whitespace=False))


def _other_than_gemma(_: dict[str, Any], spec: TokenizerSpec, __: FolderTokens) -> Iterator[str]:
    return _other_parts(spec, MetaspaceSegmenter("never", split=False, split_whitespace=False))


def _other_parts(spec: TokenizerSpec, segmenter: MetaspaceSegmenter) -> Iterator[str]:
    model = spec.model
    assert isinstance(model, CharacterBpeModel)
    if spec.normalizer != BARE:
        yield "normalizer"
    if spec.segmenter != segmenter:
        yield "pre_tokenizer"
    if _has_other_model(model):
        yield "model"


def _other_than_siglip2(_: dict[str, Any], spec: TokenizerSpec, __: FolderTokens) -> Iterator[str]:
    assert isinstance(spec.model, CharacterBpeModel)
    if _has_other_model(spec.model):
        yield "model"


def _has_other_model(model: CharacterBpeModel) -> bool:
    return model.ignore_merges or not model.byte_fallback


_CLASSES: dict[str, RebuiltClass | None] = {
    **dict.fromkeys((*CLASSES, "BarthezTokenizer", "MBartTokenizer")),  # older files of theirs may have BPE
    LLAMA_TOKENIZER: RebuiltClass(_TOKENS, _other_than_llama),
    GEMMA_TOKENIZER: RebuiltClass(_GEMMA_TOKENS, _other_than_gemma),
    SIGLIP2_TOKENIZER: RebuiltClass(_GEMMA_TOKENS, _other_than_siglip2, of_class=_IN_LOWER_CASE),
    "NllbTokenizer": RebuiltClass(ROBERTA_TOKENS, other_than_nllb, found_raw),
}


def read_llama_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """A LlamaTokenizer of its file."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    model = read_sentencepiece_model(folder.read(FILE, _MAX_MODEL_BYTES), FILE)
    if model.model_type != BPE:
        message = f"its model is of type {model.model_type}, {LLAMA_TOKENIZER} needs BPE (2)"
        raise refusal("sentencepiece-type", message, file=FILE)
    vocab = {piece.text: i for i, piece in enumerate(model.pieces)}
    if len(vocab) != len(model.pieces):
        raise refusal("vocab-duplicate-piece", "two of its pieces are the same text", file=FILE)
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    added = tokens.of(vocab, own_tokens(model, tokens, vocab))
    described = _described(config, vocab, added, tokens.special)
    spec = read_character_bpe_json(described if has_segments(config, usual=False) else without_segments(described))
    tokens.check(spec)
    notes = (f"{LLAMA_TOKENIZER} of transformers does not apply the compiled map of {FILE}",) if model.charsmap else ()
    return replace(spec, notes=spec.notes + tokens.notes + notes)


def _described(
    config: dict[str, Any], vocab: dict[str, int], added: list[AddedToken], special: dict[str, str]
) -> dict[str, Any]:
    """The tokenizer.json of the class."""
    prepends = asked(config, "add_prefix_space", True)
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prepends else []),
    ]
    ids = vocab | {token.content: token.id for token in added}
    ends = asked_ends(config, special)
    return {
        "version": "1.0",
        "added_tokens": [asdict(token) for token in added],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": METASPACE,
            "prepend_scheme": _scheme(config, prepends),
            "split": False,
        },
        "post_processor": template_between(ends, ids),
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


def _scheme(config: dict[str, Any], prepends: bool) -> Literal["never", "first", "always"]:
    if not prepends:
        return "never"
    return "always" if asked(config, "legacy") else "first"


def derived_merges(vocab: dict[str, int]) -> list[list[str]]:
    """All pairs of pieces that make a piece: by its id, then by the length of the left one, as `generate_merges` of
    `transformers` sorts them."""
    return [
        [piece[:cut], piece[cut:]]
        for piece in sorted(vocab, key=vocab.__getitem__)
        for cut in range(1, len(piece))
        if piece[:cut] in vocab and piece[cut:] in vocab
    ]
