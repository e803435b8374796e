# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE against the wheel with a vocabulary that is trained on two of the corpora, its merges derived as
from SentencePiece's own file: every scalar, every corpus, random texts of its pieces."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import product
from typing import Any

import pytest
from character_bpe import PREPEND, REPLACE, character_bpe_json
from public_data import data_folder
from sampling import sampled
from test_tokenizer_sweep import Comparison, sweep_pairs, sweep_scalars
from tokenizer_harness import Runtime, Wheel, random_source
from tokenizer_texts import CORPORA, corpus_lines, joined, random_texts_of
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from unigram import SPECIALS, texts_of_pieces

from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.tokenizer_files.folders.llama import derived_merges
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(4)]

RANDOM_TEXTS = 1_020_000  # of all forms, in so many parts of each
PARTS = 10
FORMS: dict[str, dict[str, Any]] = {
    "llama": {"scheme": "first", "split": False},
    "llama-old": {"metaspace": False, "after": [PREPEND, REPLACE]},
    "words": {"scheme": "always"},
    "barthez": {},  # and the next: public ones, with a compiled map
    "t5_envit5": {},
}
LONGEST_WORD = 1000  # bytes; longer ones are cut, and `cut_word` says so


@cache
def trained_vocabulary() -> tuple[str, ...]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=16_000, show_progress=False, limit_alphabet=300)
    lines = [
        line
        for corpus in ("multi30k", "wikitext")
        for _, found in corpus_lines(data_folder(), corpus)
        for line in found
    ]
    tokenizer.train_from_iterator((line.decode(errors="replace") for line in lines[:80_000]), trainer)
    vocab = tokenizer.get_vocab()
    # WikiText spells unknown words <unk>, which would merge with what is beside it.
    return tuple(piece for piece in sorted(vocab, key=vocab.__getitem__) if "<unk>" not in piece)


@cache
def trained(form: str) -> tuple[TokenizerSpec, Runtime, Wheel]:
    if not FORMS[form]:
        file = data_folder() / "tokenizers" / form / "tokenizer.json"
        spec = read_character_bpe_json(json.loads(file.read_text(encoding="utf-8")))
        return spec, Runtime(spec), Wheel(spec)
    in_bytes = form != "words"
    pieces = dict.fromkeys((*SPECIALS, *(BYTE_PIECES if in_bytes else ()), *trained_vocabulary()))
    vocab = {piece: i for i, piece in enumerate(pieces)}
    settings = {"dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model = {"type": "BPE", **settings, "fuse_unk": True, "byte_fallback": in_bytes, "vocab": vocab}
    spec = read_character_bpe_json(character_bpe_json({**model, "merges": derived_merges(vocab)}, **FORMS[form]))
    return spec, Runtime(spec), Wheel(spec)


def short_words(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if all(len(word) <= LONGEST_WORD for word in line.split(b" "))]


@pytest.mark.parametrize("form", sampled(list(FORMS), 1, "BPE's scalars"))
def test_scalars(form: str) -> None:
    sweep_scalars(Comparison(*trained(form)), f"scalars, BPE as {form}")


@pytest.mark.parametrize(("form", "corpus"), sampled(list(product(FORMS, CORPORA)), 1, "BPE's corpora"))
def test_corpus(form: str, corpus: str) -> None:
    comparison = Comparison(*trained(form))
    for name, lines in corpus_lines(data_folder(), corpus):
        # With a space at each line's end, so that no word is long.
        comparison.compare([text.replace(b"\n", b" \n") for text in joined(short_words(lines))])
        if "train" not in name:
            comparison.compare(short_words(lines[:3000]), 16)
    comparison.finish(f"{corpus}, BPE as {form}")


def test_pairs() -> None:
    sweep_pairs(Comparison(*trained("llama")), least=5, name="BPE")


@pytest.mark.parametrize(("form", "part"), sampled(list(product(FORMS, range(PARTS))), 2, "random BPE texts"))
def test_random_texts_of_pieces(form: str, part: int) -> None:
    source = random.Random(f"{random_source().random()} {part}")
    spec, runtime, wheel = trained(form)
    comparison = Comparison(spec, runtime, wheel)
    for texts in random_texts_of(texts_of_pieces(spec), source, RANDOM_TEXTS // len(FORMS) // PARTS):
        comparison.compare(texts)
    comparison.finish(f"random pieces {part}, BPE as {form}")
