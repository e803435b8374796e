# SPDX-License-Identifier: Apache-2.0
"""The one exception that the generator raises for anything wrong with its input."""

from __future__ import annotations

_STAGES = """
    arguments load evaluate front-end check prune budget lower smooth quantize calibrate gpu emulate plan pack render
    build verify bundle convert fetch merge wheel sqlite web evidence completion man
"""
STAGES = frozenset(_STAGES.split())
_LONGEST = 700  # message: of what a file has, only the beginning is shown


class EtchError(Exception):
    """A refusal: what is wrong, in which stage, in which file and tensor.

    `code` is a stable kebab-case name that tests and scripts may match, `stage` the pipeline stage or the command that
    refused, one of `STAGES`; where an op has no entry in a table (ir/stage.py) it is the name of the table. `file`
    is the name of the file inside the checkpoint folder, never its full path. `detail` may hold more lines, such as the
    end of a compiler's output.
    """

    def __init__(
        self,
        code: str,
        stage: str,
        message: str,
        *,
        file: str | None = None,
        tensor: str | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.message = message
        self.file = file
        self.tensor = tensor
        self.detail = detail

    def __str__(self) -> str:
        place = "".join(
            f"{printable(part)}: " for part in (self.file, self.tensor and f"tensor '{self.tensor}'") if part
        )
        return f"error[{self.code}] {self.stage}: {place}{printable(self.message, _LONGEST)}"


def printable(text: str, limit: int = 400) -> str:
    """`text` safe for a terminal and for one line: control and bidi characters escaped, cut at `limit`."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return shown if len(shown) <= limit else shown[:limit] + "…"
