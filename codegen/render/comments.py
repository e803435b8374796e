# SPDX-License-Identifier: Apache-2.0
"""Comments of the generated code that names and figures have made longer than a line: words move on to the next one."""

from __future__ import annotations

import re

from .text import LINE_WIDTH

_PREFIX = re.compile(r" *(// |/\* | \* )")


def wrapped(text: str) -> str:
    """The same with lines of comment of at most `LINE_WIDTH` columns; other lines stay as they are."""
    waiting = text.split("\n")[::-1]
    lines: list[str] = []
    while waiting:
        line = waiting.pop()
        prefix = _PREFIX.match(line)
        if prefix is None or len(line) <= LINE_WIDTH:
            lines.append(line)
            continue
        words = line.removesuffix(" */")  # the end of a comment stays with its last word
        width = words[: LINE_WIDTH + 1].rfind(" ")
        if width < len(prefix[0]):
            lines.append(line)
            continue
        lines.append(line[:width])
        start, rest = prefix[0].replace("/* ", " * "), line[width + 1 :]
        goes_on = waiting and not rest.endswith("*/") and _PREFIX.match(waiting[-1])
        if goes_on and goes_on[0] == start and waiting[-1][len(start)] not in " -":
            waiting[-1] = f"{start}{rest} {waiting[-1][len(start) :]}"
        else:
            waiting.append(start + rest)
    return "\n".join(lines)
