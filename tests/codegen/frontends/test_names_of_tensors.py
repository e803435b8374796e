# SPDX-License-Identifier: Apache-2.0
"""Files as other versions of the library and other programs wrote them: names without the encoder's prefix below a
class with a head, tensors that the classes make anew, words by the name that tied logits have. The library (5.23) loads
each without a missing tensor, and computes the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import add, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.ir.graph import Graph
from codegen.oracle.interpret import Interpreter

WITHOUT_PREFIX = {
    "bert/softmax": "bert.",
    "roberta/softmax": "roberta.",
    "distilbert/softmax": "distilbert.",
    "deberta-v2/own": "deberta.",
    "modernbert/one_layer": "model.",
    "masks/mpnet": "mpnet.",
    "answers/electra": "electra.",
    "tags/xlnet": "transformer.",
}
MADE_ANEW = {
    "bert/softmax": "bert.embeddings.position_ids",
    "distilbert/softmax": "distilbert.embeddings.position_ids",
    "modernbert/one_layer": "model.embeddings.position_ids",
    "roformer/softmax": "roformer.encoder.layer.0.rotary_emb.inv_freq",
    "gte/multi_label": "gte.rotary_emb.inv_freq",
    "nomic_bert/regression": "nomic_bert.encoder.layers.0.attn.rotary_emb.inv_freq",
    "llama/multi_label": "model.rotary_emb.inv_freq",
    "phi/softmax": "model.layers.0.self_attn.rotary_emb.inv_freq",
    "falcon/regression": "transformer.h.0.self_attention.rotary_emb.inv_freq",
    "gpt_neox/regression": "gpt_neox.layers.0.attention.rotary_emb.inv_freq",
}
WORDS = {
    "llama/texts": "model.embed_tokens.weight",
    "gpt_neo/texts": "transformer.wte.weight",
    "opt/texts": "model.decoder.embed_tokens.weight",
}
_WRITERS = Path(__file__).parents[1] / "generation"


@pytest.mark.parametrize("variant", WITHOUT_PREFIX)
def test_a_head_on_an_encoder_without_its_prefix(variant: str, tmp_path: Path) -> None:
    prefix = WITHOUT_PREFIX[variant]

    def strip(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        assert any(name.startswith(prefix) for name in header)
        names = {name.removeprefix(prefix): entry for name, entry in header.items()}
        write_raw_safetensors(path / "model.safetensors", names, data)

    assert_same(variant, graph_of(changed(variant, strip, tmp_path)))


@pytest.mark.parametrize("variant", MADE_ANEW)
def test_what_classes_make_anew_is_not_read(variant: str, tmp_path: Path) -> None:
    made = graph_of(changed(variant, add(MADE_ANEW[variant], (1, 20)), tmp_path))
    assert made.notes == graph_of(folder(variant)).notes
    assert_same(variant, made)


@pytest.mark.parametrize("variant", WORDS)
def test_words_by_the_name_of_tied_logits(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(_WRITERS / variant, path)
    whole = Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [])
    rename(WORDS[variant], "lm_head.weight")(path)
    assert Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, []).tobytes() == whole.tobytes()


def test_logits_that_are_not_tied_are_no_words(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(_WRITERS / "llama/texts", path)
    rename(WORDS["llama/texts"], "lm_head.weight")(path)
    configure(tie_word_embeddings=False)(path)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    assert (caught.value.code, caught.value.tensor) == ("missing-tensor", WORDS["llama/texts"])


def assert_same(variant: str, made: Graph) -> None:
    ours, whole = Interpreter(made), Interpreter(graph_of(folder(variant)))
    for text in read_recorded(variant):
        assert ours.output(text.ids, text.segments).tobytes() == whole.output(text.ids, text.segments).tobytes()
