# SPDX-License-Identifier: Apache-2.0
"""RemBERT's front-end: widths of its embeddings, and what is refused. test_recorded_models.py has what its models
compute, load/test_kept_classes.py its tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

CLASSIFIER, MASKS, ENCODER = "rembert/softmax", "masks/rembert", "rembert/mean"
MAPPING = "rembert.encoder.embedding_hidden_mapping_in.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["RemBertForCausalLM"]),
        "architecture-not-supported",
        "RemBertForSequenceClassification",
    ),
    "a bare encoder": (CLASSIFIER, configure(architectures=["RemBertModel"]), "modules-missing", "RemBertModel"),
    "a decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "width of the embedding": (CLASSIFIER, configure(input_embedding_size=13), "wrong-shape", "13]"),
    "width of the words to predict": (MASKS, configure(output_embedding_size=25), "wrong-shape", "[81, 25]"),
    "the usual widths": (MASKS, configure(output_embedding_size=None), "wrong-shape", "1664"),
    "no mapping": (CLASSIFIER, rename(MAPPING, "other"), "missing-tensor", MAPPING),
    "no words to predict": (
        MASKS,
        rename("cls.predictions.decoder.weight", "other"),
        "missing-tensor",
        "cls.predictions.decoder.weight",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(("variant", "width"), [(CLASSIFIER, 12), (ENCODER, 24), (MASKS, 12)])
def test_the_embedding_has_a_width_of_its_own(variant: str, width: int) -> None:
    assert graph_of(folder(variant)).widths["embedded"] == width


def test_words_to_predict_are_no_words_of_the_embedding_whatever_the_configuration_says(tmp_path: Path) -> None:
    graph = graph_of(changed(MASKS, configure(tie_word_embeddings=True), tmp_path))
    (best,) = (op for op, _ in g.ops_of(graph) if isinstance(op, g.Best))
    assert best.weight.name == "decoder_weight"
    assert best.weight.shape[1] == 26
