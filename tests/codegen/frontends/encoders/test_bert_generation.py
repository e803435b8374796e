# SPDX-License-Identifier: Apache-2.0
"""BertGeneration's encoder: what is refused. test_recorded_models.py has what it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen.oracle.interpret import Interpreter

MEAN = "bert-generation/mean"
TENSOR = "encoder.layer.0.output.dense.weight"


def without_modules(path: Path) -> None:
    (path / "modules.json").unlink()


REFUSED: dict[str, tuple[Change, str, str]] = {
    "the decoder": (
        configure(architectures=["BertGenerationDecoder"]),
        "architecture-not-supported",
        "supported: BertGenerationEncoder",
    ),
    "as a decoder": (configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "across": (configure(add_cross_attention=True), "decoder-not-supported", "add_cross_attention"),
    "rows alone": (without_modules, "modules-missing", "--pooling mean"),
    "an activation": (configure(hidden_act="mish"), "activation-not-supported", "mish"),
    "heads": (configure(num_attention_heads=3), "heads-do-not-divide", "3"),
    "a tensor more": (add("pooler.dense.weight", (20, 20)), "unused-tensor", "pooler.dense.weight"),
    "a tensor less": (rename(TENSOR, "bert.x"), "missing-tensor", TENSOR),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(MEAN, *REFUSED[case], tmp_path)


def test_what_no_key_says(tmp_path: Path) -> None:
    def output(path: Path) -> np.ndarray:
        return Interpreter(graph_of(path)).output([5, 7, 30, 9, 3], [0] * 5)

    path = changed(MEAN, configure(hidden_act=None, layer_norm_eps=None), tmp_path)
    assert np.array_equal(output(path), output(folder(MEAN)))
