# SPDX-License-Identifier: Apache-2.0
"""Graphs of forms that no family has yet, generated and built: the emulator's bits on every kernel, single texts and in
steps. The tokenizer beside them is that of a tiny checkpoint; they are asked by token ids."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from graph_builder import MAX_TOKENS, SEGMENTS, VOCABULARY
from kernel_outputs import IdsProgram
from once import once
from sampling import sampled
from tiny_checkpoint import write_tiny_checkpoint
from tiny_graphs import GRAPHS

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.folders.output import write_output
from codegen.ir.text import Text
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.render.manifest import manifest
from codegen.render.model import render_model

# What only one of them has, and what several share, in both operand kinds and packings.
QUICK = [
    ("pre, first", "w8a8", "host"),
    ("post, last", "w8a8", "host"),
    ("second norms", "w8a8", "host"),
    ("cross attention", "w8a8", "host"),
    ("neighbors", "w8a8", "host"),
    ("biased scores", "fp32", "m-profile"),
    ("disentangled scores", "w8a8", "host"),
    ("relative queries", "fp32", "m-profile"),
    ("capped scores", "w8a8", "m-profile"),
    ("sinks", "w8a8", "host"),
    ("rotary, grouped queries", "w8a8", "host"),
    ("alternating layers", "fp32", "m-profile"),
    ("a global row", "w8a8", "m-profile"),
    ("global rows behind an id", "w8a8", "host"),
    ("gates", "w8a8", "host"),
    ("a trained activation", "w8a8", "host"),
    ("convolved, first", "w8a8", "m-profile"),
    ("convolved around, first", "w8a8", "host"),
    ("convolved around, mean", "fp32", "m-profile"),
    ("convolved alone", "w8a8", "m-profile"),
    ("norms behind blocks, first", "w8a8", "host"),
    ("recurrent, three layers", "w8a8", "m-profile"),
    ("recurrent, one layer", "fp32", "host"),
    ("tied words", "w8a8", "m-profile"),
    ("no layers", "w8a8", "host"),
    ("words alone", "w8a8", "m-profile"),
    ("poolings", "w8a8", "host"),
    ("experts, first", "w8a8", "host"),
    ("experts, mean", "fp32", "m-profile"),
    ("experts behind layers", "w8a8", "m-profile"),
    ("experts, one for all", "w8a8", "host"),
    ("weights of words, max", "w8a8", "host"),
    ("weights of words, sum", "fp32", "m-profile"),
]
SWEEP = [
    ("pre, mean", "fp32", "host"),
    ("pre, first", "w8a8", "m-profile"),
    ("post, norm of the first row", "w8a8", "host"),
    ("projected embedding", "fp32", "host"),
    ("dropped", "w8a8", "host"),
    ("neighbors", "fp32", "m-profile"),
    ("neighbors", "w4a8", "host"),
    ("read in both, first", "w8a8", "host"),
    ("read in both, last", "fp32", "m-profile"),
    ("shared layers", "w4a8", "host"),
    ("biased scores", "w8a8", "host"),
    ("capped scores", "fp32", "host"),
    ("sinks", "fp32", "m-profile"),
    ("disentangled scores", "w8a8", "m-profile"),
    ("disentangled scores", "fp32", "host"),
    ("relative keys", "w8a8", "host"),
    ("rotary, grouped queries", "fp32", "host"),
    ("causal", "w8a8", "host"),
    ("convolved, mean", "fp32", "host"),
    ("a trained activation", "fp32", "m-profile"),
    ("convolved around, first", "fp32", "m-profile"),
    ("convolved around, mean", "w4a8", "host"),
    ("transformed, first", "w4a8", "host"),
    ("transformed, mean", "w8a8", "m-profile"),
    ("grouped", "w8a8", "host"),
    ("by a token", "w8a8", "host"),
    ("by a token", "fp32", "m-profile"),
    ("grouped and spread, first", "w4a8", "host"),
    ("grouped and spread, mean", "fp32", "m-profile"),
    ("window", "w8a8", "host"),
    ("window", "fp32", "host"),
    ("past", "w8a8", "host"),
    ("a global row", "fp32", "host"),
    ("global rows", "w8a8", "host"),
    ("global rows", "fp32", "m-profile"),
    ("global rows before an id", "w8a8", "host"),
    ("global rows before an id", "fp32", "m-profile"),
    ("global rows behind an id", "fp32", "m-profile"),
    ("alternating layers", "w8a8", "host"),
    ("norms behind blocks, mean", "fp32", "m-profile"),
    ("recurrent, two directions", "w4a8", "host"),
    ("tied words", "w8a8", "host"),
    ("tied words", "fp32", "host"),
    ("no layers", "fp32", "m-profile"),
    ("words alone", "w4a8", "host"),
    ("words alone", "fp32", "host"),
    ("experts, first", "fp32", "host"),
    ("experts, mean", "w4a8", "host"),
    ("experts, mean", "w8a8", "host"),
    ("one of the experts", "w4a8", "m-profile"),
    ("experts behind layers", "fp32", "host"),
    ("experts by a bias", "w8a8", "host"),
    ("experts by a bias, shares", "fp32", "m-profile"),
    ("experts by a bias, of all", "w4a8", "host"),
    ("experts, one for all", "w4a8", "m-profile"),
    ("weights of words, max", "w4a8", "m-profile"),
    ("weights of words, sum", "w8a8", "host"),
]
SAMPLE = sampled(SWEEP, 6, "forms of graphs")
BUILT = [*QUICK, *(pytest.param(*form, marks=pytest.mark.sweep) for form in SAMPLE)]
NOT_RENDERED = {"two heads": "heads-not-supported"}


def texts() -> list[Text]:
    random = np.random.default_rng(7)
    return [
        Text(random.integers(0, VOCABULARY, n).tolist(), random.integers(0, SEGMENTS, n).tolist())
        for n in (1, 2, 3, 8, MAX_TOKENS)
    ]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer")
    write_tiny_checkpoint(path)
    return path


def generate(form: str, recipe: str, target: str, checkpoint: Path, out: Path) -> None:
    loaded = pipeline.load(checkpoint)
    model = pipeline.make_model("form", loaded, GRAPHS[form](), RECIPES[recipe], target)
    write_output(out, render_model(model, "incbin"), lambda files: manifest(model, "incbin", files))


@pytest.mark.parametrize(("form", "recipe", "target"), BUILT)
def test_the_emulators_bits_on_every_kernel(
    form: str, recipe: str, target: str, checkpoint: Path, shared: Path, tmp_path: Path
) -> None:
    folder = shared / "forms" / f"{form}, {recipe}, {target}".replace(", ", "_").replace(" ", "_") / "form"
    once(folder.parent / "made", form, lambda: generate(form, recipe, target, checkpoint, folder))
    meant = emulate_texts(lower(GRAPHS[form](), RECIPES[recipe]), texts())
    program = IdsProgram.of(folder, "embedding", tmp_path / "program")
    for kernel, found in program.on_every_kernel(texts()):
        assert found.tobytes() == meant.tobytes(), kernel
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("form", NOT_RENDERED)
def test_what_the_generated_code_has_no_place_for_is_refused(form: str, checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        generate(form, "w8a8", "host", checkpoint, tmp_path / "form")
    assert (caught.value.code, caught.value.stage) == (NOT_RENDERED[form], "check")
    assert not (tmp_path / "form").exists()
