# SPDX-License-Identifier: Apache-2.0
"""vocab.txt: one piece a line, the id is the line number, as `transformers` reads it."""

from __future__ import annotations

import io

from .refusal import refusal

FILE = "vocab.txt"
MAX_BYTES = 16 << 20
MAX_LINES = 1_000_000


def read_vocab_text(raw: bytes) -> tuple[dict[str, int], tuple[str, ...]]:
    """(piece -> id, notes). Only the line end is stripped; a piece that appears twice keeps its last id."""
    count = raw.count(b"\n") + raw.count(b"\r") + 1
    if count > MAX_LINES:
        raise refusal("vocab-too-large", f"the file may have {count} lines, at most {MAX_LINES} are read", file=FILE)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal("vocab-not-utf8", f"not UTF-8: {error.reason} at byte {error.start}", file=FILE) from None
    lines = [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
    vocab = {line: number for number, line in enumerate(lines)}
    repeated = len(lines) - len(vocab)
    notes = (f"{FILE}: {repeated} of {len(lines)} lines are repeated later; the last one counts",) if repeated else ()
    return vocab, notes
