# SPDX-License-Identifier: Apache-2.0
"""T5Gemma: what its folders may say, and what is refused. test_recorded_models.py, lower/test_generation.py and
test_tagging.py have what its models compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, class_is, configure, graph_of, rename, texts
from recorded_outputs import assert_gpus_refuse, reported_task
from test_decoders import folder as writer
from test_decoders import graph_of as written
from tiny_checkpoint import read_raw_safetensors

from codegen import pipeline
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

BOTH, ALONE, MEAN, TAGS = "t5gemma/softmax", "t5gemma/encoder", "t5gemma/mean", "tags/t5gemma"
IDS = [2, 9, 12, 7, 8, 30, 1]
WRITER = "T5GemmaForConditionalGeneration"
Attentions = list[tuple[object, object, float | None]]


def of_decoder(**values: Any) -> Change:
    return texts("decoder", **values)


def of_encoder(**values: Any) -> Change:
    return texts("encoder", **values)


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "no half": (BOTH, configure(decoder=None), "config-type", "'decoder'"),
    "a half of another kind": (BOTH, configure(encoder="gemma2"), "config-type", "'encoder'"),
    "more layers": (BOTH, of_decoder(num_hidden_layers=3, layer_types=None), "missing-tensor", "decoder.layers.2"),
    "fewer layers": (BOTH, of_encoder(num_hidden_layers=1, layer_types=None), "unused-tensor", "encoder.layers.1"),
    "another width of heads": (BOTH, of_decoder(head_dim=4), "wrong-shape", "decoder.layers.0"),
    "a cap of nothing": (BOTH, of_decoder(attn_logit_softcapping=0), "config-out-of-range", "attn_logit"),
    "other words": (BOTH, of_decoder(vocab_size=317), "wrong-shape", "decoder.embed_tokens"),
    "a begin that is padding": (BOTH, of_decoder(bos_token_id=0), "config-value", "bos_token_id is 0"),
    "a begin beyond": (BOTH, of_decoder(bos_token_id=318), "config-out-of-range", "bos_token_id"),
    "padding in every text": (BOTH, configure(pad_token_id=1), "config-value", "pad_token_id 1"),
    "padding of the decoder's": (BOTH, of_decoder(pad_token_id=1), "config-value", "pad_token_id 1"),
    "padding of an encoder's class": (ALONE, configure(pad_token_id=1), "config-value", "pad_token_id 1"),
    "too few positions": (BOTH, of_decoder(max_position_embeddings=4), "max-tokens-out-of-range", "decoder.max"),
    "a decoder that is not there": (ALONE, configure(is_encoder_decoder=True), "missing-tensor", "decoder.embed"),
    "both alone": (BOTH, class_is("T5GemmaModel"), "architecture-not-supported", "T5GemmaForTokenClassification"),
    "another head's": (BOTH, rename("score.out_proj.bias", "score.bias"), "missing-tensor", "score.out_proj.bias"),
    "another family's": (ALONE, class_is("T5ForTokenClassification"), "architecture-not-supported", "T5Gemma"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def attentions(nodes: tuple[g.Node, ...]) -> Attentions:
    ops = [op for node in nodes for op in g.ops_in(node) if isinstance(op, g.Attention)]
    return [(op.mask, op.window, op.cap) for op in ops]


def output(graph: g.Graph) -> np.ndarray:
    return Interpreter(graph).output(IDS, [0] * len(IDS))


def test_what_a_folder_says() -> None:
    assert reported_task(BOTH).startswith("single-label classification (softmax), 3 labels")
    assert reported_task(ALONE).startswith("regression")
    assert reported_task(TAGS).startswith("tagging of tokens")
    for variant in (BOTH, ALONE, TAGS, MEAN):
        graph = graph_of(folder(variant))
        assert (graph.notes, graph.target_rules) == ((), None)


def test_windows_of_an_encoder_have_two_sides() -> None:
    """As wide to each side as those of the decoder behind a token and itself."""
    encoder, decoder = (
        [(g.ByLayer((kind, other)), g.ByLayer((width, None)), cap)]
        for kind, other, width, cap in (("window", "none", 4, 2.0), ("past", "causal", 3, 2.0))
    )
    cross = [("none", None, 2.0)]
    assert attentions(graph_of(folder(BOTH)).body) == _third_layer(encoder) + decoder + cross


def _third_layer(found: Attentions) -> Attentions:
    [(mask, window, cap)] = found
    assert isinstance(mask, g.ByLayer) and isinstance(window, g.ByLayer)
    longer = (g.ByLayer((*of.values, of.values[0])) for of in (mask, window))
    return [(*longer, cap)]


def test_the_decoder_is_one_token_behind() -> None:
    graph = graph_of(folder(BOTH))
    first, second = (node.terms[0] for node in graph.body if isinstance(node, g.Embed))
    assert (first.shift, first.outside, second.shift, second.outside) == (0, None, -1, 2)
    assert (first.factor, second.factor) == (16**0.5, 12**0.5)


def test_what_a_half_need_not_say(tmp_path: Path) -> None:
    unsaid = dict.fromkeys(("layer_types", "rms_norm_eps", "rope_parameters", "bos_token_id", "pad_token_id"))
    path = changed(BOTH, of_decoder(**unsaid), tmp_path)
    of_encoder(**unsaid)(path)
    assert np.array_equal(output(graph_of(path)), output(graph_of(folder(BOTH))))


def test_a_writer(tmp_path: Path) -> None:
    path = writer(tmp_path / "model", "t5gemma")
    graph = written(path)
    assert graph.target_rules is not None
    assert (graph.task.verb, graph.notes, graph.target_rules.begin, graph.max_tokens) == ("translate", (), (2,), 20)
    assert [op.limit for op in graph.repeat if isinstance(op, g.Cap)] == [30.0]
    summary = pipeline.to_graph(pipeline.load(path, Reading(task="summarize")), None)
    assert summary.task.verb == "summarize"


def test_a_cap_of_logits_that_is_null(tmp_path: Path) -> None:
    path = writer(tmp_path / "model", "t5gemma")
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    config["decoder"]["final_logit_softcapping"] = None
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert not any(isinstance(op, g.Cap) for op in written(path).repeat)


def test_a_whole_models_encoder_makes_embeddings(tmp_path: Path) -> None:
    """As a file of the encoder alone has them, whose names begin without `model.`."""
    whole, alone = (writer(tmp_path / name, "t5gemma", architectures=["T5GemmaEncoderModel"]) for name in "wa")
    for name in read_raw_safetensors(alone / "model.safetensors")[0]:
        if name.startswith("model."):
            rename(name, name.removeprefix("model."))(alone)
    graphs = [pipeline.to_graph(pipeline.load(path, Reading(pooling="mean")), None) for path in (whole, alone)]
    for graph, prefix in zip(graphs, ("model.", ""), strict=True):
        assert (graph.task.verb, graph.target_rules) == ("embed", None)
        [note] = graph.notes
        assert note.startswith(f"not used by the encoder: 36 tensors of the decoder, {prefix}decoder.")
    assert np.array_equal(*map(output, graphs))


def test_a_writer_with_modules_makes_embeddings(tmp_path: Path) -> None:
    """As sentence-transformers reads it."""
    path = changed(MEAN, configure(architectures=[WRITER], is_encoder_decoder=True), tmp_path)
    assert np.array_equal(output(graph_of(path)), output(graph_of(folder(MEAN))))


@pytest.mark.parametrize("variant", [BOTH, ALONE])
def test_gpus_refuse_it(variant: str, tmp_path: Path) -> None:
    assert_gpus_refuse(variant, tmp_path)
