# SPDX-License-Identifier: Apache-2.0
"""The MobileBERT front-end: what it reads from where, what is stored once, what it refuses. test_recorded_models.py has
what its models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir import graph as g
from codegen.ir import walks
from codegen.ir.text import Text
from codegen.oracle.interpret import Interpreter
from codegen.quantize.bits import places_of

CLASSIFIER, PLAIN, INSIDE = "mobilebert/softmax", "mobilebert/plain", "mobilebert/inside"
MASKS, TAGS = "masks/mobilebert", "tags/mobilebert"
TRANSFORMATION = "mobilebert.embeddings.embedding_transformation.weight"
SECOND_BOTTLENECK = "mobilebert.encoder.layer.0.bottleneck.attention.dense.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "another class": (
        CLASSIFIER,
        configure(architectures=["MobileBertForCausalLM"]),
        "architecture-not-supported",
        "MobileBertForNextSentencePrediction",
    ),
    "a bare encoder": (CLASSIFIER, configure(architectures=["MobileBertModel"]), "modules-missing", "MobileBertModel"),
    "norms": (CLASSIFIER, configure(normalization_type="rms_norm"), "norm-not-supported", "rms_norm"),
    "heads of rows in a layer": (
        CLASSIFIER,
        configure(num_attention_heads=5),
        "heads-do-not-divide",
        "intra_bottleneck_size 12",
    ),
    "heads of all rows": (PLAIN, configure(num_attention_heads=4), "heads-do-not-divide", "hidden_size 18"),
    "another width by its other name": (CLASSIFIER, configure(true_hidden_size=20), "config-value", "true_hidden_size"),
    "its usual width": (CLASSIFIER, configure(intra_bottleneck_size=None), "config-value", "128"),
    "queries of wide rows": (
        CLASSIFIER,
        configure(key_query_shared_bottleneck=False),
        "config-value",
        "rows of 20",
    ),
    "fewer networks": (CLASSIFIER, configure(num_feedforward_networks=2), "unused-tensor", "ffn.1"),
    "more networks": (CLASSIFIER, configure(num_feedforward_networks=4), "missing-tensor", "ffn.2"),
    "very many": (CLASSIFIER, configure(num_feedforward_networks=900), "missing-tensor", "num_feedforward_networks"),
    "no trigram": (CLASSIFIER, configure(trigram_input=False), "wrong-shape", "embedding_transformation"),
    "a trigram": (PLAIN, configure(trigram_input=True), "wrong-shape", "embedding_transformation"),
    "no transformation": (PLAIN, rename(TRANSFORMATION, "other"), "missing-tensor", TRANSFORMATION),
    "no second bottleneck": (
        CLASSIFIER,
        rename(SECOND_BOTTLENECK, "other"),
        "missing-tensor",
        SECOND_BOTTLENECK,
    ),
    "a bottleneck that has no use": (PLAIN, add(SECOND_BOTTLENECK, (12, 18)), "unused-tensor", SECOND_BOTTLENECK),
    "a pooler that has no use": (
        CLASSIFIER,
        add("mobilebert.pooler.dense.weight", (20, 20)),
        "unused-tensor",
        "mobilebert.pooler.dense.weight",
    ),
    "no pooler": (CLASSIFIER, configure(classifier_activation=True), "missing-tensor", "mobilebert.pooler.dense"),
    "activation": (CLASSIFIER, configure(hidden_act="mish"), "activation-not-supported", "hidden_act 'mish'"),
    "decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "columns beside the words": (
        MASKS,
        rename("cls.predictions.dense.weight", "other"),
        "missing-tensor",
        "cls.predictions.dense.weight",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", [CLASSIFIER, MASKS])
def test_the_words_of_a_trigram_are_stored_once(variant: str) -> None:
    program = pipeline.lower(pipeline.load(folder(variant)), "w8a8", None)
    assert [slot.name for slot, _ in walks.slots_of(program) if "word" in slot.name] == ["word_embeddings"]
    assert [place for place, *_ in places_of(program) if "word" in place] == ["word_embeddings"]


def test_neighbors_are_those_of_the_same_text() -> None:
    """Of several texts at once as of each alone: the last word of one is not before the first of the next."""
    program = pipeline.lower(pipeline.load(folder(CLASSIFIER)), "w8a8", None)
    texts = [Text(text.ids, text.segments) for text in read_recorded(CLASSIFIER)]
    alone = [emulate_texts(program, [text])[0] for text in texts]
    assert np.array(emulate_texts(program, texts)).tobytes() == np.array(alone).tobytes()


def test_norms_are_those_of_the_configuration() -> None:
    """Of layer norms two have PyTorch's own epsilon, whatever the configuration says."""
    assert {op.kind for op, _ in g.ops_of(graph_of(folder(CLASSIFIER))) if isinstance(op, g.Norm)} == {"affine"}
    epsilons = {op.name: op.epsilon for op, _ in g.ops_of(graph_of(folder(INSIDE))) if isinstance(op, g.Norm)}
    assert {name for name, epsilon in epsilons.items() if epsilon == 1e-5} == {"embedding_norm", "output_norm"}
    assert set(epsilons.values()) == {1e-5, 1e-3}


def test_a_head_predicts_words_with_a_layer_norm_in_any_case() -> None:
    norms = {op.name: op for op, _ in g.ops_of(graph_of(folder(MASKS))) if isinstance(op, g.Norm)}
    assert (norms.pop("transform_norm").kind, {norm.kind for norm in norms.values()}) == ("layer", {"affine"})


def test_a_pre_training_checkpoint_has_both_heads(tmp_path: Path) -> None:
    def both(path: Path) -> None:
        configure(architectures=["MobileBertForPreTraining"])(path)
        for name, shape in (("weight", (2, 20)), ("bias", (2,))):
            add(f"cls.seq_relationship.{name}", shape)(path)

    graph = pipeline.to_graph(pipeline.load(changed(MASKS, both, tmp_path)), None)
    assert [(head.name, head.task.name) for head in graph.heads] == [
        ("fill_mask", "fill_mask"),
        ("is_next", "next_sentence"),
    ]
    alone = pipeline.to_graph(pipeline.load(folder(MASKS)), None)
    text = next(text for text in read_recorded(MASKS) if len(text.float64))
    outputs = Interpreter(graph).outputs(text.ids, text.segments)
    assert outputs[0].tobytes() == Interpreter(alone).output(text.ids, text.segments).tobytes()


def test_older_files_name_positions(tmp_path: Path) -> None:
    path = changed(CLASSIFIER, add("mobilebert.embeddings.position_ids", (1, 20)), tmp_path)
    assert graph_of(path).notes == ()


def test_heads_of_tokens_leave_out_the_pooler(tmp_path: Path) -> None:
    def with_pooler(path: Path) -> None:
        for name, shape in (("bias", (20,)), ("weight", (20, 20))):
            add(f"mobilebert.pooler.dense.{name}", shape)(path)

    (note,) = graph_of(changed(TAGS, with_pooler, tmp_path)).notes
    assert note.startswith("not used by MobileBertForTokenClassification: mobilebert.pooler.dense")
