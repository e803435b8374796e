# SPDX-License-Identifier: Apache-2.0
"""The runtime's tokenizer against the wheel: every Unicode scalar, every line of the data folder. Takes minutes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import product

import pytest
from public_data import data_folder, models_folder
from sampling import sampled
from tokenizer_harness import (
    UNLIMITED,
    Result,
    Runtime,
    Wheel,
    differences,
    make_spec,
    random_source,
    with_flags_of,
)
from tokenizer_texts import (
    CORPORA,
    SCALARS,
    corpus_lines,
    joined,
    random_bytes,
    random_text,
    random_texts_of,
    scalar_texts,
    swept_among_characters,
    synthetic_vocabulary,
    vocabulary,
)

from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.folder import load_checkpoint
from codegen.tokenizer import TokenizerTables, compile_tokenizer

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(4)]

RANDOM_TEXTS = 1_020_000  # in so many parts
PARTS = 20
CASES = {"uncased": {"lowercase": True}, "cased": {"lowercase": False}}
# In English nothing is left to find that the uncased sweep does not; these hold other languages and odd characters.
CASED_CORPORA = ("multi30k", "ner", "trec", "unicode", "wikitext", "tokenizer_text")


def real_spec(**flags: bool) -> TokenizerSpec:
    return make_spec(vocabulary(data_folder()), **flags)


class Comparison:
    """Compares batch by batch, counts, and fails at the end with the first differences."""

    def __init__(self, spec: TokenizerSpec, runtime: Runtime | None = None, wheel: Wheel | None = None) -> None:
        self.spec = spec
        self.runtime, self.wheel = runtime or Runtime(spec), wheel or Wheel(spec)
        self.tokens = self.unknown = self.texts = 0
        self.found: list[str] = []

    def compare(self, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False) -> None:
        ours = self.runtime.encode(texts, capacity, plain_text)
        self._add(texts, ours, self.wheel.encode(texts, capacity, plain_text))

    def compare_pairs(self, pairs: Sequence[tuple[bytes, bytes]], capacity: int = UNLIMITED) -> None:
        self._add(pairs, self.runtime.encode_pairs(pairs, capacity), self.wheel.encode_pairs(pairs, capacity))

    def _add(self, texts: Sequence, ours: list[Result], theirs: list[Result]) -> None:
        self.found += differences(texts, ours, theirs)
        self.texts += len(texts)
        for result in ours:
            self.tokens += len(result.ids)
            self.unknown += int((result.ids == getattr(self.spec.model, "unknown_id", -1)).sum())

    def finish(self, name: str) -> None:
        share = self.unknown / max(self.tokens, 1)
        print(f"{name}: {self.texts} texts, {self.tokens} tokens, {share:.2%} [UNK], {len(self.found)} differ")
        assert not self.found, "\n".join(self.found[:10])


@cache
def synthetic_tables() -> TokenizerTables:
    """Of millions of pieces: compiled once."""
    return compile_tokenizer(make_spec(synthetic_vocabulary()))


@cache
def synthetic_tokenizers(**flags: bool) -> tuple[TokenizerSpec, Runtime, Wheel]:
    spec = make_spec(synthetic_vocabulary(), **flags)
    return spec, Runtime(spec, with_flags_of(synthetic_tables(), spec)), Wheel(spec)


def sweep_scalars(comparison: Comparison, name: str) -> None:
    texts = scalar_texts()
    for first in range(0, len(texts), 256):
        comparison.compare(texts[first : first + 256])
    comparison.finish(name)


def sweep_pairs(comparison: Comparison, least: int, name: str) -> None:
    """Sentence pairs at every capacity from the least to one that cuts nothing; of a sample at twenty."""
    lines = next(lines for name, lines in corpus_lines(data_folder(), "multi30k") if "val.de" in name)
    pairs = list(zip(lines[0:240:2], lines[1:240:2], strict=True))
    pairs += [(first, second[:20]) for first, second in pairs[:60]]
    pairs += [(first[:20], second) for first, second in pairs[:60]]
    for capacity in sampled(range(least, 90), 20, f"capacities, {name}"):
        comparison.compare_pairs(pairs, capacity)
    comparison.finish(f"pairs, {name}")


@pytest.mark.parametrize("case", CASES)
def test_scalars_with_the_real_vocabulary(case: str) -> None:
    sweep_scalars(Comparison(real_spec(**CASES[case])), f"scalars, real vocabulary, {case}")


@pytest.mark.parametrize("case", sampled([*CASES], 1, "cases of the synthetic vocabulary"))
def test_scalars_with_the_synthetic_vocabulary(case: str) -> None:
    comparison = Comparison(*synthetic_tokenizers(**CASES[case]))
    sweep_scalars(comparison, f"scalars, synthetic vocabulary, {case}")
    assert comparison.unknown < 0.05 * comparison.tokens
    # Texts of a single scalar, where nothing is joined.
    alone = [chr(c).encode() for c in swept_among_characters()]
    comparison.compare(alone)
    comparison.compare([b"a" + text for text in alone[: 1 << 16]])
    comparison.finish("scalars as whole texts")


def test_scalars_with_a_checkpoint() -> None:
    folder = models_folder() / "minilm_l6_agnews"
    assert folder.is_dir(), f"ETCH_MODELS is set, but has no folder {folder.name}"
    sweep_scalars(Comparison(load_checkpoint(folder).tokenizer), "scalars, a checkpoint's tokenizer")


@pytest.mark.parametrize("corpus", sampled(CORPORA, 1, "corpora"))
def test_corpus(corpus: str) -> None:
    comparison = Comparison(real_spec())
    for _, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
    comparison.finish(f"{corpus}, uncased")


@pytest.mark.parametrize("corpus", sampled(CASED_CORPORA, 1, "cased corpora"))
def test_corpus_cased(corpus: str) -> None:
    comparison = Comparison(real_spec(lowercase=False))
    for _, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
    comparison.finish(f"{corpus}, cased")


def test_corpus_line_by_line() -> None:
    """Single lines, as a user has them; whole, and cut at lengths that models have."""
    comparison = Comparison(real_spec())
    for corpus in ("ag_news", "sst2", "trec", "unicode"):
        for name, lines in corpus_lines(data_folder(), corpus):
            if "train" in name or name.endswith(".rs"):
                continue
            comparison.compare(lines)
            comparison.compare(lines, 16)
            comparison.compare(lines[:2000], plain_text=True)
    comparison.finish("line by line")


def test_corpora_with_the_synthetic_vocabulary() -> None:
    """Every character shows in the ids: a wrong one cannot hide in an [UNK]."""
    comparison = Comparison(*synthetic_tokenizers(**CASES["uncased"]))
    for corpus in ("tokenizer_text", "unicode", "ner"):
        comparison.compare([text for _, lines in corpus_lines(data_folder(), corpus) for text in joined(lines)])
    comparison.finish("corpora, synthetic vocabulary")
    assert comparison.unknown < 0.05 * comparison.tokens


def test_pairs() -> None:
    sweep_pairs(Comparison(real_spec()), least=3, name="WordPiece")


def test_every_length_of_single_texts() -> None:
    comparison = Comparison(real_spec())
    lines = next(lines for name, lines in corpus_lines(data_folder(), "multi30k") if "val.de" in name)
    for capacity in range(2, 60):
        comparison.compare(lines[:150], capacity)
    comparison.finish("truncation")


@pytest.mark.parametrize("case", CASES)
def test_random_scalars(case: str) -> None:
    """Random characters of all of Unicode and tricky ones, in all combinations, with the synthetic vocabulary."""
    source = random_source()
    comparison = Comparison(*synthetic_tokenizers(**CASES[case]))
    bmp = [chr(c) for c in SCALARS if c < 0x3000]
    texts = [random_text(source, 40).encode() for _ in range(10000)]
    texts += [random_text(source, 30, bmp).encode() for _ in range(10000)]
    texts += [random_bytes(source, 30) for _ in range(10000)]
    comparison.compare(texts)
    comparison.finish(f"random, {case}")


@pytest.mark.parametrize("part", sampled(range(PARTS), 1, "random texts of WordPiece's pieces"))
def test_random_texts_of_pieces(part: int) -> None:
    """As they are, with and without their prefix, and as words: half of them end with a space."""
    source = random.Random(f"{random_source().random()} {part}")
    pieces = [piece.removeprefix("##").encode() for piece in vocabulary(data_folder())]
    texts_of_pieces = [*pieces, *(piece + b" " for piece in pieces), b"##"]
    comparison = Comparison(real_spec())
    for texts in random_texts_of(texts_of_pieces, source, RANDOM_TEXTS // PARTS):
        comparison.compare(texts)
    comparison.finish(f"random pieces {part}, WordPiece")


def test_conformance_of_decomposition() -> None:
    """The Unicode consortium's normalization cases, as texts: strip_accents is NFD without nonspacing marks."""
    comparison = Comparison(*synthetic_tokenizers(lowercase=False, strip_accents=True))
    source = (data_folder() / "unicode" / "normalization_tests.rs").read_text(encoding="utf-8")
    texts = sorted({part.encode() for part in _rust_strings(source)})
    assert len(texts) > 10000
    comparison.compare(texts)
    comparison.finish("normalization cases")


def _rust_strings(source: str) -> list[str]:
    """The contents of string literals, whose only escapes are `\\u{...}`."""
    found = []
    for part in source.split('"')[1::2]:
        pieces = part.split("\\u{")
        text = pieces[0] + "".join(chr(int(p.split("}")[0], 16)) + p.split("}")[1] for p in pieces[1:])
        found.append(text)
    return found


def test_every_pair_of_bytes() -> None:
    """Malformed UTF-8 in all short forms: two bytes, and four that begin or go on in every way that matters."""
    comparison = Comparison(*synthetic_tokenizers(clean_text=False))
    texts = [bytes((ord("a"), first, second, ord("b"))) for first in range(256) for second in range(256)]
    edges = b"\x00a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    texts += [bytes(four) for four in product(b"\xe0\xe1\xed\xf0\xf1\xf4", edges, edges, edges)]
    comparison.compare(sampled(texts, 20_000, "malformed UTF-8"))
    comparison.finish("malformed UTF-8")
