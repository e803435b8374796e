# SPDX-License-Identifier: Apache-2.0
"""How a task appears in the generated code: names of functions and fields, and the template that holds the rest."""

from __future__ import annotations

from typing import Any

from .. import program as p
from ..tasks import VERBS, Classification, Embedding, Regression, Task
from .text import string_view


def task_values(program: p.Program) -> dict[str, Any]:
    """What every template may say of the task."""
    task = program.task
    if isinstance(task, Classification):
        template, outputs, field, count, names = "classification", "logits", "logits", "kLabelCount", task.labels
    elif isinstance(task, Regression):
        template, outputs, field, count, names = "regression", "values", "value", "kValueCount", task.values
    else:
        template, outputs, field, count, names = "embedding", "embedding", "embedding", "kEmbeddingWidth", ()
    return {
        "task_template": f"tasks/{template}.j2",
        "c_header_template": f"tasks/{template}.h.j2",
        "c_functions_template": f"tasks/{template}.c.j2",
        "task_name": task.name,
        "verb": VERBS[task.name],
        "tokens_indent": " " * len(f"Status {VERBS[task.name]}_tokens("),
        "batch_indent": " " * len(f"Status {VERBS[task.name]}_batch("),
        "outputs": outputs,  # in words
        "field": field,  # of Result
        "count": count,
        "names": [string_view(name.encode("utf-8", "surrogatepass")) for name in names],
        "width": task.outputs,
        "output": program.output.name,  # the buffer
    }


def summary(task: Task) -> str:
    """What the model does, for the first line of its header."""
    if isinstance(task, Embedding):
        return f"Text to an embedding of {task.width} values"
    if isinstance(task, Regression):
        return f"Text to {_counted(len(task.values), 'value')}"
    which = "Text classification into" if task.activation == "softmax" else "Text classification, each of"
    return f"{which} {_counted(len(task.labels), 'label')}"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
