# SPDX-License-Identifier: Apache-2.0
"""`generate` against a budget: what it writes is what the options that it prints give without a search, within the
limits; refusals write nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_checkpoint import DEFAULT_VOCAB, write_tiny_checkpoint

from codegen import cli, pipeline
from codegen.budget import Limits, check_planned, check_tools, linked
from codegen.budget.limits import ALLOWANCES, Allowance
from codegen.errors import EtchError

WORDS = tuple(f"w{i}" for i in range(200))
TEXTS = [" ".join(WORDS[k] for k in range(i % 7, 200 - i, 1 + i % 5)) for i in range(24)]
Generate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint, a corpus, a labelled table, and no code to speak of beside the tables."""
    write_tiny_checkpoint(tmp_path / "in", vocab=(*DEFAULT_VOCAB, *WORDS), hidden=32, layers=2, intermediate=64)
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    (tmp_path / "rows.csv").write_text("".join(f"{i % 3},{text[:90]}\n" for i, text in enumerate(TEXTS)))
    monkeypatch.setitem(ALLOWANCES, "m-profile", Allowance(code=1000, static=100))
    monkeypatch.setattr("codegen.budget.space._KEPT_EACH_TIME", 0.6)
    return tmp_path


@pytest.fixture
def generate(folder: Path, capsys: pytest.CaptureFixture[str]) -> Generate:
    """Exit code, what is printed, and the error."""

    def run(out: str, *options: str) -> tuple[int, str, str]:
        command = [
            "generate",
            str(folder / "in"),
            "--out",
            str(folder / out),
            "--name",
            "tiny",
            "--target",
            "m-profile",
        ]
        code = cli.main([*command, *options])
        printed = capsys.readouterr()
        return code, re.sub(r"\d+ rows/s", "", printed.out), printed.err

    return run


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def sizes(printed: str) -> tuple[int, int]:
    found = re.search(r"within +planned ([\d,]+) bytes of flash, ([\d,]+) of RAM", printed)
    assert found, printed
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


@pytest.mark.parametrize("flash", [0.9, 0.65])
def test_the_same_without_a_search(folder: Path, generate: Generate, flash: float) -> None:
    table, corpus = ("--evaluate", str(folder / "rows.csv")), ("--prune-vocabulary", str(folder / "corpus.txt"))
    code, printed, _ = generate("whole", *table, "--max-flash", "1M")
    assert code == 0
    assert "the same   without any option" in printed
    limit = int(flash * sizes(printed)[0])
    outcomes = [generate(out, *table, *corpus, "--max-flash", str(limit), "--max-ram", "64K") for out in ("one", "two")]
    assert outcomes[0][0] == 0, outcomes[0][2]
    assert sizes(outcomes[0][1])[0] <= limit
    assert outcomes[0][1].replace("/one", "/two") == outcomes[1][1]
    said = re.search(r"^  the same +(\S.*)$", outcomes[0][1], re.MULTILINE)
    assert said
    options = said[1].split()
    code, again, error = generate("again", *options, *(corpus if "--min-count" in options else ()), *table)
    assert code == 0, error
    assert content(folder / "one") == content(folder / "two") == content(folder / "again")
    assert content(folder / "one") != content(folder / "whole")
    evaluated = re.compile(r"^evaluation +accuracy ([\d.]+) %", re.MULTILINE)
    chosen = re.search(r"^chosen +accuracy ([\d.]+) %", outcomes[0][1], re.MULTILINE)
    assert chosen
    assert evaluated.findall(outcomes[0][1]) == evaluated.findall(again) == [chosen[1]]


def test_what_is_given_is_not_searched(folder: Path, generate: Generate) -> None:
    options = ("--evaluate", str(folder / "rows.csv"), "--prune-vocabulary", str(folder / "corpus.txt"))
    _, whole, _ = generate("whole", *options[:2], "--max-flash", "1M")
    limit = str(int(0.8 * sizes(whole)[0]))
    for given, kept in ((("--min-count", "9"), {"9"}), (("--rare-words", "unknown"), None)):
        code, printed, error = generate("out", *options, "--max-flash", limit, *given)
        assert code == 0, error
        bounds = set(re.findall(r"^ +[\d,]+ +([\d,]+) (spelled|unknown) ", printed, re.MULTILINE))
        assert bounds
        assert {count for count, _ in bounds} == kept or kept is None
        assert {kind for _, kind in bounds} == ({"unknown"} if kept is None else {"spelled", "unknown"})


def test_texts_are_cut_only_where_that_is_allowed(folder: Path, generate: Generate) -> None:
    table = ("--evaluate", str(folder / "rows.csv"))
    ram = sizes(generate("whole", *table, "--max-ram", "1M")[1])[1]
    limit = str(ram - 600)
    code, _, error = generate("out", *table, "--max-ram", limit)
    assert code == 1
    assert "error[budget-too-small]" in error
    assert error.endswith("; not tried: fewer pieces (--prune-vocabulary FILE), shorter texts (--min-tokens N)\n")
    code, printed, error = generate("out", *table, "--max-ram", limit, "--min-tokens", "3")
    assert code == 0, error
    cut = re.search(r"the same +--max-tokens (\d+)", printed)
    assert cut
    assert 3 <= int(cut[1]) < 32
    assert sizes(printed)[1] <= ram - 600


