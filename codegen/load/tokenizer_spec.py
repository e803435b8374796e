# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint's tokenizer files say, checked and with every default made explicit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AddedToken:
    """A token that is matched before (`normalized` false) or after (true) normalization, as in `tokenizers`."""

    content: str
    id: int
    special: bool
    normalized: bool
    single_word: bool
    lstrip: bool
    rstrip: bool


@dataclass(frozen=True)
class WordPieceSpec:
    """A BertTokenizerFast pipeline: BertNormalizer, BertPreTokenizer, WordPiece, the BERT template."""

    pieces: tuple[str | None, ...]  # by id; None where the vocabulary has no piece for that id (an added token, a gap)
    added_tokens: tuple[AddedToken, ...]
    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool  # `null` resolved to the value of `lowercase`
    lowercase: bool
    continuing_prefix: str
    max_input_chars_per_word: int
    unknown_id: int
    classify_id: int  # [CLS]
    separate_id: int  # [SEP]
    json: str  # a tokenizer.json text that makes `tokenizers` behave the same, without truncation and padding
    notes: tuple[str, ...]  # conflicts between files and what was chosen, for the report
