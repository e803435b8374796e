# SPDX-License-Identifier: Apache-2.0
"""BART's classes whose decoder reads the text itself: what their folders may say, and what is refused.
test_recorded_models.py, test_zero_shot.py and test_answering.py have what their models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from decoders_of_texts import assert_fewer_pieces_give_the_same_bits, assert_one_token_behind
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, class_is, configure, graph_of, null, rename
from recorded_outputs import assert_gpus_refuse, reported_task

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

VALUES, ZERO, ANSWERS = "bart/regression", "zero/bart", "answers/bart"
IDS = [0, 70, 9, 12, 2]
WORDS = "model.shared.weight"


def without_end(path: Path) -> None:
    """The tokenizer ends texts with nothing."""
    (path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    file = path / "tokenizer.json"
    described = json.loads(file.read_text(encoding="utf-8"))
    described["post_processor"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    file.write_text(json.dumps(described), encoding="utf-8")


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "another end": (VALUES, configure(eos_token_id=70), "config-value", "eos_token_id is 70, the tokenizer ends"),
    "several ends": (VALUES, configure(eos_token_id=[2]), "config-type", "eos_token_id"),
    "no end": (VALUES, null("eos_token_id"), "config-type", "eos_token_id"),
    "texts without an end": (VALUES, without_end, "config-value", "ends texts with A"),
    "no begin": (VALUES, null("decoder_start_token_id"), "config-type", "decoder_start_token_id"),
    "a begin beyond": (VALUES, configure(decoder_start_token_id=286), "config-out-of-range", "decoder_start_token_id"),
    "no padding": (ZERO, null("pad_token_id"), "config-type", "pad_token_id"),
    "no decoder": (ZERO, configure(is_encoder_decoder=False), "config-value", "is_encoder_decoder"),
    "not tied": (ZERO, configure(tie_word_embeddings=False), "missing-tensor", "decoder.embed_tokens.weight"),
    "other width": (ZERO, configure(hidden_size=24), "config-value", "hidden_size"),
    "more layers": (ZERO, configure(decoder_layers=3), "missing-tensor", "model.decoder.layers.2"),
    "fewer layers": (ZERO, configure(decoder_layers=1), "unused-tensor", "model.decoder.layers.1"),
    "fewer positions": (ZERO, configure(max_position_embeddings=50), "wrong-shape", "embed_positions"),
    "other labels": (VALUES, configure(id2label=None, label2id=None), "wrong-shape", "classification_head.out_proj"),
    "no dense": (ZERO, rename("classification_head.dense.weight", "dense.weight"), "missing-tensor", "dense.weight"),
    "logits besides": (ZERO, add("lm_head.weight", (286, 20)), "unused-tensor", "lm_head.weight"),
    "words of two kinds": (ZERO, add("model.decoder.embed_tokens.weight", (286, 20)), "tied-tensors-differ", "decoder"),
    "another class": (ZERO, class_is("BartForCausalLM"), "architecture-not-supported", "BartForCausalLM"),
    "both alone": (ZERO, class_is("BartModel"), "architecture-not-supported", "BartModel"),
    "a writer's": (ZERO, class_is("BartForConditionalGeneration"), "unused-tensor", "classification_head"),
    "no class": (ZERO, class_is(None), "unused-tensor", "classification_head"),
    "an answerer's": (ZERO, class_is("BartForQuestionAnswering"), "missing-tensor", "classifier.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(graph: g.Graph) -> np.ndarray:
    return Interpreter(graph).output(IDS, [0] * len(IDS))


def test_what_a_folder_says() -> None:
    assert reported_task(ZERO).startswith("single-label classification (softmax), 3 labels: contradiction")
    assert reported_task(VALUES).startswith("regression")
    assert reported_task(ANSWERS).startswith("answers to questions")
    for variant in (VALUES, ZERO, ANSWERS):
        graph = graph_of(folder(variant))
        assert (graph.notes, graph.target_rules) == ((), None)
    assert graph_of(folder(ZERO)).max_tokens == 60


def test_what_a_folder_leaves_out(tmp_path: Path) -> None:
    """The library's begin and end are 2, and three labels."""
    said = configure(decoder_start_token_id=2)
    silent = configure(decoder_start_token_id=None, eos_token_id=None, pad_token_id=None)
    found = [output(graph_of(changed(VALUES, change, tmp_path / f"{i}"))) for i, change in enumerate((said, silent))]
    assert np.array_equal(*found)
    assert not np.allclose(found[0], output(graph_of(folder(VALUES))))
    unnamed = graph_of(changed(ZERO, configure(id2label=None, label2id=None), tmp_path / "labels"))
    assert unnamed.task.labels == ("LABEL_0", "LABEL_1", "LABEL_2")  # type: ignore[attr-defined]


def test_what_the_first_files_have(tmp_path: Path) -> None:
    """Of facebook/bart-large-mnli: keys that its class does not read, buffers, words by one of their names."""
    more = {"add_final_layer_norm": False, "normalize_before": False, "gradient_checkpointing": False}
    others = {"_num_labels": 3, "classif_dropout": 0.0, "output_past": False, "num_hidden_layers": 1}

    def change(path: Path) -> None:
        configure(**more, **others)(path)
        for of in ("encoder", "decoder"):
            add(f"model.{of}.version", (1,))(path)
        rename(WORDS, "model.decoder.embed_tokens.weight")(path)

    graph = graph_of(changed(ZERO, change, tmp_path))
    assert graph.notes == ("config.json: not used: add_final_layer_norm, normalize_before",)
    assert np.array_equal(output(graph), output(graph_of(folder(ZERO))))


def test_the_decoder_is_one_token_behind() -> None:
    assert_one_token_behind(graph_of(folder(VALUES)), 70)


@pytest.mark.parametrize("variant", [VALUES, ANSWERS])
def test_gpus_refuse_it(variant: str, tmp_path: Path) -> None:
    assert_gpus_refuse(variant, tmp_path)


def test_fewer_pieces_give_the_same_bits(tmp_path: Path) -> None:
    path = changed(VALUES, configure(decoder_start_token_id=3), tmp_path)
    assert_fewer_pieces_give_the_same_bits(path, IDS, 286)
