# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's Unigram against the wheel with a public vocabulary of 32,000 pieces and its compiled map: every
scalar, every corpus."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest
from public_data import data_folder
from sampling import sampled
from test_tokenizer_sweep import Comparison, sweep_pairs, sweep_scalars
from tokenizer_harness import Runtime, Wheel, random_source
from tokenizer_texts import CORPORA, corpus_lines, joined, random_texts_of, swept_among_characters
from unigram import FOLDS, QUOTES, RUNS, public_spec, random_spec, strip, texts_of_pieces

from codegen.ir.tokenizer_spec import TokenizerSpec

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(4)]

RANDOM_TEXTS = 1_020_000  # of all forms, in so many parts of each
PARTS = 10
FORMS = {
    "xlm-r": {"split_whitespace": True},
    "t5": {"after": [strip(False, True), RUNS]},
    "albert": {"before": [*QUOTES, *FOLDS], "split_whitespace": True},
}


@cache
def public(form: str) -> tuple[TokenizerSpec, Runtime, Wheel]:
    spec = public_spec(data_folder(), **FORMS[form])
    return spec, Runtime(spec), Wheel(spec)


@pytest.mark.parametrize("form", sampled(list(FORMS), 1, "Unigram's scalars"))
def test_scalars(form: str) -> None:
    sweep_scalars(Comparison(*public(form)), f"scalars, Unigram as {form}")


def test_scalars_in_bytes() -> None:
    """Every scalar is known: what has no piece is written in bytes."""
    comparison = Comparison(random_spec(random_source(), byte_fallback=True))
    comparison.compare([chr(c).encode() for c in swept_among_characters()])
    comparison.finish("scalars, Unigram with byte fallback")


@pytest.mark.parametrize("corpus", sampled(CORPORA, 1, "Unigram's corpora"))
def test_corpus(corpus: str) -> None:
    comparison = Comparison(*public("xlm-r"))
    for name, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
        if "train" not in name:
            comparison.compare(lines[:3000], 16)
    comparison.finish(f"{corpus}, Unigram")


def test_pairs() -> None:
    sweep_pairs(Comparison(*public("t5")), least=1, name="Unigram")


@pytest.mark.parametrize(("form", "part"), sampled(list(product(FORMS, range(PARTS))), 2, "random Unigram texts"))
def test_random_texts_of_pieces(form: str, part: int) -> None:
    source = random.Random(f"{random_source().random()} {part}")
    spec, runtime, wheel = public(form)
    comparison = Comparison(spec, runtime, wheel)
    for texts in random_texts_of(texts_of_pieces(spec), source, RANDOM_TEXTS // len(FORMS) // PARTS):
        comparison.compare(texts)
    comparison.finish(f"random pieces {part}, Unigram as {form}")
