# SPDX-License-Identifier: Apache-2.0
"""The program of the default model: options, inputs, output formats, exit codes."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT, TITLES, Outcome, Program, built, most_tokens

ANSWER_KEYS = ["label", "probability", "logits", "tokens", "truncated"]


@pytest.fixture(scope="module")
def classify() -> Program:
    return built("classify")


@pytest.fixture(scope="module")
def max_tokens(classify: Program) -> int:
    return most_tokens(classify)


def answers(outcome: Outcome) -> list[dict[str, Any]]:
    assert all(list(answer) == ANSWER_KEYS for answer in outcome.objects)
    return outcome.objects


# --- wrong use -----------------------------------------------------------------------------------------------------

WRONG_USES = [
    (["--nonsense"], "unknown option '--nonsense'"),
    (["--nonsense=3"], "unknown option '--nonsense=3'"),
    (["-x"], "unknown option '-x'"),
    (["--two\nlines"], r"unknown option '--two\nlines'"),
    ([b"--\xff\x1b[31m"], "unknown option '--\ufffd\\x1b[31m'"),
    (["--file"], "--file needs a value"),
    (["--file", "--json"], "--file needs a value"),
    (["--file", "missing.txt"], "cannot open 'missing.txt': No such file"),
    (["--file", "."], "cannot read '.': it is a folder"),
    (["--file", ""], "cannot open ''"),
    (["--file", "a", "--file", "b"], "--file is given twice"),
    (["--file", "a", "text"], "--file and texts as arguments"),
    (["--file", "a", "--pair", "b", "c"], "--file and --pair"),
    (["--json=yes", "text"], "--json takes no value"),
    (["--json", "--tokens", "text"], "--json and --tokens"),
    (["--top", "2", "--json", "text"], "--top and --json"),
    (["--top", "2", "--tokens", "text"], "--top and --tokens"),
    (["--top"], "--top needs a value"),
    (["--top", "0", "text"], "--top: expected a number from 1"),
    (["--top", "-1", "text"], "--top: expected a number from 1"),
    (["--top", "2x", "text"], "--top: expected a number from 1 to 1000000, got '2x'"),
    (["--top", "99999999999999999999", "text"], "--top: expected a number"),
    (["--top=", "text"], "--top: expected a number"),
    (["--pair"], "--pair needs two values"),
    (["--pair", "a"], "--pair needs two values"),
    (["--pair", "a", "--json"], "--pair needs two values"),
    (["--pair=a", "b"], "--pair takes its two values as separate arguments"),
    (["--pair", "a", "b", "c"], "unexpected text 'c'"),
    (["--pair", "a", "b", "--pairs"], "--pair and --pairs"),
    (["--pairs", "text"], "--pairs reads lines"),
    (["--threads"], "--threads needs a value"),
    (["--threads", "65", "text"], "--threads: expected a number from 0 to 64"),
    (["--threads", "many", "text"], "--threads: expected a number from 0 to 64, got 'many'"),
    (["--device", "tpu", "text"], "--device: expected cpu, cuda or cuda:N, got 'tpu'"),
    (["--device", "cuda0", "text"], "--device: expected cpu, cuda or cuda:N, got 'cuda0'"),
    (["--device", "cuda:x", "text"], "--device cuda:N: expected a number from 0 to 1023, got 'x'"),
    (["--device", "cuda:", "text"], "--device cuda:N: expected a number from 0 to 1023, got ''"),
    (["--device", "cuda", "--self-test"], "--device does not go with --self-test"),
    (["--device", "cuda", "--tokens", "text"], "--tokens and --device cuda"),
    (["--device", "cuda", "--kernel", "scalar", "text"], "--kernel and --device cuda"),
    (["--device", "cuda", "--threads", "1", "text"], "--threads and --device cuda"),
    (["--device", "cuda", "--huge-pages", "text"], "--huge-pages and --device cuda"),
    (["--huge-pages=2", "text"], "--huge-pages takes no value"),
    (["--huge-pages", "--version"], "--huge-pages does not go with --version"),
    (["--device", "cuda", "--mode", "quick", "text"], "--mode: expected exact or fast, got 'quick'"),
    (["--mode", "fast", "text"], "--mode only goes with --device cuda"),
    (["--mode", "fast", "--device", "cpu", "text"], "--mode only goes with --device cuda"),
    (["--kernel"], "--kernel needs a value"),
    (["--kernel", "abacus", "text"], "--kernel: there is no kernel 'abacus' (usable: "),
    (["--kernel", "", "text"], "--kernel: there is no kernel '' (usable: "),
    (["--kernel", "list", "text"], "unexpected text 'text': --kernel list takes no texts"),
    (["--kernel", "list", "--json"], "--json does not go with --kernel list"),
    (["--kernel", "list", "--latency"], "--latency and --kernel list"),
    (["--latency", "--memory"], "--latency and --memory"),
    (["--latency", "text"], "unexpected text 'text': --latency takes no texts"),
    (["--memory", "--top", "2"], "--top does not go with --memory"),
    (["--self-test", "--json"], "--json does not go with --self-test"),
    (["--version", "--file", "a"], "--file does not go with --version"),
    (["--similarity", "a", "b"], "--similarity does not go with model 'agnews', which classifies texts"),
    (["--evaluate"], "--evaluate needs a value"),
    (["--evaluate", "missing.csv"], "cannot open 'missing.csv'"),
    (["--evaluate", "rows.xlsx"], "--evaluate: expected a file named .csv, .tsv or .jsonl"),
    (["--evaluate", "rows"], "--evaluate: expected a file named .csv, .tsv or .jsonl"),
    (["--evaluate", "rows.csv", "text"], "unexpected text 'text'"),
    (["--evaluate", "rows.csv", "--limit", "0"], "--limit: expected a number from 1"),
    (["--evaluate", "rows.csv", "--header", "--no-header"], "--header and --no-header"),
    (["--limit", "3", "text"], "--limit only goes with --evaluate"),
    (["--header", "text"], "--header only goes with --evaluate"),
    (["--labels", "0", "text"], "--labels only goes with --evaluate"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USES, ids=[repr(a) for a, _ in WRONG_USES])
def test_wrong_use_is_one_line_and_exit_2(
    classify: Program, tmp_path: Path, arguments: list[str], message: str
) -> None:
    assert message in classify.refused(2, *arguments, cwd=tmp_path)


def test_huge_pages_change_no_answer(classify: Program) -> None:
    run = classify("--huge-pages", "--json", *TITLES)
    assert (run.code, run.out) == (0, classify.well("--json", *TITLES).out)
    none = "classify: no huge pages: the tables fill none, or this system gives none\n"
    assert run.err in ("", none)  # as the system has it


def test_a_refused_run_writes_nothing_to_stdout(classify: Program) -> None:
    assert classify("good text", "--nonsense").out == b""


# --- texts ---------------------------------------------------------------------------------------------------------


def test_arguments_file_and_stdin_give_the_same_lines(classify: Program, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\n".join(TITLES) + b"\n")
    expected = classify.well("--json", *TITLES).out
    assert expected.count(b"\n") == len(TITLES)
    assert classify.well("--json", "--file", path).out == expected
    assert classify.well("--json", f"--file={path}").out == expected
    assert classify.well("--json", "--file", "-", stdin=path.read_bytes()).out == expected
    assert classify.well("--json", stdin=path.read_bytes()).out == expected
    assert classify.well("--json", stdin=path.read_bytes()[:-1]).out == expected  # a last line without LF counts


def test_options_may_come_after_texts_and_texts_may_begin_with_a_dash(classify: Program) -> None:
    assert classify.well(TITLES[0], "--json").out == classify.well("--json", TITLES[0]).out
    dashed = classify.well("--json", "--", "--top", "-5 degrees").out
    assert dashed == classify.well("--json", stdin=b"--top\n-5 degrees\n").out
    assert classify.well("-").lines


def test_an_empty_line_is_an_empty_text(classify: Program) -> None:
    [empty] = answers(classify.well("--json", ""))
    assert empty["tokens"] == 2
    assert answers(classify.well("--json", stdin=b"\n")) == [empty]
    assert answers(classify.well("--json", stdin=b"\n\na\n\n")).count(empty) == 3
    assert classify.well("--json", stdin=b"").out == b""


def test_tabs_and_carriage_returns_are_white_space_in_a_text(classify: Program) -> None:
    [plain] = answers(classify.well("--json", "stocks fall"))
    for text in (b"stocks\tfall\n", b"stocks fall\r\n", b"stocks\rfall"):
        assert answers(classify.well("--json", stdin=text)) == [plain]
    [tokens] = classify.well("--tokens", stdin=b"a\r\n").objects
    assert tokens["offsets"][1] == [0, 1]


def test_bytes_that_are_no_text(classify: Program, max_tokens: int) -> None:
    lines = [
        b"stocks fall", b"st\0ocks fa\0ll", b"st\xff\xc3ocks fall\xe2\x82", b"x" * 2**20, b"[SEP]" * 2,
    ]  # fmt: skip
    [plain, nul, invalid, word, separators] = answers(classify.well("--json", stdin=b"\n".join(lines)))
    assert nul == plain  # the tokenizer drops NULs
    assert invalid == plain  # and U+FFFD, which stands for invalid bytes
    assert (word["tokens"], word["truncated"]) == (3, False)  # one word, too long to be cut into pieces
    assert separators["tokens"] == 4
    long = classify.well("--json", stdin=b"[SEP]" * 200_000)
    assert answers(long)[0] | {"label": 0, "probability": 0, "logits": 0} == {
        "label": 0,
        "probability": 0,
        "logits": 0,
        "tokens": max_tokens,
        "truncated": True,
    }


def test_a_cut_text_is_reported(classify: Program, max_tokens: int) -> None:
    words = b" ".join([b"a"] * (max_tokens - 2))
    exact = classify.well("--json", words)
    assert (answers(exact)[0]["tokens"], answers(exact)[0]["truncated"], exact.err) == (max_tokens, False, "")
    for option, count in (("--json", lambda o: o["tokens"]), ("--tokens", lambda o: len(o["ids"]))):
        cut = classify.well(option, words + b" a")
        assert re.fullmatch(rf"classify\S*: text '[^']*': text cut to {max_tokens} tokens\n", cut.err)
        assert cut.objects[0]["truncated"] is True
        assert count(cut.objects[0]) == max_tokens
    assert classify.well(words + b" a", b"short").err.count("\n") == 1


def test_a_cut_text_is_named(classify: Program, max_tokens: int) -> None:
    """By its place, also among lines that are answered together."""
    long = b" ".join([b"a"] * max_tokens)
    said = classify.well(stdin=b"\n".join([b"short", long, b"short", long])).err.splitlines()
    assert [line.split(": ", 1)[1] for line in said] == [
        f"standard input: line {line}: text cut to {max_tokens} tokens" for line in (2, 4)
    ]
    assert classify.well("--tokens", stdin=b"\n".join([b"short", long])).err.endswith(
        f": standard input: line 2: text cut to {max_tokens} tokens\n"
    )


# --- output --------------------------------------------------------------------------------------------------------


def test_json_lines(classify: Program) -> None:
    outcome = classify.well("--json", *TITLES)
    labels = re.search(r"labels: (.*)", classify.well("--help").out.decode())
    assert labels
    names = labels[1].split(", ")
    for line, answer in zip(outcome.lines, answers(outcome), strict=True):
        assert answer["label"] == names[answer["logits"].index(max(answer["logits"]))]
        assert len(answer["logits"]) == len(names)
        assert 1 / len(names) <= answer["probability"] <= 1
        assert type(answer["tokens"]) is int
        assert answer["truncated"] is False
        for number in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", line.split('"logits"')[1].split("]")[0]):
            assert float(number) == float(f"{struct.unpack('f', struct.pack('f', float(number)))[0]:.9g}")


def test_plain_lines_have_labels_and_probabilities_best_first(classify: Program) -> None:
    expected = answers(classify.well("--json", *TITLES))
    everything = classify.well(*TITLES).lines
    for line, answer in zip(everything, expected, strict=True):
        fields = line.split("\t")
        assert fields[0] == answer["label"]
        assert fields[1] == f"{answer['probability']:.4f}"
        probabilities = [float(field) for field in fields[1::2]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert len(probabilities) == min(5, len(answer["logits"]))
        assert sum(probabilities) == pytest.approx(1, abs=1e-3)
    assert classify.well("--top", "2", *TITLES).lines == ["\t".join(line.split("\t")[:4]) for line in everything]
    assert classify.well("--top", "1000000", *TITLES).lines == everything


# --- kernels, threads ----------------------------------------------------------------------------------------------


def test_every_usable_kernel_gives_the_same_bytes(classify: Program) -> None:
    kernels = classify.well("--kernel", "list").lines
    assert kernels
    assert "scalar" in kernels
    expected = classify.well("--json", *TITLES).out
    for kernel in kernels:
        assert classify.well("--json", "--kernel", kernel, *TITLES).out == expected
        assert classify.well("--json", *TITLES, kernel=kernel).out == expected
        assert f"kernel: {kernel}\n" in classify.well("--version", "--kernel", kernel).out.decode()
        assert f"kernel: {kernel}\n" in classify.well("--version", kernel=kernel).out.decode()


def test_the_environment_names_a_kernel_unless_an_option_does(classify: Program) -> None:
    kernels = classify.well("--kernel", "list").lines
    usable = ", ".join(kernels)
    message = f"ETCH_KERNEL: there is no kernel 'abacus' (usable: {usable})"
    for arguments in (["text"], ["--version"], ["--self-test"], ["--latency"], ["--memory"]):
        assert classify.refused(2, *arguments, kernel="abacus") == message
    assert classify.refused(2, "--kernel", "abacus", "x", kernel="scalar").startswith("--kernel: there is no kernel")
    for arguments in (["--kernel", "scalar", "text"], ["--kernel", "list"], ["--help"]):
        classify.well(*arguments, kernel="abacus")
    assert f"kernel: {kernels[0]}\n" in classify.well("--version", kernel="").out.decode()  # empty is unset


def test_threads_do_not_change_the_answer(classify: Program) -> None:
    expected = classify.well("--json", *TITLES).out
    for threads in ("1", "2", "64", "0", "auto"):
        assert classify.well("--json", "--threads", threads, *TITLES).out == expected
        lines = b"".join(title + b"\n" for title in TITLES)
        assert classify.well("--json", "--threads", threads, stdin=lines).out == expected


def test_more_threads_than_processors_are_noted(classify: Program) -> None:
    assert "64 threads, but only " in classify.well("--threads", "64", "text").err
    assert classify.well("--threads", "auto", "text").err == ""


# --- reports -------------------------------------------------------------------------------------------------------


def test_help_names_every_option_and_version_every_fact(classify: Program) -> None:
    for arguments in (["--help"], ["-h"], ["--json", "--help"]):
        text = classify.well(*arguments).out.decode()
        for option in (
            "--file", "--pair", "--pairs", "--plain-text", "--top", "--json", "--tokens", "--evaluate",
            "--label-column", "--text-columns", "--labels", "--header", "--no-header", "--limit", "--latency",
            "--memory", "--kernel", "--threads", "--self-test", "--help", "--version",
        ):  # fmt: skip
            assert re.search(rf"^  {option}[ ,\n]|^{option} ", text, re.MULTILINE), option
    lines = classify.well("--version").lines
    assert re.fullmatch(r"etch \d+\.\d+\.\d+", lines[0])
    assert [line.split(": ")[0] for line in lines[1:]] == ["model", "recipe", "checkpoint", "kernel"]
    assert lines[1] == "model: agnews"
    assert re.fullmatch(r"checkpoint: [0-9a-f]{64}", lines[3])


def test_latency_table(classify: Program, max_tokens: int) -> None:
    lines = classify.well("--latency", "--threads", "2").lines
    kernel = classify.well("--kernel", "list").lines[0]
    assert f"kernel: {kernel}, threads: 2" in lines[0]
    assert lines[1].split() == ["tokens", "runs", "median", "ms", "p95", "ms"]
    rows = [[float(field) for field in line.split()] for line in lines[2:]]
    usual = [8, 16, 32, 44, 64, 128, 221, 256, 512]
    assert [row[0] for row in rows] == sorted({*(n for n in usual if n <= max_tokens), max_tokens})
    assert {44, 221} <= {row[0] for row in rows}
    for _, runs, median, p95 in rows:
        assert runs >= 5
        assert 0 < median <= p95
    assert rows[-1][2] > rows[0][2]  # cost follows the length


def test_memory_report(classify: Program) -> None:
    figures = {}
    for line in classify.well("--memory").lines:
        found = re.fullmatch(r"(\S+(?: \S+)?) +(\d+) bytes  (.+)", line)
        assert found, line
        figures[found[1]] = int(found[2])
    assert list(figures) == ["tables", "code", "arena", "stack budget", "peak"]
    header = (ROOT / "generated/agnews/agnews.hpp").read_text(encoding="utf-8")
    for name, constant in (("tables", "kTableBytes"), ("arena", "kArenaBytes"), ("stack budget", "kStackBudget")):
        found = re.search(rf"{constant} = (\d+);", header)
        assert found
        assert figures[name] == int(found[1])
    assert figures["peak"] > figures["arena"] // 2
    if shutil.which("size"):
        text, data = map(int, subprocess.check_output(["size", classify.path], text=True).split("\n")[1].split()[:2])
        assert figures["tables"] + figures["code"] == text + data


def test_self_test_sees_a_changed_table(classify: Program, tmp_path: Path) -> None:
    assert classify.well("--self-test").lines == ["ok"]
    for kernel in classify.well("--kernel", "list").lines:
        assert classify.well("--self-test", "--kernel", kernel).lines == ["ok"]
    image = bytearray(classify.path.read_bytes())
    image[len(image) // 2] ^= 1  # the tables are nearly all of the file
    broken = tmp_path / "classify"
    broken.write_bytes(image)
    broken.chmod(0o755)
    assert Program(broken).refused(1, "--self-test").startswith("self test failed: ")
