# SPDX-License-Identifier: Apache-2.0
"""tools/compare: its inputs, its turns, its report."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from classify_program import ROOT
from tokenizers import Tokenizer

from tools.peers import compare, prepare, processes, runs, writing
from tools.peers.inputs import Input, InputError, Labelled, of_length, open_tokenizer, read_labelled, read_texts
from tools.peers.report import Report, Result, Times
from tools.peers.runtimes import GENERATORS, PEERS, WRITERS
from tools.peers.setup import Setup

CHECKPOINT = ROOT / "tools/train/agnews/checkpoint"
LABELS = ["World", "Sports", "Business", "Sci/Tech"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return open_tokenizer(CHECKPOINT, 256)


@pytest.mark.parametrize("tokens", [3, 8, 44, 256])
def test_made_up_texts_have_the_length(tokenizer: Tokenizer, tokens: int) -> None:
    made = of_length(tokenizer, tokens, 256)
    assert len(made.ids) == tokens
    assert tokenizer.encode(made.text).ids == made.ids


@pytest.mark.parametrize("tokens", [2, 257])
def test_impossible_lengths_are_refused(tokenizer: Tokenizer, tokens: int) -> None:
    with pytest.raises(InputError, match=f"length {tokens} is not possible: the model takes 3 to 256 tokens"):
        of_length(tokenizer, tokens, 256)


def test_texts_are_lines_cut_as_the_model_needs(tokenizer: Tokenizer, tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("oil prices\n\n" + "oil " * 400 + "\nthird\n")
    found = read_texts(file, tokenizer, 2)
    assert [len(item.ids) for item in found] == [4, 256]
    file.write_text("\n")
    with pytest.raises(InputError, match="no text"):
        read_texts(file, tokenizer, 2)


def test_labelled_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text('"3","Title","Body, with a comma"\n"1","a","b"\n')
    assert read_labelled(file, LABELS, 9) == [Labelled("Title Body, with a comma", 2), Labelled("a b", 0)]
    assert len(read_labelled(file, LABELS, 1)) == 1
    file.write_text("text,label\nfast cars,Sports\n")
    assert read_labelled(file, LABELS, 9) == [Labelled("fast cars", 1)]
    for wrong in ("5,text\n", "0,text\n", "Weather,text\n"):
        file.write_text(wrong)
        with pytest.raises(InputError, match="is no label of the model"):
            read_labelled(file, LABELS, 9)
    file.write_text('1,"a" b\n')
    with pytest.raises(InputError, match="text between a closing quote and the next comma"):
        read_labelled(file, LABELS, 9)


def test_peers_are_names_or_their_beginnings() -> None:
    assert compare.peers("etch") == ["etch-w8a8", "etch-w7a8", "etch-fp32", "etch-w4a8"]
    assert compare.peers("onnxruntime-int8,etch-fp32") == ["onnxruntime-int8", "onnxruntime-int8-fused", "etch-fp32"]
    assert compare.peers("llamacpp") == ["llamacpp-q8_0", "llamacpp-q4_0", "llamacpp-f32"]
    assert compare.peers("ctranslate2") == ["ctranslate2-int8", "ctranslate2-fp32"]
    assert runs.chosen(["etch-w8a8", "torch-fp32", "openvino-int8"], WRITERS) == ["etch-w8a8", "torch-fp32"]
    assert runs.chosen(["torch-fp32", "llamacpp-q8_0"], GENERATORS) == ["llamacpp-q8_0"]
    assert runs.chosen(None, PEERS) == list(PEERS)
    with pytest.raises(InputError, match="none of them runs this model, but etch-w8a8"):
        runs.chosen(["openvino-int8"], WRITERS)
    for wrong in ("tensorrt", "etch,tensorrt", "", "etc"):
        with pytest.raises(argparse.ArgumentTypeError, match="unknown"):
            compare.peers(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", "0"], "--threads: this process may use 1 to"),
        (["--threads", "100000"], "--threads: this process may use 1 to"),
        (["--rounds", "0"], "at least 1"),
        (["--lengths", "44", "--texts", "x"], "cannot be used together"),
        (["--lengths", "44,x"], "argument --lengths: '44,x' is not a list of numbers such as 44,221"),
        (["--peers", "tensorrt"], "unknown, known are: etch-w8a8"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        compare.parse(["folder", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_unusable_folders_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(tmp_path)]) == 2
    (tmp_path / "config.json").write_text("{}")
    assert compare.main([str(tmp_path)]) == 2
    (tmp_path / "config.json").write_text("[]")
    assert compare.main([str(tmp_path)]) == 2
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 9}')
    assert compare.main([str(tmp_path)]) == 2
    first, second, list_, third = capsys.readouterr().err.splitlines()
    assert first.endswith("config.json: No such file or directory")
    assert second.endswith("config.json does not say 'max_position_embeddings'")
    assert list_.endswith("config.json is not the configuration of a model")
    assert third.endswith("tokenizer.json is needed")


def test_accuracy_is_refused_where_it_has_no_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 9, "problem_type": "regression"}')
    assert compare.main([str(tmp_path), "--evaluate", "rows.csv"]) == 2
    assert "accuracy is of single_label_classification, this is regression" in capsys.readouterr().err


def test_only_translators_have_beams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 9}')
    assert compare.main([str(tmp_path), "--beams", "4"]) == 2
    assert capsys.readouterr().err == "compare: --beams: only a translator searches\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lengths", "1"], "length 1 is not possible: the model takes 2 to 127 tokens"),
        (["--lengths", "128"], "length 128 is not possible"),
        (["--beams", "9"], "--beams: 1 to 8"),
        (["--texts", "x"], "no --texts, no --evaluate"),
    ],
)
def test_what_a_translator_is_not_asked(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "marian", "max_position_embeddings": 128}')
    assert compare.main([str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lengths", "40"], "length 40 is not possible: the model takes 2 to 39 tokens"),
        (["--beams", "2"], "--beams: only a translator searches"),
        (["--peers", "ctranslate2"], "none of them runs this model, but etch-w8a8, etch-w4a8"),
    ],
)
def test_what_a_decoder_is_not_asked(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prepare, "BUILD", tmp_path / "build")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "n_positions": 40, "vocab_size": 300}')
    assert compare.main([str(tmp_path), "--lengths", "9", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_how_a_runtime_without_a_wheel_is_installed() -> None:
    missing = "ModuleNotFoundError: No module named 'gguf'"
    assert "pip install llama-cpp-python==" in runs.reason("llamacpp-q8_0", missing)
    assert runs.reason("llamacpp-q8_0", "OSError: no room\nmore") == "OSError: no room"


def test_sources_are_made_of_words() -> None:
    config = {"vocab_size": 6, "eos_token_id": 0, "pad_token_id": 5, "decoder_start_token_id": 5}
    ids = writing.source(config, 40)
    assert (len(ids), ids[-1], set(ids[:-1])) == (40, 0, {2, 3, 4})
    assert ids == writing.source(config, 40)


def test_what_was_written_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    workers: Any = {name: FakeWorker(name, [], []) for name in ("etch-w8a8", "etch-fp32")}
    tokens = {"etch-w8a8": [7, 8, 9], "etch-fp32": [7, 8, 6]}
    lines = tmp_path / "lines.jsonl"
    Report(lines).written(
        1, (3, 3), 4, workers, tokens, {"etch-w8a8": Times(0.002, 0.001), "etch-fp32": Times(0.005, 0.004)}
    )
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].startswith("3 tokens read, 3 written, 4 beams, at most 1 thread;")
    assert shown[2].split()[:10] == ["etch-w8a8", "2.000", "(1.000)", "ms", "1.00", "x", "2", "of", "3", "tokens"]
    assert shown[3].split()[:6] == ["etch-fp32", "5.000", "(4.000)", "ms", "2.50", "x"]
    assert [json.loads(line)["same_tokens"] for line in lines.read_text().splitlines()] == [2, 3]


class FakeWorker:
    """Answers with seconds that were written down before; then its process ends."""

    def __init__(self, name: str, order: list[str], seconds: list[float]) -> None:
        self._name, self._order, self._seconds = name, order, iter(seconds)
        self.stopped = False
        self.start_seconds, self.megabytes, self.threads, self.version, self.detail = 0.1, 20.0, 1, "1.0", ""

    def ask(self, **request: Any) -> dict[str, Any]:
        self._order.append(self._name)
        second = next(self._seconds, None)
        if second is None:
            raise processes.WorkerError("its process ended")
        return {"seconds": [second] * request["calls"], "result": [0.0, 1.0]}

    def stop(self) -> None:
        self.stopped = True


def test_runtimes_compute_in_turn_and_medians_count(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    order: list[str] = []
    item = Input("5 tokens", "a b c", [1, 2, 3, 4, 5])
    first = FakeWorker("a", order, [9.0, 1.0, 3.0, 2.0] * 2)
    second = FakeWorker("b", order, [9.0, 4.0, 6.0, 80.0] * 2)
    workers: Any = {"etch-w8a8": first, "torch-fp32": second}
    results = {peer: Result(peer, 1, worker) for peer, worker in workers.items()}
    compare.take_turns(workers, [item], 3, results, Report(None))
    assert order == ["a", "b"] * 8
    assert results["etch-w8a8"].times == {("5 tokens", form): Times(2.0, 1.0) for form in ("ids", "text")}
    assert results["torch-fp32"].times[("5 tokens", "ids")] == Times(6.0, 4.0)

    lines = tmp_path / "lines.jsonl"
    Report(lines).table(1, [item], list(results.values()))
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("torch-fp32"))
    assert row.split()[1:7] == ["6000.000", "(4000.000)", "3.00", "6000.000", "(4000.000)", "3.00"]
    written = [json.loads(line) for line in lines.read_text().splitlines()]
    assert {line["peer"] for line in written} == {"etch-w8a8", "torch-fp32"}
    assert [line["milliseconds"] for line in written if "input" in line] == [2000.0, 2000.0, 6000.0, 6000.0]


def test_a_runtime_that_ends_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """The others go on, with all their times; without any the comparison ends."""
    order: list[str] = []
    workers: Any = {"a": FakeWorker("a", order, [1.0, 2.0, 4.0, 3.0]), "b": FakeWorker("b", order, [1.0, 2.0])}
    ended = workers["b"]
    assert runs.in_turns(workers, {"ids": [1]}, 3, Report(None)) == {"a": Times(3.0, 2.0)}
    assert (list(workers), order, ended.stopped) == (["a"], ["a", "b", "a", "b", "a", "b", "a"], True)
    assert capsys.readouterr().out == "skipped b: its process ended\n"
    with pytest.raises(processes.WorkerError, match="no runtime is left"):
        runs.in_turns(workers, {"ids": [1]}, 3, Report(None))


def state(process: int) -> str:
    """One letter of proc(5): T for one that stands still; nothing where it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[0]
    return ""


