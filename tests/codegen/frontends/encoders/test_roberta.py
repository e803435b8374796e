# SPDX-License-Identifier: Apache-2.0
"""The RoBERTa front-end and those that are RoBERTa with other names: positions, what is refused, what GPUs do not take.
test_recorded_models.py has what its models compute, load/test_byte_level_folder.py its tokenizers."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.gpu import check_tokenizer
from codegen.ir import graph as g
from codegen.vocabulary.pruning import Bound, keep_ids, prune

CLASSIFIER = "roberta/softmax"
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (
        configure(architectures=["RobertaForNextSentencePrediction"]),
        "architecture-not-supported",
        "RobertaForNextSentencePrediction",
    ),
    "a bare encoder": (configure(architectures=["RobertaModel"]), "modules-missing", "RobertaModel"),
    "another family's classes": (configure(model_type="camembert"), "architecture-not-supported", "Camembert"),
    "padding beyond the positions": (configure(pad_token_id=21), "max-tokens-out-of-range", "22"),
    "no padding": (configure(pad_token_id=-1), "config-out-of-range", "pad_token_id"),
    "padding that a text begins with": (configure(pad_token_id=0), "config-value", "special tokens of every text"),
    "positions": (configure(max_position_embeddings=21), "wrong-shape", "position_embeddings"),
    "no head": (rename("classifier.out_proj.weight", "other"), "missing-tensor", "classifier.out_proj"),
    "a decoder": (configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSIFIER, *REFUSED[case], tmp_path)


def test_padding_that_unknown_text_is(tmp_path: Path) -> None:
    change = configure(pad_token_id=3)
    assert_refused("xlm-roberta/multi_label", change, "config-value", "that of unknown text", tmp_path)


@pytest.mark.parametrize(("variant", "first", "tokens"), [(CLASSIFIER, 2, 20), ("roberta/multi_label", 5, 16)])
def test_positions_begin_behind_the_padding(variant: str, first: int, tokens: int) -> None:
    graph = graph_of(folder(variant))
    assert graph.max_tokens == tokens
    (embed,) = [node for node in graph.body if isinstance(node, g.Embed)]
    assert [(term.by, term.first) for term in embed.terms] == [("ids", 0), ("segments", 0), ("positions", first)]


def test_an_unused_pooler_is_a_note(tmp_path: Path) -> None:
    def add_pooler(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        places = [len(data), len(data) + 40]
        header["roberta.pooler.dense.bias"] = {"dtype": "F16", "shape": [20], "data_offsets": places}
        write_raw_safetensors(path / "model.safetensors", header, data + bytes(40))

    graph = graph_of(changed(CLASSIFIER, add_pooler, tmp_path))
    assert any("roberta.pooler.dense.bias" in note for note in graph.notes)


def test_gpus_refuse_its_tokenizer() -> None:
    with pytest.raises(EtchError, match="byte-level BPE") as caught:
        check_tokenizer(pipeline.load(folder(CLASSIFIER)).tokenizer)
    assert caught.value.code == "gpu-not-supported"


def test_its_vocabulary_is_pruned() -> None:
    checkpoint = pipeline.load(folder(CLASSIFIER))
    kept = prune(checkpoint.tokenizer, ["the cat and the cat"], Bound(1)).kept
    smaller = keep_ids(checkpoint, kept)
    before, after = (Tokenizer.from_str(of.tokenizer.json).encode("the cat and").ids for of in (checkpoint, smaller))
    assert [kept[i] for i in after] == before
    assert len(kept) < 286
