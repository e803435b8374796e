# SPDX-License-Identifier: Apache-2.0
"""A parser as data: its commands, and each one's options with their values."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Option:
    """An option, or, where it has no name, an argument by its place."""

    name: str  # --out; "" of an argument by its place
    value: str  # what stands for its value: DIR; "" where it takes none
    choices: tuple[str, ...]
    help: str
    required: bool
    others: tuple[str, ...] = ()  # names that do the same

    @property
    def spellings(self) -> Iterator[Option]:
        """By each of its names."""
        for name in (self.name, *self.others):
            yield replace(self, name=name, others=())


@dataclass(frozen=True)
class Command:
    """A command with its options by group; "" is the group of those in none."""

    name: str
    summary: str  # its line in `etch --help`
    description: str
    groups: dict[str, tuple[Option, ...]]

    @property
    def options(self) -> tuple[Option, ...]:
        """Of all groups, those that have a name, once by each."""
        named = (option for group in self.groups.values() for option in group if option.name)
        return tuple(each for option in named for each in option.spellings)


def commands_in(parser: argparse.ArgumentParser) -> tuple[Command, ...]:
    """Of a parser of commands, in the order of --help."""
    [found] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return commands_of(found)


def commands_of(commands: argparse._SubParsersAction) -> tuple[Command, ...]:
    """What add_subparsers() gave, with all commands added to it."""
    said = {action.dest: action.help or "" for action in commands._choices_actions}
    return tuple(
        Command(name, said[name], command.description or "", _groups(command))
        for name, command in commands.choices.items()
    )


def _groups(parser: argparse.ArgumentParser) -> dict[str, tuple[Option, ...]]:
    groups: dict[str, tuple[Option, ...]] = {}
    for place, group in enumerate(parser._action_groups):
        title = "" if place < 2 else group.title or ""  # argparse's own two: arguments by their place, options
        actions = [action for action in group._group_actions if not isinstance(action, argparse._HelpAction)]
        if actions:
            groups[title] = groups.get(title, ()) + tuple(map(_option, actions))
    return groups


def _option(action: argparse.Action) -> Option:
    *others, name = action.option_strings or [""]
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Option(
        name=name,
        value="" if action.nargs == 0 else value,
        choices=() if action.choices is None else tuple(map(str, action.choices)),
        help=(action.help or "").replace("%%", "%"),
        required=bool(action.required and name),
        others=tuple(others),
    )
