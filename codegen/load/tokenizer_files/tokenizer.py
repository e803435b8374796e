# SPDX-License-Identifier: Apache-2.0
"""The tokenizer of a checkpoint folder: tokenizer.json, or, of older ones, vocab.txt (WordPiece), vocab.json with
merges.txt (byte-level BPE), or SentencePiece's own file (Unigram)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tokenizers import Tokenizer

from ...ir.character_models import CodePointsModel
from ...ir.normalizer_spec import BertNormalizer
from ...ir.template_spec import bert_template
from ...ir.tokenizer_spec import AddedToken, BertSegmenter, ByteLevelBpeModel, TokenizerSpec, WordPieceModel
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from . import tokenizer_config, vocab_text
from .folders.bert_generation import FILE as BERT_GENERATION_FILE
from .folders.bert_generation import TOKENIZER_CLASS as BERT_GENERATION
from .folders.bert_generation import read_bert_generation_folder
from .folders.byt5 import TOKENIZER_CLASS as BYT5
from .folders.byt5 import read_byt5_folder
from .folders.byte_level import MERGES_FILE, VOCAB_FILE, is_byte_level, read_byte_level_folder
from .folders.canine import TOKENIZER_CLASS as CANINE
from .folders.canine import read_canine_folder
from .folders.described import read_described_folder
from .folders.esm import TOKENIZER_CLASS as ESM
from .folders.esm import read_esm_folder
from .folders.esmc import TOKENIZER_CLASS as ESMC
from .folders.esmc import read_esmc_folder
from .folders.fairseq import CLASSES as FAIRSEQ
from .folders.fairseq import read_fairseq_folder
from .folders.llama import FILE as LLAMA_FILE
from .folders.llama import read_character_bpe_folder, read_llama_folder
from .folders.m2m import FILE as PLBART_FILE
from .folders.marked_ends import CLASSES as MARKED_ENDS
from .folders.marked_ends import read_marked_ends_folder
from .folders.moses import CLASSES as BY_MOSES
from .folders.moses import read_moses_folder
from .folders.plbart import TOKENIZER_CLASS as PLBART
from .folders.plbart import read_plbart_folder
from .folders.unigram import MODEL_FILES, is_unigram_folder, read_unigram_folder
from .mistral_repair import check_repaired
from .tokenizer_config import BERT_TOKENIZER, LLAMA_TOKENIZER, class_name, read_config
from .tokenizer_json.bert import read_bert_json
from .tokenizer_json.character_bpe import is_character_bpe
from .tokenizer_json.fields import FILE as TOKENIZER_JSON
from .tokenizer_json.fields import wheel_of
from .tokenizer_json.spelled_word_piece import TokenizerParts
from .tokenizer_json.word_level import is_word_level, read_word_level_json
from .tokenizer_json.word_piece import is_word_piece_of_steps, read_word_piece_json
from .word_piece_config import WordPieceConfig

MAX_PIECE_BYTES = 1024
MAX_VOCABULARY_BYTES = 4 << 20  # 250,000 pieces of 8 bytes take half of it


def load_tokenizer(
    folder: CheckpointFolder, vocab_size: int, class_in_config: object = None, usual_class: str = BERT_TOKENIZER
) -> TokenizerSpec:
    """The checked tokenizer; no id of it reaches `vocab_size`, the rows of the word embedding. `class_in_config` is
    `tokenizer_class` of config.json, `usual_class` what the family has where no file names one."""
    described = folder.read_json(TOKENIZER_JSON) if folder.has(TOKENIZER_JSON) else None
    return read_tokenizer(folder, described, vocab_size, class_in_config, usual_class)


def read_tokenizer(
    folder: CheckpointFolder,
    described: dict[str, Any] | None,
    vocab_size: int,
    class_in_config: object = None,
    usual_class: str = BERT_TOKENIZER,
) -> TokenizerSpec:
    """The same where tokenizer.json is `described`, or missing; `folder` has the files beside it."""
    config = read_config(folder)
    if described is not None:
        check_repaired(folder, config, described)
    name = class_name(config, class_in_config, usual_class)
    by_class = _by_class(folder, described, name)
    if by_class is not None:
        spec, file = by_class
    elif described is not None and is_word_level(described):
        read, model = read_word_level_json, "word-level"
        spec = read_described_folder(folder, described, class_in_config, usual_class, read=read, model=model)
        file = TOKENIZER_JSON
    elif described is not None and is_character_bpe(described):
        spec = read_character_bpe_folder(folder, described, class_in_config, usual_class)
        file = TOKENIZER_JSON
    elif is_byte_level(folder, described):
        spec = read_byte_level_folder(folder, described, class_in_config, usual_class, vocab_size)
        file = VOCAB_FILE if described is None else TOKENIZER_JSON
    elif described is None and name == ESM:
        spec, file = read_esm_folder(folder), vocab_text.FILE
    elif described is None and name == LLAMA_TOKENIZER and folder.has(LLAMA_FILE):
        spec, file = read_llama_folder(folder), LLAMA_FILE
    elif is_unigram_folder(folder, described):
        spec = read_unigram_folder(folder, described, class_in_config, usual_class)
        file = TOKENIZER_JSON
    else:
        settings = WordPieceConfig(folder, class_in_config, usual_class)
        if described is not None and not settings.rebuilds and is_word_piece_of_steps(described):
            read, model = read_word_piece_json, "WordPiece"
            spec = read_described_folder(folder, described, class_in_config, usual_class, read=read, model=model)
            file = TOKENIZER_JSON
        else:
            parts = _word_piece(folder, described, settings)
            spec, file = _spec(parts), parts.file
    _check_lengths(spec, file)
    if isinstance(spec.model, CodePointsModel):
        return spec
    wheel = wheel_of(spec.json, file)
    return replace(spec, notes=spec.notes + _check_ids(spec, vocab_size, file) + _found_in_words(spec, wheel))


def _by_class(
    folder: CheckpointFolder, described: dict[str, Any] | None, name: str | None
) -> tuple[TokenizerSpec, str] | None:
    """The tokenizer of a class that takes little of tokenizer.json or nothing, and its file; None of others."""
    if name == BYT5:
        return read_byt5_folder(folder), tokenizer_config.FILE
    if name == CANINE:
        return read_canine_folder(folder), tokenizer_config.FILE
    if name == ESMC:
        return read_esmc_folder(folder), tokenizer_config.FILE
    if name == BERT_GENERATION:
        return read_bert_generation_folder(folder), BERT_GENERATION_FILE
    if name == PLBART:
        return read_plbart_folder(folder), PLBART_FILE
    if name in BY_MOSES:
        return read_moses_folder(folder, name), VOCAB_FILE
    if name in FAIRSEQ:
        return read_fairseq_folder(folder, name), vocab_text.FILE
    if name in MARKED_ENDS:
        file = VOCAB_FILE if described is None else TOKENIZER_JSON
        return read_marked_ends_folder(folder, described, name), file
    return None


def _word_piece(folder: CheckpointFolder, described: dict[str, Any] | None, config: WordPieceConfig) -> TokenizerParts:
    if described is not None:
        parts = read_bert_json(described, config.second_segment, config.first_type, config.behind_first)
        config.check_against(parts)
        if not config.rebuilds:  # else the class has its own
            parts = replace(parts, decoder=described.get("decoder"))
        if folder.has(vocab_text.FILE):
            _check_same_vocab(parts, vocab_text.read_vocab_text(folder.read(vocab_text.FILE, vocab_text.MAX_BYTES))[0])
        return parts
    if not folder.has(vocab_text.FILE):
        others = f"{VOCAB_FILE} with {MERGES_FILE}, {', '.join(MODEL_FILES)}"
        names = f"{TOKENIZER_JSON}, {vocab_text.FILE}, {others}"
        raise refusal("tokenizer-missing", f"the folder has none of {names}")
    parts = _from_vocab_text(folder, config)
    config.check_against(parts)
    return parts


def _from_vocab_text(folder: CheckpointFolder, config: WordPieceConfig) -> TokenizerParts:
    if not config.rebuilds:
        raise config.needs_json()
    vocab, notes = vocab_text.read_vocab_text(folder.read(vocab_text.FILE, vocab_text.MAX_BYTES))
    special = {key: config.special_token(key) for key in config.special_tokens}
    for key, token in special.items():
        if token not in vocab:
            raise refusal(
                "missing-special-token", f"the vocabulary has no {shown(token)}, the {key}", file=vocab_text.FILE
            )
    missing = next((token for token in config.behind_first if token not in vocab), None)
    if missing is not None:
        raise refusal("missing-special-token", f"the vocabulary has no {shown(missing)}", file=vocab_text.FILE)
    if special["cls_token"] == special["sep_token"]:
        raise refusal("tokenizer-template", "one token is both cls_token and sep_token", file=tokenizer_config.FILE)
    added = [
        AddedToken(
            content=token,
            id=vocab[token],
            special=True,
            normalized=False,
            single_word=False,
            lstrip=token == special["mask_token"] and config.mask_strips,
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
        second_segment=config.second_segment if config.separators == 1 else 0,
        separators=config.separators,
        notes=notes,
        first_segment=config.first_type if config.second_segment else 0,
        behind_first=config.behind_first,
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


def _check_lengths(spec: TokenizerSpec, file: str) -> None:
    """Each byte may become a node of the trie: what no text holds must not cost minutes."""
    total = 0
    for piece in (*spec.model.pieces, *(token.content for token in spec.added_tokens)):
        size = len(piece.encode() if isinstance(piece, str) else piece or b"")
        total += size
        if size > MAX_PIECE_BYTES:
            raise refusal(
                "piece-too-long",
                f"the piece {_shown_piece(piece)} has {size} bytes, at most {MAX_PIECE_BYTES} are read",
                file=file,
            )
    if total > MAX_VOCABULARY_BYTES:
        raise refusal(
            "vocab-too-large",
            f"the pieces have {total} bytes together, at most {MAX_VOCABULARY_BYTES} are read",
            file=file,
        )


def _shown_piece(piece: str | bytes | None) -> str:
    return shown(piece.decode(errors="replace") if isinstance(piece, bytes) else piece)


def _check_ids(spec: TokenizerSpec, vocab_size: int, file: str) -> tuple[str, ...]:
    """Refuses ids that the word embedding does not have; a note where it has more."""
    added = {token.id: token.content for token in spec.added_tokens}
    last = max(len(spec.model.pieces) - 1, *added) if added else len(spec.model.pieces) - 1
    if last >= vocab_size:
        text = added[last] if last in added else spec.model.pieces[last]
        raise refusal(
            "token-id-out-of-range",
            f"{_shown_piece(text)} has the id {last}, the word embedding only {vocab_size} rows (vocab_size)",
            file=file,
        )
    if last + 1 < vocab_size:
        return (f"vocab_size is {vocab_size}, the tokenizer produces ids up to {last}",)
    return ()


def _found_in_words(spec: TokenizerSpec, wheel: Tokenizer) -> tuple[str, ...]:
    """Notes of special tokens that WordPiece and byte-level BPE find in plain text, too, as `tokenizers` does: BERT's
    own have brackets, at which words end."""
    if isinstance(spec.model, ByteLevelBpeModel):
        wheel.encode_special_tokens = True
        hidden = [token for token in spec.added_tokens if token.special]
        return tuple(
            _not_hidden(token.content)
            for token in hidden
            if wheel.encode(token.content, add_special_tokens=False).ids == [token.id]
        )
    if not isinstance(spec.model, WordPieceModel):
        return ()
    prefix, uncased = spec.model.continuing_prefix, spec.summary.startswith("uncased")
    pieces = {piece for piece in spec.model.pieces if piece is not None}
    special = [t.content for t in spec.added_tokens if t.special and t.id != spec.model.unknown_id]
    found = []
    for text in special:
        word = text.removeprefix(prefix)
        is_word = [part for part, _ in wheel.pre_tokenizer.pre_tokenize_str(word)] == [word]
        if text in pieces and word and is_word and not (uncased and word != word.lower()):
            found.append(_not_hidden(text))
    return tuple(found)


def _not_hidden(text: str) -> str:
    return f"special token {shown(text)} is a piece of words: SpecialTokens::plain_text does not hide it"


def _spec(parts: TokenizerParts) -> TokenizerSpec:
    last = max((*parts.vocab.values(), *(token.id for token in parts.added_tokens)))
    pieces: list[str | None] = [None] * (last + 1)
    for piece, index in parts.vocab.items():
        pieces[index] = piece or None  # an empty piece never matches
    strip_accents = parts.lowercase if parts.strip_accents is None else parts.strip_accents
    classify_id, separate_id = parts.vocab[parts.classify_token], parts.vocab[parts.separate_token]
    return TokenizerSpec(
        normalizer=BertNormalizer(parts.clean_text, parts.handle_chinese_chars, strip_accents, parts.lowercase),
        segmenter=BertSegmenter(),
        model=WordPieceModel(
            pieces=tuple(pieces),
            continuing_prefix=parts.continuing_prefix,
            max_input_chars_per_word=parts.max_input_chars_per_word,
            unknown_id=parts.vocab[parts.unknown_token],
        ),
        template=bert_template(
            classify_id,
            separate_id,
            parts.second_segment,
            parts.separators,
            parts.first_segment,
            [parts.vocab[token] for token in parts.behind_first],
        ),
        added_tokens=parts.added_tokens,
        trimming=parts.trimming,
        json=parts.to_json(),
        notes=parts.notes,
    )
