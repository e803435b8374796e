# SPDX-License-Identifier: Apache-2.0
"""`verify` with a stand-in for the built program: what it accepts, what it refuses, what it prints."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model
from verify_case import MAX_TOKENS, PAIRS, TEXTS, Case, Writer

from codegen import pipeline
from codegen.calibration.calibrate import calibrate
from codegen.calibration.smooth import smooth
from codegen.emulate import emulate
from codegen.errors import EtchError
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.verification import verify as verify_module
from codegen.verification.verify import verify


@pytest.fixture(params=["w8a8", "w4a8", "fp32"])
def recipe(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def case(tmp_path: Path, recipe: str) -> Case:
    return Case(tmp_path, recipe, TEXTS)


@pytest.fixture
def w8a8(tmp_path: Path) -> Case:
    return Case(tmp_path, "w8a8", TEXTS)


@pytest.fixture
def fp32(tmp_path: Path) -> Case:
    return Case(tmp_path, "fp32", TEXTS)


def one_step_up(value: np.float32) -> np.float32:
    return np.nextafter(value, np.float32(np.inf))


def test_right_answers_are_within_the_bound(case: Case, recipe: str) -> None:
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"\n".join(TEXTS) + b"\n"
    assert (case.directory / "pairs").read_bytes() == b"".join(b"%s\t%s\n" % pair for pair in PAIRS)
    assert f"texts        6, pairs 3, recipe {recipe}, at most 24 tokens" in case.lines
    bound = "within the bound of fp32" if recipe == "fp32" else f"the contract's bits ({recipe} sets no bound"
    assert f"result       {bound}" in case.report
    differences = [np.abs(ours - case.reference(i)) for i, ours in enumerate(case.outputs)]
    assert f"max {np.max(differences):.3g}" in case.report
    assert f"mean {np.mean(differences):.3g}" in case.report


def test_without_texts_the_golden_texts_are_taken(tmp_path: Path, recipe: str) -> None:
    case = Case(tmp_path, recipe, None)
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"".join(text + b"\n" for text in case.texts)
    assert any(e.overflowing for e in case.encodings)


def test_one_wrong_bit_is_seen_in_an_integer_recipe(w8a8: Case) -> None:
    w8a8.outputs[2][1] = one_step_up(w8a8.outputs[2][1])
    assert w8a8.run() == 1
    assert "1 (text 3) with logits other than the contract's" in w8a8.report
    assert "NOT what the contract says" in w8a8.report


def test_one_wrong_bit_is_within_the_bound_of_floats(fp32: Case) -> None:
    fp32.outputs[2][1] = one_step_up(fp32.outputs[2][1])
    assert fp32.run() == 0, fp32.report


def test_a_difference_above_the_bound(fp32: Case) -> None:
    fp32.outputs[0][:] = fp32.reference(0) + 0.9e-4
    assert fp32.run() == 0, fp32.report
    fp32.outputs[0][:] = fp32.reference(0) + 1.1e-4
    assert fp32.run() == 1
    assert "max 0.00011 (bound 0.0001)" in fp32.report


def test_changed_labels_are_listed_with_the_references_top_two(fp32: Case) -> None:
    exact = fp32.reference(3)
    second, first = np.argsort(exact)[-2:]
    fp32.outputs[3][[first, second]] = fp32.outputs[3][[second, first]]
    assert fp32.run() == 1
    names = fp32.program.task.labels
    assert "labels       1 of 9 other than the reference's" in fp32.report
    assert (
        f"  text 4: reference {names[first]} {exact[first]:.6f}, {names[second]} {exact[second]:.6f}, "
        f"margin {exact[first] - exact[second]:.6f}; "
        f"here {names[second]} {fp32.outputs[3][second]:.6f}, "
        f"margin {fp32.outputs[3][second] - fp32.outputs[3][first]:.6f}"
    ) in fp32.lines


def test_other_ids_are_counted(case: Case) -> None:
    case.ids[1].append(3)
    assert case.run() == 1
    assert "ids          1 (text 2) other than" in case.report


def test_a_label_that_is_not_the_largest_logits(case: Case) -> None:
    case.labels[0] = case.program.task.labels[int(np.argmin(case.outputs[0]))]
    assert case.run() == 1
    assert "1 (text 1) with a label that is not" in case.report


def test_a_program_that_fails(case: Case) -> None:
    case.code = 3
    assert case.run() == 1
    assert case.report == "the built program failed: program --json: exit code 3: text cut"


def test_a_program_that_answers_too_little(case: Case) -> None:
    case.singles -= 1
    assert case.run() == 1
    assert case.report == "the built program failed: program --json: 5 lines for 6 texts"


def test_not_a_number_is_outside_every_bound(case: Case) -> None:
    case.outputs[0][0] = np.nan
    assert case.run() == 1
    assert "max nan" in case.report


def refusal(case: Case) -> EtchError:
    with pytest.raises(EtchError) as caught:
        case.run()
    assert caught.value.stage == "verify"
    return caught.value


def test_another_checkpoint_is_refused(case: Case) -> None:
    write_tiny_checkpoint(case.checkpoint, hidden=32, layers=2, seed=6)
    assert refusal(case).code == "other-checkpoint"


def test_a_folder_that_etch_did_not_write_is_refused(case: Case, tmp_path: Path) -> None:
    del case.manifest["recipe"]
    assert refusal(case).code == "not-generated"
    case.directory = tmp_path
    with pytest.raises(EtchError, match="not a folder that etch generated"):
        verify(tmp_path, case.checkpoint, None, print, case.stand_in)
    with pytest.raises(EtchError, match="is a checkpoint; etch generate makes a folder of it"):
        verify(case.checkpoint, case.checkpoint, None, print, case.stand_in)


def test_an_unknown_recipe_is_refused(case: Case) -> None:
    case.manifest["recipe"] = "w3a3"
    assert refusal(case).code == "unknown-recipe"


def needs_its_texts(case: Case, kind: str, texts: Path, sha256: str) -> None:
    """A model that such texts changed: it is another than one without them, and others are refused."""
    assert case.run() == 1
    case.manifest[f"{kind}_sha256"] = sha256
    assert refusal(case).code == f"{kind}-missing"
    other = texts.with_name("other")
    other.write_text("zzz\n")
    setattr(case, kind, other)
    assert refusal(case).code == f"other-{kind}"
    setattr(case, kind, texts)
    assert case.run() == 0


@pytest.mark.parametrize("done", ["calibration", "smoothing"])
def test_texts_that_it_was_not_made_with(done: str, tmp_path: Path) -> None:
    case = Case(tmp_path, "w8a8", TEXTS)
    setattr(case, done, tmp_path / "texts.txt")
    with pytest.raises(EtchError, match=r"this model was not .*: leave it out") as caught:
        case.run()
    assert (caught.value.code, caught.value.stage) == ("option-conflict", "arguments")


def test_a_calibrated_model_is_calibrated_again(tmp_path: Path) -> None:
    case = Case(tmp_path, "w4a8", TEXTS)
    loaded = pipeline.load(case.checkpoint)
    texts = tmp_path / "calibration"
    texts.write_text("the cat sat on a mat\ngood dogs ran\n" * 5)
    graph = pipeline.to_graph(loaded, MAX_TOKENS)
    calibration = calibrate(case.program, graph, loaded.tokenizer, texts)
    case.outputs = [emulate(calibration.program, e.ids, e.type_ids) for e in case.encodings]
    needs_its_texts(case, "calibration", texts, calibration.sha256)
    case.manifest["embedding_bits"] = 5
    assert refusal(case).code == "manifest-malformed"


def test_a_smoothed_model_is_smoothed_again(tmp_path: Path) -> None:
    case = Case(tmp_path, "w8a8", TEXTS)
    loaded = pipeline.load(case.checkpoint)
    texts = tmp_path / "smoothing"
    texts.write_text("the cat sat on a mat\ngood dogs ran\n" * 5)
    smoothing = smooth(pipeline.to_graph(loaded, MAX_TOKENS), loaded.tokenizer, RECIPES["w8a8"], texts)
    program = lower(smoothing.graph, RECIPES["w8a8"])
    case.outputs = [emulate(program, e.ids, e.type_ids) for e in case.encodings]
    needs_its_texts(case, "smoothing", texts, smoothing.sha256)


def test_bits_by_place_are_those_of_the_manifest(tmp_path: Path) -> None:
    case = Case(tmp_path, "w8a8", TEXTS)
    program = pipeline.lower(pipeline.load(case.checkpoint), "w8a8", MAX_TOKENS, 8, {"1.query": 4})
    case.outputs = [emulate(program, e.ids, e.type_ids) for e in case.encodings]
    assert case.run() == 1  # as if all were of 8 bits
    case.manifest["bits"] = {"1.query": 4}
    assert case.run() == 0
    case.manifest["bits"] = ["1.query"]
    assert refusal(case).code == "manifest-malformed"


@pytest.mark.parametrize(("content", "code"), [(None, "texts-unreadable"), (b"", "no-texts")])
def test_a_texts_file_without_texts_is_refused(case: Case, content: bytes | None, code: str) -> None:
    assert case.file is not None
    case.file.unlink()
    if content is not None:
        case.file.write_bytes(content)
    assert refusal(case).code == code


def test_one_empty_line_is_one_empty_text(tmp_path: Path, recipe: str) -> None:
    case = Case(tmp_path, recipe, [b"", b""])  # joined: a single line feed
    case.outputs, case.ids, case.singles = case.outputs[:1], case.ids[:1], 1
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"\n"


def test_a_program_that_is_not_there(case: Case) -> None:
    case.stand_in = lambda directory, echo: directory / "none"
    assert case.run() == 1
    assert case.report == f"the built program failed: none: {os.strerror(2)}"


# --- pairs and other tasks -------------------------------------------------------------------------------------------


def test_a_wrong_bit_in_a_pair_is_seen(w8a8: Case) -> None:
    w8a8.outputs[7][1] = one_step_up(w8a8.outputs[7][1])
    assert w8a8.run() == 1
    assert "1 (pair 2) with logits other than the contract's" in w8a8.report


def test_a_model_with_one_segment_is_not_asked_about_pairs(tmp_path: Path) -> None:
    case = Case(tmp_path, "w8a8", TEXTS, lambda folder: write_tiny_checkpoint(folder, type_vocab=1))
    assert case.run() == 0, case.report
    assert not (case.directory / "pairs").exists()
    assert "texts        6, pairs 0" in case.report


def test_at_most_so_many_pairs(w8a8: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "MAX_PAIRS", 2)
    w8a8.outputs, w8a8.ids = w8a8.outputs[:-1], w8a8.ids[:-1]
    assert w8a8.run() == 0, w8a8.report
    assert "pairs 2" in w8a8.report


def problem(kind: str) -> Writer:
    return lambda folder: write_tiny_checkpoint(folder, hidden=32, seed=5, problem_type=kind)


def multi_label(folder: Path, recipe: str) -> Case:
    return Case(folder, recipe, TEXTS, problem("multi_label_classification"))


def regressor(folder: Path, recipe: str) -> Case:
    return Case(folder, recipe, TEXTS, problem("regression"))


def embedder(folder: Path, recipe: str, **modules: Any) -> Case:
    return Case(folder, recipe, TEXTS, lambda path: write_tiny_sentence_model(path, hidden=32, seed=5, **modules))


@pytest.mark.parametrize("make", [multi_label, regressor, embedder])
def test_right_answers_of_other_tasks(make: Callable[[Path, str], Case], tmp_path: Path, recipe: str) -> None:
    case = make(tmp_path, recipe)
    assert case.run() == 0, case.report
    outputs = {"multi_label": "logits", "regression": "values", "embedding": "embeddings"}[case.program.task.name]
    assert any(line.startswith(f"{outputs:<12} |difference|") for line in case.lines)
    assert ("labels " in case.report) == (outputs == "logits")
    case.outputs[0][0] += np.float32(0.5)
    assert case.run() == 1
    assert ("OUTSIDE" if recipe == "fp32" else "NOT what the contract says") in case.report


def test_multi_labels_are_compared_as_sets(tmp_path: Path) -> None:
    case = multi_label(tmp_path, "w8a8")
    exact = case.reference(0)
    label = int(np.argmin(np.abs(exact)))  # on the other side of 0, but not the largest
    case.outputs[0][label] = -exact[label]
    case.run()
    name = case.program.task.labels[label]
    assert f"  text 1: reference {name} {exact[label]:.6f}; here {name} {-exact[label]:.6f}" in case.lines


def test_cosines_of_embeddings(tmp_path: Path) -> None:
    case = embedder(tmp_path, "fp32")
    assert case.run() == 0
    assert "cosine       to the float64 reference: least 1.000000, mean 1.000000" in case.lines
    case.outputs[1] = -case.outputs[1]
    assert case.run() == 1
    assert f"least -1.000000, mean {1 - 2 / len(case.outputs):.6f}" in case.report


def test_differences_of_long_vectors_are_relative(tmp_path: Path) -> None:
    case = embedder(tmp_path, "fp32", pooling="mean_sqrt", normalize=False)
    exact = case.reference(4)
    largest = np.abs(exact).max()
    assert largest > 2
    case.outputs[4] = (exact + 0.9e-4 * largest).astype(np.float32)
    assert case.run() == 0, case.report
    case.outputs[4] = (exact + 1.1e-4 * largest).astype(np.float32)
    assert case.run() == 1


def test_outputs_of_another_size_are_refused(tmp_path: Path) -> None:
    case = embedder(tmp_path, "w8a8")
    case.outputs[0] = case.outputs[0][:-1]
    assert refusal(case).code == "other-outputs"
