# SPDX-License-Identifier: Apache-2.0
"""ESM C's front-end: its norms, how much blocks add, and what is refused. test_recorded_models.py has what its models
compute, load/test_esmc_folder.py its tokenizer."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors

from codegen import pipeline
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.request import Reading

ROWS, MASKS, TAGS = "esmc/proteins", "masks/esmc", "tags/esmc"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        ROWS,
        configure(architectures=["EsmcForQuestionAnswering"]),
        "architecture-not-supported",
        "EsmcForMaskedLM, EsmcForTokenClassification",
    ),
    "a bare encoder": (ROWS, configure(architectures=["EsmcModel"]), "modules-missing", "EsmcModel"),
    "shared keys": (ROWS, configure(num_key_value_heads=1), "config-not-supported", "num_key_value_heads"),
    "another width of heads": (ROWS, configure(head_dim=4), "config-not-supported", "head_dim"),
    "no biases": (ROWS, configure(attention_bias=True), "missing-tensor", "q_proj.bias"),
    "biases": (MASKS, configure(mlp_bias=False), "unused-tensor", "mlp"),
    "angles": (ROWS, configure(rope_parameters={"rope_type": "dynamic"}), "rotary-not-supported", "dynamic"),
    "no norm of keys": (ROWS, rename("esmc.layers.1.self_attn.k_norm.weight", "other"), "missing-tensor", "k_norm"),
    "a bias more": (ROWS, rename("classifier.dense.bias", "esmc.norm.bias"), "missing-tensor", "dense.bias"),
    "tags without a bias": (TAGS, configure(token_classification_bias=False), "unused-tensor", "score.bias"),
    "other names of tags": (TAGS, rename("score.weight", "classifier.weight"), "missing-tensor", "score.weight"),
    "words once only": (MASKS, rename("lm_head.decoder.weight", "other"), "missing-tensor", "lm_head.decoder.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_which_norms_have_biases() -> None:
    found = {op.name: op.beta is not None for op, _ in g.ops_of(graph_of(folder(ROWS))) if isinstance(op, g.Norm)}
    assert found == {
        **{"attention_norm": True, "query_norm": False, "key_norm": False, "feed_forward_norm": True},
        "final_norm": False,
    }


def test_blocks_add_less_the_deeper_a_model_is() -> None:
    """Less than 36 layers, so that they add more here."""
    header, data = read_raw_safetensors(folder(ROWS) / "model.safetensors")
    for op, _ in g.ops_of(graph_of(folder(ROWS))):
        if isinstance(op, g.Linear) and op.residual is not None:
            source = {"attention_output": "self_attn.o_proj", "output": "mlp.down_proj"}[op.name]
            for i, array in enumerate(op.weight.arrays):
                begin, end = header[f"esmc.layers.{i}.{source}.weight"]["data_offsets"]
                stored = np.frombuffer(data[begin:end], np.float16).astype(np.float64).reshape(array.shape)
                np.testing.assert_allclose(array.values, stored / math.sqrt(2 / 36), rtol=1e-15)


def test_scaled_weights_are_floats() -> None:
    """Those of fp32, which are multiplied in float64."""
    program = pipeline.lower(pipeline.load(folder(ROWS)), "fp32", None)
    stored = (each for op in walks.ops_of(program) if isinstance(op, p.Linear) for each in op.weights.stored)
    kinds = {each.matrix.values.dtype for each in stored}
    assert kinds == {np.dtype(np.float32)}


def test_tied_words_are_not(tmp_path: Path) -> None:
    """The class ties none, whatever a configuration says."""
    graph = graph_of(changed(MASKS, configure(tie_word_embeddings=True), tmp_path))
    (best,) = (op for op, _ in g.ops_of(graph) if isinstance(op, g.Best))
    assert best.weight.arrays[0].name == "lm_head.decoder.weight"


def test_an_embedding_of_a_masked_language_model(tmp_path: Path) -> None:
    path = changed(MASKS, configure(architectures=["EsmcModel"]), tmp_path)
    graph = pipeline.to_graph(pipeline.load(path, Reading(pooling="mean")), None)
    assert [op.kind for op in graph.body if isinstance(op, g.Pool)] == ["mean"]
    assert any("lm_head.dense.weight" in note for note in graph.notes)
