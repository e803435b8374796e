# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a command line: one line, of the command that was meant."""

from __future__ import annotations

import pytest

from codegen import cli


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("generate x --outt=y", "generate: unrecognized arguments: --outt, did you mean --out?"),
        ("generate x --otu y", "generate: unrecognized arguments: --otu, did you mean --out?"),
        ("generate x --receipe w8a8 --out y", "generate: unrecognized arguments: --receipe, did you mean --recipe?"),
        ("generate --colour", "generate: unrecognized arguments: --colour"),
        ("generate x", "generate: the following arguments are required: --out"),
        ("inspect x y", "inspect: unrecognized arguments: y"),
        ("generate x --out y --max-tokens=0", "generate: argument --max-source/--max-tokens: '0' is not"),
        ("evidence x --quiett", "evidence: unrecognized arguments: --quiett, did you mean --quiet?"),
    ],
)
def test_the_misspelled_option_comes_first(arguments: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments.split())
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"etch {said}")
    assert line.endswith(f" (see etch {arguments.split(maxsplit=1)[0]} --help)")