def test_refusals_name_limits_that_do_and_write_nothing(folder: Path, generate: Generate) -> None:
    table = ("--evaluate", str(folder / "rows.csv"))
    before = set(folder.iterdir())
    code, printed, error = generate("out", *table, "--max-flash", "1200", "--max-ram", "1K", "--max-stack", "100")
    assert (code, error.count("\n")) == (1, 1)
    assert error.startswith("etch: error[budget-too-small] budget: nothing fits; the nearest is 245 pieces, 4-bit ")
    assert "budget       flash 1,200 bytes, RAM 1,024 bytes, stack 100 bytes" in printed
    named = re.search(r"needs ([^;]*); not tried: (.*)$", error.strip())
    assert named
    assert named[2] == "fewer pieces (--prune-vocabulary FILE), shorter texts (--min-tokens N)"
    assert "sensitivity" not in printed, "no answer is needed to see that nothing fits"
    assert set(folder.iterdir()) == before
    assert generate("out", *table, *named[1].split())[0] == 0
    every = ("--prune-vocabulary", str(folder / "corpus.txt"), "--min-tokens", "3", "--max-flash", "100")
    code, printed, error = generate("out2", *table, *every)
    assert (code, "not tried" in error, "sensitivity" in printed) == (1, False, False)
    code, _, error = generate("other", *table, "--max-flash", "1M", "--min-accuracy", "0.999")
    assert code == 1
    assert "error[accuracy-not-reached] budget: the best that fits has accuracy" in error
    assert not (folder / "other").exists()


def test_four_bits_are_calibrated_where_there_are_any(folder: Path, generate: Generate) -> None:
    options = ("--evaluate", str(folder / "rows.csv"), "--calibrate", str(folder / "corpus.txt"))
    code, printed, error = generate("whole", *options, "--max-flash", "1M")
    assert (code, "calibration" in printed) == (0, False), error
    code, printed, error = generate("less", *options, "--max-flash", str(int(0.7 * sizes(printed)[0])))
    assert (code, "calibration" in printed) == (0, True), error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-flash", "1M"], "[option-incomplete] arguments: a budget needs --evaluate"),
        (
            ["--min-tokens", "5"],
            "[option-incomplete] arguments: --min-tokens needs --max-flash, --max-ram or --max-stack",
        ),
        (
            ["--min-accuracy", "0.5"],
            "[option-incomplete] arguments: --min-accuracy needs --max-flash, --max-ram or --max-stack",
        ),
        (
            ["--board", "mps2-an385"],
            "[option-incomplete] arguments: --board needs a limit as --max-flash, --target m-profile and --build",
        ),
        (["--max-ram", "1M", "--evaluate", "T", "--recipe", "w4a8"], "[option-conflict] arguments: a budget chooses"),
        (["--max-ram", "1M", "--evaluate", "T", "--embedding-bits", "4"], "[option-conflict] arguments: a budget"),
        (["--max-ram", "1M", "--evaluate", "T", "--bits", "pooler=4"], "[option-conflict] arguments: a budget chooses"),
        (["--max-ram", "1M", "--evaluate", "T", "--min-tokens", "33"], "[min-tokens] arguments: --min-tokens 33: the"),
    ],
)
def test_options_refused(folder: Path, generate: Generate, options: list[str], words: str) -> None:
    code, _, error = generate("out", *(str(folder / "rows.csv") if option == "T" else option for option in options))
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"etch: error{words}")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--max-flash", "0"), ("--max-ram", "1G"), ("--max-stack", "-5"), ("--min-accuracy", "1.5"),
     ("--min-accuracy", "x"), ("--min-accuracy", "nan"), ("--min-tokens", "0"), ("--board", "mps9")],
)  # fmt: skip
def test_values_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["generate", "in", "--out", "out", f"{option}={value}"])
    assert left.value.code == 2
    assert f"argument {option}: " in capsys.readouterr().err


def test_a_model_that_is_larger_than_counted_is_refused(folder: Path) -> None:
    checkpoint = pipeline.load(folder / "in")
    recipe = pipeline.choose_recipe("w8a8")
    model = pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), recipe, "m-profile")
    assert re.match(r"within +planned [\d,]+ bytes of flash", check_planned(Limits(flash=1 << 20), model))
    with pytest.raises(EtchError, match=r"planned [\d,]+ bytes of flash.*: this needs --max-flash \d+K") as refused:
        check_planned(Limits(flash=1 << 10), model)
    assert refused.value.code == "budget-passed"


def test_what_reads_the_linked_file_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(linked, "ROOT", tmp_path)
        with pytest.raises(EtchError, match="needs the checkout") as refused:
            check_tools()
        assert refused.value.code == "report-missing"
    with monkeypatch.context() as patched:
        patched.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(EtchError, match="needs pyelftools") as refused:
            check_tools()
        assert refused.value.code == "report-missing"
    pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report installs it")
    check_tools()
    (tmp_path / "program").write_text("no ELF")
    with pytest.raises(EtchError, match="cannot read program") as refused:
        linked.linked_bytes(tmp_path / "program", tmp_path)
    assert (refused.value.code, "report: error[" in refused.value.detail) == ("report-failed", True)
