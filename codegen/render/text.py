# SPDX-License-Identifier: Apache-2.0
"""Values as C++ text. Checkpoint strings become escaped bytes in literals; none of them reaches code or comments."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator

import numpy as np

_PLAIN = frozenset((string.ascii_letters + string.digits + " ._,:;!()+-=/'[]{}<>%&#*|^~").encode())
_NUMBERS_PER_LINE = 16
_LITERAL_WIDTH = 100
LINE_WIDTH = 120


def string_view(data: bytes) -> str:
    """An initializer of std::string_view for these bytes, NULs included."""
    return f'{{"{"".join(_escaped(data))}", {len(data)}}}'


def literal_lines(data: bytes) -> list[str]:
    """The same bytes as string literals that the compiler joins, a line each; their count is len(data)."""
    lines = [""]
    for part in _escaped(data):
        if len(lines[-1]) + len(part) > _LITERAL_WIDTH:
            lines.append("")
        lines[-1] += part
    return [f'"{line}"' for line in lines]


def _escaped(data: bytes) -> Iterator[str]:
    # Three octal digits end an escape whatever follows; "?" is escaped, so no trigraph can form.
    return (chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in data)


def float_literal(value: float | np.float32) -> str:
    """Exactly this float32, which must be finite."""
    return f"{np.float32(value)!s}f"  # the shortest digits that give this float32 back


def number_lines(values: np.ndarray) -> Iterator[str]:
    """The elements of an array initializer, a few to a line."""
    flat = values.reshape(-1)
    for begin in range(0, flat.size, _NUMBERS_PER_LINE):
        part = flat[begin : begin + _NUMBERS_PER_LINE]
        if part.dtype == np.float32:
            yield ", ".join(float_literal(value) for value in part) + ","
        else:
            yield ", ".join(str(int(value)) for value in part) + ","


def annotated(rows: list[tuple[str, str]]) -> list[str]:
    """Statements with a comment each: comments in one column where they fit, long statements broken at a comma."""
    lines: list[tuple[str, str]] = []
    for statement, comment in rows:
        *before, code = broken(statement, len(comment) + 5) if comment else [statement]
        lines += [*((part, "") for part in before), (code, comment)]
    commented = [len(code) for code, comment in lines if comment]
    column = max((width for width in commented if width <= LINE_WIDTH - 32), default=0)
    return [_commented(code, comment, column) if comment else code for code, comment in lines]


def named(field: str, value: object) -> str:
    """A value of an initializer, with the field that it is for: C++17 has no other way to say so."""
    return f"/*{field}=*/{value}"


def broken(statement: str, taken: int = 0) -> list[str]:
    """A statement as lines, broken at commas behind its brace, best before the first value that is named; `taken`:
    columns of the last one that others have."""
    lines: list[str] = []
    code = statement
    while len(code) + taken > LINE_WIDTH and ", " in code[: LINE_WIDTH - 2]:
        head = code[: LINE_WIDTH - 2]
        before_named = ", /*" in head and not (lines and code.lstrip().startswith("/*"))
        cut = (head.index(", /*") if before_named else head.rindex(", ")) + 1
        lines.append(code[:cut])
        code = " " * (statement.index("{") + 1) + code[cut + 1 :]
    return [*lines, code]


def field_lines(fields: Iterable[tuple[object, str]], depth: int) -> list[str]:
    """The initializer of a struct, a line for each value and what it is: C++17 cannot name the fields."""
    return annotated([(f"{'    ' * depth}{value},", comment) for value, comment in fields])


def _commented(code: str, comment: str, column: int) -> str:
    padded = f"{code:<{column}}  // {comment}"
    return padded if len(padded) <= LINE_WIDTH else f"{code}  // {comment}"


def pascal(name: str) -> str:
    """encoder_layer -> EncoderLayer."""
    return "".join(part.capitalize() for part in name.split("_"))


def constant(name: str) -> str:
    """word_embeddings -> kWordEmbeddings."""
    return "k" + pascal(name)
