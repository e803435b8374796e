#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's filter of a header: prints it with its plain comments as Doxygen's, line for line.

    comments.py HEADER

A comment that begins the file is of the file; one above a declaration, without a blank line between them, is of that;
one behind it, with the lines that go on below it, likewise. All others stay what they are. `words` are code, lines that
are indented are shown as they stand, and no letter means a command.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_COMMENT = re.compile(r"^(\s*)(?://|/\*|\*)( ?)(.*?)\s*(\*/)?$")
_BEHIND = re.compile(r"^(?P<code>.*?\S)(?P<gap>\s+)(?://|/\*) (?P<text>.*?)(?: \*/)?$")
_INDENTED = 3  # spaces of a line in a comment that is shown as it stands


def escaped(text: str) -> str:
    """A line of a comment in which Doxygen finds nothing but words and code."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\@$%])", r"\\\1", text)
    text = text.replace("::", "\\::") if text.startswith("::") else text
    return re.sub(r"`([^`]*)`", r"<tt>\1</tt>", text)


def block(lines: list[str]) -> list[str]:
    """Lines of a comment, each behind ///; what is indented between \\verbatim and its end, on the same lines."""
    shown = []
    for number, line in enumerate(lines):
        is_indented = line.startswith(" " * _INDENTED)
        before = number > 0 and lines[number - 1].startswith(" " * _INDENTED)
        after = number + 1 < len(lines) and lines[number + 1].startswith(" " * _INDENTED)
        text = line if is_indented else escaped(line)
        if is_indented and not before:
            text = f"\\verbatim {text}"
        if is_indented and not after:
            text = f"{text} \\endverbatim"
        shown.append(f"/// {text}")
    return shown


def filtered(source: str) -> list[str]:
    """The lines of a header as Doxygen is to read them: names without the namespace of the ABI, too."""
    lines = source.replace("inline namespace ETCH_ABI_NAMESPACE {", 'extern "C++" {').split("\n")
    result: list[str] = []
    at = 0
    while at < len(lines):
        end, texts, indent = _comment(lines, at)
        if end == at:
            behind = _BEHIND.match(lines[at])
            if behind is None or '"' in behind["code"]:
                result.append(lines[at])
                at += 1
                continue
            column = len(behind["code"]) + len(behind["gap"])
            end, more = _going_on(lines, at + 1, column)
            code, gap = behind["code"], behind["gap"]
            result.append(f"{code}{gap}///< {escaped(behind['text'])}")
            result += [f"{' ' * column}///< {escaped(text)}" for text in more]
            at = end
            continue
        is_of_file = all(not line.strip() for line in result) and bool(texts)
        is_of_next = end < len(lines) and lines[end].strip() not in ("", "}", "};") and not lines[end].startswith("#")
        if is_of_file:
            result += ["/// \\file", *block(texts[1:])]  # the first line names the licence, or what wrote the file
        elif is_of_next:
            result += [f"{' ' * indent}{line}" for line in block(texts)]
        else:
            result += lines[at:end]
        at = end
    return result


def _comment(lines: list[str], at: int) -> tuple[int, list[str], int]:
    """Where the comment that begins in line `at` ends, what it says by line, its column."""
    first = lines[at].lstrip()
    indent = len(lines[at]) - len(first)
    if first.startswith("//"):
        end = at
        while end < len(lines) and lines[end].lstrip().startswith("//") and lines[end].index("//") == indent:
            end += 1
        return end, [lines[line].lstrip()[2:].removeprefix(" ") for line in range(at, end)], indent
    if first.startswith("/*"):
        end = next((line for line in range(at, len(lines)) if lines[line].rstrip().endswith("*/")), None)
        if end is None:
            return at, [], indent
        texts = []
        for line in range(at, end + 1):
            found = _COMMENT.match(lines[line])
            texts.append("" if found is None else found[3])
        return end + 1, texts, indent
    return at, [], indent


def _going_on(lines: list[str], at: int, column: int) -> tuple[int, list[str]]:
    """Lines that hold nothing but a comment in this column."""
    texts = []
    while at < len(lines) and lines[at].startswith(" " * column + "//"):
        texts.append(lines[at][column + 2 :].removeprefix(" "))
        at += 1
    return at, texts


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: comments.py HEADER")
    sys.stdout.write("\n".join(filtered(Path(sys.argv[1]).read_text(encoding="utf-8"))))
