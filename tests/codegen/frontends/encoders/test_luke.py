# SPDX-License-Identifier: Apache-2.0
"""LUKE's front-end and its tokenizer: what is not used without entities, and what is refused. test_recorded_models.py
has what its models compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.ir import graph as g

CLASSIFIER, MASKS, TAGS = "luke/softmax", "masks/luke", "tags/luke"
ENTITIES = ("[UNK]", "[PAD]", "[MASK]", "[MASK2]")


def configure_tokenizer(**values: object) -> Change:
    """Sets keys of tokenizer_config.json."""

    def change(path: Path) -> None:
        file = path / "tokenizer_config.json"
        write_json(file, json.loads(file.read_text()) | values)

    return change


def without_json(path: Path) -> None:
    """The files of the first years."""
    model = json.loads((path / "tokenizer.json").read_text())["model"]
    write_json(path / "vocab.json", model["vocab"])
    merges = [" ".join(pair) for pair in model["merges"]]
    (path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    (path / "tokenizer.json").unlink()


def without_mark(path: Path) -> None:
    """Takes the second mark from the added tokens."""
    file = path / "tokenizer.json"
    values = json.loads(file.read_text())
    values["added_tokens"] = [token for token in values["added_tokens"] if token["content"] != "<ent2>"]
    write_json(file, values)


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "entities": (
        CLASSIFIER,
        configure(architectures=["LukeForEntityClassification"]),
        "architecture-not-supported",
        "LukeForEntityClassification",
    ),
    "a bare encoder": (CLASSIFIER, configure(architectures=["LukeModel"]), "modules-missing", "LukeModel"),
    "no pooler": (CLASSIFIER, rename("luke.pooler.dense.weight", "other"), "missing-tensor", "pooler.dense"),
    "no last linear of its own": (
        MASKS,
        rename("lm_head.decoder.weight", "other"),
        "missing-tensor",
        "lm_head.decoder.weight",
    ),
    "another query": (TAGS, rename("luke.encoder.layer.0.output.dense.weight", "x"), "missing-tensor", "output.dense"),
    "a task of the tokenizer": (
        CLASSIFIER,
        configure_tokenizer(task="entity_classification"),
        "tokenizer-setting",
        "'task'",
    ),
    "marks by their older names": (
        CLASSIFIER,
        configure_tokenizer(entity_token_1="<ent>"),
        "tokenizer-setting",
        "entity_token_1",
    ),
    "no tokenizer.json": (CLASSIFIER, without_json, "tokenizer-class", "tokenizer.json"),
    "a token of a text without a row": (CLASSIFIER, configure(vocab_size=273), "token-id-out-of-range", "<ent2>"),
    "a mark that tokenizer.json lacks": (CLASSIFIER, without_mark, "tokenizer-conflict", "added_tokens"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(("variant", "tensors"), [(CLASSIFIER, 18), (MASKS, 17), (TAGS, 6)])
def test_tensors_of_entities_are_a_note(variant: str, tensors: int) -> None:
    notes = graph_of(folder(variant)).notes
    assert f"not used: {tensors} tensors of entities" in notes
    assert "texts have no entities" in notes


def test_predicted_words_have_a_table_of_their_own() -> None:
    (best,) = (op for op, _ in g.ops_of(graph_of(folder(MASKS))) if isinstance(op, g.Best))
    assert best.weight.arrays[0].name == "lm_head.decoder.weight"


def test_entities_are_no_tokens_of_texts() -> None:
    spec = pipeline.load(folder(CLASSIFIER)).tokenizer
    added = [token.content for token in spec.added_tokens]
    assert added[-2:] == ["<ent>", "<ent2>"]
    assert any(note.startswith("[MASK2], [MASK], [PAD], [UNK]: no tokens") for note in spec.notes)


def test_entities_that_have_rows_are_tokens(tmp_path: Path) -> None:
    spec = pipeline.load(changed(CLASSIFIER, configure(vocab_size=278), tmp_path)).tokenizer
    assert [token.content for token in spec.added_tokens][-4:] == list(ENTITIES)


def test_offsets_are_trimmed_as_of_words_behind_a_space(tmp_path: Path) -> None:
    spec = pipeline.load(changed(CLASSIFIER, configure_tokenizer(trim_offsets=False), tmp_path)).tokenizer
    assert spec.trimming is not None
    assert spec.trimming.keep_first_space
