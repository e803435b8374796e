# SPDX-License-Identifier: Apache-2.0
"""Token classifiers: what the recorded checkpoints of every family mean, how their tags are judged, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import HERE, folder, variants
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename
from recorded_outputs import RECIPES, assert_gpus_refuse, of_the_graph, of_the_program, reported_task
from tokenizers import Tokenizer, models, pre_tokenizers

from codegen import evaluate, pipeline
from codegen.budget import Limits
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.quantize import choose_recipe
from codegen.request import Evaluate
from codegen.tasks.entities import entities_of, entity_f1
from codegen.tasks.tagged_words import read_tagged, tags_of_words
from codegen.tasks.tagging import Tagging

VARIANTS = variants("tags")
LARGEST_DIFFERENCE = 1e-4


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    for output, expected in of_the_graph(variant):
        assert output.shape == expected.shape
        assert np.abs(output - expected).max() < 1e-12


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    bound = {"fp32": LARGEST_DIFFERENCE, "w8a8": 0.5, "w4a8": 1.0}[recipe]
    for output, expected in of_the_program(variant, recipe):
        assert output.shape == expected.shape
        assert np.abs(output - expected).max() < bound
        assert np.abs(output.sum(axis=1) - 1).max() < 1e-6


def test_words_without_places_are_not_judged(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("tags/flaubert"))
    program = pipeline.lower(checkpoint, "fp32", None)
    path = tmp_path / "rows.conll"
    path.write_text("cats O\nsat O\n")
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    with pytest.raises(EtchError, match="does not tell where its words are") as caught:
        evaluate.score(program, checkpoint.tokenizer, rows)
    assert caught.value.code == "token-places-unknown"


def test_the_report() -> None:
    assert reported_task("tags/bert").startswith("tagging of tokens (softmax), 9 labels: O, B-PER, ")


def test_a_change_has_its_margins() -> None:
    task = Tagging(("O", "B-PER", "I-PER"))
    expected, outputs = np.array([[3, 1, 0], [0.5, 0.75, 0]]), np.array([[3, 1, 0], [0.875, 0.625, 0]])
    assert task.change(expected, expected) is None
    assert task.change(outputs, expected) == (
        "1 token, first token 2: reference B-PER 0.750000, margin 0.250000; here O 0.875000, margin 0.250000"
    )


def test_entities_of_labels() -> None:
    task = Tagging(("O", "B-PER", "I-PER", "MISC", "S-LOC", "X-O"))
    assert task.entities == ("O", "PER", "MISC", "LOC")


RECORDED_ENTITIES = json.loads((HERE / "seqeval.json").read_text())["cases"]


@pytest.mark.parametrize(("tags", "entities"), RECORDED_ENTITIES)
def test_entities_as_seqeval_finds_them(tags: str, entities: list[list[Any]]) -> None:
    assert entities_of(tags.split()) == {tuple(entity) for entity in entities}


def test_f1_over_all_texts() -> None:
    truths = [["B-A", "I-A", "O"], ["B-B"]]
    assert entity_f1(truths, truths) == 1
    assert entity_f1(truths, [["B-A", "O", "O"], ["B-B"]]) == pytest.approx(0.5)
    assert entity_f1([["O"]], [["O"]]) == 0


def test_tags_of_words() -> None:
    offsets = [(0, 0), (0, 2), (2, 4), (5, 6), (7, 9), (0, 0)]
    assert tags_of_words("abcd e fg hi", offsets, ["x", "A", "B", "C", "D", "x"], "O") == ["A", "C", "D", "O"]


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        # the first pieces of "e" and "fg" with their spaces, of "hi" the space alone
        ([(0, 0), (0, 4), (4, 6), (6, 8), (8, 9), (9, 10), (10, 12), (0, 0)], "1 2 3 5"),
        ([(0, 2), (2, 4), (4, 6), (6, 9), (9, 12)], "0 2 3 4"),
        ([(0, 4), (4, 5), (5, 6), (6, 7)], "0 1 3 O"),  # cut off behind the space before "fg"
        ([(0, 4), (6, 8), (9, 12)], "0 O 1 2"),  # "e" has no token: that of "fg" is not its own
        ([(0, 6), (6, 9), (8, 12)], "0 O 1 O"),  # of two words it is the first one's; two characters before is no space
    ],
)
def test_tokens_that_have_the_space_before_their_word(offsets: list[tuple[int, int]], expected: str) -> None:
    """As DeBERTa v2's, ALBERT's and GPT-2's have it."""
    assert tags_of_words("abcd e fg hi", offsets, [*map(str, range(len(offsets)))], "O") == expected.split()


@pytest.mark.parametrize("scheme", ["metaspace", "byte level"])
def test_words_of_a_tokenizer_whose_tokens_have_spaces(scheme: str) -> None:
    vocab = {piece: i for i, piece in enumerate(("?", *("_the", "_king", "s", "_in", "_Be", "rlin")))}
    space = "\u2581" if scheme == "metaspace" else "\u0120"
    model = models.WordPiece({piece.replace("_", space): i for piece, i in vocab.items()}, unk_token="?")
    model.continuing_subword_prefix = ""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Metaspace() if scheme == "metaspace" else pre_tokenizers.ByteLevel(add_prefix_space=True)
    )
    text = "the kings in Berlin"
    encoding = tokenizer.encode(text)
    assert encoding.tokens == [f"{space}the", f"{space}king", "s", f"{space}in", f"{space}Be", "rlin"]
    assert encoding.offsets[1] == (3, 8)
    assert tags_of_words(text, encoding.offsets, range(6), -1) == [0, 1, 3, 4]


