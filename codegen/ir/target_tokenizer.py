# SPDX-License-Identifier: Apache-2.0
"""What makes a text of the ids that a model writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .tokenizer_spec import TokenizerSpec


@dataclass(frozen=True)
class DecoderSpec:
    """Tokens to text. Those that are not `glued` have a space before them, but for the first one."""

    glued: bool = True
    prefix: str = ""  # of tokens that go on a word: dropped, and no space before them
    clean_up: bool = False  # the space before punctuation is dropped, by the wheel's list
    bytes: bool = False  # tokens are written in ByteLevel's characters
    space: str = ""  # what reads as a space
    drops_first_spaces: bool = False  # in the first token it reads as nothing
    byte_fallback: bool = False  # <0x41> is a byte
    strip: int = 0  # spaces taken from the beginning of the text
    drops_last_spaces: bool = False  # those at its end
    ends_words: bool = False  # `space` is the end of a token with text before it, other tokens are refused
    drops_malformed: bool = False  # bytes that are no UTF-8, else U+FFFD
    moses: str | None = None  # the language by whose rules of Moses words are joined, `space` ends one,
    absent: str = ""  # and what ids without a token read as


@dataclass(frozen=True)
class TargetTokenizer:
    """What makes a text of the ids that are written: `tokenizer.compile_decoder(spec, decoder, tables of spec)`."""

    spec: TokenizerSpec  # the texts of the ids; those of special tokens are left out of what is written
    decoder: DecoderSpec
    reader: Callable[[], TokenizerSpec] | None = None  # of such texts, with the same ids, where `spec` reads none
