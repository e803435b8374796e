# SPDX-License-Identifier: Apache-2.0
"""WordPiece (`bert`). llama.cpp's converter marks pieces that begin a word with U+2581, where BERT's vocabulary marks
the others with ##. That texts are in lower case no key says: they are where as good as no piece has capital letters."""

from __future__ import annotations

import json
from typing import Any

from ....ir.tokenizer_spec import METASPACE
from ....load.tokenizer_files.tokenizer_json.spelled_word_piece import TokenizerParts
from .tokens import CONTROL, NORMAL, Tokens

_PREFIX = "##"
_RARE = 50  # one of so many pieces
_LONGEST_WORD = 100  # characters, of BERT's
# The file's name of each, and what BERT's vocabulary calls it, where the file names none.
_SPECIAL = {"unknown": "[UNK]", "cls": "[CLS]", "seperator": "[SEP]", "padding": "[PAD]", "mask": "[MASK]"}


def word_piece(tokens: Tokens) -> dict[str, Any]:
    """The tokenizer.json."""
    special = special_tokens(tokens)
    words = _as_bert_has_them(tokens, set(special.values()))
    parts = TokenizerParts(
        file=tokens.meta.architecture,
        vocab=words,
        added_tokens=tuple(token for token in _with_special(tokens, special).added()),
        clean_text=True,
        handle_chinese_chars=True,
        strip_accents=None,
        lowercase=_is_lower(words),
        continuing_prefix=_PREFIX,
        max_input_chars_per_word=_LONGEST_WORD,
        unknown_token=special["unknown"],
        classify_token=special["cls"],
        separate_token=special["seperator"],
        second_segment=1,
        separators=1,
        notes=(),
    )
    return json.loads(parts.to_json())


def _is_lower(words: dict[str, int]) -> bool:
    """Of BERT's own vocabularies without case no piece has a capital letter, of those with case more than a tenth."""
    pieces = [word for word in words if not _is_kept(word)]
    return sum(word != word.lower() for word in pieces) * _RARE <= len(pieces)


def special_tokens(tokens: Tokens) -> dict[str, str]:
    """Texts by the names that the keys have."""
    found = {}
    for name, usual in _SPECIAL.items():
        others = {"cls": ("cls", "bos"), "seperator": ("seperator", "eos")}.get(name, (name,))
        text = tokens.text_of(*others) or (usual if usual in tokens.texts else None)
        if text is not None:
            found[name] = text
        elif name in ("unknown", "cls", "seperator"):
            raise tokens.meta.refuse("gguf-key", f"no token is named as {usual}")
    return found


def _with_special(tokens: Tokens, special: dict[str, str]) -> Tokens:
    """Those are added tokens, whatever kind the file says, which has [UNK] as another one."""
    named = set(special.values())
    kinds = tuple(CONTROL if text in named else kind for text, kind in zip(tokens.texts, tokens.kinds, strict=True))
    return Tokens(tokens.texts, kinds, tokens.meta)


def _as_bert_has_them(tokens: Tokens, special: set[str]) -> dict[str, int]:
    """Text -> id."""
    found: dict[str, int] = {}
    for index, (text, kind) in enumerate(zip(tokens.texts, tokens.kinds, strict=True)):
        is_piece = kind == NORMAL and text not in special
        begins = text.startswith(METASPACE) and len(text) > 1
        word = (text[1:] if begins else f"{_PREFIX}{text}") if is_piece and not _is_kept(text) else text
        if word in found:
            raise tokens.meta.refuse("gguf-tokenizer", f"two tokens are '{word[:40]}' as BERT's vocabulary has them")
        found[word] = index
    return found


def _is_kept(text: str) -> bool:
    """Whether the converter leaves it as it is: [unused0]."""
    return text.startswith("[") and text.endswith("]")
