# SPDX-License-Identifier: Apache-2.0
"""Folders of models that give a vector for each token: what is read of them, in the library's form and in PyLate's, and
every setting that would change a vector."""

from __future__ import annotations

import json
import shutil
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends import build_graph
from codegen.ir.side import Side
from codegen.load.bare_encoder import with_pooling
from codegen.load.checkpoint import Checkpoint
from codegen.load.folder import load_checkpoint
from codegen.load.multi_vector import MultiVectorModules

MODULES, SETTINGS, SENTENCE = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
DENSE, MASK, NORMALIZE = "1_Dense/config.json", "2_MultiVectorMask/config.json", "3_Normalize/config.json"
Change = Callable[[Path], None]


def put(file: str, **values: Any) -> Change:
    """Other values in a file."""

    def change(path: Path) -> None:
        write_json(path / file, json.loads((path / file).read_text(encoding="utf-8")) | values)

    return change


def drop(file: str, *keys: str) -> Change:
    """None of these keys."""

    def change(path: Path) -> None:
        values = json.loads((path / file).read_text(encoding="utf-8"))
        write_json(path / file, {key: value for key, value in values.items() if key not in keys})

    return change


def order(*places: int) -> Change:
    """The modules at these places alone."""

    def change(path: Path) -> None:
        items = json.loads((path / MODULES).read_text(encoding="utf-8"))
        write_json(path / MODULES, [items[place] | {"idx": i} for i, place in enumerate(places)])

    return change


def typed(place: int, name: str) -> Change:
    """Another class of a module."""

    def change(path: Path) -> None:
        items = json.loads((path / MODULES).read_text(encoding="utf-8"))
        items[place]["type"] = name
        write_json(path / MODULES, items)

    return change


def expansion(**values: Any) -> Change:
    return put(SENTENCE, query_expansion={"strategy": "fixed", "length": 9, "attend": False, "token": None} | values)


def changed(tmp_path: Path, *changes: Change, variant: str = "vectors/bert") -> Path:
    path = tmp_path / "folder"
    shutil.copytree(folder(variant), path)
    for change in changes:
        change(path)
    return path


def loaded(path: Path) -> tuple[Checkpoint, MultiVectorModules]:
    checkpoint = pipeline.load(path)
    assert isinstance(checkpoint.sentence, MultiVectorModules)
    return checkpoint, checkpoint.sentence


def test_what_the_library_writes() -> None:
    checkpoint, found = loaded(folder("vectors/bert"))
    assert found.document == Side(prompt="is ", max_tokens=12, skipped=(36, 51))
    assert found.query == Side(prompt="what: ", max_tokens=9, least_tokens=9, filler=4)
    assert found.normalize
    assert [(dense.inputs, dense.outputs, dense.activation) for dense in found.dense] == [(20, 6, "none")]
    assert (checkpoint.default_max_tokens, checkpoint.max_tokens_source) == (12, f"{SENTENCE} document_length")
    _, other = loaded(folder("vectors/bert_min"))
    assert other.query == Side("how ", 11, 7, 1, False, (4, 37))
    assert other.document.skipped == (4, 37)
    assert (other.dense, other.normalize) == ((), False)


def test_what_pylate_writes() -> None:
    checkpoint, found = loaded(folder("vectors/pylate"))
    assert found.query.prompt == "sat what "
    assert found.document.prompt == "ran "
    assert (found.query.least_tokens, found.query.max_tokens, found.query.filler_is_seen) == (8, 8, False)
    assert found.skipped_words == tuple(string.punctuation)
    assert found.document.skipped == (36, 37, 38, 39)
    assert found.normalize
    assert checkpoint.default_max_tokens == 14
    registered, attends = loaded(folder("vectors/pylate_attends"))
    assert attends.query.filler_is_seen
    assert attends.document.skipped == (5,)
    (token,) = (token for token in registered.tokenizer.added_tokens if token.content == "##ing")
    assert (token.id, token.special, token.normalized) == (18, True, False)
    assert '"##ing"' in registered.tokenizer.json