def comes_to(process: int, states: str) -> bool:
    """Whether it gets into one of these states; an empty one is its end."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if state(process) in states:
            return True
        time.sleep(0.01)
    return False


on_linux = pytest.mark.skipif(
    shutil.which("taskset") is None or not Path("/proc/self/stat").exists(), reason="no taskset, no /proc"
)
TOKENIZERS = Setup("tokenizers", 1, CHECKPOINT, CHECKPOINT, 256)


@on_linux
def test_runtimes_stand_still_but_in_their_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise threads that wait by spinning would slow the runtime whose turn it is."""
    monkeypatch.setattr(processes, "BUILD", tmp_path)
    worker = processes.Worker(TOKENIZERS, "oil prices")
    process = worker._process
    try:
        assert comes_to(process.pid, "T")
        answer = worker.ask(calls=2, texts=["oil prices", "oil"])
        assert (answer["result"], len(answer["seconds"])) == (7, 2)
        assert comes_to(process.pid, "T")
        assert worker.ask(calls=0, text="oil")["seconds"] == []
    finally:
        worker.stop()
    assert process.returncode == 0


@on_linux
def test_no_runtime_is_left_behind(tmp_path: Path) -> None:
    """Not even by a comparison that is killed."""
    code = (
        "import os, signal, sys; from pathlib import Path; from tools.peers import processes; "
        "from tools.peers.setup import Setup; processes.BUILD = Path(sys.argv[1]); "
        "folder = Path(sys.argv[2]); "
        "worker = processes.Worker(Setup('tokenizers', 1, folder, folder, 256), 'oil'); "
        "print(worker._process.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", code, tmp_path, CHECKPOINT]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    left = int(done.stdout)
    assert comes_to(left, "ZX")  # ended; nobody may be there to ask how