def test_a_file_of_tagged_words(tmp_path: Path) -> None:
    path = tmp_path / "rows.conll"
    path.write_bytes(b"\n\nUN NNP B-ORG\r\nis\tVBZ\tO\r\n\n\nhere\tO\n")
    rows = read_tagged(path)
    assert [(row.line, row.joined, row.value) for row in rows] == [(3, "UN is", "B-ORG O"), (7, "here", "O")]


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("a.csv", "a\tO\n", "table-kind", "expected a file named .conll"),
        ("a.conll", "\n\n", "table-empty", "no texts"),
        ("a.conll", "a\tO\nb\n", "table-malformed", "line 2: a word and its tag"),
        ("a.conll", "a\tB-NONE\n", "table-malformed", "line 1: unknown label 'B-NONE'"),
    ],
)
def test_files_refused(name: str, content: str, code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(EtchError) as caught:
        evaluate.read_rows(tmp_path / name, Columns(), Tagging(("O", "B-PER")), 10)
    assert caught.value.code == code
    assert words in caught.value.message


def test_entity_f1_of_a_model(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("tags/bert"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    words = ["the", "cat", "unable", "playing", "berlin", "dogs"] * 4
    (tmp_path / "some.conll").write_text("".join(f"{word} O\n" for word in words))
    rows = evaluate.read_rows(tmp_path / "some.conll", Columns(), program.task, 10)
    scored = evaluate.score(program, checkpoint.tokenizer, rows)
    (answer,) = scored.answers
    assert (scored.measure, scored.value, len(answer)) == ("entity F1", 0.0, len(words))
    assert set(answer[:10]) - {"O"}
    assert answer[-1] == "O"  # it was cut off
    (tmp_path / "some.conll").write_text("".join(f"{w} {tag}\n" for w, tag in zip(words, answer, strict=True)))
    rows = evaluate.read_rows(tmp_path / "some.conll", Columns(), program.task, 10)
    assert str(evaluate.score(program, checkpoint.tokenizer, rows)) == "100.00 %"


# --- refusals --------------------------------------------------------------------------------------------------------


CHANGES: list[tuple[str, Change, str, str]] = [
    ("tags/bert", configure(num_labels=3), "labels-conflict", "id2label has 9"),
    ("tags/bert", configure(id2label={"0": "O"}, label2id={"O": 0}), "wrong-shape", "classifier.weight"),
    ("tags/bert", configure(id2label={"1": "O"}, label2id=None), "labels-gap", "no '0'"),
    ("tags/bert", rename("classifier.weight", "score.weight"), "missing-tensor", "classifier.weight"),
    ("tags/bert", rename("classifier.bias", "classifier.out_proj.bias"), "missing-tensor", "classifier.bias"),
    ("tags/bert", configure(architectures=["BertForSequenceClassification"]), "missing-tensor", "pooler"),
    ("tags/bert", configure(architectures=["ElectraForTokenClassification"]), "architecture-not-supported", "Electra"),
    (
        "tags/mpnet",
        configure(architectures=["MPNetForCausalLM"]),
        "architecture-not-supported",
        "ForTokenClassification",
    ),
    ("tags/electra", configure(architectures=["ElectraModel"]), "modules-missing", "one vector per token"),
    ("tags/distilbert", rename("classifier.weight", "qa_outputs.weight"), "missing-tensor", "classifier.weight"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


def test_a_pooler_that_is_not_used_is_named(tmp_path: Path) -> None:
    path = changed("tags/bert", add("bert.pooler.dense.weight", (20, 20)), tmp_path)
    (note,) = graph_of(path).notes
    assert note == "not used by BertForTokenClassification: bert.pooler.dense.weight"


def test_a_budget_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.conll").write_text("the O\n")
    request = pipeline.Request(
        folder("tags/bert"),
        tmp_path / "out",
        evaluate=Evaluate(tmp_path / "some.conll"),
        limits=Limits(flash=1 << 30),
    )
    with pytest.raises(EtchError, match="one row of outputs a text, tagging has one a token"):
        pipeline.generate(request, lambda _: None)


def test_ids_without_a_piece_have_marks_as_well() -> None:
    """The word embedding may have more rows than the tokenizer has pieces, and ids of a caller name any of them."""
    checkpoint = pipeline.load(folder("tags/bert"))
    spec = checkpoint.tokenizer
    fewer = replace(spec, model=replace(spec.model, pieces=spec.model.pieces[:-3]))
    graph = pipeline.to_graph(checkpoint, None)
    recipe = choose_recipe("w8a8")
    model = pipeline.make_model("tags", replace(checkpoint, tokenizer=fewer), graph, recipe, "host")
    [marks] = [array for name, array in model.tokenizer.arrays if name == "piece_characters"]
    assert len(fewer.model.pieces) < graph.vocabulary == len(marks)
    assert not marks[len(fewer.model.pieces) :].any()


def test_gpus_are_refused(tmp_path: Path) -> None:
    assert_gpus_refuse("tags/bert", tmp_path)
