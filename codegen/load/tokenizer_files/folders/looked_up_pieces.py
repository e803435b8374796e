# SPDX-License-Identifier: Apache-2.0
"""Pieces that the `sentencepiece` library finds in a text, and whose ids vocab.json says: what tokenizers of Marian and
M2M-100 share. Pieces may lack an id, and ids a piece: unknown text, looked up as a whole, may be one of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ....ir.target_tokenizer import DecoderSpec
from ....ir.tokenizer_spec import METASPACE, TokenizerSpec, UnigramModel
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..character_tokenizers import character_spec
from ..sentencepiece_library import check_readable
from ..sentencepiece_model import BPE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, SentencePieceModel, read_sentencepiece_model
from ..tokenizer_json.decoder import MOST_SPACES
from ..tokenizer_json.fields import check_vocab

VOCAB_FILE = "vocab.json"
MAX_MODEL_BYTES = 32 << 20
# Of what is written.
DECODER = DecoderSpec(space=METASPACE, strip=MOST_SPACES, drops_last_spaces=True)
_DECODERS: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": MOST_SPACES, "stop": 0},
]
_NAMES = {UNIGRAM: "Unigram", BPE: "BPE"}


def read_ids(folder: CheckpointFolder, vocab_size: int) -> dict[str, int]:
    """By the texts of pieces; none reaches `vocab_size`."""
    vocab = folder.read_json(VOCAB_FILE)
    check_vocab(vocab, None, VOCAB_FILE)
    if len(vocab) > vocab_size:
        message = f"it has {len(vocab)} pieces, the word embedding only {vocab_size} rows (vocab_size)"
        raise refusal("token-id-out-of-range", message, file=VOCAB_FILE)
    return vocab


def read_model(raw: bytes, file: str, vocab: dict[str, int], model_type: int) -> SentencePieceModel:
    """Of this type, with words that begin with U+2581."""
    model = read_sentencepiece_model(raw, file)
    if model.model_type != model_type:
        message = f"its model is of type {model.model_type}, only {_NAMES[model_type]} ({model_type}) is supported"
        raise refusal("sentencepiece-type", message, file=file)
    settings = model.add_dummy_prefix, model.remove_extra_whitespaces, model.escape_whitespaces, not model.byte_fallback
    if not all(settings):
        message = "a space before the text, without more spaces than one and without byte fallback: not so here"
        raise refusal("sentencepiece-setting", message, file=file)
    other = next((piece for piece in model.pieces if piece.type not in (NORMAL, UNKNOWN, CONTROL)), None)
    if other is not None:
        message = f"the piece {shown(other.text)} is of type {other.type}: normal and control ones are supported"
        raise refusal("sentencepiece-setting", message, file=file)
    crossing = next((piece.text for piece in model.pieces if METASPACE in piece.text[1:]), None)
    if crossing is not None:
        raise refusal("sentencepiece-setting", f"the piece {shown(crossing)} goes over a space", file=file)
    normal = normal_pieces(model)
    if sum(text in vocab for text in normal) * 2 < len(normal):
        message = f"most of its pieces are not in {VOCAB_FILE}: they are of two models"
        raise refusal("tokenizer-conflict", message, file=file)
    likely = next((text for text, score in normal.items() if score > 0), None) if model_type == UNIGRAM else None
    if likely is not None:
        message = f"the score of the piece {shown(likely)} is {normal[likely]:g}, no logarithm of probability"
        raise refusal("sentencepiece-setting", message, file=file)
    if METASPACE not in normal:
        raise refusal("sentencepiece-setting", "the space is no piece: unknown text would go over it", file=file)
    if b"  " in model.charsmap[4 + int.from_bytes(model.charsmap[:4], "little") :]:
        message = "its compiled map makes two spaces of one character, which is not supported"
        raise refusal("sentencepiece-setting", message, file=file)
    check_readable(raw, file)
    return model


def normal_pieces(model: SentencePieceModel) -> dict[str, float]:
    """Those that texts become, with their scores."""
    return {piece.text: piece.score for piece in model.pieces if piece.type == NORMAL}


def pieces_by_id(vocab: dict[str, int], normal: Collection[str]) -> tuple[str | None, ...]:
    """None where no text becomes the piece of an id."""
    return tuple(text if text in normal else None for text in sorted(vocab, key=vocab.__getitem__))


def texts_of_unknown(vocab: dict[str, int], normal: Collection[str]) -> tuple[tuple[str, int], ...]:
    """What unknown text may be after all, and its ids: texts without a character that is a piece."""
    by_id = sorted(vocab, key=vocab.__getitem__)
    return tuple((text, vocab[text]) for text in by_id if text and not any(c in normal for c in text))


def unigram_of(model: SentencePieceModel, vocab: dict[str, int], unknown_id: int) -> UnigramModel:
    """Unknown text is looked up as well: it may be a piece of its own, of characters that are no pieces."""
    scores = normal_pieces(model)
    pieces = pieces_by_id(vocab, scores)
    return UnigramModel(
        pieces=pieces,
        scores=tuple(scores.get(text or "", 0.0) for text in pieces),
        unknown_id=unknown_id,
        byte_fallback=False,
        without_id=tuple((text, score) for text, score in scores.items() if text not in vocab),
        named=texts_of_unknown(vocab, scores),
        float_sums=True,
    )


def written_texts(texts: tuple[str, ...], unknown_id: int, special: Iterable[str]) -> TokenizerSpec:
    """What is written with these texts, by their ids; those that are `special` read as nothing."""
    return character_spec(texts, unknown_id, special, None, {"type": "Sequence", "decoders": _DECODERS})
