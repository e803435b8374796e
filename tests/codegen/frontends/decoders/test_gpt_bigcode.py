# SPDX-License-Identifier: Apache-2.0
"""GPTBigCode: heads of keys, and the tokenizer of published folders. test_recorded_models.py and test_generation.py
have what it computes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from recorded.outputs import folder
from recorded_changes import changed, configure, graph_of
from test_generation import graph_of as writer

from codegen import pipeline
from codegen.ir import graph as g
from codegen.ir.tokenizer_spec import DigitsSegmenter

ROWS = "gpt_bigcode/softmax"  # each head has keys of its own, scores are not scaled


def attention_of(graph: g.Graph) -> g.Attention:
    return next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention))


def test_heads_of_keys_and_the_scale_of_scores() -> None:
    rows, written = attention_of(graph_of(folder(ROWS))), attention_of(writer("gpt_bigcode/own"))
    assert [(op.heads, op.key_heads, op.scale) for op in (rows, written)] == [(2, 2, 1.0), (2, 1, None)]


def digits(path: Path) -> None:
    """As SantaCoder's and StarCoder's folders have it: GPT-2's class, and a pre-tokenizer that this class lacks."""
    for name, changes in (
        ("tokenizer_config.json", {"tokenizer_class": "GPT2TokenizerFast"}),
        ("tokenizer.json", {}),
    ):
        values = json.loads((path / name).read_text(encoding="utf-8")) | changes
        if not changes:
            steps = [{"type": "Digits", "individual_digits": True}, values["pre_tokenizer"]["pretokenizers"][-1]]
            values["pre_tokenizer"]["pretokenizers"] = [steps[0], steps[1] | {"use_regex": True}]
        (path / name).write_text(json.dumps(values), encoding="utf-8")


def test_the_class_that_a_folder_names_does_not_count(tmp_path: Path) -> None:
    path = changed(ROWS, configure(), tmp_path)
    digits(path)
    assert isinstance(pipeline.load(path).tokenizer.segmenter, DigitsSegmenter)
