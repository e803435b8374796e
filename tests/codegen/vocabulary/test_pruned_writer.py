# SPDX-License-Identifier: Apache-2.0
"""--prune-vocabulary of a model that reads a text and writes another: what stays writes what the whole model wrote."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_marian import HERE, folder
from test_marian import MODELS as NAMES

from codegen import pipeline
from codegen.budget import Limits
from codegen.emulate.generation import Generation
from codegen.emulate.together import logits_of
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.folders.manifest import id_set
from codegen.ir.search import Restrictions
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.request import Evaluate, Prune
from codegen.verification.verify import load_generated
from codegen.vocabulary import pruning as vocabulary
from codegen.vocabulary.kept_target import renumbered_settings
from codegen.vocabulary.prunable import keep_pieces
from codegen.vocabulary.sides import read_sides

PAIRS = [("the dog in the street.", "der hund und ein mann")] * 4 + [
    ("a man was lost", "\u00df \u00f6\u00fc ein w")
] * 2
BY = Columns("2", ("1",))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    return path


def ids(spec: Any, text: str) -> list[int]:
    return wheel_tokenizer(spec).encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("min_count", [1, 2, 3, 5, 6])
def test_what_stays_is_used_by_both_together(min_count: int, tmp_path: Path, table: Path) -> None:
    made = folder(tmp_path / "model")
    whole = pipeline.load(made)
    pieces = list(json.loads((made / "vocab.json").read_text(encoding="utf-8")))
    pruning = vocabulary.prune_corpus(read_sides(whole, table, BY), vocabulary.Bound(min_count))
    kept = [pieces[i] for i in pruning.kept]
    smaller = vocabulary.keep_ids(whole, pruning.kept)
    assert whole.target is not None and whole.target.reader is not None
    reader = keep_pieces(whole.target.reader(), np.array(pruning.kept))
    counts = Counter(i for one, other in PAIRS for i in (*ids(smaller.tokenizer, one), *ids(reader, other)))
    always = {i for i, piece in enumerate(kept) if len(piece) == 1 or piece in ("</s>", "<unk>", "<pad>")}
    assert set(range(len(kept))) == {i for i, n in counts.items() if n >= min_count} | always
    assert {piece for piece in pieces if len(piece) == 1} <= set(kept)
    assert pruning.tokens_after == counts.total()
    file = smaller.tokenizer.sentencepiece
    assert file is not None and file.ids == {piece: i for i, piece in enumerate(kept)}
    assert smaller.target is not None
    assert [smaller.target.spec.model.pieces[i] for i in range(len(kept))] == kept
    assert smaller.generation is not None and whole.generation is not None
    assert pruning.kept[smaller.generation.begin or 0] == whole.generation.begin
    assert tuple(pruning.kept[end] for end in smaller.generation.ends) == whole.generation.ends


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
@pytest.mark.parametrize("name", NAMES)
def test_it_writes_what_the_whole_model_wrote(name: str, recipe: str, tmp_path: Path) -> None:
    """Of entries that stay the logits keep their bits: only other largest ones go."""
    whole = pipeline.load(folder(tmp_path / "model", name))
    program = pipeline.lower(whole, recipe, None)
    texts = ["the dog in the street.", "a man was lost", "sing in the sun"]
    read = [wheel_tokenizer(whole.tokenizer).encode(text).ids for text in texts]
    written = [Generation(program, one, [0] * len(one)).greedy()[0] for one in read]
    gone = set(range(4, 40, 3)) - {i for row in (*read, *written) for i in row}
    kept = tuple(sorted((set(range(45)) - gone) | vocabulary.never_dropped(whole)))
    assert len(kept) < 42
    smaller = vocabulary.keep_ids(whole, kept)
    after = pipeline.lower(smaller, recipe, None)
    assert (after.vocabulary, after.target_rules and after.target_rules.vocabulary) == (len(kept), len(kept))
    for text, old, expected in zip(texts, read, written, strict=True):
        new = wheel_tokenizer(smaller.tokenizer).encode(text).ids
        assert [kept[i] for i in new] == old
        found = Generation(after, new, [0] * len(new)).greedy()[0]
        assert [kept[i] for i in found] == expected
        ((ours,), (theirs,)) = logits_of(after, [new], [found]), logits_of(program, [old], [expected])
        assert ours.tobytes() == np.ascontiguousarray(theirs[:, kept]).tobytes()
    if recipe == "fp32":
        exact = Interpreter(pipeline.to_graph(smaller, None)).generate(new, [0] * len(new))
        assert list(exact) == list(found)


def test_texts_of_pieces_that_stay_are_read_as_before(tmp_path: Path) -> None:
    """Unknown text, too, which is looked up whole."""
    whole = pipeline.load(folder(tmp_path / "model"))
    texts = [text for text, *_ in json.loads((HERE / "marian_texts.json").read_text(encoding="utf-8"))[NAMES[0]]]
    always = set(np.flatnonzero(vocabulary.Corpus(whole.tokenizer, []).always("spelled")).tolist())
    read, source = wheel_tokenizer(whole.tokenizer), np.random.default_rng(1)
    for text in texts:
        before = read.encode(text).ids
        kept = np.array(sorted({*always, *before, *source.choice(45, 10, replace=False).tolist()}))
        after = wheel_tokenizer(keep_pieces(whole.tokenizer, kept)).encode(text).ids
        assert kept[after].tolist() == before, text


def test_banned_ids_go_with_their_pieces(tmp_path: Path) -> None:
    settings = pipeline.load(folder(tmp_path / "model")).generation
    assert settings is not None
    banned = Restrictions(1.5, 2, words=((3, 4), (4, 5), (8, 3)), not_first=(4, 8))
    settings = replace(settings, begin=9, ends=(0, 8), forced_begin=3, never=(4, 5, 9), restrictions=banned)
    number = {0: 0, 3: 1, 5: 2, 8: 3, 9: 4}
    found = renumbered_settings(settings, number)
    assert (found.begin, found.ends, found.forced_begin, found.never) == (4, (0, 3), 1, (2, 4))
    assert found.restrictions == Restrictions(1.5, 2, words=((3, 1),), not_first=(3,))


def test_generate_and_what_it_says(tmp_path: Path, table: Path) -> None:
    lines: list[str] = []
    prune, evaluate = Prune(table, 2), Evaluate(table)
    request = pipeline.Request(
        folder(tmp_path / "model"), tmp_path / "out", name="tiny", prune=prune, evaluate=evaluate, columns=BY
    )
    pipeline.generate(request, lines.append)
    assert any(line.startswith("pruned ") and line.endswith("special, or one character") for line in lines)
    assert any("6 texts of" in line for line in lines)
    assert any(line.startswith("  unpruned ") for line in lines)
    manifest = json.loads((tmp_path / "out" / "etch.json").read_bytes())
    again = load_generated(manifest, tmp_path / "model")
    assert len(again.kept_ids or ()) < 45
    assert lower(pipeline.to_graph(again, None), RECIPES["w8a8"]).vocabulary == len(again.kept_ids or ())
    without_begin = tuple(i for i in again.kept_ids or () if i != 44)  # what a target begins with
    with pytest.raises(EtchError) as refused:
        load_generated(manifest | {"kept_ids": id_set(without_begin)}, tmp_path / "model")
    assert refused.value.code == "manifest-malformed"


@pytest.mark.parametrize(
    ("file", "content", "options", "code", "says"),
    [
        ("one.txt", "the dog\n", {}, "corpus-one-sided", "--label-column"),
        ("one.tsv", "the dog\n", {}, "column-unknown", "there is no column 2"),
        ("two.tsv", "the dog\tder hund\n", {"bound": 99}, "vocabulary-empty", "no piece occurs 99 times"),
        ("two.tsv", "the dog\tder hund\n", {"rare": "unknown"}, "rare-words-unsupported", "has no unknown words"),
        ("two.tsv", "the dog\tder hund\n", {"limits": True}, "generation-not-supported", "prune without a budget"),
    ],
)
def test_refusals(file: str, content: str, options: dict[str, Any], code: str, says: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    prune = Prune(tmp_path / file, options.get("bound", 1), options.get("rare"))
    limits = Limits(flash=1 << 30) if "limits" in options else None
    made = folder(tmp_path / "model")
    request = pipeline.Request(made, tmp_path / "out", prune=prune, columns=Columns("2", None), limits=limits)
    with pytest.raises(EtchError, match=says) as refused:
        pipeline.generate(request, lambda _: None)
    assert refused.value.code == code
    assert not (tmp_path / "out").exists()


def test_too_few_pieces_for_beams(tmp_path: Path) -> None:
    whole = pipeline.load(folder(tmp_path / "model", generation={"num_beams": 8}))
    kept = tuple(sorted({*range(10), *vocabulary.never_dropped(whole)}))
    with pytest.raises(EtchError, match="8 beams need 17 pieces"):
        pipeline.to_graph(vocabulary.keep_ids(whole, kept), None)
