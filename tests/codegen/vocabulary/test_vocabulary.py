# SPDX-License-Identifier: Apache-2.0
"""--prune-vocabulary: what stays, and that what stays is a tokenizer and a model like any other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import DEFAULT_VOCAB, SPECIAL_TOKENS, tokenizer_json, write_tiny_checkpoint
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.emulate import emulate
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.folders.manifest import id_set, ids_of
from codegen.ir.program import EmbeddingSum
from codegen.ir.walks import ops_of
from codegen.load.checkpoint import Checkpoint
from codegen.oracle.bert import Reference
from codegen.request import Prune
from codegen.vocabulary import pruning as vocabulary
from codegen.vocabulary.pruning import Bound, Pruning, keep_ids, prune, read_corpus

ALWAYS = {*SPECIAL_TOKENS, *(p for p in DEFAULT_VOCAB if len(p.removeprefix("##")) == 1 and p.isascii())}
TEXTS = (
    ["the cat sat"] * 6 + ["a dog ran on the mat"] * 3 + ["good workable plays", "unable works, worked! Café 中国"] * 2
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def whole(folder: Path) -> Checkpoint:
    return pipeline.load(folder)


def pieces_kept(checkpoint: Checkpoint, pruning: Pruning) -> list[str]:
    return [checkpoint.tokenizer.model.pieces[i] or "" for i in pruning.kept]


def counted(pieces: list[str], texts: list[str]) -> Counter[str]:
    """With a tokenizer.json of its own, made from nothing but the pieces."""
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_json(pieces)))
    return Counter(token for text in texts for token in tokenizer.encode(text, add_special_tokens=False).tokens)


@pytest.mark.parametrize("min_count", [1, 2, 3, 4, 5, 7])
def test_what_stays_is_used_often_enough(whole: Checkpoint, min_count: int) -> None:
    kept = pieces_kept(whole, prune(whole.tokenizer, TEXTS, Bound(min_count)))
    assert set(kept) >= ALWAYS
    assert [piece for piece in DEFAULT_VOCAB if piece in kept] == kept
    counts = counted(kept, TEXTS)
    assert all(counts[piece] >= min_count for piece in kept if piece not in ALWAYS)


def test_what_goes_is_used_too_seldom(whole: Checkpoint) -> None:
    pruning = prune(whole.tokenizer, TEXTS, Bound(4))
    kept = pieces_kept(whole, pruning)
    assert {"the", "cat", "sat"} <= set(kept)
    # `un` goes first, with it `unable`, so that `##able` is used too seldom, and without `workable` then `work`.
    assert {"dog", "ran", "play", "un", "##able", "work", "Berlin"}.isdisjoint(kept)
    before, after = counted(list(DEFAULT_VOCAB), TEXTS), counted(kept, TEXTS)
    assert pruning.entries == len(DEFAULT_VOCAB)
    assert (pruning.tokens_before, pruning.tokens_after) == (before.total(), after.total())
    assert pruning.tokens_dropped == sum(before[piece] for piece in set(DEFAULT_VOCAB) - set(kept))
    assert (pruning.unknown_before, pruning.unknown_after) == (before["[UNK]"], after["[UNK]"])
    assert pruning.unknown_after > pruning.unknown_before


def test_smaller_pieces_inherit_the_counts_of_those_that_go(tmp_path: Path) -> None:
    """`##xy` alone is used 9 times; with those of `abxy`, which goes first, 12 times."""
    write_tiny_checkpoint(tmp_path, vocab=(*DEFAULT_VOCAB, "ab", "abxy", "##xy", "cdxy"))
    spec = pipeline.load(tmp_path).tokenizer
    texts = ["abxy"] * 3 + ["workxy"] * 9 + ["ab"] * 12 + ["work"] * 9
    for min_count, expected in ((3, {"ab", "abxy", "##xy"}), (12, {"ab", "##xy"}), (13, {"ab"})):
        kept = {spec.model.pieces[i] for i in prune(spec, texts, Bound(min_count)).kept}
        assert kept & {"ab", "abxy", "##xy", "cdxy"} == expected


@pytest.mark.parametrize("min_count", [1, 3, 6])
def test_rare_words_may_be_unknown(whole: Checkpoint, min_count: int) -> None:
    """What stays are special tokens and words that occur so often by themselves; all others are unknown."""
    texts = [*TEXTS, "[SEP] x cat Ωmega works", "works y1"]
    pruning = prune(whole.tokenizer, texts, Bound(min_count, "unknown"))
    kept = pieces_kept(whole, pruning)
    words = Counter(word for text in texts for word in text.replace(",", " , ").replace("!", " ! ").lower().split())
    often = {piece for piece in DEFAULT_VOCAB if words[piece.lower()] >= min_count and piece not in ("Berlin", "é")}
    often |= {piece for piece in ("中", "国") if min_count <= 2}  # each a word of its own
    assert set(kept) == {*SPECIAL_TOKENS, *often}
    assert [piece for piece in DEFAULT_VOCAB if piece in kept] == kept
    after = counted(kept, texts)
    assert (pruning.tokens_after, pruning.unknown_after) == (after.total(), after["[UNK]"])
    assert after["[UNK]"] > pruning.unknown_before == counted(list(DEFAULT_VOCAB), texts)["[UNK]"]
    assert pruning.entries == len(DEFAULT_VOCAB)


def test_a_longest_piece_that_led_nowhere_may_go(tmp_path: Path) -> None:
    """Without `xyz` the word has pieces, and they count."""
    write_tiny_checkpoint(tmp_path, vocab=(*DEFAULT_VOCAB, "xyz", "##zq"))
    spec = pipeline.load(tmp_path).tokenizer
    pruning = prune(spec, ["xyzq", "azq"] * 5, Bound(1))
    assert pruning.unknown_before == 5
    assert pruning.unknown_after == 0


@pytest.mark.parametrize("min_count", [1, 3, 6])
def test_counts_are_those_of_the_texts_as_they_are(tmp_path: Path, min_count: int) -> None:
    """Typed special tokens, unknown words beside known ones, words that occur in many texts, and no words."""
    vocab = (*DEFAULT_VOCAB, "##xy")
    write_tiny_checkpoint(tmp_path, vocab=vocab)
    whole = pipeline.load(tmp_path)
    texts = [
        "workxy playxy",
        "[SEP] the cat[MASK]sat",
        "workable Ωmega works",
        "",
        "unable unable",
        *TEXTS,
        "Ω " + "works " * 9,
    ]
    corpus = vocabulary.Corpus(whole.tokenizer, texts)
    for _ in range(2):  # pruning leaves the corpus as it was
        pruning = vocabulary.prune_corpus(corpus, Bound(min_count))
        kept = pieces_kept(whole, pruning)
        before, after = counted(list(vocab), texts), counted(kept, texts)
        assert (pruning.tokens_before, pruning.tokens_after) == (before.total(), after.total())
        assert (pruning.unknown_before, pruning.unknown_after) == (before["[UNK]"], after["[UNK]"])
        assert pruning.unknown_before >= 2
        assert pruning.tokens_after > 0


def test_the_smaller_tokenizer_is_the_wheels_own(whole: Checkpoint) -> None:
    pruning = prune(whole.tokenizer, TEXTS, Bound(4))
    smaller = keep_ids(whole, pruning.kept).tokenizer
    theirs = Tokenizer.from_str(json.dumps(tokenizer_json(pieces_kept(whole, pruning))))
    ours = Tokenizer.from_str(smaller.json)
    for text in [*TEXTS, "[SEP] unworkable [MASK]", "Berlin x1", ""]:
        assert ours.encode(text).ids == theirs.encode(text).ids
        assert ours.encode(text, "the cat").type_ids == theirs.encode(text, "the cat").type_ids
    assert [smaller.model.pieces[i] for i in (smaller.model.unknown_id, *smaller.template.special_ids)] == [
        *("[UNK]", "[CLS]", "[SEP]")
    ]
    assert [smaller.model.pieces[token.id] for token in smaller.added_tokens] == [
        token.content for token in whole.tokenizer.added_tokens
    ]


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
def test_the_same_pieces_give_the_same_bits(folder: Path, recipe: str) -> None:
    checkpoint = pipeline.load(folder)
    pruning = prune(checkpoint.tokenizer, TEXTS, Bound(4))
    before = pipeline.lower(checkpoint, recipe, None)
    smaller = keep_ids(pipeline.load(folder), pruning.kept)
    after = pipeline.lower(smaller, recipe, None)
    assert after.vocabulary == len(pruning.kept) < before.vocabulary
    words = next(op for op in ops_of(after) if isinstance(op, EmbeddingSum)).terms[0].table.stored[0].matrix
    assert len(words.q if recipe == "w8a8" else words.values) == len(pruning.kept)
    ids = Tokenizer.from_str(smaller.tokenizer.json).encode("the cat sat, works").ids
    old_ids = [pruning.kept[i] for i in ids]
    segments = [0] * len(ids)
    assert emulate(after, ids, segments).tobytes() == emulate(before, old_ids, segments).tobytes()
    assert np.array_equal(
        Reference(folder, pruning.kept).output(ids, segments), Reference(folder).output(old_ids, segments)
    )


def test_generate_writes_the_same_bytes_again_and_says_what_is_left(folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    printed: list[list[str]] = []
    for out in ("one", "two"):
        lines: list[str] = []
        request = pipeline.Request(folder, tmp_path / out, name="tiny", prune=Prune(corpus, 4))
        pipeline.generate(request, lines.append)
        printed.append(lines[:-1])
    assert printed[0] == printed[1]
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    pruning = prune(pipeline.load(folder).tokenizer, TEXTS, Bound(4))
    manifest = json.loads((tmp_path / "one" / "etch.json").read_bytes())
    assert ids_of(manifest["kept_ids"]) == pruning.kept
    assert any(
        line.startswith(f"pruned       {len(pruning.kept)} of {len(DEFAULT_VOCAB)} pieces") for line in printed[0]
    )
    saved = int(next(line for line in printed[0] if "saved" in line).split()[1].replace(",", ""))
    assert saved > 10 * (len(DEFAULT_VOCAB) - len(pruning.kept))


def test_sets_of_ids() -> None:
    for ids in ((0,), (7, 8), (1, 5, 30_000), tuple(range(100))):
        assert ids_of(id_set(ids)) == ids


def test_corpora(tmp_path: Path) -> None:
    lines = tmp_path / "a.txt"
    lines.write_bytes(b"\xef\xbb\xbfone\r\n\n  \ntwo \xc3\xa9")
    assert read_corpus(lines, Columns()) == ["one\r", "two é"]
    table = tmp_path / "a.csv"
    table.write_text('1,"a, b",c\n2,d,e\n', encoding="utf-8")
    assert read_corpus(table, Columns()) == ["a, b c", "d e"]


@pytest.mark.parametrize(
    ("code", "content"),
    [("corpus-unreadable", None), ("corpus-empty", b""), ("corpus-empty", b"\n \n"), ("corpus-not-utf8", b"a\xff")],
)
def test_corpora_refused(tmp_path: Path, code: str, content: bytes | None) -> None:
    path = tmp_path / "corpus.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EtchError) as refused:
        read_corpus(path, Columns())
    assert (refused.value.code, refused.value.stage, refused.value.file) == (code, vocabulary.STAGE, "corpus.txt")


def test_nothing_left_is_refused(whole: Checkpoint) -> None:
    with pytest.raises(EtchError) as refused:
        prune(whole.tokenizer, TEXTS, Bound(1000))
    assert (refused.value.code, refused.value.stage) == ("vocabulary-empty", "prune")
