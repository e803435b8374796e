# SPDX-License-Identifier: Apache-2.0
"""How a task appears in the generated code: names of functions and fields, and the templates that hold the rest."""

from __future__ import annotations

from typing import Any

from ..ir import program as p
from .text import string_view


def task_values(program: p.Program) -> dict[str, Any]:
    """What every template may say of the task."""
    task = program.task
    face = task.face
    return {
        "task_template": f"tasks/{face.template}.j2",
        "c_header_template": f"tasks/{face.template}.h.j2",
        "c_functions_template": f"tasks/{face.template}.c.j2",
        "task_name": task.name,
        "verb": task.verb,
        "tokens_indent": " " * len(f"Status {task.verb}_tokens("),
        "batch_indent": " " * len(f"Status {task.verb}_batch("),
        "outputs": face.outputs,  # in words
        "field": face.field,  # of Result
        "count": face.count,
        "names": [_literal(name) for name in task.names],
        "width": task.outputs,
        "output": program.output.name,  # the buffer
        "rows_of_tokens": task.rows == "tokens",
        "rows_of_masks": task.rows == "masks",
        "has_rows": task.rows != "text",
        "asks": task.asks,
        "own_calls": task.own_calls,
        **task.template_values(_literal),
    }


def _literal(text: str) -> str:
    return string_view(text.encode("utf-8", "surrogatepass"))
