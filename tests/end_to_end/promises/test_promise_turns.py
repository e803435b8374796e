# SPDX-License-Identifier: Apache-2.0
"""Every public call takes its turn at the workspace, or is said to have it: what generated code calls is read."""

from __future__ import annotations

import re

import pytest
from classify_program import ROOT

CALLS = ROOT / "runtime/include/etch/calls"
TEMPLATES = ROOT / "codegen/templates"
FUNCTION = re.compile(
    r"^(?:\[\[gnu::always_inline\]\] inline )?[\w:]+ (\w+)\([^{;]*\) noexcept \{\n(.*?)^\}", re.M | re.S
)


WITHOUT_MEMORY = {"select_kernel", "kernel"}  # they read no more of a workspace than its members


def functions() -> dict[str, str]:
    """Bodies by name, of the calls' headers."""
    return {name: body for path in sorted(CALLS.glob("*.hpp")) for name, body in FUNCTION.findall(path.read_text())}


def called() -> set[str]:
    """What public functions of generated models call."""
    texts = "".join(path.read_text() for path in sorted(TEMPLATES.rglob("*.j2")))
    return set(re.findall(r"return calls::(\w+)<(?!\w+>\{)", texts)) | set(
        re.findall(r"step_call\(\) %\}(\w+)\{%", texts)
    )


def who_takes_it(name: str) -> str:
    """The function itself, or the one that it is all of a call of."""
    handed_on = re.fullmatch(r"\s*return (\w+)<\w+>\(workspace, [^;]*;\s*\}\);\s*", functions()[name])
    return who_takes_it(handed_on[1]) if handed_on else name


def test_what_is_called_is_found() -> None:
    assert {"answer", "answer_batch", "begin", "step", "encode", "select_kernel", "kernel", "write"} <= called()
    assert called() <= functions().keys()
    assert who_takes_it("answer_sides") == "answer_one_by_one"


@pytest.mark.parametrize("name", sorted(called()))
def test_it_takes_its_turn_first(name: str) -> None:
    body = functions()[who_takes_it(name)]
    lines = [line.strip() for line in body.splitlines() if not line.strip().startswith("using ")]
    # Whose memory is not looked at may lack regions.
    of = r"workspace\.in_use" if name in WITHOUT_MEMORY else r"workspace(, (&result|results|scores))?"
    assert re.fullmatch(rf"const Turn turn\{{{of}\}};", lines[0]), name
    assert lines[1].startswith("if (!turn) return "), name
