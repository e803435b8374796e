# SPDX-License-Identifier: Apache-2.0
"""How a task appears in the generated code: names of functions and fields, and the templates that hold the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment

from ..ir import program as p
from ..ir.task import Task
from .text import string_view


def task_values(program: p.Program) -> dict[str, Any]:
    """What every template may say of the task."""
    return _values(program.task, program.output.name)


def _values(task: Task, output: str) -> dict[str, Any]:
    face = task.face
    return {
        "task_template": f"tasks/{face.template}.j2",
        "c_header_template": f"tasks/{face.template}.h.j2",
        "c_functions_template": f"tasks/{face.template}.c.j2",
        "task_name": task.name,
        "verb": task.verb,
        "tokens_indent": " " * len(f"Status {task.verb}_tokens("),
        "call_indent": " " * len(f"Status {task.verb}("),
        "batch_indent": " " * len(f"Status {task.verb}_batch("),
        "outputs": face.outputs,  # in words
        "field": face.field,  # of Result
        "count": face.count,
        "names": [_literal(name) for name in task.names],
        "width": task.outputs,
        "output": output,  # the buffer
        "rows_of_tokens": task.rows == "tokens",
        "rows_of_masks": task.rows == "masks",
        "has_rows": task.rows != "text",
        "many_outputs": task.many_outputs,
        "asks": task.asks,
        "own_calls": task.own_calls,
        **task.template_values(_literal),
    }


def heads_values(program: p.Program, environment: Environment, common: dict[str, Any]) -> dict[str, Any]:
    """Of a model with several heads what their own templates make of them: for C++, for C's header and for its
    functions, where each has a name behind the model's."""
    heads = [] if len(program.outputs) == 1 else [_head(output, environment, common) for output in program.outputs]
    return {
        "heads": heads,
        "has_rows": common["has_rows"] or bool(heads),  # so that those that have some find them
        "notes": [head["name"] for head in heads if hasattr(head["cpp"], "encoder")],
        "included": lambda macro, module="cpp": _included(heads, macro, module),
    }


def _head(output: p.Output, environment: Environment, common: dict[str, Any]) -> dict[str, Any]:
    values = _values(output.task, output.buffer.name)
    name = f"{common['name']}_{output.name}"
    of_c = common | values | {"name": name, "upper": name.upper()}
    templates = {"cpp": "task_template", "h": "c_header_template", "c": "c_functions_template"}
    modules = {
        key: environment.get_template(values[template]).make_module(common | values if key == "cpp" else of_c)
        for key, template in templates.items()
    }
    return values | modules | {"name": output.name, "upper": output.name.upper(), "summary": output.task.summary}


def _included(heads: list[dict[str, Any]], macro: str, module: str) -> list[str]:
    """The lines that this macro has for any of the heads, each once."""
    macros: list[Callable[[], str]] = [getattr(head[module], macro) for head in heads if hasattr(head[module], macro)]
    return list(dict.fromkeys(line for each in macros for line in each().splitlines() if line))


def _literal(text: str) -> str:
    return string_view(text.encode("utf-8", "surrogatepass"))
