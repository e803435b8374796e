# SPDX-License-Identifier: Apache-2.0
"""Modules of sentence-transformers behind the pooling, or in place of it: Dense, LayerNorm, Dropout, a CrossEncoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from malformed import SENTENCE, Case, both, check_refused, drop, parametrize, put, remove
from sentence_folders import OLD, POOLING, SETTINGS, WIDTH, cross_encoder, modules, old_files, read, types
from tiny_checkpoint import write_json, write_safetensors, write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.load.dense import Dense
from codegen.load.folder import load_checkpoint
from codegen.load.row_norm import RowNorm

DENSE, DENSE_WEIGHTS = "2_Dense/config.json", "2_Dense/model.safetensors"
NORM, NORM_WEIGHTS, DROPOUT = "2_LayerNorm/config.json", "2_LayerNorm/model.safetensors", "3_Dropout/config.json"
TANH = "torch.nn.modules.activation.Tanh"


def dense(folder: Path) -> None:
    """A linear of 7 outputs with tanh behind the pooling."""
    modules(OLD + "Transformer", OLD + "Pooling", OLD + "Dense", paths=("", "1_Pooling", "2_Dense"))(folder)
    (folder / "2_Dense").mkdir()
    values = {"in_features": WIDTH, "out_features": 7, "bias": True, "activation_function": TANH}
    write_json(folder / DENSE, values)
    weights = {"linear.weight": np.ones((7, WIDTH), np.float32), "linear.bias": np.ones(7, np.float32)}
    write_safetensors(folder / DENSE_WEIGHTS, weights)


def row_norm(folder: Path) -> None:
    """A norm and a dropout behind the pooling."""
    kinds = ("Transformer", "Pooling", "LayerNorm", "Dropout")
    modules(*(OLD + kind for kind in kinds), paths=("", "1_Pooling", "2_LayerNorm", "3_Dropout"))(folder)
    for name in ("2_LayerNorm", "3_Dropout"):
        (folder / name).mkdir()
    write_json(folder / NORM, {"dimension": WIDTH})
    write_json(folder / DROPOUT, {"dropout": 0.2})
    weights = {"norm.weight": np.ones(WIDTH, np.float32), "norm.bias": np.ones(WIDTH, np.float32)}
    write_safetensors(folder / NORM_WEIGHTS, weights)


def n(name: str, change: Callable[[Path], object], code: str, file: str, words: str = "") -> Case:
    return Case(name, both(old_files, row_norm, change), code, file, None, words)


def d(name: str, change: Callable[[Path], object], code: str, file: str = DENSE, words: str = "") -> Case:
    return Case(name, both(old_files, dense, change), code, file, None, words)


def x(name: str, change: Callable[[Path], object], code: str, file: str, words: str = "") -> Case:
    return Case(name, both(cross_encoder, change), code, file, None, words)


CASES = [
    d("no configuration of Dense", remove(DENSE), "sentence-file-missing"),
    d("Dense of another width", put(DENSE, in_features=WIDTH + 1), "sentence-width", words="has 10 values"),
    d("Dense without a width", drop(DENSE, "out_features"), "config-missing"),
    d("Dense of no outputs", put(DENSE, out_features=0), "config-out-of-range"),
    d("activation of Dense", put(DENSE, activation_function="torch.nn.Mish"), "activation-not-supported"),
    d("a setting of Dense", put(DENSE, dropout=0.1), "sentence-setting", words="'dropout'"),
    d("Dense of every token", put(DENSE, module_input_name="token_embeddings"), "sentence-setting"),
    d("weights of Dense", remove(DENSE_WEIGHTS), "weights-missing", DENSE_WEIGHTS),
    d(
        "weights of Dense pickled",
        lambda p: (p / DENSE_WEIGHTS).rename(p / "2_Dense/pytorch_model.bin"),
        "pickle-refused",
        "2_Dense/pytorch_model.bin",
    ),
    n("no configuration of LayerNorm", remove(NORM), "sentence-file-missing", NORM),
    n("LayerNorm of another width", put(NORM, dimension=9), "sentence-width", NORM, "the row before it has 10 values"),
    n("LayerNorm without a width", drop(NORM, "dimension"), "config-missing", NORM),
    n("a setting of LayerNorm", put(NORM, eps=1e-6), "sentence-setting", NORM, "'eps'"),
    n("weights of LayerNorm", remove(NORM_WEIGHTS), "weights-missing", NORM_WEIGHTS, "of the LayerNorm module"),
    n("a setting of Dropout", put(DROPOUT, p=0.1), "sentence-setting", DROPOUT, "'p'"),
    x("CrossEncoder of embeddings", put(SENTENCE, transformer_task="feature-extraction"), "sentence-setting", SENTENCE),
    x("CrossEncoder's function", put(SETTINGS, activation_fn=3), "sentence-setting", SETTINGS),
    x("CrossEncoder with pooling", types("Transformer", "Pooling"), "sentence-setting", SENTENCE),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


def test_a_dense_behind_several_modes(tmp_path: Path) -> None:
    """What follows several modes has as many values."""
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    dense(tmp_path)
    write_json(tmp_path / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": ["max", "mean", "cls"]})
    with pytest.raises(EtchError, match="the row before it has 30 values"):
        load_checkpoint(tmp_path)
    put(DENSE, in_features=3 * WIDTH)(tmp_path)
    found = read(tmp_path)
    assert found is not None and isinstance(found.dense[0], Dense) and found.dense[0].inputs == 30


def test_a_norm_of_the_row_and_no_dropout(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    row_norm(tmp_path)
    found = read(tmp_path)
    assert found is not None
    (norm,) = found.dense
    assert isinstance(norm, RowNorm) and norm.outputs == WIDTH
    (tmp_path / DROPOUT).unlink()
    assert len((read(tmp_path) or found).dense) == 1