def test_what_colberts_own_code_writes(tmp_path: Path) -> None:
    checkpoint, found = loaded(folder("vectors/stanford"))
    assert (found.query.prompt, found.document.prompt) == ("##ing ", "[MASK] ")
    assert (found.query.least_tokens, found.query.max_tokens, found.query.filler) == (9, 9, 4)
    assert (found.query.filler_is_seen, found.document.skipped) == (False, (36, 37, 38, 39))
    assert checkpoint.default_max_tokens == 15
    assert [(dense.inputs, dense.outputs) for dense in found.dense] == [(20, 6)]
    said = put("artifact.metadata", attend_to_mask_tokens=True, mask_punctuation=False, doc_maxlen=None)
    checkpoint, found = loaded(changed(tmp_path / "a", said, variant="vectors/stanford"))
    assert (found.query.filler_is_seen, found.document.skipped) == (True, ())
    assert checkpoint.default_max_tokens == 16
    with pytest.raises(EtchError, match="queries have up to 32 tokens"):  # what it says without the file
        pipeline.load(changed(tmp_path / "b", lambda path: (path / "artifact.metadata").unlink(), variant=STANFORD))


STANFORD = "vectors/stanford"
STANFORD_REFUSED: list[tuple[str, str | None, str, Change]] = [
    ("config-type", "artifact.metadata", "'doc_token_id' must be a text", put("artifact.metadata", doc_token_id=7)),
    ("sentence-conflict", SENTENCE, "remove this file", lambda path: write_json(path / SENTENCE, {})),
    ("sentence-conflict", SETTINGS, "remove this file", lambda path: write_json(path / SETTINGS, {})),
    ("config-type", SENTENCE, "document_length", put("artifact.metadata", doc_maxlen="12")),
    (
        "missing-tensor",
        None,
        "linear.weight",
        lambda path: shutil.copy(folder("vectors/bert") / "model.safetensors", path / "model.safetensors"),
    ),
    ("weights-missing", None, "neither", lambda path: (path / "model.safetensors").unlink()),
]


@pytest.mark.parametrize(("code", "file", "words", "change"), STANFORD_REFUSED)
def test_refusals_of_colberts_own_folders(
    code: str, file: str | None, words: str, change: Change, tmp_path: Path
) -> None:
    with pytest.raises(EtchError) as caught:
        load_checkpoint(changed(tmp_path, change, variant=STANFORD))
    assert (caught.value.code, caught.value.file) == (code, file)
    assert words in str(caught.value)


@pytest.mark.parametrize("architectures", [5, "HF_ColBERT", True])
def test_architectures_are_a_list(architectures: object, tmp_path: Path) -> None:
    """With PyLate's settings, of which the class would be in the way."""
    said = put("config.json", architectures=architectures)
    path = changed(tmp_path, said, drop(SETTINGS, "model_type"), variant="vectors/pylate")
    with pytest.raises(EtchError, match="'architectures' must be a list of strings") as caught:
        pipeline.to_graph(pipeline.load(path), None)
    assert (caught.value.code, caught.value.file) == ("config-type", "config.json")


SAID: list[tuple[list[Change], dict[str, Any]]] = [
    ([put(SETTINGS, do_query_expansion=False), drop(SETTINGS, "attend_to_expansion_tokens")], {"max_tokens": 8}),
    ([put(SETTINGS, query_expansion=None)], {"max_tokens": 8}),
    ([put(SETTINGS, query_length=None)], {"max_tokens": 32, "least_tokens": 32}),
    ([put(SENTENCE, query_expansion=None)], {"max_tokens": 13}),  # max_seq_length
    ([put(SENTENCE, query_expansion={"strategy": "min", "length": 5})], {"max_tokens": 13, "least_tokens": 5}),
]


@pytest.mark.parametrize(("changes", "said"), SAID)
def test_what_says_how_long_queries_are(changes: list[Change], said: dict[str, Any], tmp_path: Path) -> None:
    """The Transformer's own file counts over PyLate's settings."""
    path = changed(tmp_path, *changes, variant="vectors/pylate")
    if said.get("least_tokens") == 32:
        with pytest.raises(EtchError, match="queries have up to 32 tokens, documents 14"):
            pipeline.load(path)
        return
    _, found = loaded(path)
    filler = 4 if "least_tokens" in said else 0
    assert replace(found.query, prompt="") == Side(**said, filler=filler)


def test_words_that_pylate_leaves_out(tmp_path: Path) -> None:
    """All punctuation where nothing is said, by a folder that says that it is PyLate's or has its prefixes."""
    _, named = loaded(changed(tmp_path / "a", drop(SETTINGS, "skiplist_words"), variant="vectors/pylate_attends"))
    assert named.skipped_words == tuple(string.punctuation)
    keys = ("skiplist_words", "query_prefix", "document_prefix")
    _, none = loaded(changed(tmp_path / "b", drop(SETTINGS, *keys), variant="vectors/pylate_attends"))
    assert none.skipped_words == ()
    _, empty = loaded(changed(tmp_path / "c", put(SETTINGS, skiplist_words=[]), variant="vectors/pylate"))
    assert empty.skipped_words == ()


