# SPDX-License-Identifier: Apache-2.0
"""--device and --mode of the program, over a stub of a model on a GPU, under sanitizers. Needs a compiler, no CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest
from classify_program import Program, build_stub, built

ROWS_OF_BATCHES = 8192


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_CUDA", "-DSTUB_PAIRS")


def labels(program: Program, *arguments: str | Path, stdin: bytes = b"") -> list[str]:
    """Of each text; the stub's labels from 11 on have no name."""
    return [str(answer["label"]) for answer in program.well("--json", *arguments, stdin=stdin).objects]


def test_who_answers(stub: Program) -> None:
    """The stub's GPU gives the next label, in bf16 the one after it."""
    assert labels(stub, "7") == labels(stub, "7", "--device", "cpu") == ["Case"]
    for device in ("cuda", "cuda:0"):
        assert labels(stub, "7", "--device", device) == ["case"]
        assert labels(stub, "7", "--device", device, "--mode", "exact") == ["case"]
        assert labels(stub, "7", "--device", device, "--mode", "fast") == ["9"]
    assert labels(stub, "--device=cuda", stdin=b"7\n8\n7\n") == ["case", "9", "case"]
    assert labels(stub, "--device", "cuda", "--pair", "7", "x") == ["case"]


def test_evaluation(stub: Program, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("8,7 text\n9,8 text\n7,7 text\n8,7 text\n")
    evaluate = ("--evaluate", table, "--labels", "0", "--no-header")
    assert stub.well(*evaluate).lines[0].split()[:2] == ["accuracy:", "25.00"]
    assert stub.well(*evaluate, "--device", "cuda").lines[0].split()[:2] == ["accuracy:", "75.00"]


def test_what_is_opened(stub: Program) -> None:
    """Room for one text where texts come one by one, for many where they come together; how specials are read."""

    def opened(*arguments: str, stdin: bytes = b"") -> tuple[float, float]:
        (answer,) = stub.well("--json", "--device", "cuda", *arguments, stdin=stdin).objects
        return answer["logits"][1], answer["logits"][2]

    assert opened("7") == (0, 5)
    assert opened("7", "--plain-text") == (1, 5)
    assert opened(stdin=b"7\n") == (0, ROWS_OF_BATCHES)
    assert opened("--plain-text", stdin=b"7\n") == (1, ROWS_OF_BATCHES)


def test_a_device_that_cannot_be_used(stub: Program) -> None:
    assert stub.refused(1, "7", "--device", "cuda:2").startswith("--device cuda:2: ")
    assert "memory" in stub.refused(1, "7", "--device", "cuda:1")
    assert stub("7", "--device", "cuda:1").out == b""
    assert stub.refused(1, "--device", "cuda", "fail") == stub.refused(1, "fail")


def test_nothing_is_opened_for_help(stub: Program) -> None:
    assert "--device" in stub.well("--device", "cuda:2", "--help").out.decode()


def test_memory_and_latency_say_where(stub: Program) -> None:
    lines = stub.well("--memory", "--device", "cuda").lines
    begin = lines.index("device: Stub GPU, mode: exact")
    words = [line.split() for line in lines[begin + 1 :]]
    assert [(word[0], word[1]) for word in words] == [
        ("weights", "11"), ("session", "12"), ("context", "14"), ("graphs", "15"), ("page-locked", "16"),
    ]  # fmt: skip
    assert "13 of it for cuBLASLt" in lines[begin + 2]
    assert "for 2 graphs" in lines[begin + 4]
    assert not any(line.startswith("device") for line in stub.well("--memory").lines)
    head = stub.well("--latency", "--device", "cuda", "--mode", "fast").lines[0]
    assert head == "model: stub, recipe: fp32, device: Stub GPU, mode: fast"


def test_a_program_without_cuda_says_so() -> None:
    program = built("classify")
    how = "etch generate --gpu and cmake --preset cuda make one with it"
    message = f"--device cuda:3: this program was built without CUDA ({how})"
    assert program.refused(2, "--device", "cuda:3", "text") == message
    assert program.well("--device", "cpu", "text").out == program.well("text").out
    assert b"--device" not in program.well("--help").out
