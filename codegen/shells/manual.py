# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual, section 1, in the macros of man(7)."""

from __future__ import annotations

from .parsers import Command, Option


def page(command: Command, version: str) -> str:
    """etch-COMMAND(1)."""
    name = f"etch-{command.name}"
    lines = [f'.TH {name.upper()} 1 "" "etch {version}"', ".SH NAME", f"{name} \\- {_text(command.summary)}"]
    lines += [".SH SYNOPSIS", f".B etch {command.name}"]
    every = [option for group in command.groups.values() for option in group]
    lines += [_text(f"{option.value}") for option in every if not option.name]
    lines += [_text(f"{option.name} {option.value}") for option in every if option.required]
    lines += [_text("[OPTION]...")]
    if command.description:
        lines += [".SH DESCRIPTION", _text(command.description)]
    for title, group in command.groups.items():
        lines.append(f".SH {(title or 'options').upper()}")
        for option in group:
            heads = "\n.TQ\n".join(_head(each) for each in option.spellings)
            lines += [".TP", heads, _text(option.help)]
    lines += [".SH EXIT STATUS", "0: done; 1: refused or failed; 2: wrong use; 128 + n: stopped by signal n."]
    return "\n".join([*lines, ""])


def _head(option: Option) -> str:
    value = " | ".join(option.choices) or option.value
    if not option.name:
        return f".I {_text(value)}"
    return f".BR {_text(option.name)}" + (f' " {_text(value)}"' if option.value else "")


def _text(text: str) -> str:
    """Letters that roff would take for its own are escaped."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
