# SPDX-License-Identifier: Apache-2.0
"""Where a folder has its chat template, and what of it is in the generated sources."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from chat_templates import TEMPLATES

from codegen import cli, pipeline
from codegen.errors import EtchError
from codegen.folders.manifest import read_manifest
from codegen.ir.chat import Chat
from codegen.load.checkpoint import Checkpoint

GENERATION = Path(__file__).resolve().parents[1] / "generation"
CONFIG = "tokenizer_config.json"


def folder(at: Path, files: dict[str, str] | None = None, **config: Any) -> Path:
    """A recorded model with these files, and these values of tokenizer_config.json; None takes one away."""
    shutil.copytree(GENERATION / "llama" / "texts", at)
    for name, text in (files or {}).items():
        (at / name).parent.mkdir(exist_ok=True)
        (at / name).write_text(text, encoding="utf-8")
    values = json.loads((at / CONFIG).read_text(encoding="utf-8")) | config
    values = {key: value for key, value in values.items() if value is not None}
    (at / CONFIG).write_text(json.dumps(values), encoding="utf-8")
    return at


def chat_of(checkpoint: Checkpoint) -> Chat | None:
    assert checkpoint.generation is not None
    return checkpoint.generation.chat


def of(mark: str) -> str:
    return f"{{% for m in messages %}}{mark}{{{{ m.role[0] ~ m.content }}}}{{% endfor %}}{mark}a"


FILE, OTHER = "chat_template.jinja", "additional_chat_templates/other.jinja"
DEFAULT = "additional_chat_templates/default.jinja"
NAMED = [{"name": "tool_use", "template": of("T")}, {"name": "default", "template": of("D")}]


@pytest.mark.parametrize(
    ("files", "config", "mark"),
    [
        ({}, of("C"), "C"),
        ({}, NAMED, "D"),
        ({}, NAMED[:1], None),
        ({}, None, None),
        ({}, 7, None),
        ({FILE: of("F")}, of("C"), "F"),
        ({FILE: of("F"), OTHER: of("O"), DEFAULT: of("A")}, of("C"), "F"),
        ({OTHER: of("O"), DEFAULT: of("A")}, of("C"), "A"),
        ({OTHER: of("O")}, of("C"), None),
    ],
)
def test_which_template_counts(files: dict[str, str], config: object, mark: str | None, tmp_path: Path) -> None:
    """As in `transformers` 5.23."""
    chat = chat_of(pipeline.load(folder(tmp_path / "model", files, chat_template=config)))
    assert (None if chat is None else chat.before) == (None if mark is None else f"{mark}u")


def test_special_tokens_are_those_that_files_say(tmp_path: Path) -> None:
    template = "{{ bos_token }}" + of("C")
    said = folder(tmp_path / "said", chat_template=template, bos_token={"content": "<|begin_of_text|>"})
    chat = chat_of(pipeline.load(said))
    assert chat is not None and chat.before == "<|begin_of_text|>Cu"
    (note,) = pipeline.load(folder(tmp_path / "unsaid", chat_template="{{ sep_token }}" + of("C"))).notes
    assert note == f"{CONFIG}: conversations are not written: the template asks for sep_token, which no file says"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (TEMPLATES["instructions"], "conversations have no system's message here: TemplateError: roles take turns"),
        ("{% if", "conversations are not written: TemplateSyntaxError"),
        ("x" * 70000, "the template has 70,000 characters, at most 65,536 are read"),
        ("{{ 'x' * 70000 }}" + of("C"), "it writes 140,015 characters around messages, at most 65,536 are stored"),
    ],
)
def test_what_is_left_out_is_told(template: str, words: str, tmp_path: Path) -> None:
    (note,) = pipeline.load(folder(tmp_path / "model", {FILE: template})).notes
    assert note.startswith(f"{FILE}: ") and words in note


def test_the_sources_and_the_manifest_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert (
        cli.main(["generate", str(folder(tmp_path / "model", {FILE: TEMPLATES["thinking"]})), "--out", str(out)]) == 0
    )
    assert ", conversations\n" in capsys.readouterr().out
    header = (out / "out.hpp").read_text()
    assert "inline constexpr Chat kChat{\n" in header and "Trim::first_line_feeds" in header
    chat = read_manifest(out)["chat"]
    assert chat["thinking_end"] == "</think>" and Chat(**chat | {"system": tuple(chat["system"])}).system is not None
    (out / "etch.json").write_text((out / "etch.json").read_text().replace("first_line_feeds", "all"))
    with pytest.raises(EtchError, match="chat"):
        read_manifest(out)
    assert cli.main(["generate", str(GENERATION / "llama" / "texts"), "--out", str(tmp_path / "none")]) == 0
    assert "inline constexpr Chat kChat{};" in (tmp_path / "none" / "none.hpp").read_text()
    assert "chat" not in read_manifest(tmp_path / "none")
