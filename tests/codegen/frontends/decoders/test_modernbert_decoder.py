# SPDX-License-Identifier: Apache-2.0
"""ModernBERT as a decoder: what its folders need not say, embeddings of what writes, and what is refused.
test_recorded_models.py and test_generation.py have what it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

ROWS = "modernbert-decoder/labels"  # 3 layers, the first and the last with a window
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "a tagger": (
        ROWS,
        configure(architectures=["ModernBertDecoderForTokenClassification"]),
        "architecture-not-supported",
        "ModernBertDecoderForSequenceClassification, ModernBertDecoderForCausalLM, or ModernBertDecoderModel",
    ),
    "one linear for queries, keys and values": (
        ROWS,
        rename("model.layers.1.attn.q_proj.weight", "model.layers.1.attn.Wqkv.weight"),
        "missing-tensor",
        "q_proj",
    ),
    "padding that texts end with": (ROWS, configure(pad_token_id=2), "config-value", "pad_token_id 2"),
    "no biases": (ROWS, configure(attention_bias=False), "unused-tensor", "bias"),
    "no bias of labels": (ROWS, configure(classifier_bias=False), "unused-tensor", "bias"),
    "a window of itself": (
        ROWS,
        configure(local_attention=2, sliding_window=1),
        "config-not-supported",
        "local_attention",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def masks(graph: g.Graph) -> list[object]:
    return [(op.mask, op.window) for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)]


def test_a_window_is_half_of_what_the_key_says_the_token_itself_one_of_it() -> None:
    window = g.ByLayer(("causal", "past")), g.ByLayer((None, 2))
    assert masks(graph_of(folder(ROWS))) == [("past", 2), window]


def test_what_no_key_says(tmp_path: Path) -> None:
    unsaid = ("hidden_activation", "norm_eps", "sliding_window", "rope_parameters", "classifier_activation")
    path = changed(ROWS, configure(**dict.fromkeys(unsaid)), tmp_path)
    found = [Interpreter(graph_of(each)).output([7, 9, 5], [0, 0, 0]) for each in (path, folder(ROWS))]
    assert np.array_equal(*found)


def test_an_embedding_leaves_out_what_predicts_words(tmp_path: Path) -> None:
    path = changed(ROWS, configure(architectures=["ModernBertDecoderModel"]), tmp_path)
    for of in ("weight", "bias"):
        for name, other in (("head.dense", "lm_head.dense"), ("head.norm", "lm_head.norm"), ("classifier", "decoder")):
            rename(f"{name}.{of}", f"{other}.{of}")(path)
    graph = pipeline.to_graph(pipeline.load(path, Reading(pooling="last")), None)
    assert (graph.task.verb, graph.target_rules) == ("embed", None)
    assert any("decoder.bias" in note and "lm_head.dense.weight" in note for note in graph.notes)
