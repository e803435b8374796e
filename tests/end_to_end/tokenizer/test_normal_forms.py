# SPDX-License-Identifier: Apache-2.0
"""Unicode's normal forms in front of byte-level BPE, against the wheel: marks in every order, pairs that compose."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from byte_level import SPECIALS, small_spec
from sampling import sampled
from test_byte_level import added_spec
from test_tokenizer import ADDED, PARTS, token
from test_tokenizer_sweep import Comparison, sweep_scalars
from tokenizer_harness import Runtime, assert_same, random_source
from tokenizer_texts import TRICKY, random_text, swept_scalars

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.tokenizer.normal_form import compile_normal_form
from codegen.tokenizer.unicode_probe import combining_ranks

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
STARTERS = (
    *"abeoAKsqIZ <=;' 1",
    "\u00e9",
    "\u1e63",
    "\u01d5",
    "\u1100",
    "\u1161",
    "\u11a8",
    "\u11a7",
    "\uac00",
    "\uac01",
)
STARTERS += (
    "\u09c7",
    "\u09be",
    "\u0dd9",
    "\u0dcf",
    "\u1b05",
    "\u1b35",
    "\ufb01",
    "\u2126",
    "\u212b",
    "\u0958",
    "\u2adc",
)


@cache
def spec_of(form: str) -> TokenizerSpec:
    return small_spec(steps=(form,), processor="none")


@pytest.mark.parametrize("form", FORMS)
def test_marks_in_any_order(form: str) -> None:
    """Of every combining class, in runs of every length: nothing is held that could be full."""
    source = random_source()
    marks = list(map(chr, combining_ranks()))
    few = [*"\u0300\u0301\u0307\u0308\u0323\u0327\u031b\u0334\u0345\u0344\u0f71\u0f72\u0f73\u3099\u05b7"]
    texts = []
    for _ in range(800):
        text = ""
        for _ in range(source.randint(1, 4)):
            text += source.choice((*STARTERS, "", source.choice(TRICKY)))
            text += "".join(source.choices(source.choice((marks, few, few)), k=source.choice((0, 1, 1, 2, 3, 4, 9))))
        texts.append(text.encode())
    texts += ["".join(source.choices(marks, k=count)).encode() for count in (30, 31, 32, 33, 200)]
    texts += [("e" + "".join(source.choices(few, k=count))).encode() for count in (30, 31, 32, 33, 200)]
    assert_same(spec_of(form), texts)


def test_every_pair_that_composes() -> None:
    arrays = dict(compile_normal_form("NFC")[1])
    pairs = [[chr(c) for c in row] for row in arrays["form_pairs"].reshape(-1, 3).tolist()]
    assert len(pairs) > 900
    texts = [
        f"x{first}{between}{second}y".encode() for second, first, _ in pairs for between in ("", "\u0323", "\u1b44")
    ]
    texts += [f"{composed}{first}{second}".encode() for second, first, composed in pairs]
    for form in FORMS:
        assert_same(spec_of(form), texts)


def test_hangul() -> None:
    letters = ["\u1100", "\u1112", "\u1113", "\u1161", "\u1175", "\u1176", "\u11a7", "\u11a8", "\u11c2", "\u11c3"]
    letters += ["\uac00", "\uac01", "\ud788", "\ud7a3", "\u0323", "a"]
    texts = [(a + b + c).encode() for a in letters for b in letters for c in letters]
    for form in FORMS:
        assert_same(spec_of(form), texts)


def test_letters_before_what_composes_with_them() -> None:
    """Letters are read ahead, but for the last one before a mark, whatever ends there."""
    source = random_source()
    parts = ("the", "a", " ", "quick", "\u0301", "\u0323", "\u00e9", "<s>", "\xff", "1", "'s", "\u1100\u1161", "\u0344")
    texts = [random_text(source, 9, parts).encode("latin-1" if _ % 9 == 0 else "utf-8", "replace") for _ in range(1500)]
    for options in ({}, {"add_prefix_space": True}, {"segmenter": "llama3"}, {"segmenter": "digits"}):
        assert_same(small_spec(steps=("NFC",), **options), texts)


@pytest.mark.parametrize("name", ADDED)
def test_added_tokens(name: str) -> None:
    source = random_source()
    tokens = [replace(one, lstrip=False, rstrip=False) if one.normalized else one for one in ADDED[name]]
    spec = added_spec(tokens, steps=("NFC",), processor="none")
    parts = (*PARTS, *SPECIALS, "e", "\u0301", "E", "\u0338", "<", ">", "\u1100", "\u1161", "  ")
    texts = [random_text(source, 10, parts).encode() for _ in range(400)] + [text.encode() for text in parts]
    assert_same(spec, texts)
    assert_same(spec, texts, 5)
    assert_same(spec, texts, plain_text=True)


def test_a_normalized_token_that_strips_is_refused() -> None:
    with pytest.raises(EtchError, match="<L>") as refused:
        Runtime(added_spec([token("<L>", lstrip=True)], steps=("NFC",), processor="none"))
    assert refused.value.code == "added-token-unsupported"


@pytest.mark.sweep
@pytest.mark.minutes(2)
@pytest.mark.parametrize("form", sampled(FORMS, 1, "scalars by form"))
def test_scalars(form: str) -> None:
    sweep_scalars(Comparison(spec_of(form)), f"scalars, {form}")


@pytest.mark.sweep
@pytest.mark.minutes(2)
@pytest.mark.parametrize("form", sampled(FORMS, 1, "scalars beside marks"))
def test_scalars_beside_marks(form: str) -> None:
    comparison = Comparison(spec_of(form))
    changed = [chr(c) for c in swept_scalars() if c < 0x20000 or c >> 16 == 0xE]
    for first in range(0, len(changed), 4096):
        part = changed[first : first + 4096]
        comparison.compare([f"a{c}\u0301 {c}\u0323\u0345 \u0344{c}\u031b{c}".encode() for c in part])
    comparison.finish(f"scalars beside marks, {form}")