ANSWER = "sys.stdin.readline(); print('{}', flush=True)"


@on_linux
@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (
            "os.write(1, b'{\"seconds\": [0.'); os.kill(os.getpid(), signal.SIGKILL)",
            "its process was killed by SIGKILL",
        ),
        ("os.write(1, b'{'); os.abort()", "its process was killed by SIGABRT"),
        ("os.kill(os.getpid(), 40)", "its process was killed by signal 40"),
        ("sys.exit(5)", "its process ended with exit code 5"),
        ("print('loading', flush=True); sys.stdin.read()", "it answered with what is not JSON"),
    ],
)
def test_how_a_runtime_ended(ends: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the middle of an answer too. The others go on."""

    def started(name: str, code: str) -> processes.Process:
        command = [sys.executable, "-c", f"import os, signal, sys; print('{{}}', flush=True); {ANSWER}; {code}"]
        return processes.Process(command, 1, tmp_path / f"{name}.log")

    workers: Any = {"a": started("a", ends), "b": started("b", f"{ANSWER}; sys.stdin.read()")}
    try:
        for left in (["a", "b"], ["b"]):
            assert list(runs.ask_each(workers, Report(None))) == left
    finally:
        for worker in workers.values():
            worker.stop()
    assert capsys.readouterr().out == f"skipped a: {reason} (see a.log)\n"
    with pytest.raises(processes.WorkerError) as caught:
        processes.Process([sys.executable, "-c", f"import os, signal, sys; {ends}"], 1, tmp_path / "c.log")
    assert str(caught.value) == f"{reason} (see c.log)"


def test_a_program_that_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    programs = {"etch-w8a8": Path("false"), "etch-fp32": Path("true")}
    monkeypatch.setattr(compare, "pinned", lambda _: [])
    preparation: Any = SimpleNamespace(program=programs.__getitem__)
    compare.report_starts(preparation, list(programs), Input("1 token", "a", [1]), Report(None))
    failed, went_on = capsys.readouterr().out.splitlines()
    assert failed == "skipped etch-w8a8, false TEXT: it ended with exit code 1"
    assert went_on.startswith("fresh process, start to end, without Python: true TEXT: ")


def test_throughput_has_a_row_for_each_size(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    order: list[str] = []
    workers: Any = {
        "etch-w8a8": FakeWorker("a", order, [1.0, 3.0, 2.0]),
        "onnxruntime-int8": FakeWorker("b", order, [8.0, 4.0, 9.0, 5.0, 9.0, 5.0]),
        "torch-fp32": FakeWorker("c", order, []),
    }
    for worker, sizes in zip(workers.values(), ([0], [1, 16], []), strict=True):
        worker.batches = sizes
    seconds = compare.throughput(workers, ["x", "y"], 3, Report(None))
    assert order == ["a", "b", "b"] * 3
    assert seconds == {("etch-w8a8", 0): 2.0, ("onnxruntime-int8", 1): 9.0, ("onnxruntime-int8", 16): 5.0}
    assert compare.throughput(workers, [], 3, Report(None)) == {}

    lines = tmp_path / "lines.jsonl"
    Report(lines).throughput(2, 2, seconds)
    best = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.endswith("best")]
    assert best == ["etch-w8a8", "onnxruntime-int8"]
    rates = [json.loads(line)["texts_per_second"] for line in lines.read_text().splitlines()]
    assert rates == [1.0, 0.22, 0.4]


def test_accuracy_and_error() -> None:
    worker: Any = SimpleNamespace(ask=lambda **_: {"result": [0.0, 1.0]})
    rows = [Labelled("x", 1), Labelled("y", 0), Labelled("z", 1), Labelled("w", 1)]
    assert compare.accuracy(worker, rows) == 0.75
    exact = [np.array([0.5, 1.0]), np.array([0.0, 1.25])]
    assert compare.mean_error(worker, [[1], [2]], exact) == pytest.approx((0.5 + 0 + 0 + 0.25) / 4)
