# SPDX-License-Identifier: Apache-2.0
"""Completion and pages of the manual: every command and option is in them, and the shells and groff take them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen import cli
from codegen.shells.completion import SHELLS, of_program
from codegen.shells.parsers import commands_in

COMMANDS = commands_in(cli.make_parser())
HELP = "usage: classify [OPTION…]\n  --file F    a file\n  --json      text with --words\n  --help, -h  this\n"


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


def completed(text: str, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    function = text.split("(", maxsplit=1)[0]
    program = f'{text}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", program, "bash", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash(capsys: pytest.CaptureFixture[str]) -> None:
    text = script("bash", capsys)
    assert completed(text, "etch", "") == {command.name for command in COMMANDS}
    assert completed(text, "etch", "ge") == {"generate"}
    for command in COMMANDS:
        assert completed(text, "etch", command.name, "--") == {option.name for option in command.options}
    assert completed(text, "etch", "generate", "x", "--recipe", "") == {"w8a8", "w7a8", "w4a8", "fp32"}
    assert completed(text, "etch", "generate", "x", "--out", "") == set()  # bash's own: files
    assert completed(of_program("bash", "classify-x", HELP), "classify-x", "--") == {"--file", "--json", "--help"}


def test_an_option_with_two_names_has_both() -> None:
    [generate] = [command for command in COMMANDS if command.name == "generate"]
    names = [option.name for option in generate.options]
    assert names.count("--max-tokens") == names.count("--max-source") == 1
    page = (Path(cli.__file__).parent / "OPTIONS.md").read_text(encoding="utf-8")
    assert "- `--max-tokens N`, `--max-source N`: longest text" in page


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_there_and_the_shell_reads_it(
    shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = script(shell, capsys)
    for command in COMMANDS:
        assert command.name in text
        for option in command.options:
            assert (f"-l {option.name[2:]}" if shell == "fish" else option.name) in text
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for number, content in enumerate((text, of_program(shell, "classify-x", HELP))):
        path = tmp_path / f"script{number}"
        path.write_text(content)
        subprocess.run([shell, "-n", path], check=True)


def test_of_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "classify-x").write_text(f"#!/bin/sh\ncat <<'END'\n{HELP}END\n")
    (tmp_path / "classify-x").chmod(0o755)
    assert cli.main(["completion", "fish", "--program", str(tmp_path / "classify-x")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "complete -c classify-x -l file"
    assert cli.main(["completion", "fish", "--program", str(tmp_path / "none")]) == 1
    assert "error[program-unusable]" in capsys.readouterr().err


def test_manual(tmp_path: Path) -> None:
    assert cli.main(["man", "--out", str(tmp_path / "man1")]) == 0
    assert {path.name for path in (tmp_path / "man1").iterdir()} == {f"etch-{command.name}.1" for command in COMMANDS}
    for command in COMMANDS:
        path = tmp_path / "man1" / f"etch-{command.name}.1"
        text = path.read_text()
        for option in command.options:
            assert f".BR {option.name}".replace("-", "\\-") in text
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", path], capture_output=True, check=True)
            assert done.stderr == b""


def test_manual_in_the_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert cli.main(["man", "--out", str(tmp_path / "file")]) == 1
    assert "error[target-not-a-folder] man: " in capsys.readouterr().err
