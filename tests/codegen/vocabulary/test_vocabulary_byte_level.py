# SPDX-License-Identifier: Apache-2.0
"""--prune-vocabulary of byte-level BPE: what stays is a byte-level BPE like any other, that needs nothing else."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tokenizer.make_test_vocabulary import byte_level_spec
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.tokenizer import compile_tokenizer
from codegen.tokenizer.byte_level_bpe import made_by
from codegen.vocabulary.prunable import keep_pieces
from codegen.vocabulary.pruning import Bound, prune

ADDED = (AddedToken("<l>", 0, False, False, False, True, False),)
TEXTS = (
    ["the thinner and the other"] * 6
    + [" inger anger", "100 <l> 10", "caf\u00e9  \u4e2d"] * 3
    + ["aaaaa's\n\n", "on re!! zxzy <s>"] * 2
)


def ids_of(spec: TokenizerSpec, text: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("min_count", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_what_stays_is_used_or_needed(min_count: int, ignore_merges: bool) -> None:
    spec = byte_level_spec(ADDED, ignore_merges=ignore_merges)
    pruning = prune(spec, TEXTS, Bound(min_count))
    smaller = keep_pieces(spec, np.array(pruning.kept))
    counts = Counter(i for text in TEXTS for i in ids_of(smaller, text))
    always = {i for i, piece in enumerate(smaller.model.pieces) if piece is not None and len(piece) == 1}
    always |= {*smaller.template.special_ids, *(token.id for token in smaller.added_tokens)}
    used = {i for i in range(len(pruning.kept)) if counts[i] >= min_count} | always
    pairs = made_by(smaller.model)
    while more := {half for i in used if i in pairs for half in pairs[i][1:]} - used:
        used |= more
    assert used == set(range(len(pruning.kept)))
    assert pruning.tokens_after == counts.total()
    assert (pruning.unknown_before, pruning.unknown_after) == (0, 0)
    assert len(pruning.kept) < pruning.entries


@pytest.mark.parametrize("min_count", [1, 3, 6])
def test_texts_of_pieces_that_stay_are_tokenized_as_before(min_count: int) -> None:
    spec = byte_level_spec(ADDED)
    pruning = prune(spec, TEXTS, Bound(min_count))
    smaller = keep_pieces(spec, np.array(pruning.kept))
    words = [word for text in (*TEXTS, "she sings here, then thing") for word in (*text.split(), text)]
    same = 0
    for word in words:
        before = ids_of(spec, word)
        if set(before) <= set(pruning.kept):
            assert [pruning.kept[i] for i in ids_of(smaller, word)] == before
            same += 1
    assert same > 10


def test_the_smaller_tokenizer_is_one_that_its_own_file_describes() -> None:
    spec = byte_level_spec(ADDED, add_prefix_space=True)
    smaller = keep_pieces(spec, np.array(prune(spec, TEXTS, Bound(3)).kept))
    again = read_byte_level_json(json.loads(smaller.json))
    assert (again.model, again.template, again.added_tokens) == (smaller.model, smaller.template, smaller.added_tokens)
    assert compile_tokenizer(smaller).constants["table_bytes"] < compile_tokenizer(spec).constants["table_bytes"]


def test_rare_words_cannot_be_unknown() -> None:
    with pytest.raises(EtchError, match="has no unknown words") as refused:
        prune(byte_level_spec(), TEXTS, Bound(1, "unknown"))
    assert refused.value.code == "rare-words-unsupported"


def test_other_models_are_refused_by_name() -> None:
    with pytest.raises(EtchError, match="a vocabulary of object cannot be pruned") as refused:
        prune(replace(byte_level_spec(), model=object()), TEXTS, Bound(1))  # type: ignore[arg-type]
    assert refused.value.code == "tokenizer-not-prunable"