def test_other_orders_and_notes(tmp_path: Path) -> None:
    _, turned = loaded(changed(tmp_path / "a", order(0, 1, 3, 2)))
    assert turned.normalize
    without = changed(tmp_path / "b", order(0, 1), drop(SENTENCE, "query_expansion"))
    checkpoint, found = loaded(without)
    assert not found.normalize
    assert found.document.skipped == ()
    (note,) = (note for note in checkpoint.notes if note.startswith("queries are cut"))
    assert note == "queries are cut at 12 tokens, as documents are: sentence-transformers cuts them at 16"
    shorter = put(SENTENCE, max_seq_length=10)
    checkpoint, found = loaded(changed(tmp_path / "shorter", order(0, 1), drop(SENTENCE, "query_expansion"), shorter))
    assert (checkpoint.default_max_tokens, found.query.max_tokens) == (12, 10)
    assert not any("are cut" in note for note in checkpoint.notes)
    mean = changed(tmp_path / "c", put(SETTINGS, similarity_fn_name="meanmaxsim", prompts={"query": "a", "other": "b"}))
    checkpoint, found = loaded(mean)
    assert (found.query.prompt, found.document.prompt) == ("a", "")
    assert any("divided by the number of the query's vectors" in note for note in checkpoint.notes)
    assert any("prompts (other)" in note for note in checkpoint.notes)
    _, passage = loaded(changed(tmp_path / "d", put(SETTINGS, prompts={"corpus": "c ", "passage": "p "})))
    assert passage.document.prompt == "p "


def test_what_queries_are_filled_up_with(tmp_path: Path) -> None:
    _, named = loaded(changed(tmp_path / "a", expansion(token="[SEP]")))
    assert named.query.filler == 3
    _, by_name = loaded(changed(tmp_path / "b", drop("tokenizer_config.json", "mask_token")))
    assert by_name.query.filler == 4


REFUSED: list[tuple[str, str, str, list[Change]]] = [
    ("expansion-token", SENTENCE, "no token '<fill>'", [expansion(token="<fill>")]),
    ("sentence-setting", SENTENCE, "query_expansion.strategy", [expansion(strategy="max")]),
    ("sentence-setting", SENTENCE, "query_expansion.attend", [expansion(attend=1)]),
    ("sentence-setting", SENTENCE, "query_expansion.token", [expansion(token=4)]),
    ("sentence-setting", SENTENCE, "query_expansion.length", [expansion(length=None)]),
    ("config-type", SENTENCE, "query_expansion.length", [expansion(length=0)]),
    ("config-type", SENTENCE, "document_length", [put(SENTENCE, document_length="12")]),
    ("sentence-setting", SENTENCE, "'more' is not known", [expansion(more=1)]),
    ("sentence-setting", SENTENCE, "'query_expansion': true", [put(SENTENCE, query_expansion=True)]),
    ("sentence-setting", SENTENCE, "transformer_task", [put(SENTENCE, transformer_task="retrieval")]),
    ("sentence-conflict", SENTENCE, "filled up to 9 tokens", [put(SENTENCE, query_length=8)]),
    ("sentence-conflict", MODULES, "no MultiVectorMask", [order(0, 1, 3)]),
    ("max-tokens-out-of-range", SENTENCE, "16 positions", [put(SENTENCE, document_length=17)]),
    ("max-tokens-out-of-range", SENTENCE, "up to 14 tokens, documents 12", [expansion(length=14)]),
    ("sentence-modules-order", MODULES, "got Transformer MultiVectorMask Dense", [order(0, 2, 1)]),
    ("sentence-modules-order", MODULES, "got no modules", [order()]),
    ("sentence-modules-order", MODULES, "MultiVectorMask", [put(SETTINGS, model_type="ColBERT")]),
    (
        "sentence-module-not-supported",
        MODULES,
        "HierarchicalTokenPooling",
        [typed(2, "sentence_transformers.multi_vector_encoder.modules.token_pooling.HierarchicalTokenPooling")],
    ),
    ("remote-code", MODULES, "code that comes with", [typed(1, "pylate.models.ColBERT.ColBERT")]),
    ("sentence-setting", DENSE, "use_residual", [put(DENSE, use_residual=True)]),
    ("sentence-setting", DENSE, "module_input_name", [put(DENSE, module_input_name="sentence_embedding")]),
    ("sentence-width", DENSE, "'in_features' is 19", [put(DENSE, in_features=19)]),
    ("sentence-setting", NORMALIZE, "module_output_name", [put(NORMALIZE, module_output_name="sentence_embedding")]),
    ("sentence-setting", MASK, "keep_only_token_ids", [put(MASK, keep_only_token_ids=[5])]),
    ("sentence-setting", MASK, "'skips' is not known", [put(MASK, skips=1)]),
    ("config-type", MASK, "skiplist_words", [put(MASK, skiplist_words=".")]),
    ("config-type", MASK, "skiplist_tasks", [put(MASK, skiplist_tasks=[1])]),
    ("sentence-file-missing", MASK, "MultiVectorMask", [lambda path: (path / MASK).unlink()]),
    ("sentence-setting", SETTINGS, "similarity_fn_name", [put(SETTINGS, similarity_fn_name="xtr")]),
    ("sentence-setting", SETTINGS, "truncate_dim", [put(SETTINGS, truncate_dim=4)]),
    ("sentence-prompt", SETTINGS, "default prompt 'query'", [put(SETTINGS, default_prompt_name="query")]),
    ("config-type", SETTINGS, "prompts", [put(SETTINGS, prompts=["a"])]),
    ("sentence-setting", SETTINGS, "query_prefix", [put(SETTINGS, query_prefix=["a"])]),
]


