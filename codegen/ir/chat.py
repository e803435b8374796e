# SPDX-License-Identifier: Apache-2.0
"""How a conversation is written for a model that was trained on some. Goes into Python packages of models as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Trim = Literal["nothing", "first_line_feeds", "white_space"]  # of a message: white space is Python's, at both ends


@dataclass(frozen=True)
class Chat:
    """The text around messages, which are the user's and the model's in turn, the user's first and last."""

    before: str  # the user's first message
    before_answer: str  # between a message of the user and what the model answered
    behind_answer: str  # between that and the user's next message
    ask: str  # behind the last message: what the model goes on from
    system: tuple[str, str] | None = None  # around a system's message, in place of `before`; None: it takes none
    trim_system: Trim = "nothing"
    trim_user: Trim = "nothing"
    trim_answer: Trim = "nothing"
    thinking_end: str = ""  # of an answer what stands up to the last one of these is left out; empty: nothing is
    trim_behind_thinking: Trim = "nothing"  # what is left of such an answer, before `trim_answer`

    def text(self, system: str | None, messages: Sequence[str]) -> str:
        """A conversation, as `chat_text` of etch/chat.hpp writes it."""
        first = self.before
        if len(messages) % 2 == 0:
            raise ValueError(f"{len(messages)} messages: the user's and the model's in turn, the user's first and last")
        if system is not None:
            if self.system is None:
                raise ValueError("conversations with the model have no system's message")
            first = self.system[0] + trimmed(system, self.trim_system) + self.system[1]
        parts = [first, trimmed(messages[0], self.trim_user)]
        for place, message in enumerate(messages[1:], 1):
            if place % 2:
                parts += [self.before_answer, trimmed(self._without_thinking(message), self.trim_answer)]
            else:
                parts += [self.behind_answer, trimmed(message, self.trim_user)]
        return "".join(parts) + self.ask

    def _without_thinking(self, answer: str) -> str:
        if not self.thinking_end or self.thinking_end not in answer:
            return answer
        return trimmed(answer.rsplit(self.thinking_end, maxsplit=1)[-1], self.trim_behind_thinking)


def trimmed(message: str, trim: Trim) -> str:
    """What is left of a message."""
    return message.strip() if trim == "white_space" else message.lstrip("\n") if trim == "first_line_feeds" else message
