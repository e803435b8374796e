# SPDX-License-Identifier: Apache-2.0
"""The chat of a folder."""

from __future__ import annotations

from ...errors import printable
from ...ir.chat import Chat
from ..files import CheckpointFolder
from .pieces import pieces_of
from .source import special_tokens, template_of

_MOST_CHARACTERS = 64 * 1024  # of a template, and of what it writes around messages
_SHOWN = 160


def read_chat(folder: CheckpointFolder) -> tuple[Chat | None, tuple[str, ...]]:
    """How conversations are written, where that is fixed text around messages; notes. No template makes a folder fail:
    where it does more, or is none, the model writes texts all the same."""
    found = template_of(folder)
    if found is None:
        return None, ()
    template, file = found
    chat = _chat(folder, template)
    if isinstance(chat, str):
        return None, (f"{file}: conversations are not written: {printable(chat[:_SHOWN])}",)
    made, why = chat
    if why is None:
        return made, ()
    return made, (f"{file}: conversations have no system's message here: {printable(why[:_SHOWN])}",)


def _chat(folder: CheckpointFolder, template: str) -> tuple[Chat, str | None] | str:
    if len(template) > _MOST_CHARACTERS:
        return f"the template has {len(template):,} characters, at most {_MOST_CHARACTERS:,} are read"
    made = pieces_of(template, *special_tokens(folder))
    if not isinstance(made, str):
        size = sum(map(len, (made[0].text(None, ["x", "x", "x"]), *(made[0].system or ()))))
        if size > _MOST_CHARACTERS:
            return f"it writes {size:,} characters around messages, at most {_MOST_CHARACTERS:,} are stored"
    return made
