# SPDX-License-Identifier: Apache-2.0
"""Word-level tokenizers against the wheel: every scalar with a vocabulary that knows them all, every corpus and random
texts with the words of two corpora, in lower case between Whitespace's words as textbooks do it, and as they are."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from itertools import product

import pytest
from public_data import data_folder
from sampling import sampled
from test_tokenizer_sweep import Comparison, sweep_pairs, sweep_scalars
from test_word_level import word_level_spec
from tokenizer_harness import SPECIALS, Runtime, Wheel, random_source
from tokenizer_texts import CORPORA, corpus_lines, joined, random_texts_of, swept_scalars

from codegen.ir.tokenizer_spec import TokenizerSpec

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(3)]

FORMS = {
    "textbook": {"lowercase": True, "splits_words": True},
    "white space": {"lowercase": False, "splits_words": False},
}
MOST_WORDS = 30_000
RANDOM_TEXTS = 1_020_000  # of both forms, in so many parts of each
PARTS = 10


@cache
def words_of_corpora() -> tuple[str, ...]:
    """The most frequent ones as both forms have them, as a textbook collects its vocabulary."""
    counts: Counter[str] = Counter()
    for corpus in ("multi30k", "wikitext"):
        for _, lines in corpus_lines(data_folder(), corpus):
            for line in lines[:20_000]:
                text = line.decode(errors="replace")
                counts.update(re.findall(r"\w+|[^\w\s]+", text.lower()))
                counts.update(text.split())
    return tuple(word for word, _ in counts.most_common(MOST_WORDS) if word not in SPECIALS)


@cache
def tokenizers(form: str, every_scalar: bool) -> tuple[TokenizerSpec, Runtime, Wheel]:
    """`every_scalar`: each is a word by itself and between letters, else the words are those of corpora."""
    characters = map(chr, swept_scalars())
    words = (word for c in characters for word in (c, f"a{c}b")) if every_scalar else words_of_corpora()
    spec = word_level_spec(words=(*SPECIALS, *words), **FORMS[form])
    return spec, Runtime(spec), Wheel(spec)


@pytest.mark.parametrize("form", sampled(list(FORMS), 1, "scalars as words"))
def test_scalars(form: str) -> None:
    comparison = Comparison(*tokenizers(form, every_scalar=True))
    sweep_scalars(comparison, f"scalars, words, {form}")
    assert comparison.unknown < 0.05 * comparison.tokens


@pytest.mark.parametrize(("form", "corpus"), sampled(list(product(FORMS, CORPORA)), 1, "corpora of words"))
def test_corpus(form: str, corpus: str) -> None:
    comparison = Comparison(*tokenizers(form, every_scalar=False))
    for name, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
        if "train" not in name:
            comparison.compare(lines[:3000], 16)
    comparison.finish(f"{corpus}, words, {form}")


@pytest.mark.parametrize("form", FORMS)
def test_pairs(form: str) -> None:
    sweep_pairs(Comparison(*tokenizers(form, every_scalar=False)), least=3, name=f"words, {form}")


@pytest.mark.parametrize(("form", "part"), sampled(list(product(FORMS, range(PARTS))), 1, "random texts of words"))
def test_random_texts_of_words(form: str, part: int) -> None:
    source = random.Random(f"{random_source().random()} {part}")
    comparison = Comparison(*tokenizers(form, every_scalar=False))
    words = [word.encode() for word in words_of_corpora()]
    # White space, punctuation and upper case between them, so that most words are known ones.
    words += [word + end for word in words for end in (b" ", b"\t", b", ", b"\xe3\x80\x80")]
    words += [word.title() for word in words[:MOST_WORDS]]
    for texts in random_texts_of(words, source, RANDOM_TEXTS // len(FORMS) // PARTS):
        comparison.compare(texts)
    comparison.finish(f"random words {part}, {form}")
