# SPDX-License-Identifier: Apache-2.0
"""CLIP's tokenizer against the wheel: words that its expression finds, pieces that mark the ends of words."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import product
from typing import Any

import pytest
from public_data import data_folder
from sampling import sampled
from test_byte_level import OWN_TEXTS
from test_tokenizer_sweep import Comparison
from tokenizer_harness import Runtime, Wheel, assert_same_unless_cut, differences, random_source
from tokenizer_texts import TRICKY, corpus_lines, random_bytes, random_text, random_texts_of, swept_among_characters
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from codegen.ir.byte_pieces import BYTE_OF
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.load.tokenizer_files.tokenizer_json.byte_level_segmenters import CLIP_EXPRESSION

START, END = "<|startoftext|>", "<|endoftext|>"
OLD_EXPRESSION = CLIP_EXPRESSION.removeprefix(r"<\|startoftext\|>|<\|endoftext\|>|")
# Texts of special tokens, and what looks like them, between characters of every kind.
SPECIAL = (
    *(START, END, "<|StartOfText|>", "<|ENDOFTEXT|>", "<|startoftex|>", "<|startoftextx|>", "<|endoftext|"),
    *("<|startoftext>|", "<<|startoftext|>", "<|endofte<|endoftext|>", "<|start\u00f6ftext|>"),
)
BEFORE, BEHIND = ("", "!", "1", "a", " ", "'s", "<|", "é"), ("", "!", "'s", "'", "a", "1", " ", "|>", END)
SPECIAL_TEXTS = ["".join(parts).encode() for parts in product(BEFORE, SPECIAL, BEHIND)]
_WORDS = (
    "the quick brown fox's tail isn't where they're waiting; we've 1234 reasons, I'm sure, and you'll see 100 más!!"
)


@cache
def trained() -> str:
    """In the settings of CLIPTokenizer, and with a piece for each byte, within a word and at its end."""
    tokenizer = Tokenizer(models.BPE(continuing_subword_prefix="", end_of_word_suffix="</w>", unk_token=END))
    steps = [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    tokenizer.normalizer = normalizers.Sequence(steps)
    words = pre_tokenizers.Split(Regex(CLIP_EXPRESSION), "removed", invert=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    words = f"{_WORDS} startoftext endoftext |> <| <|".split(" ")
    texts = [*(f"{a} {b}" for a in words for b in words), *("".join((a, b)) for a in TRICKY for b in TRICKY[:9])]
    trainer = trainers.BpeTrainer(vocab_size=900, end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    values = json.loads(tokenizer.to_str())
    made = ("".join(merge) for merge in values["model"]["merges"])
    pieces = dict.fromkeys([*BYTE_OF, *(f"{byte}</w>" for byte in BYTE_OF), *made, START, END])
    values["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces)}
    return json.dumps(values)


def spec(normalized: bool = False, **changes: Any) -> TokenizerSpec:
    """`normalized`: special tokens are found in the normalized text."""
    values = json.loads(trained()) | changes
    ids = values["model"]["vocab"]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": normalized, "special": True}
    values["added_tokens"] = [{"id": ids[text], "content": text, **flags} for text in (START, END)]
    ends = {"sep": [END, ids[END]], "cls": [START, ids[START]]}
    values["post_processor"] = {"type": "RobertaProcessing", **ends, "trim_offsets": False, "add_prefix_space": False}
    return read_byte_level_json(values)


def old_spec() -> TokenizerSpec:
    """As files before `transformers` 5 have it."""
    parts = json.loads(trained())["pre_tokenizer"]
    parts["pretokenizers"][0]["pattern"] = {"Regex": OLD_EXPRESSION}
    return spec(pre_tokenizer=parts)


SPECS = {"class": spec, "normalized": lambda: spec(normalized=True), "old": old_spec}


@pytest.mark.parametrize("name", SPECS)
def test_texts_of_our_own(name: str) -> None:
    source = random_source()
    made = SPECS[name]()
    runtime, wheel = Runtime(made), Wheel(made)
    texts = [
        *(text for text in (*OWN_TEXTS, *SPECIAL_TEXTS) if len(text) < 800),
        *(random_text(source, 40).encode() for _ in range(500)),
        *(random_bytes(source, 40) for _ in range(500)),
        *next(random_texts_of(texts_of_pieces(made), source, 1000)),
    ]
    for plain_text, capacity in product((False, True), (1 << 30, 9)):
        ours = runtime.encode(texts, capacity, plain_text)
        found = differences(texts, ours, wheel.encode(texts, capacity, plain_text))
        assert not found, f"{len(found)} of {len(texts)} texts differ\n" + "\n".join(found[:10])


def texts_of_pieces(of: TokenizerSpec) -> list[bytes]:
    """Without their marks."""
    return [piece.removesuffix(b"</w>") for piece in of.model.pieces if isinstance(piece, bytes)]


def test_pieces_are_shown_with_their_marks() -> None:
    made = spec()
    shown = Runtime(made).pieces()
    assert [text for text in shown if text] == [p for p in made.model.pieces if p and b"\xff" not in p]


def test_long_words() -> None:
    """A word that is longer than the fixed memory is cut, and said to be."""
    source = random.Random(11)
    words = ["".join(source.choices("aeinrst", k=size)) for size in (300, 1016, 1020, 1021, 1024, 1025, 3000)]
    assert_same_unless_cut(spec(), [word.encode() for word in words])


@pytest.mark.sweep
def test_scalars() -> None:
    comparison = Comparison(spec())
    comparison.compare([chr(c).encode() for c in swept_among_characters()])
    comparison.finish("scalars, CLIP's")


@pytest.mark.sweep
@pytest.mark.parametrize("corpus", sampled(("multi30k", "tokenizer_text", "unicode"), 1, "corpora of CLIP's"))
def test_corpus(corpus: str) -> None:
    comparison = Comparison(spec())
    for _, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(lines[:5000])
    comparison.finish(f"{corpus}, CLIP's")
