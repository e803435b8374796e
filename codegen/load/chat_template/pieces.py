# SPDX-License-Identifier: Apache-2.0
"""The fixed text around messages: what a template makes of a few conversations says it, what it makes of many others
whether that is all that it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from typing import get_args

from ...ir.chat import Chat, Trim
from .rendering import Conversation, render

_SYSTEM, _FIRST, _ANSWER, _NEXT = "Wq0zs", "Wq1zu", "Wq2za", "Wq3zu"  # texts that no template has
_THINKING_END = "</think>"
# Messages that a template might not leave as they are.
_ODD = (
    "What is new?",
    "  two spaces at both ends  ",
    "\n\nline feeds\n\n",
    "\t\u00a0\u2003 other white space \u3000\v",
    "{{ messages }} {% if %} {# #}",
    "<b>&amp; \"'\\",
    "\u00e9t\u00e9 \u2603 \U0001f600\nsecond line",
    "x",
)
_ANSWERS = (
    "Nothing.",
    "  two spaces at both ends  ",
    "\n\nline feeds\n\n",
    "<think>\nso\n</think>\n\nYes.",
    "<think>a</think> b </think>\nc\n",
    "{{ x }} \u2603",
)


def pieces_of(template: str, variables: Mapping[str, str], unsaid: Set[str]) -> tuple[Chat, str | None] | str:
    """What conversations are, and why they have no system's message where they have none; or why nothing of that is
    fixed text. Of variables that are `unsaid` nobody knows what they are: a template may not ask for them."""
    systems = (None, "You are brief.", "  Be\nbrief. ")
    drawn = [(system, messages) for system in systems for messages in _conversations()]
    marked = [(None, [_FIRST]), (None, [_FIRST, _ANSWER, _NEXT]), (_SYSTEM, [_FIRST])]
    found = render(template, variables, [_written(*each) for each in (*marked, *drawn)])
    if isinstance(found, str):
        return found
    if missing := sorted(found.asks & unsaid):
        return f"the template asks for {missing[0]}, which no file says"
    first, longer, with_system, *texts = found.texts
    if first is None or longer is None:
        return found.refusals[0] or found.refusals[1] or ""
    around, between = _split(first, _FIRST), _split(longer, _FIRST, _ANSWER, _NEXT)
    if around is None or between is None or (around[0], around[1]) != (between[0], between[3]):
        return "a message of a conversation changes what is written elsewhere"
    chat = Chat(around[0], between[1], between[2], around[1])
    alone = [(case, text) for case, text in zip(drawn, texts, strict=True) if case[0] is None]
    plain = next((each for each in _forms(chat) if _makes(each, alone)), None)
    if plain is None:
        return "what is written of a message depends on others, or on what it says"
    why = found.refusals[2] or "it does not stand before the user's first message"
    before = None if with_system is None else _split(with_system, _SYSTEM, _FIRST)
    if before is not None and before[2] == chat.ask:
        cases = list(zip(drawn, texts, strict=True))
        for trim in get_args(Trim):
            whole = replace(plain, system=(before[0], before[1]), trim_system=trim)
            if _makes(whole, cases):
                return whole, None
    return plain, why


def _conversations() -> Iterator[list[str]]:
    """Of one to four messages of the user, each odd one at least once alone and behind others."""
    yield from ([text] for text in _ODD)
    for place, answer in enumerate(_ANSWERS):
        yield [_ODD[0], answer, _ODD[place]]
        yield [_ODD[place], _ANSWERS[-1 - place], _ODD[-1 - place], answer, _ODD[1 + place]]
    yield [*(text for pair in zip(_ODD, _ANSWERS[:3], strict=False) for text in pair), _ODD[3]]


def _written(system: str | None, messages: Sequence[str]) -> Conversation:
    roles = ("user", "assistant")
    said = [{"role": roles[place % 2], "content": message} for place, message in enumerate(messages)]
    return said if system is None else [{"role": "system", "content": system}, *said]


def _split(text: str, *marks: str) -> list[str] | None:
    """What is around each of the marks, which are there once and in this order."""
    parts: list[str] = []
    rest = text
    for mark in marks:
        if text.count(mark) != 1 or mark not in rest:
            return None
        before, rest = rest.split(mark)
        parts.append(before)
    return [*parts, rest]


def _forms(chat: Chat) -> Iterator[Chat]:
    """Ways to take messages, those that do the least first."""
    trims: tuple[Trim, ...] = get_args(Trim)
    for thinking, user, answer in product((None, *trims), trims, trims):
        made = replace(chat, trim_user=user, trim_answer=answer)
        yield made if thinking is None else replace(made, thinking_end=_THINKING_END, trim_behind_thinking=thinking)


def _makes(chat: Chat, cases: Sequence[tuple[tuple[str | None, list[str]], str | None]]) -> bool:
    return all(text is not None and chat.text(*case) == text for case, text in cases)
