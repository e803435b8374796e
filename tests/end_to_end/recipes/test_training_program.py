# SPDX-License-Identifier: Apache-2.0
"""How the programs of tools/train end, and what they take for options. Needs no PyTorch."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT
from tiny_checkpoint import DEFAULT_VOCAB, write_tiny_checkpoint

from codegen import pipeline

TRAIN = ROOT / "tools" / "train"
HOW = """
import sys
sys.path[1:1] = sys.argv[1:]
from common.program import ended

def run():
    {how}
    return "done"

sys.exit(ended("learn", run))
"""


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        ("pass", 0, ""),
        ("open('/nowhere/a.txt')", 1, "learn: a.txt: No such file or directory\n"),
        ("raise OSError('no\\nnumber')", 1, "learn: no number\n"),
        ("from common.refusal import Refused; raise Refused('a\\x1bb')", 1, "learn: a?b\n"),
        ("import nothing_of_the_kind", 1, "learn: No module named 'nothing_of_the_kind'; install "),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", 130, "learn: "),
    ],
)
def test_a_run_ends_with_a_line(how: str, code: int, told: str) -> None:
    command = [sys.executable, "-c", HOW.format(how=how), str(TRAIN), str(ROOT)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        # A shell's background job ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(told) and done.stderr.count("\n") == (code != 0)
    assert done.stdout == ("" if code else "done\n")


NEEDED = {
    "gru": "encoder --train a.csv --out out --label-column 1 --text-columns 2",
    "tokens": "tag encoder --train a.conll --out out",
    "small": "teacher --texts a.txt --out out",
    "pretrain": "--texts a.txt --vocabulary vocab.txt --out out",
}


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        *((name, "--batch", "0") for name in NEEDED),
        *((name, "--rate", "nan") for name in NEEDED),
        *((name, "--max-tokens", "2") for name in NEEDED),
        *((name, "--seed", "-1") for name in NEEDED),
        *((name, "--steps", "0") for name in ("tokens", "small", "pretrain")),
        ("gru", "--epochs", "0"),
        ("gru", "--dropout", "1"),
        ("gru", "--held-out", "0"),
        ("pretrain", "--hold-every", "0"),
        ("small", "--layers", "0"),
    ],
)
def test_a_number_out_of_range_is_wrong_use(name: str, option: str, value: str, tmp_path: Path) -> None:
    command = [sys.executable, str(TRAIN / name / f"{name}.py"), *NEEDED[name].split(), option, value]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2, done.stderr
    assert f"argument {option}: expected a number from " in done.stderr and not list(tmp_path.iterdir())


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes those of common/ and finetune/ importable."""
    for part in ("", "finetune"):
        monkeypatch.syspath_prepend(str(TRAIN / part))


@pytest.mark.usefixtures("modules")
def test_heads_share_a_width_evenly() -> None:
    from common.heads import heads_of

    assert [heads_of(width, 64) for width in (20, 64, 100, 128, 192)] == [1, 1, 1, 2, 3]
    with pytest.raises(SystemExit, match="--width 200: 3 heads do not share it evenly; a multiple of 64 does"):
        heads_of(200, 64)


@pytest.mark.usefixtures("modules")
def test_texts_are_no_longer_than_the_positions(tmp_path: Path) -> None:
    from base import check_max_tokens

    write_tiny_checkpoint(tmp_path, max_positions=48)
    checkpoint = pipeline.load(tmp_path)
    check_max_tokens(checkpoint, 48)
    with pytest.raises(SystemExit, match=r"--max-tokens 96: the encoder takes 48 \(max_position_embeddings\)"):
        check_max_tokens(checkpoint, 96)


@pytest.mark.usefixtures("modules")
def test_a_column_is_a_number_by_ascii_digits() -> None:
    from settings import is_number

    assert is_number("12") and not any(map(is_number, ("", "a", "1a", "²", "١")))  # the latter two are isdigit()


@pytest.mark.usefixtures("modules")
def test_few_pieces_are_the_special_ones_first() -> None:
    from common import vocabulary

    spec, ids = vocabulary.build(vocabulary.uncased(DEFAULT_VOCAB), ["the cat sat on the mat"] * 9, 8)
    assert list(spec["model"]["vocab"])[:5] == list(vocabulary.SPECIALS) and len(ids) == 8
