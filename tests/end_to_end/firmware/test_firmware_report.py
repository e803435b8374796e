# SPDX-License-Identifier: Apache-2.0
"""tools/report on the firmware of each board: the sums of binutils, and a stack that no run passes."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from boards import ROOT, Firmware, memory_of, output
from classify_program import tool

pytestmark = pytest.mark.sweep

LINES = (
    b"Oil prices climb after the summit",
    b"word " * 150,
    "e\u0301\u0327 \ufb03 \u1e9b\u0323".encode() * 8,
    b"!self",
)


def test_what_the_linked_file_says(firmware: Firmware) -> None:
    pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report installs it")
    with firmware.start() as emulator:
        for line in LINES:
            assert not emulator.ask(line).startswith("error")
        memory = memory_of(emulator)
    painted = memory["stack_painted"]
    command = [ROOT / "tools" / "report", firmware.elf, "--json", "--painted", str(painted)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    content = json.loads(done.stdout)
    assert content["file"]["hosted"] is False
    assert all(check["passed"] for check in content["checks"])

    told = output(tool("arm-none-eabi-size"), "-A", firmware.elf)
    sizes = {name: int(size) for name, size in re.findall(r"^(\S+) +(\d+) +\d+$", told, re.MULTILINE)}
    in_flash = [section.name for section in firmware.sections if section.loaded and section.in_file]
    assert content["flash"]["bytes"] == sum(sizes.get(name, 0) for name in in_flash)
    assert content["ram"]["bytes"] == sizes[".stack"] + sizes.get(".data", 0) + sizes[".bss"]
    assert "not attributed" not in json.dumps(content["flash"]["categories"])

    assert content["ram"]["kinds"]["arena"] == memory["arena"]
    assert content["ram"]["kinds"]["stack"] == memory["stack"] == sizes[".stack"]
    stack, arena = content["stacks"][0], content["arenas"][0]
    assert stack["whole_program"] is True
    computed = stack["functions"][0]["bytes"]
    assert 500 < painted <= computed <= memory["stack"]
    print(
        f"{firmware.board}: stack painted {painted}, computed {computed} of {memory['stack']} bytes; "
        f"arena {arena['bytes']}, bound {arena['lower_bound']}"
    )
