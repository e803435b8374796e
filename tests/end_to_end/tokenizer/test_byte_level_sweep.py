# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE against the wheel with a public vocabulary of 52,000 pieces: every scalar, every corpus."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest
from byte_level import public_spec, small_spec, texts_of_pieces
from public_data import data_folder
from sampling import sampled
from test_tokenizer_sweep import Comparison, sweep_pairs, sweep_scalars
from tokenizer_harness import Runtime, Wheel, random_source
from tokenizer_texts import CORPORA, corpus_lines, joined, random_texts_of, swept_among_characters

from codegen.ir.tokenizer_spec import TokenizerSpec

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(4)]

RANDOM_TEXTS = 1_020_000  # in so many parts
PARTS = 30


@cache
def public() -> tuple[TokenizerSpec, Runtime, Wheel]:
    spec = public_spec(data_folder())
    return spec, Runtime(spec), Wheel(spec)


def test_scalars() -> None:
    """A vocabulary of bytes knows every scalar."""
    comparison = Comparison(*public())
    sweep_scalars(comparison, "scalars, byte-level")
    comparison.compare([chr(c).encode() for c in swept_among_characters()])
    comparison.finish("scalars as whole texts, byte-level")


def test_scalars_with_a_space_before() -> None:
    spec = small_spec(add_prefix_space=True)
    comparison = Comparison(spec)
    comparison.compare([chr(c).encode() for c in swept_among_characters()])
    comparison.finish("scalars, byte-level with add_prefix_space")


@pytest.mark.parametrize("corpus", sampled(CORPORA, 1, "byte-level corpora"))
def test_corpus(corpus: str) -> None:
    comparison = Comparison(*public())
    for name, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
        if "train" not in name:
            comparison.compare(lines[:3000], 16)
    comparison.finish(f"{corpus}, byte-level")


def test_pairs() -> None:
    sweep_pairs(Comparison(*public()), least=4, name="byte-level")


@pytest.mark.parametrize("part", sampled(range(PARTS), 2, "random byte-level texts"))
def test_random_texts_of_pieces(part: int) -> None:
    source = random.Random(f"{random_source().random()} {part}")
    spec, runtime, wheel = public()
    comparison = Comparison(spec, runtime, wheel)
    for texts in random_texts_of(texts_of_pieces(spec), source, RANDOM_TEXTS // PARTS):
        comparison.compare(texts)
    comparison.finish(f"random pieces {part}, byte-level")


def test_malformed_bytes() -> None:
    comparison = Comparison(*public())
    texts = [bytes((ord("a"), first, second, ord("b"))) for first in range(256) for second in range(256)]
    edges = b"\x00a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    texts += [bytes(four) for four in product(b"\xe0\xe1\xed\xf0\xf1\xf4", edges, edges, edges)]
    comparison.compare(sampled(texts, 20_000, "malformed UTF-8, byte-level"))
    comparison.finish("malformed UTF-8, byte-level")
