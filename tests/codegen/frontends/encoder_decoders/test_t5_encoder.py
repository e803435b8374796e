# SPDX-License-Identifier: Apache-2.0
"""T5's encoder alone: which files it is read from, how long its texts may be, and what is refused.
test_recorded_models.py and test_tagging.py have what its models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import test_decoders
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, class_is, configure, graph_of, rename
from test_t5 import store
from tiny_checkpoint import read_raw_safetensors

from codegen import pipeline
from codegen.frontends.shared.distance_bias import bucket_of
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

MEAN, GATED, MT5, TAGS = "t5/mean", "t5/gated", "mt5/mean", "tags/t5"
WORDS, COPY = "shared.weight", "encoder.embed_tokens.weight"
# T5Attention._relative_position_bucket of transformers 5.23.0, of keys on both sides, 32 buckets up to 128: the
# distances at which a side's buckets begin.
FIRST = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)
IDS = [5, 9, 3, 1]


def without_modules(path: Path) -> None:
    (path / "modules.json").unlink()


WRITER = configure(architectures=["T5ForConditionalGeneration"], decoder_start_token_id=0)
PLAIN = configure(feed_forward_proj="relu", is_gated_act=None, dense_act_fn=None)
UNSAID = configure(feed_forward_proj=None, is_gated_act=None, dense_act_fn=None)
BIAS = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "a tagger's embedding": (MEAN, class_is("T5ForTokenClassification"), "architecture-conflict", "modules.json"),
    "no pooling": (MEAN, without_modules, "modules-missing", "--pooling mean"),
    "a decoder": (MEAN, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "other width": (MEAN, configure(hidden_size=20), "config-value", "d_model"),
    "other width of heads": (MEAN, configure(head_dim=6), "config-value", "d_kv"),
    "other layers": (MEAN, configure(num_hidden_layers=1), "config-value", "num_layers"),
    "fewer layers": (MEAN, configure(num_layers=1), "unused-tensor", "encoder.block.1"),
    "no gate": (GATED, PLAIN, "missing-tensor", "wi.weight"),
    "buckets": (MEAN, configure(relative_attention_num_buckets=10), "wrong-shape", "relative_attention_bias"),
    "no bias": (MEAN, rename(BIAS, "other"), "missing-tensor", BIAS),
    "no last norm": (MEAN, rename("encoder.final_layer_norm.weight", "other"), "missing-tensor", "final_layer_norm"),
    "no head": (TAGS, rename("classifier.weight", "score.weight"), "missing-tensor", "classifier.weight"),
    "words of two kinds": (MEAN, add(COPY, (81, 18)), "tied-tensors-differ", COPY),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def embedding(path: Path, pooling: str | None = None) -> np.ndarray:
    return Interpreter(pipeline.to_graph(pipeline.load(path, Reading(pooling=pooling)), None)).output(
        IDS, [0] * len(IDS)
    )


def test_a_writer_with_modules_makes_embeddings(tmp_path: Path) -> None:
    """As sentence-transformers reads it, and a folder that names no class or another."""
    others = ("T5ForSequenceClassification", "T5ForQuestionAnswering", "T5Model", "MT5EncoderModel")
    changes = {name: class_is(name) for name in others}
    for name, change in {"writer": WRITER, "silent": configure(architectures=None), **changes}.items():
        path = changed(MEAN, change, tmp_path / name)
        assert np.array_equal(embedding(path), embedding(folder(MEAN)))


def test_a_file_that_has_the_decoder_as_well(tmp_path: Path) -> None:
    whole = test_decoders.folder(tmp_path / "whole", "t5", architectures=["T5EncoderModel"])
    alone = test_decoders.folder(tmp_path / "alone", "t5", architectures=["T5EncoderModel"], is_encoder_decoder=False)
    stored, _ = read_raw_safetensors(alone / "model.safetensors")
    others = [name for name in stored if name.startswith(("decoder.", "lm_head."))]
    store(alone, dict.fromkeys(others))
    (note,) = pipeline.to_graph(pipeline.load(whole, Reading(pooling="mean")), None).notes
    assert note.startswith(f"not used by the encoder: {len(others)} tensors of the decoder, decoder.block.0.")
    assert pipeline.to_graph(pipeline.load(alone, Reading(pooling="mean")), None).notes == ()
    assert np.array_equal(embedding(whole, "mean"), embedding(alone, "mean"))


def test_other_names_of_tensors(tmp_path: Path) -> None:
    """The library finds the words by either name, and the encoder in a file with a head."""
    expected = embedding(folder(MEAN))
    copy = changed(MEAN, rename(WORDS, COPY), tmp_path / "copy")
    both = changed(MEAN, lambda path: store(path, {WORDS: COPY}), tmp_path / "both")
    assert np.array_equal(embedding(copy), expected)
    assert np.array_equal(embedding(both), expected)

    def with_head(path: Path) -> None:
        for name in read_raw_safetensors(path / "model.safetensors")[0]:
            if name != "__metadata__":
                rename(name, f"transformer.{name}")(path)

    assert np.array_equal(embedding(changed(MEAN, with_head, tmp_path / "prefixed")), expected)


@pytest.mark.parametrize(("key", "value"), [("is_encoder_decoder", True), ("pad_token_id", None), ("use_cache", True)])
def test_what_the_decoder_reads(key: str, value: object, tmp_path: Path) -> None:
    path = changed(MEAN, configure(**{key: value}), tmp_path)
    graph = graph_of(path)
    assert (graph.task.verb, graph.notes) == ("embed", ())
    assert np.array_equal(embedding(path), embedding(folder(MEAN)))


@pytest.mark.parametrize("variant", [MEAN, MT5])
def test_the_usual_feed_forward(variant: str, tmp_path: Path) -> None:
    assert np.array_equal(embedding(changed(variant, UNSAID, tmp_path)), embedding(folder(variant)))


def test_texts_have_no_end(tmp_path: Path) -> None:
    def longer(path: Path) -> None:
        file = path / "sentence_bert_config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"max_seq_length": 700}), encoding="utf-8")

    assert graph_of(folder(MEAN)).max_tokens == 20
    path = changed(MEAN, longer, tmp_path)
    assert graph_of(path).max_tokens == 700
    assert pipeline.to_graph(pipeline.load(path), 1500).max_tokens == 1500


def test_buckets_of_both_sides() -> None:
    for far in range(300):
        place = sum(first <= far for first in FIRST) - 1
        assert bucket_of(-far, 32, 128, both_sides=True) == place
        assert bucket_of(far, 32, 128, both_sides=True) == place + (16 if far else 0)


def test_a_pair_is_joined_without_segments() -> None:
    checkpoint = pipeline.load(folder(MEAN))
    graph = pipeline.to_graph(checkpoint, None)
    template = checkpoint.tokenizer.template
    assert (template.segments, graph.segments) == (1, 2)
    (embed,) = (node for node in graph.body if isinstance(node, g.Embed))
    assert [term.by for term in embed.terms] == ["ids"]


def test_rows_of_a_tagger_are_the_tokens() -> None:
    graph = graph_of(folder(TAGS))
    text = read_recorded(TAGS)[2]
    assert (graph.task.verb, len(Interpreter(graph).output(text.ids, text.segments))) == ("tag", len(text.ids))
