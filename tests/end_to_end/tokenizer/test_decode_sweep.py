# SPDX-License-Identifier: Apache-2.0
"""Decoding with public vocabularies: what real texts were encoded to, and random ids."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest
from byte_level import public_spec
from public_data import data_folder
from sampling import sampled
from test_decode import (
    BYTE_LEVEL,
    CLEANED,
    DECODERS,
    LLAMA,
    assert_decodes,
    encoded,
    pieces_spec,
    random_ids,
    with_decoder,
)
from tokenizer_harness import make_spec, random_source
from tokenizer_texts import corpus_lines, vocabulary
from unigram import public_spec as unigram_spec

from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.tokenizer_spec import TokenizerSpec

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(1)]

SEQUENCES = 1_000_000  # of each kind, in so many parts
PARTS = 20
KINDS = ("wordpiece", "byte-level", "unigram", "byte-fallback")


@cache
def spec_of(kind: str) -> tuple[TokenizerSpec, DecoderSpec]:
    if kind == "byte-level":
        return with_decoder(public_spec(data_folder()), BYTE_LEVEL)
    if kind == "unigram":
        return with_decoder(unigram_spec(data_folder()), DECODERS["metaspace"])
    if kind == "byte-fallback":
        return with_decoder(pieces_spec(), LLAMA)
    return with_decoder(make_spec(vocabulary(data_folder())), CLEANED)


@pytest.mark.parametrize("kind", KINDS)
def test_public_texts(kind: str) -> None:
    spec, decoder = spec_of(kind)
    lines = next(lines for name, lines in corpus_lines(data_folder(), "ag_news") if "test" in name)
    assert_decodes(spec, decoder, encoded(spec, [line.decode() for line in lines[:2000]]))


@pytest.mark.parametrize(("kind", "part"), sampled(list(product(KINDS, range(PARTS))), 2, "random ids"))
def test_random_ids(kind: str, part: int) -> None:
    source = random.Random(f"{random_source().random()} {part}")
    spec, decoder = spec_of(kind)
    assert_decodes(spec, decoder, random_ids(source, spec, SEQUENCES // PARTS))
