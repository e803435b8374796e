# SPDX-License-Identifier: Apache-2.0
"""vocab.txt: one piece a line, the id is the line number, as `tokenizers` reads it: a line ends with LF, and white
space at its end is no part of the piece, CR included."""

from __future__ import annotations

from ..refusal import refusal

FILE = "vocab.txt"
MAX_BYTES = 16 << 20
MAX_LINES = 1_000_000
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def text_of(raw: bytes, file: str = FILE) -> str:
    """The text of a file that is not too large."""
    count = raw.count(b"\n") + 1
    if count > MAX_LINES:
        raise refusal("vocab-too-large", f"the file may have {count} lines, at most {MAX_LINES} are read", file=file)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal("vocab-not-utf8", f"not UTF-8: {error.reason} at byte {error.start}", file=file) from None


def read_vocab_text(raw: bytes) -> tuple[dict[str, int], tuple[str, ...]]:
    """(piece -> id, notes). A piece that appears twice keeps its last id."""
    text = text_of(raw)
    lines = [line.rstrip(_WHITE_SPACE) for line in text.split("\n")]
    if text.endswith("\n") or not text:
        del lines[-1]
    vocab = {line: number for number, line in enumerate(lines)}
    repeated = len(lines) - len(vocab)
    notes = (f"{FILE}: {repeated} of {len(lines)} lines are repeated later; the last one counts",) if repeated else ()
    return vocab, notes
