# SPDX-License-Identifier: Apache-2.0
"""Longformer's front-end: what a token sees, and what is refused. test_recorded_models.py and test_tagging.py have what
its models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.global_rows import Before, Behind, GlobalRows

TAGS, EMBEDDING = "tags/longformer", "longformer/mean"
CLASSIFIER, ANSWERS, CHOICES = "longformer/softmax", "answers/longformer", "choices/longformer"
GLOBAL = "longformer.encoder.layer.0.attention.self.query_global.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "no class": (TAGS, configure(architectures=None), "missing-tensor", "classifier.dense"),
    "no projections": (CLASSIFIER, rename(GLOBAL, "elsewhere"), "missing-tensor", "query_global"),
    "no projections for a question": (ANSWERS, rename(GLOBAL, "elsewhere"), "missing-tensor", "query_global"),
    "another separator of choices": (CHOICES, configure(sep_token_id=0), "config-value", "sep_token_id 0 is not"),
    "another separator": (ANSWERS, configure(sep_token_id=3), "config-value", "sep_token_id 3 is not"),
    "another class": (TAGS, configure(architectures=["LongformerForCausalLM"]), "architecture-not-supported", "Causal"),
    "a bare encoder": (TAGS, configure(architectures=["LongformerModel"]), "modules-missing", "LongformerModel"),
    "an odd window": (TAGS, configure(attention_window=5), "config-value", "even"),
    "no window": (TAGS, configure(attention_window=[0]), "config-value", "from 2 to"),
    "a window beyond 32 bits": (TAGS, configure(attention_window=8589934590), "config-value", "to 1048576"),
    "a window of words": (TAGS, configure(attention_window="6"), "config-value", "even"),
    "windows of other layers": (TAGS, configure(attention_window=[4, 4]), "config-value", "2 values for 1 layers"),
    "no words": (TAGS, rename("longformer.embeddings.word_embeddings.weight", "other"), "missing-tensor", "word"),
    "no classifier": (TAGS, rename("classifier.weight", "other"), "missing-tensor", "classifier.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def attentions_of(graph: g.Graph) -> list[g.Attention]:
    return [op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)]


def attention_of(graph: g.Graph) -> g.Attention:
    (found,) = attentions_of(graph)
    return found


def test_so_many_tokens_to_each_side(tmp_path: Path) -> None:
    found = attention_of(graph_of(folder(TAGS)))
    assert (found.mask, found.window) == ("window", 3)
    found = attention_of(graph_of(folder(EMBEDDING)))
    assert (found.mask, found.window) == ("window", g.ByLayer((4, 2)))
    found = attention_of(graph_of(changed(TAGS, configure(attention_window=None), tmp_path)))
    assert found.window == 256


@pytest.mark.parametrize(("variant", "rows"), [(CLASSIFIER, 1), (ANSWERS, Before(2)), (CHOICES, Behind(2))])
def test_tokens_that_see_all(variant: str, rows: GlobalRows) -> None:
    window, seeing = attentions_of(graph_of(folder(variant)))
    assert (window.mask, window.global_rows, window.only) == ("window", rows, None)
    assert (seeing.mask, seeing.global_rows, seeing.only, seeing.others) == ("none", 0, rows, "context")
    assert (seeing.query, seeing.key, seeing.value) == ("global_query", "global_key", "global_value")
    assert not graph_of(folder(variant)).notes


def test_projections_of_tokens_that_see_all_are_a_note(tmp_path: Path) -> None:
    assert any("6 tensors of tokens that see all others" in note for note in graph_of(folder(TAGS)).notes)

    with pytest.raises(EtchError, match="unused-tensor"):
        graph_of(changed(TAGS, rename(GLOBAL, "elsewhere"), tmp_path))
