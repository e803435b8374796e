# SPDX-License-Identifier: Apache-2.0
"""Completion for bash, zsh and fish: of `etch` from its parser, of a model's program from what its --help says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .parsers import Command, Option

SHELLS = ("bash", "zsh", "fish")


def of_etch(shell: str, commands: Sequence[Command]) -> str:
    """The script for `etch`."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def of_program(shell: str, name: str, help_text: str) -> str:
    """The script for a program without commands; its --help has an option a line."""
    words = {"-": "_", ".": "_"}
    function = "_" + "".join(words.get(letter, letter) for letter in name)
    options = list(dict.fromkeys(re.findall(r"^ *(?:usage.*)?(--[a-z][a-z-]*)", help_text, re.MULTILINE)))
    if shell == "fish":
        return "".join(f"complete -c {name} -l {option[2:]}\n" for option in options)
    if shell == "zsh":
        body = f"_arguments {' '.join(options)} '*:file:_files'"
        return f"#compdef {name}\n{function}() {{ {body}; }}\ncompdef {function} {name}\n"
    return (
        f"{function}() {{\n"
        f'    COMPREPLY=($(compgen -W "{" ".join(options)}" -- "${{COMP_WORDS[COMP_CWORD]}}"))\n'
        f"}}\ncomplete -o default -F {function} {name}\n"
    )


def _bash(commands: Sequence[Command]) -> str:
    lines = ["_etch() {", "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words="]
    lines += [
        "    if [ $COMP_CWORD = 1 ]; then",
        f'        words="{" ".join(command.name for command in commands)}"',
        "    else",
    ]
    lines += ['        case "${COMP_WORDS[1]} $before" in']
    for command in commands:
        for option in command.options:
            if option.choices:
                lines.append(f'            "{command.name} {option.name}") words="{" ".join(option.choices)}" ;;')
            elif option.value:
                lines.append(f'            "{command.name} {option.name}") ;;')
        names = " ".join(option.name for option in command.options)
        lines.append(f'            "{command.name} "*) words="{names}" ;;')
    lines += ["        esac", "    fi", '    COMPREPLY=($(compgen -W "$words" -- "$word"))', "}"]
    return "\n".join([*lines, "complete -o default -F _etch etch", ""])


def _zsh(commands: Sequence[Command]) -> str:
    lines = ["#compdef etch", "_etch() {", "    local -a commands=("]
    lines += [f"        {_quoted(f'{command.name}:{command.summary}')}" for command in commands]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "    case $words[2] in",
    ]
    for command in commands:
        specs = " ".join(_zsh_option(option) for option in command.options)
        lines.append(f"        {command.name}) _arguments {specs} '*:file:_files' ;;")
    return "\n".join([*lines, "    esac", "}", "compdef _etch etch", ""])


def _zsh_option(option: Option) -> str:
    said = re.sub(r"([\[\]:])", r"\\\1", option.help)
    value = f":{option.value}:({' '.join(option.choices)})" if option.choices else f":{option.value}:_files"
    return _quoted(f"{option.name}[{said}]{value if option.value else ''}")


def _fish(commands: Sequence[Command]) -> str:
    lines = [
        f"complete -c etch -n __fish_use_subcommand -a {command.name} -d {_quoted(command.summary)}"
        for command in commands
    ]
    for command in commands:
        for option in command.options:
            words = f"complete -c etch -n '__fish_seen_subcommand_from {command.name}' -l {option.name[2:]}"
            words += f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r" if option.value else ""
            lines.append(f"{words} -d {_quoted(option.help)}")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """For any of the three: the backslash closes and opens the quotes around a quote."""
    return "'" + text.replace("'", "'\\''") + "'"
