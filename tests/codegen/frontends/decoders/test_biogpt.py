# SPDX-License-Identifier: Apache-2.0
"""BioGPT: its tokenizers, and what else its folders may say. test_recorded_models.py and
test_generation.py have what it computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from moses_files import write_folder as write_tokenizer
from recorded.outputs import folder
from recorded_changes import changed, configure, graph_of
from test_generation import graph_of as writer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.tokenizer_spec import MosesSegmenter
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import load_text_tokenizers
from codegen.oracle.interpret import Interpreter

ROWS = "biogpt/softmax"


def of_class(name: str | None) -> Callable[[Path], None]:
    """Another class of tokenizer; None: the family's own."""

    def change(path: Path) -> None:
        config = path / "tokenizer_config.json"
        values = json.loads(config.read_text(encoding="utf-8")) | {"tokenizer_class": name}
        config.write_text(json.dumps(values), encoding="utf-8")

    return change


def own_files(path: Path) -> None:
    """As published: the files of the class, which byte-level BPE has by the same names."""
    (path / "tokenizer.json").unlink()
    write_tokenizer(path, (("t", "h"),), ("t", "h", "th", "e</w>"))


def test_its_own_tokenizer(tmp_path: Path) -> None:
    """The class that the family has where no file names one; see load/test_moses_folder.py."""
    pytest.importorskip("sacremoses")
    path = changed(ROWS, own_files, tmp_path)
    own = pipeline.load(path).tokenizer
    assert isinstance(own.segmenter, MosesSegmenter)
    of_class(None)(path)
    assert pipeline.load(path).tokenizer == own


@pytest.mark.parametrize("name", ["BioGptTokenizer", None])
def test_its_own_tokenizer_needs_its_files(name: str | None, tmp_path: Path) -> None:
    with pytest.raises(EtchError, match="BioGptTokenizer needs") as caught:
        pipeline.load(changed(ROWS, of_class(name), tmp_path))
    assert caught.value.code == "tokenizer-missing"


def test_texts_are_written_with_its_own_tokenizer(tmp_path: Path) -> None:
    """Its rules join words; spaces that `transformers` may drop behind them stay, which a note says."""
    pytest.importorskip("sacremoses")
    write_tokenizer(tmp_path, (), ("a",), clean_up_tokenization_spaces=True)
    config = Config.from_json({"model_type": "biogpt", "vocab_size": 5})
    target = load_text_tokenizers(
        CheckpointFolder(tmp_path), config, Limits(20, 5, 20, "max_position_embeddings", "BioGptTokenizer")
    ).target
    assert target.decoder == DecoderSpec(space="</w>", moses="english", absent="<unk>")
    assert any("clean_up_tokenization_spaces is not done" in note for note in target.spec.notes)


def test_a_tokenizer_of_another_class_is_read(tmp_path: Path) -> None:
    path = changed(ROWS, of_class("PreTrainedTokenizerFast"), tmp_path)
    assert pipeline.load(path).tokenizer.summary == pipeline.load(folder(ROWS)).tokenizer.summary


def words_of(graph: g.Graph) -> tuple[float | None, int]:
    """The factor of the words, and the first of the positions."""
    words, places = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Embed)).terms
    return words.factor, places.first


def test_words_are_larger_where_the_folder_does_not_say_otherwise() -> None:
    assert words_of(writer("biogpt/own")) == (20**0.5, 2)
    assert words_of(writer("biogpt/own", without=("scale_embedding",))) == (20**0.5, 2)
    assert words_of(writer("biogpt/untied")) == (None, 2)


def test_the_norms_have_an_epsilon_of_their_own(tmp_path: Path) -> None:
    """The configuration's is the library's for nothing."""
    ids, other = [7, 9, 4], graph_of(changed(ROWS, configure(layer_norm_eps=0.1), tmp_path))
    outputs = [Interpreter(graph).output(ids, [0] * 3) for graph in (graph_of(folder(ROWS)), other)]
    assert np.array_equal(*outputs)


def test_answers_are_refused(tmp_path: Path) -> None:
    path = changed(ROWS, configure(architectures=["BioGptForQuestionAnswering"]), tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    assert caught.value.code == "architecture-not-supported"
