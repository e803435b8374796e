# SPDX-License-Identifier: Apache-2.0
"""How generated code is laid out: lines that fit, one blank line at a time, includes in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from recorded.outputs import folder

from codegen import pipeline
from codegen.quantize import RECIPES
from codegen.render.arena import assertions
from codegen.render.comments import wrapped
from codegen.render.model import render_model
from codegen.render.text import LINE_WIDTH

GENERATED = Path(__file__).parents[3] / "generated"
SOURCES = sorted(path for kind in ("cpp", "hpp", "h") for path in GENERATED.glob(f"*/*.{kind}"))


def test_there_are_sources() -> None:
    assert {path.parent.name for path in SOURCES} == {"agnews", "agnews_small"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_layout_of_the_committed_models(path: Path) -> None:
    text = path.read_text()
    assert [line for line in text.split("\n") if len(line) > LINE_WIDTH] == []
    assert "\n\n\n" not in text
    for block in re.findall(r"(?:^#include .*\n)+", text, re.MULTILINE):
        includes = block.splitlines()
        assert includes == sorted(includes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"// {'a' * 100} {'b' * 20} cc\n// dd", f"// {'a' * 100}\n// {'b' * 20} cc dd"),
        (f"// {'a' * 100} {'b' * 20}\n// - item", f"// {'a' * 100}\n// {'b' * 20}\n// - item"),
        (f"/* {'a' * 100} {'b' * 20} */\nint x;", f"/* {'a' * 100}\n * {'b' * 20} */\nint x;"),
        (f"/* {'a' * 100} {'b' * 14} */\nint x;", f"/* {'a' * 100}\n * {'b' * 14} */\nint x;"),
        (f" * {'a' * 100} {'b' * 20}\n * cc */", f" * {'a' * 100}\n * {'b' * 20} cc */"),
        (f"    // {'a' * 130}", f"    // {'a' * 130}"),
        (f"int {'a' * 130}; // b", f"int {'a' * 130}; // b"),
    ],
)
def test_long_comments_go_on_in_the_next_line(text: str, expected: str) -> None:
    assert wrapped(text) == expected


def test_an_assertion_names_its_buffers_and_fits() -> None:
    assert assertions({"a <= 1": ["x", "y"]}) == ['static_assert(a <= 1, "x, y: not as planned");']
    assert assertions({"a" * 90: ["x"]}) == [f"static_assert({'a' * 90},", '              "x: not as planned");']


@pytest.mark.parametrize(
    ("variant", "constant"),
    [
        ("canine/groups", "{kCharacterEmbeddings, EmbeddedBy::hashes,\n"),
        ("qwen3_5_text/long", "kDeltaShape{\n    2,  // heads"),
        ("mamba2/mean", "kStateSpaceShape{\n    4,     // heads"),
    ],
)
def test_constants_of_many_values(variant: str, constant: str) -> None:
    checkpoint = pipeline.load(folder(variant))
    model = pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), RECIPES["w8a8"], "host")
    (source,) = (file for file in render_model(model, "c") if file.name == "tiny.cpp")
    text = b"".join(source.content).decode()
    assert constant in text
    assert [line for line in text.split("\n") if len(line) > LINE_WIDTH] == []
