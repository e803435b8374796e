# SPDX-License-Identifier: Apache-2.0
"""tools/bench: what it refuses, and that a quick run reports every kernel set, the limits and the model. Figures are
checked for sense only: no time is asserted."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from generator_program import etch

HEADERS = (Path("/usr/include/benchmark/benchmark.h"), Path("/usr/local/include/benchmark/benchmark.h"))
SETS_WITH_LIMITS = {"amx_int8", "avx512_vnni", "avx_vnni", "avx2", "sse2"}


def bench(*arguments: str | Path, timeout: int = 10, data: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ETCH_DATA"}
    if data is not None:
        environment["ETCH_DATA"] = data
    command = [ROOT / "tools/bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nonsense"], "bench: unknown option --nonsense (see tools/bench --help)"),
        (["--json"], "bench: --json needs a value"),
        (["--tokenizer"], "bench: --tokenizer needs a value"),
        (
            ["--tokenizer", "nowhere"],
            "bench: nowhere holds no tokenizer (no tokenizer.json, vocab.txt, source.spm)",
        ),
        (["--tokenizer", ROOT / "tools/train/agnews/checkpoint"], "bench: --tokenizer needs ETCH_DATA"),
        (["nowhere"], "bench: nowhere holds no generated model (no etch.json)"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    done = bench(*arguments)
    *skipped, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout, last) == (2, "", message)
    assert skipped in ([], ["tokenizer skipped: ETCH_DATA is not set"])


def test_data_folder_without_the_file_is_an_error(tmp_path: Path) -> None:
    done = bench("--quick", data=str(tmp_path))
    assert done.returncode == 2
    assert "ag_news/test.csv is missing" in done.stderr


def test_help_names_every_option() -> None:
    done = bench("--help")
    assert done.returncode == 0
    for option in ("--quick", "--filter", "--kernel", "--json", "--tokenizer", "MODEL_FOLDER"):
        assert option in done.stdout
    assert "set -e" not in done.stdout


@pytest.mark.sweep
def test_a_tokenizer_beside_the_wheel(tmp_path: Path) -> None:
    (tmp_path / "ag_news").mkdir()
    (tmp_path / "ag_news" / "test.csv").write_text('"1","Oil prices climb","Storms close refineries"\n' * 20)
    lines = tmp_path / "results.jsonl"
    folder = ROOT / "tools/train/agnews/checkpoint"
    done = bench("--tokenizer", folder, "--json", lines, timeout=300, data=str(tmp_path))
    assert done.returncode == 0, done.stderr
    result = json.loads(lines.read_text())
    assert (result["name"], result["kind"], result["texts"]) == ("tokenizer_beside/checkpoint", "uncased WordPiece", 20)
    assert min(result["etch"], result["encode"], result["encode_batch_fast"], *result["worst"].values()) > 0


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The JSON lines of one quick run, the tokenizer's texts made up."""
    if shutil.which("cmake") is None or not any(header.exists() for header in HEADERS):
        pytest.skip("no cmake, or no Google Benchmark (libbenchmark-dev)")
    data = tmp_path_factory.mktemp("data")
    (data / "ag_news").mkdir()
    (data / "ag_news" / "test.csv").write_text('"1","Oil prices climb","Storms close refineries"\n' * 20)
    lines = data / "results.jsonl"
    done = bench("--quick", "--json", lines, timeout=900, data=str(data))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in lines.read_text().splitlines()]


def named(lines: list[dict[str, Any]], beginning: str) -> dict[str, dict[str, Any]]:
    return {line["name"]: line for line in lines if line.get("name", "").startswith(beginning)}


@pytest.mark.sweep
def test_each_program_says_where_it_ran(quick: list[dict[str, Any]]) -> None:
    machines = [line for line in quick if "machine" in line]
    assert len(machines) == 2  # kernels, one model
    for machine in machines:
        assert machine["machine"] and machine["compiler"] and machine["etch"]
        assert machine["threads"] == 1
        assert machine["processors"] == len(os.sched_getaffinity(0))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("pattern", "code", "rows"),
    [("^layer_norm_row/scalar/", 0, ["layer_norm_row"]), ("^turn/", 0, ["turn"]), ("^no such thing/", 1, [])],
)
def test_a_filter(pattern: str, code: int, rows: list[str], quick: list[dict[str, Any]], tmp_path: Path) -> None:
    """May be for one of the programs; else nobody has anything to run."""
    done = bench("--quick", "--filter", pattern, "--json", tmp_path / "lines", timeout=300)
    assert done.returncode == code
    found = map(json.loads, (tmp_path / "lines").read_text().splitlines())
    assert list(dict.fromkeys(line["name"].split("/")[0] for line in found if "name" in line)) == rows
    told = "bench: nothing matches --filter; see tools/bench --help\n"
    assert done.stderr.endswith(told) == (code != 0)


