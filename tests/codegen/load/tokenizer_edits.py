# SPDX-License-Identifier: Apache-2.0
"""Changes of a tiny checkpoint's tokenizer files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from malformed import (
    TOKENIZER,
    TOKENIZER_CONFIG,
    VOCAB,
    both,
    edit,
    put,
    raw,
    remove,
)
from tiny_checkpoint import DEFAULT_VOCAB

SPECIAL_MAP = "special_tokens_map.json"
ADDED = "added_tokens.json"
SIZE = len(DEFAULT_VOCAB)
TEXTS = (
    "The cat sat on the mat.",
    "Café Berlin, unworkable plays!",
    "İSTANBUL caf\u00e9s cafe\u0301 \u4e2d\u56fd \u00df \ufb01",
    "x\u000by a\u200bb \ufeff 1212 xyxy [SEP] the [MASK] [sep] [UNK]",
    "a" * 101 + " " + "xy" * 50,
    "",
)


def part(name: str, **values: object) -> Callable[[Path], None]:
    """Set fields of one component of tokenizer.json."""
    return edit(TOKENIZER, lambda t: t[name].update(values))


def without(name: str, key: str) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t[name].pop(key))


def vocab(**values: object) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t["model"]["vocab"].update(values))


def piece_away(piece: str) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t["model"]["vocab"].pop(piece))


def template(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: change(t["post_processor"]))


def added(**values: object) -> Callable[[Path], None]:
    """Append a token to added_tokens: [MASK]'s entry with other values."""
    return edit(TOKENIZER, lambda t: t["added_tokens"].append({**t["added_tokens"][4], **values}))


def lines(*pieces: str, newline: str = "\n") -> Callable[[Path], None]:
    return raw(VOCAB, "".join(piece + newline for piece in pieces).encode())


def text_only(*pieces: str) -> Callable[[Path], None]:
    return both(remove(TOKENIZER), lines(*pieces))


def renamed(old: str, new: str) -> tuple[str, ...]:
    return tuple(new if piece == old else piece for piece in DEFAULT_VOCAB)


def duplicate_piece(folder: Path) -> None:
    text = (folder / TOKENIZER).read_text()
    (folder / TOKENIZER).write_text(text.replace('"cat":', '"the": 99, "cat":', 1))


AS_IN_JSON = put(TOKENIZER_CONFIG, tokenizer_class="PreTrainedTokenizerFast")