@pytest.mark.parametrize(("code", "file", "words", "changes"), REFUSED)
def test_refusals(code: str, file: str, words: str, changes: list[Change], tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        load_checkpoint(changed(tmp_path, *changes))
    assert (caught.value.code, caught.value.file) == (code, file)
    assert words in str(caught.value)


def test_two_forms_at_once(tmp_path: Path) -> None:
    both = put("config.json", architectures=["HF_ColBERT"])
    with pytest.raises(EtchError, match="say in its model_type what counts") as caught:
        load_checkpoint(changed(tmp_path, both, variant="vectors/pylate_attends"))
    assert (caught.value.code, caught.value.file) == ("sentence-conflict", SETTINGS)


def test_a_tokenizer_without_a_mask(tmp_path: Path) -> None:
    """Of a family whose tokenizer is what its own file says."""
    nameless = put("tokenizer_config.json", mask_token=None)
    with pytest.raises(EtchError, match="name no mask, or two") as caught:
        load_checkpoint(changed(tmp_path, nameless, expansion(), variant="vectors/modernbert"))
    assert (caught.value.code, caught.value.file) == ("expansion-token", SENTENCE)


@pytest.mark.parametrize(
    "change",
    [
        put("tokenizer_config.json", padding_side="left"),
        put("tokenizer.json", padding={"strategy": "BatchLongest", "direction": "Left"}),
        put("tokenizer_config.json", tokenizer_class="LlamaTokenizer"),
    ],
)
def test_tokenizers_that_pad_at_the_beginning(change: Change, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        load_checkpoint(changed(tmp_path, change, variant="vectors/modernbert"))
    assert (caught.value.code, caught.value.file) == ("expansion-not-supported", "tokenizer_config.json")
    assert "pads at the beginning" in str(caught.value)


def test_pooling_is_not_asked_for() -> None:
    with pytest.raises(EtchError, match="tokens have vectors of their own") as caught:
        with_pooling(pipeline.load(folder("vectors/bert")), "mean")
    assert caught.value.code == "option-conflict"


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("deberta-v2/mean", "not in the family deberta-v2"),
        ("esm/mean", "not in the family esm"),
        ("qwen3/last", "not in the family qwen3"),
        ("modernbert/mean", "tokens attend to those at most 2 away, queries have 9"),
    ],
)
def test_families_in_which_unseen_tokens_are_others(variant: str, words: str) -> None:
    """As with an encoder of another family in the folder."""
    checkpoint = pipeline.load(folder(variant))
    _, modules = loaded(folder("vectors/bert"))
    checkpoint = replace(checkpoint, sentence=replace(modules, dense=()))
    with pytest.raises(EtchError, match=words) as caught:
        build_graph(checkpoint, 12)
    assert caught.value.code == "expansion-not-supported"
    seen = replace(modules, dense=(), query=replace(modules.query, filler_is_seen=True))
    build_graph(replace(pipeline.load(folder(variant)), sentence=seen), 12)


def test_a_class_without_rows(tmp_path: Path) -> None:
    _, modules = loaded(folder("vectors/bert"))
    checkpoint = replace(pipeline.load(folder("dpr/context")), sentence=replace(modules, dense=()))
    with pytest.raises(EtchError) as caught:
        build_graph(checkpoint, 12)
    assert caught.value.code == "architecture-conflict"
