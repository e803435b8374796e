# SPDX-License-Identifier: Apache-2.0
"""Decoding with public vocabularies: what real texts were encoded to, and random ids."""

from __future__ import annotations

import pytest
from byte_level import public_spec
from public_data import data_folder
from test_decode import BYTE_LEVEL, CLEANED, assert_decodes, encoded, random_ids, with_decoder
from tokenizer_harness import make_spec, random_source
from tokenizer_texts import corpus_lines, vocabulary

SEQUENCES = 50_000


@pytest.mark.sweep
@pytest.mark.minutes(1)
@pytest.mark.parametrize("kind", ["wordpiece", "byte-level"])
def test_public_texts_and_random_ids(kind: str) -> None:
    source = random_source()
    if kind == "byte-level":
        spec, decoder = with_decoder(public_spec(data_folder()), BYTE_LEVEL)
    else:
        spec, decoder = with_decoder(make_spec(vocabulary(data_folder())), CLEANED)
    lines = next(lines for name, lines in corpus_lines(data_folder(), "ag_news") if "test" in name)
    assert_decodes(spec, decoder, encoded(spec, [line.decode() for line in lines[:2000]]))
    assert_decodes(spec, decoder, random_ids(source, spec, SEQUENCES))
