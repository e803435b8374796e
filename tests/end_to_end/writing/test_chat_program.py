# SPDX-License-Identifier: Apache-2.0
"""Conversations with a model: ids are those of `apply_chat_template`, in C and in the program, and what is written
behind them is the emulator's, from turn to turn, too."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chat_templates import CONVERSATIONS, TEMPLATES
from classify_program import ROOT, Program
from model_build import build_program, build_test
from wheels import imported

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.library_tokenizer.spelled import Speller
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer

HERE = Path(__file__).parent
CHATS = ROOT / "tests" / "codegen" / "chat"
MODEL = ROOT / "tests" / "codegen" / "generation" / "llama" / "texts"
RECORDED = json.loads((CHATS / "recorded.json").read_text(encoding="utf-8"))


def checkpoint(at: Path, template: str | None) -> Path:
    """The recorded model with room for conversations."""
    shutil.copytree(MODEL, at)
    config = json.loads((at / "config.json").read_text()) | {"max_position_embeddings": 480}
    (at / "config.json").write_text(json.dumps(config))
    if template is not None:
        (at / "chat_template.jinja").write_text(template, encoding="utf-8")
    return at


def generated(at: Path, template: str | None) -> Path:
    out = at / "story"
    pipeline.generate(pipeline.Request(checkpoint(at / "checkpoint", template), out, recipe="fp32"), lambda _: None)
    return out


@pytest.fixture(scope="module", params=["headers", "chatml"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp(name), TEMPLATES[name])


@pytest.fixture(scope="module")
def program(folder: Path) -> Program:
    return build_program(folder)


def test_ids_in_c(name: str, folder: Path, tmp_path: Path) -> None:
    calls = build_test(folder, HERE / "chat_calls.cpp", tmp_path / "calls")
    for (system, messages), ids in zip(CONVERSATIONS, RECORDED["ids"][name], strict=True):
        done = subprocess.run([calls, system or "", *messages], capture_output=True, check=True, timeout=60)
        assert [int(number) for number in done.stdout.split()] == ids


def test_ids_in_the_program(name: str, program: Program) -> None:
    for (system, messages), ids in zip(CONVERSATIONS, RECORDED["ids"][name], strict=True):
        if len(messages) == 1:
            said = [] if system is None else ["--system", system]
            assert program.well("--chat", "--tokens", *said, "--", *messages).objects[0]["ids"] == ids


def answers(folder: Path, system: str | None, turns: list[str]) -> list[str]:
    """What the emulator writes, from turn to turn."""
    loaded = pipeline.load(folder.parent / "checkpoint")
    program = pipeline.lower(loaded, "fp32", None)
    assert loaded.generation is not None and loaded.generation.chat is not None and loaded.target is not None
    speller, messages, found = Speller(loaded.target), list[str](), list[str]()
    tokenizer = wheel_tokenizer(loaded.tokenizer)
    for turn in turns:
        text = loaded.generation.chat.text(system, [*messages, turn])
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokens = Generation(program, ids, [0] * len(ids)).beams()[0].tokens
        rules = program.target_rules
        assert rules is not None
        found.append(speller.text(list(tokens), () if rules.begin else rules.read_first(ids)))
        messages += [turn, found[-1]]
    return found


TURNS = ["the cat", "  what is new?\u00a0", "dogs and oil"]


def test_a_conversation_is_the_emulators(folder: Path, program: Program) -> None:
    expected = answers(folder, None, TURNS)
    lines = "".join(f"{turn}\n" for turn in TURNS).encode()
    said = [one["text"] for one in program.well("--turns", "--json", stdin=lines).objects]
    assert said == expected
    again = program.well("--turns", "--json", stdin=b"the cat\n\nthe cat\n").objects
    assert [one["text"] for one in again] == [expected[0]] * 2
    assert program.well("--chat", "--json", "the cat").objects[0]["text"] == expected[0]
    by_line = program.well("--chat", "--json", "--file", "-", stdin=b"the cat\nthe cat\n").objects
    assert [one["text"] for one in by_line] == [expected[0]] * 2
    streamed = program.well("--turns", "--stream", stdin=lines).out
    assert streamed == program.well("--turns", stdin=lines).out
    (brief,) = answers(folder, "Be brief.", TURNS[:1])
    assert program.well("--chat", "--json", "--system", "Be brief.", "the cat").objects[0]["text"] == brief


def test_the_package_for_python(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for module in [module for module in sys.modules if module.partition(".")[0] == "story"]:
        monkeypatch.delitem(sys.modules, module)  # of the other model
    package = imported(folder, tmp_path / "site", monkeypatch)
    model, expected = package.Model(), answers(folder, None, TURNS)
    first, second, _ = TURNS
    written = model.chat([[first], [first, expected[0], second], [first]])
    assert written.texts == [expected[0], expected[1], expected[0]]
    assert model.chat([[first]], system="Be brief.").texts == answers(folder, "Be brief.", [first])
    assert model.generate([first]).texts != written.texts[:1]
    with pytest.raises(ValueError, match="2 messages"):
        model.chat([[first, second]])
    with pytest.raises(ValueError, match="conversation 2 has more than"):
        model.chat([[first], [first * 400]])


def test_what_does_not_go_together(program: Program, tmp_path: Path) -> None:
    assert "cannot be used together" in program.refused(2, "--chat", "--plain-text", "a")
    assert "--system only goes with" in program.refused(2, "--system", "a", "b")
    assert "--turns: lines of a file" in program.refused(2, "--turns", "a")
    assert "has more than" in program.refused(1, "--chat", "a " * 900)
    assert "line 1: the conversation has more than" in program.refused(1, "--turns", stdin=b"a " * 900)
    alone = build_program(generated(tmp_path / "alone", TEMPLATES["instructions"]))
    assert "have no system's message" in alone.refused(2, "--chat", "--system", "a", "b")
    assert len(alone.well("--chat", "a").lines) == 1
    none = build_program(generated(tmp_path / "none", None))
    assert "the model has no chat" in none.refused(2, "--chat", "a")
