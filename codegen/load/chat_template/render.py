# SPDX-License-Identifier: Apache-2.0
"""Renders conversations by a template in Jinja, as `apply_chat_template` of `transformers` 5.23 does, in a process of
its own: a template is a program that came with a checkpoint. It reaches nothing but the values it is given (Jinja's
sandbox), and this process has little time and memory.

Reads {"template", "variables", "conversations"} from standard input; writes {"texts": [text or null]}, null where the
template refused a conversation, with {"refusals": [why or null], "asks": [names]} beside it; or {"error"}. Imports
nothing of etch.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.utils
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS, BYTES, CHARACTERS = 5, 1 << 30, 1 << 20  # of processor time; of memory; of all that is rendered


class Generation(jinja2.ext.Extension):
    """`{% generation %}`: its content, of which `transformers` could tell where it is."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own form

    def parse(self, parser: Parser) -> nodes.Node:
        """The content up to `{% endgeneration %}`."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Any) -> str:
        return str(caller())


class Namespace(jinja2.utils.Namespace):
    """Without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        values = dict(*args[1:], **kwargs)
        if any(isinstance(name, str) and name.startswith("_") for name in values):
            raise jinja2.exceptions.SecurityError("a name of a namespace begins with an underscore")
        jinja2.utils.Namespace.__init__(args[0], values)

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError("a name of a namespace begins with an underscore")
        jinja2.utils.Namespace.__setitem__(self, name, value)


def environment() -> ImmutableSandboxedEnvironment:
    """As `transformers` has it, but for the clock: what is generated does not depend on the day."""
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = _to_json
    made.globals = {
        **{name: value for name, value in made.globals.items() if name != "lipsum"},
        "raise_exception": _raise,
        "dict": _dictionary,
        "namespace": Namespace,
    }
    return made


def _dictionary(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: object) -> NoReturn:
    raise jinja2.exceptions.TemplateError(str(message))


def _limit() -> None:
    """Where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def _rendered(template: jinja2.Template, conversation: list[dict[str, str]], variables: dict[str, Any]) -> str:
    text, size = [], 0
    values = {"messages": conversation, "tools": None, "documents": None, "add_generation_prompt": True}
    for part in template.generate({**variables, **values}):
        size += len(part)
        if size > CHARACTERS:
            raise jinja2.exceptions.SecurityError(f"more than {CHARACTERS} characters")
        text.append(part)
    return "".join(text)


def main() -> None:
    asked = json.load(sys.stdin)
    _limit()
    texts: list[str | None] = []
    refusals: list[str | None] = []
    try:
        jinja = environment()
        asks = sorted(jinja2.meta.find_undeclared_variables(jinja.parse(asked["template"])))
        template = jinja.from_string(asked["template"])
        for conversation in asked["conversations"]:
            try:
                texts.append(_rendered(template, conversation, asked["variables"]))
                refusals.append(None)
            except jinja2.exceptions.SecurityError:
                raise
            except (jinja2.exceptions.TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
                texts.append(None)
                refusals.append(f"{type(error).__name__}: {error}")
        print(json.dumps({"texts": texts, "refusals": refusals, "asks": asks}))
    except (jinja2.exceptions.TemplateError, RecursionError, MemoryError) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))


if __name__ == "__main__":
    main()
