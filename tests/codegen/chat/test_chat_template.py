# SPDX-License-Identifier: Apache-2.0
"""Chat templates: what they render is what `transformers` recorded, the fixed text that is found in them makes the same
conversations, and no template does more than that to whoever reads it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from chat_templates import CONVERSATIONS, TEMPLATES, VARIABLES, written

from codegen.ir.chat import Chat
from codegen.load.chat_template.pieces import pieces_of
from codegen.load.chat_template.rendering import Rendered, render

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))["texts"]
FIXED = ("chatml", "headers", "instructions", "turns", "lines", "thinking", "last_turn")
WITH_SYSTEM = ("chatml", "headers", "turns", "lines", "thinking")


def found(template: str) -> tuple[Chat, str | None] | str:
    return pieces_of(template, VARIABLES, frozenset({"pad_token"}))


@pytest.mark.parametrize("name", TEMPLATES)
def test_texts_are_those_of_the_library(name: str) -> None:
    made = render(TEMPLATES[name], VARIABLES, [written(*each) for each in CONVERSATIONS])
    assert isinstance(made, Rendered)
    assert list(made.texts) == RECORDED[name]
    assert [why is not None for why in made.refusals] == [text is None for text in RECORDED[name]]


@pytest.mark.parametrize("name", FIXED)
def test_pieces_make_the_same_conversations(name: str) -> None:
    made = found(TEMPLATES[name])
    assert not isinstance(made, str), made
    chat, why = made
    assert (chat.system is None) == (why is not None) == (name not in WITH_SYSTEM)
    for (system, messages), text in zip(CONVERSATIONS, RECORDED[name], strict=True):
        if system is None or chat.system is not None:
            assert chat.text(system, messages) == text


def test_what_the_pieces_are() -> None:
    made = found(TEMPLATES["thinking"])
    between, ask = "<|im_end|>\n<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
    plain = Chat("<|im_start|>user\n", ask, between, ask, ("<|im_start|>system\n", between))
    assert made == (replace(plain, thinking_end="</think>", trim_behind_thinking="first_line_feeds"), None)
    made = found(TEMPLATES["headers"])
    assert not isinstance(made, str)
    assert (made[0].trim_system, made[0].trim_user, made[0].trim_answer) == ("white_space",) * 3


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("instructions", "TemplateError: roles take turns"),
        ("last_turn", "it does not stand before the user's first message"),
    ],
)
def test_templates_without_a_systems_message(name: str, why: str) -> None:
    made = found(TEMPLATES[name])
    assert not isinstance(made, str) and made[1] == why
    with pytest.raises(ValueError, match="no system's message"):
        made[0].text("a", ["b"])


CONTENT = "{{ messages[0].content }}"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (TEMPLATES["numbered"], "a message of a conversation changes what is written elsewhere"),
        (TEMPLATES["json"], "what is written of a message depends on others, or on what it says"),
        (CONTENT, "a message of a conversation changes what is written elsewhere"),
        ("x", "a message of a conversation changes what is written elsewhere"),
        (CONTENT + CONTENT, "a message of a conversation changes what is written elsewhere"),
        ("{% for", "TemplateSyntaxError: "),
        ("{{ pad_token }}" + CONTENT, "the template asks for pad_token, which no file says"),
        ("{{ strftime_now('%d') }}" + CONTENT, "UndefinedError: 'strftime_now' is undefined"),
        ("{{ raise_exception(7) }}", "TemplateError: 7"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError: "),
        ("{{ messages.append(1) }}", "SecurityError: "),
        ("{{ cycler.__init__.__globals__ }}", "SecurityError: "),
        ("{% set n = namespace(__a=1) %}", "SecurityError: "),
        ("{% set n = namespace(a=1) %}{% set n._b = 1 %}", "SecurityError: "),
        ("{% include 'x' %}", "TypeError: no loader"),
        ("{% for i in range(99999) %}{{ 'x' * 99999 }}{% endfor %}", "SecurityError: more than 1048576 characters"),
        ("{{ 'x' * 9999999999 }}", "MemoryError: "),
        ("(" * 5000, ""),
        ("{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "RecursionError: "),
    ],
)
def test_no_template_does_more(template: str, why: str) -> None:
    made = found(template)
    assert isinstance(made, str) and made.startswith(why)


def test_an_endless_template_ends() -> None:
    begin = time.monotonic()
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    made = found(loops)
    assert isinstance(made, str) and made.startswith("it takes too much time")
    assert time.monotonic() - begin < 60


def test_the_clock_is_not_told() -> None:
    """Templates that ask whether it is there have a date of their own: what is generated is the same every day."""
    asks = "{{ strftime_now('%d') if strftime_now is defined else '26' }}"
    made = found(f"{asks}{{% for m in messages %}}[{{{{ m.role }}}}]{{{{ m.content }}}}{{% endfor %}}[assistant]")
    assert not isinstance(made, str) and made[0].before == "26[user]"


def test_messages_take_turns() -> None:
    with pytest.raises(ValueError, match="2 messages"):
        Chat("a", "b", "c", "d").text(None, ["a", "b"])