@pytest.mark.sweep
def test_a_filter_that_is_no_expression(quick: list[dict[str, Any]]) -> None:
    done = bench("--filter", "(", timeout=300)
    assert done.returncode == 2
    assert done.stderr.endswith("bench: --filter: '(' is no regular expression\n")


@pytest.mark.sweep
def test_a_turn_at_the_workspace(quick: list[dict[str, Any]]) -> None:
    [turn] = named(quick, "turn/").values()
    assert turn["ns"] > 0


@pytest.mark.sweep
def test_every_usable_set_is_measured(quick: list[dict[str, Any]]) -> None:
    usable = {name.split("/")[1] for name in named(quick, "matmul_s8/")}
    assert "scalar" in usable
    for what in ("matmul_f32", "quantize_row", "layer_norm_row", "gelu_row", "exp2_row", "attention_s8"):
        assert {name.split("/")[1] for name in named(quick, what + "/")} == usable
    assert {name.split("/")[1] for name in named(quick, "matmul_s7/")} == usable & {"avx2"}
    for name, line in (named(quick, "matmul_s8/") | named(quick, "matmul_f32/")).items():
        shape, rows = name.split("/")[2:]
        inputs, outputs = map(int, shape.split("x"))
        macs = inputs * outputs * int(rows.removeprefix("M="))
        assert line["GMAC/s"] == pytest.approx(macs / line["ns"], rel=1e-3)
        assert ("% of limit" in line) == (name.split("/")[1] in SETS_WITH_LIMITS)
        few = name.startswith("matmul_s8/") and int(rows.removeprefix("M=")) <= 8
        assert ("% of bandwidth" in line) == (few and platform.machine() == "x86_64")
        if few:
            assert line["GB/s"] == pytest.approx(inputs * outputs / line["ns"], rel=1e-3)
        if "% of limit" in line:
            assert line["% of limit"] == pytest.approx(100 * line["GMAC/s"] / line["limit GMAC/s"], rel=1e-3)


@pytest.mark.sweep
def test_ops_of_the_model_add_up(quick: list[dict[str, Any]]) -> None:
    ops = named(quick, "op/agnews/")
    (total,) = (line for name, line in ops.items() if name.endswith("/all"))
    parts = [line for name, line in ops.items() if not name.endswith("/all")]
    assert sum(line["ns"] for line in parts) == pytest.approx(total["ns"], rel=1e-3)
    assert sum(line["% of time"] for line in parts) == pytest.approx(100, rel=1e-3)
    assert any("LinearS8 192x768" in name for name in ops)
    assert any(name.endswith("/Attention") for name in ops)


@pytest.mark.sweep
def test_a_step_of_a_decoder(quick: list[dict[str, Any]], tmp_path: Path) -> None:
    """Its products read each of the model's matrices once."""
    assert quick  # it is built
    folder, lines = tmp_path / "tale", tmp_path / "lines.jsonl"
    assert etch("generate", ROOT / "tests/codegen/generation/gpt2/texts", "--out", folder).code == 0
    done = bench("--quick", "--filter", "^step/", "--json", lines, folder, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = named([json.loads(line) for line in lines.read_text().splitlines()], "step/tale/")
    products, whole = (next(row for name, row in rows.items() if name.endswith(end)) for end in ("/products", "/all"))
    width, vocabulary = 20, 282
    panels = [(width, width)] * 4 + [(width, 4 * width), (4 * width, width), (width, vocabulary)]
    expected = sum(inputs * -(-outputs // 16) * 16 for inputs, outputs in panels)
    assert products["MB"] == pytest.approx(expected / 1e6, rel=1e-3)
    assert products["GB/s"] == pytest.approx(products["MB"] * 1e6 / products["ns"], rel=1e-2)
    assert 0 < products["ns"] < whole["ns"]
    assert whole["% in products"] == pytest.approx(100 * products["ns"] / whole["ns"], rel=1e-2)


@pytest.mark.sweep
def test_model_and_tokenizer(quick: list[dict[str, Any]]) -> None:
    latency = named(quick, "latency/agnews/")
    counts = {1, min(2, len(os.sched_getaffinity(0))), len(os.sched_getaffinity(0))}
    assert {name.split("/", 3)[-1] for name in latency} == {
        f"tokens={tokens}" + (f"/threads={count}" if count > 1 else "") for tokens in (8, 44) for count in counts
    }
    (tokenizer,) = named(quick, "tokenizer/agnews").values()
    assert tokenizer["us/text"] == pytest.approx(tokenizer["ns"] / 20 / 1e3, rel=1e-3)


@pytest.mark.sweep
def test_unknown_kernel_is_an_error(quick: list[dict[str, Any]]) -> None:
    assert quick  # it is built
    done = bench("--quick", "--kernel", "fastest", timeout=900)
    assert done.returncode == 1
    assert "no kernel set 'fastest' that this CPU can run" in done.stderr
