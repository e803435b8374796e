# SPDX-License-Identifier: Apache-2.0
"""Token ids to try a model with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from outputs import Tokens

FIRST_WORD = 5  # the special tokens come before
WORDS = 59


@dataclass(frozen=True)
class Specials:
    """How a family's tokenizer frames texts."""

    unknown: int
    classify: int | None  # where a text begins with a token of its own
    separate: int
    between: int  # how many separators stand between the texts of a pair
    segments: bool  # whether the second text has another segment
    vocabulary: str = "bert"  # one of `vocabularies.VOCABULARIES`
    ends: bool = False  # whether the model asks for the separator in every text
    padding: int | None = None  # what every text is padded with, where the model reads that
    first_segment: int = 0  # of the token that texts begin with
    least: int = 1  # tokens of a text that the library computes


BERT = Specials(unknown=1, classify=2, separate=3, between=1, segments=True)
ROC_BERT = replace(BERT, vocabulary="roc_bert")
NO_SEGMENTS = Specials(unknown=1, classify=2, separate=3, between=1, segments=False)
MPNET = Specials(unknown=4, classify=0, separate=2, between=2, segments=False, vocabulary="mpnet")
ROBERTA = Specials(unknown=3, classify=0, separate=2, between=2, segments=False, vocabulary="roberta")
XLM_ROBERTA = Specials(unknown=3, classify=0, separate=2, between=2, segments=False, vocabulary="xlm-roberta")
LUKE = replace(ROBERTA, vocabulary="luke")
FAIRSEQ = replace(ROBERTA, vocabulary="fairseq")
HERBERT = replace(ROBERTA, between=1, vocabulary="herbert")
BART = replace(ROBERTA, ends=True)
CAMEMBERT = Specials(unknown=3, classify=5, separate=6, between=2, segments=False, vocabulary="camembert")
DEBERTA = Specials(unknown=3, classify=1, separate=2, between=1, segments=True, vocabulary="deberta")
DEBERTA_BYTES = Specials(unknown=3, classify=1, separate=2, between=1, segments=True, vocabulary="deberta_bytes")
ALBERT = Specials(unknown=1, classify=2, separate=3, between=1, segments=False, vocabulary="albert")
FNET = replace(ALBERT, segments=True, vocabulary="fnet")
BIG_BIRD = Specials(unknown=3, classify=4, separate=5, between=1, segments=False, vocabulary="big_bird")
REMBERT = Specials(unknown=2, classify=3, separate=4, between=1, segments=False, vocabulary="rembert")
QWEN = Specials(unknown=6, classify=None, separate=0, between=1, segments=False, vocabulary="qwen")
QWEN3_5 = replace(QWEN, vocabulary="qwen3_5")
ESM = Specials(unknown=3, classify=0, separate=2, between=1, segments=False, vocabulary="esm")
ESMC = replace(ESM, vocabulary="esmc")
CLIP = Specials(unknown=70, classify=525, separate=526, between=2, segments=False, vocabulary="clip")
FUNNEL = replace(BERT, vocabulary="funnel", first_segment=2)
FUNNEL_SHIFTED = replace(FUNNEL, least=5)  # with attention_type relative_shift the library fails on shorter texts
SPLINTER = replace(NO_SEGMENTS, unknown=FIRST_WORD, vocabulary="splinter")  # the question's token, now and then
XLNET = Specials(unknown=0, classify=None, separate=3, between=1, segments=False, vocabulary="xlnet")
SIGLIP = Specials(unknown=3, classify=None, separate=1, between=1, segments=False, vocabulary="siglip", padding=0)
GEMMA = Specials(unknown=3, classify=2, separate=1, between=1, segments=False, vocabulary="gemma")
BERT_GENERATION = Specials(
    unknown=3, classify=None, separate=1, between=1, segments=False, vocabulary="bert_generation"
)
XLM = Specials(unknown=3, classify=0, separate=1, between=1, segments=False, vocabulary="xlm")
FLAUBERT = replace(XLM, vocabulary="flaubert")
# Code points; the library computes no text of fewer tokens than a group has.
CANINE = Specials(
    unknown=0x1F389, classify=0xE000, separate=0xE001, between=1, segments=False, vocabulary="canine", least=4
)
CANINE_PAIRS = replace(CANINE, least=2)
T5 = Specials(unknown=2, classify=None, separate=1, between=1, segments=False, vocabulary="t5")


def some_tokens(seed: int, max_tokens: int, specials: Specials) -> Iterator[Tokens]:
    """One token, a word, texts and pairs, up to the full length; all of that where they are padded."""
    for text in _unpadded(seed, max_tokens, specials):
        if len(text.ids) < specials.least:
            continue
        text.segments[0] = specials.first_segment
        padding = [] if specials.padding is None else [specials.padding] * (max_tokens - len(text.ids))
        yield Tokens(text.ids + padding, text.segments + [0] * len(padding))


def _unpadded(seed: int, max_tokens: int, specials: Specials) -> Iterator[Tokens]:
    random = np.random.default_rng(seed)
    begin = [] if specials.classify is None else [specials.classify]
    framing = len(begin) + 1

    def words(count: int) -> list[int]:
        ids = random.integers(FIRST_WORD, FIRST_WORD + WORDS, count)
        ids[random.random(count) < 0.1] = specials.unknown
        return ids.tolist()

    def pair(first: int, second: int) -> Tokens:
        a = [*begin, *words(first), specials.separate]
        b = [*[specials.separate] * (specials.between - 1), *words(second), specials.separate]
        return Tokens(a + b, [0] * len(a) + [int(specials.segments)] * len(b))

    yield Tokens([specials.separate] if specials.ends else begin or [specials.separate], [0])
    for count in (1, 6, max_tokens - framing):
        yield Tokens([*begin, *words(count), specials.separate], [0] * (count + framing))
    yield pair(2, 3)
    yield pair(max_tokens - framing - 2 - specials.between, 2)
