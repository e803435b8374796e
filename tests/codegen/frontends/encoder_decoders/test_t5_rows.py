# SPDX-License-Identifier: Apache-2.0
"""T5's classes whose decoder reads the text itself: what their folders may say, and what is refused.
test_recorded_models.py, test_zero_shot.py and test_answering.py have what their models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from decoders_of_texts import assert_fewer_pieces_give_the_same_bits, assert_one_token_behind
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, class_is, configure, graph_of, null, rename
from recorded_outputs import assert_gpus_refuse, reported_task

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

VALUES, THREE, ZERO, ANSWERS = "t5/regression", "umt5/softmax", "zero/mt5", "answers/t5"
IDS = [70, 9, 12, 1]
BEGIN, SHARED = "decoder_start_token_id", "transformer.shared.weight"
UNREAD = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
COPIES = [f"transformer.{of}.embed_tokens.weight" for of in ("encoder", "decoder")]
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "another end": (VALUES, configure(eos_token_id=70), "config-value", "eos_token_id is 70, the tokenizer ends"),
    "several ends": (VALUES, configure(eos_token_id=[1]), "config-type", "eos_token_id"),
    "no end": (VALUES, null("eos_token_id"), "config-type", "eos_token_id"),
    "no begin": (VALUES, configure(decoder_start_token_id=None), "config-missing", BEGIN),
    "a begin that is null": (ZERO, null(BEGIN), "config-type", BEGIN),
    "a begin beyond": (VALUES, configure(decoder_start_token_id=81), "config-out-of-range", BEGIN),
    "no padding": (ANSWERS, null("pad_token_id"), "config-missing", "pad_token_id"),
    "no decoder": (ZERO, configure(is_encoder_decoder=False), "config-value", "is_encoder_decoder"),
    "more layers": (ZERO, configure(num_decoder_layers=3), "missing-tensor", "transformer.decoder.block.2"),
    "fewer layers": (ZERO, configure(num_decoder_layers=1), "unused-tensor", "transformer.decoder.block.1"),
    "other labels": (VALUES, configure(id2label=None, label2id=None), "wrong-shape", "classification_head.out_proj"),
    "no dense": (ZERO, rename("classification_head.dense.weight", "dense.weight"), "missing-tensor", "dense.weight"),
    "words of two kinds": (ZERO, add(COPIES[1], (81, 20)), "tied-tensors-differ", COPIES[1]),
    "both alone": (ZERO, class_is("MT5Model"), "architecture-not-supported", "MT5ForSequenceClassification"),
    "another family's": (ZERO, class_is("T5ForSequenceClassification"), "architecture-not-supported", "MT5For"),
    "an answerer's": (ZERO, class_is("MT5ForQuestionAnswering"), "missing-tensor", "classifier.weight"),
    "a classifier's": (ANSWERS, class_is("T5ForSequenceClassification"), "missing-tensor", "classification_head"),
    "a tagger's": (VALUES, class_is("T5ForTokenClassification"), "missing-tensor", "classifier.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(graph: g.Graph) -> np.ndarray:
    return Interpreter(graph).output(IDS, [0] * len(IDS))


def test_what_a_folder_says() -> None:
    assert reported_task(VALUES).startswith("regression")
    assert reported_task(THREE).startswith("single-label classification (softmax), 3 labels")
    assert reported_task(ZERO).startswith("single-label classification (softmax), 3 labels: entailment")
    assert reported_task(ANSWERS).startswith("answers to questions")
    for variant in (VALUES, THREE, ZERO, ANSWERS):
        graph = graph_of(folder(variant))
        assert (graph.notes, graph.target_rules) == ((), None)


@pytest.mark.parametrize("variant", [THREE, ZERO])
def test_what_a_folder_leaves_out(variant: str, tmp_path: Path) -> None:
    """The library's begin is 0 but in T5 itself, its end 1."""
    silent = configure(decoder_start_token_id=None, eos_token_id=None, pad_token_id=None)
    other = graph_of(changed(variant, configure(decoder_start_token_id=5), tmp_path / "other"))
    expected = output(graph_of(folder(variant)))
    assert np.array_equal(output(graph_of(changed(variant, silent, tmp_path / "silent"))), expected)
    assert not np.allclose(output(other), expected)


def test_what_files_have_besides(tmp_path: Path) -> None:
    """A bias that nothing reads, and the words by another of their names."""

    def change(path: Path) -> None:
        add(f"transformer.{UNREAD}", (8, 3))(path)
        rename(SHARED, COPIES[0])(path)

    graph = graph_of(changed(VALUES, change, tmp_path))
    assert graph.notes == ()
    assert np.array_equal(output(graph), output(graph_of(folder(VALUES))))


def test_the_decoder_is_one_token_behind() -> None:
    assert_one_token_behind(graph_of(folder(VALUES)), 70)


@pytest.mark.parametrize("variant", [VALUES, ANSWERS])
def test_gpus_refuse_it(variant: str, tmp_path: Path) -> None:
    assert_gpus_refuse(variant, tmp_path)


def test_fewer_pieces_give_the_same_bits(tmp_path: Path) -> None:
    path = changed(VALUES, configure(decoder_start_token_id=2), tmp_path)
    assert_fewer_pieces_give_the_same_bits(path, IDS, 81)
