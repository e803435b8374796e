# SPDX-License-Identifier: Apache-2.0
"""BertGenerationTokenizer: spiece.model, whose numbers of pieces are ids, and nothing around a text; against what the
class made of texts, and against the `sentencepiece` library."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from test_marian_tokenizer import assert_same
from tokenizer_harness import Runtime, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, TRICKY, random_bytes, random_text

from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.vocabulary.prunable import keep_pieces

sys.path.insert(0, str(Path(__file__).parents[2] / "codegen" / "load"))
from test_bert_generation_folder import IDS, ROWS, SAVED


def spec_of_class() -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(SAVED), ROWS)


def test_ids_are_those_of_the_class() -> None:
    results = Runtime(spec_of_class()).encode([text.encode() for text in IDS])
    assert [result.ids.tolist() for result in results] == [*IDS.values()]


def test_texts() -> None:
    source, spec = random_source(), spec_of_class()
    pieces = [piece for piece in spec.model.pieces if piece]
    letters = (*pieces, *TRICKY, " ", "<unk>", "</s>", "<::::>", "\u2581")
    texts = [text.encode() for text in HARD_TEXTS]
    texts += [random_text(source, 24, letters).encode() for _ in range(1500)]
    texts += [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))]
    for plain_text in (False, True):
        assert_same(spec, texts, plain_text)


def test_pairs_are_cut_where_the_longer_one_ends() -> None:
    source, spec = random_source(), spec_of_class()
    letters = [piece for piece in spec.model.pieces if piece]
    pairs = [tuple(random_text(source, source.choice((1, 9, 30)), letters) for _ in "AB") for _ in range(300)]
    library = wheel_tokenizer(spec)
    for capacity in (1, 6, 7, 30):
        library.enable_truncation(capacity)
        theirs = [encoding.ids for encoding in library.encode_batch(pairs)]
        ours = Runtime(spec).encode_pairs([(first.encode(), second.encode()) for first, second in pairs], capacity)
        assert [our.ids.tolist() for our in ours] == theirs


def test_a_pruned_vocabulary() -> None:
    spec, source = spec_of_class(), random_source()
    kept = [*range(5), *sorted(source.sample(range(5, ROWS), 40))]
    kept = sorted({*kept, 5})  # the space, which unknown text would go over
    texts = [text for text in IDS if set(IDS[text]) <= set(kept)]
    assert texts
    results = Runtime(keep_pieces(spec, np.array(kept))).encode([text.encode() for text in texts])
    assert [result.ids.tolist() for result in results] == [np.searchsorted(kept, IDS[text]).tolist() for text in texts]
