# SPDX-License-Identifier: Apache-2.0
"""Several normalizers in a row, as tokenizer.json files hold them, before each kind of model, against the wheel."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from byte_level import small_json
from character_bpe import PREPEND, REPLACE, character_bpe_json, random_model
from sampling import sampled
from test_byte_level import OWN_TEXTS
from test_tokenizer_sweep import Comparison, sweep_scalars
from test_word_level import word_level_json
from test_word_piece_steps import MARKS, word_piece_json
from tokenizer_harness import assert_same, assert_same_unless_cut, random_source
from tokenizer_texts import TRICKY, random_bytes, random_text
from unigram import (
    QUOTES,
    RUNS,
    TRICKY_PARTS,
    compiled,
    random_rules,
    random_vocabulary,
    specials,
    strip,
    unigram_json,
)

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import SequenceNormalizer
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json
from codegen.load.tokenizer_files.tokenizer_json.plain_normalizer import read_plain_normalizer
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json
from codegen.load.tokenizer_files.tokenizer_json.word_level import read_word_level_json
from codegen.load.tokenizer_files.tokenizer_json.word_piece import read_word_piece_json


def replace(pattern: str, content: str, kind: str = "Regex") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def bert(**settings: bool | None) -> dict[str, Any]:
    usual = {"clean_text": True, "handle_chinese_chars": False, "strip_accents": None, "lowercase": True}
    return {"type": "BertNormalizer", **usual, **settings}


NFC, NFD, NFKC, NFKD, LOWER, STRIPPED, NMT = (
    {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
)
SEQUENCES: dict[str, list[dict[str, Any]]] = {
    "deberta": [replace(r"\s{2,}|[\n\r\t]", " "), NFC, strip(False, True)],
    "deberta-uncased": [LOWER, replace(r"\s{2,}|[\n\r\t]", " "), NFC, strip(False, True)],
    "sentencepiece": [NMT, NFKC, replace(" {2,}", " ")],
    "byte-level-uncased": [NFC, LOWER],
    "compatible-uncased": [NFKC, LOWER],
    "uncased-compatible": [LOWER, NFKC],
    "marks-left": [NFD, LOWER],
    "no-marks": [NFKC, LOWER, STRIPPED],
    "xlnet": [*QUOTES, NFKD, STRIPPED, replace(r"\s+", " "), strip(True, True)],
    "clip": [NFC, replace(r"\s+", " "), LOWER],
    "bert": [replace("\u00a0", " ", "String"), bert()],
    "bert-cased": [NFKC, bert(lowercase=False, strip_accents=False)],
    "bert-lower": [bert(strip_accents=False), replace(" +", "")],
    "one-for-another": [strip(True, False), replace("[0-9]", "0"), replace("z", "the", "String"), NFKD],
    "runs-before-and-after": [replace(r"\s{2,}", "_"), replace(r"[_\-]", ""), NFKC, LOWER, strip(True, True)],
    "no-spaces": [replace(r"\s{2,}", ""), NFC],
    "spaces-last": [strip(True, True), NFC, strip(False, True), replace(r"\s+", "\u2581")],
}
NAMES = sorted(SEQUENCES)


@cache
def _normalizer(name: str) -> dict[str, Any]:
    return {"normalizer": {"type": "Sequence", "normalizers": SEQUENCES[name]}}


def byte_level(name: str, segmenter: str = "ByteLevel") -> TokenizerSpec:
    values = small_json(segmenter=segmenter, trim_offsets=False, processor="TemplateProcessing")
    return read_byte_level_json(values | _normalizer(name))


def spec_of(kind: str, name: str) -> TokenizerSpec:
    source = random_source()
    if kind == "unigram":
        options = {"byte_fallback": bool(source.getrandbits(1)), "split_whitespace": bool(source.getrandbits(1))}
        scheme = source.choice(("always", "first", "never"))
        vocab = random_vocabulary(source, bytes_too=options["byte_fallback"])
        return read_unigram_json(unigram_json(vocab, scheme=scheme, added=specials(), **options) | _normalizer(name))
    if kind == "characters":
        ends = source.choice(([], [REPLACE], [PREPEND, REPLACE]))
        steps = {"normalizer": {"type": "Sequence", "normalizers": [*SEQUENCES[name], *ends]}}
        values = character_bpe_json(random_model(source, bytes_too=True), metaspace=not ends)
        return read_character_bpe_json(values | steps)
    if kind == "words":
        return read_word_level_json(word_level_json(splits_words=bool(source.getrandbits(1))) | _normalizer(name))
    if kind == "word-piece":
        return read_word_piece_json(word_piece_json() | _normalizer(name))
    return byte_level(name, kind)


KINDS = ("unigram", "characters", "words", "word-piece", "ByteLevel", "digits", "llama3")


# What stands between a letter and a mark may vanish, and they compose.
VANISHING = (*map(chr, range(1, 128)), "  ", " \n", "\x1c\x1c", "__")
ALL = [(kind, name) for name in NAMES for kind in KINDS]
# Each sequence and each kind; quotation marks, and no normal form, where characters are read ahead.
FEW = [*ALL[:: len(KINDS) + 1], ("unigram", "xlnet"), ("ByteLevel", "bert-lower")]


@pytest.mark.parametrize(
    ("kind", "name"), [pytest.param(*one, marks=() if one in FEW else pytest.mark.sweep) for one in ALL]
)
def test_every_sequence(kind: str, name: str) -> None:
    source = random_source()
    spec = spec_of(kind, name)
    assert isinstance(spec.normalizer, SequenceNormalizer)
    spaces = (" ", "  ", "\n", "\t ", " \r\n", "\u3000", "``", "''", "'", "-_", "12", "the ", "Az", "<s>", "\u0130")
    parts = (*TRICKY, *MARKS, *spaces)
    texts = [random_text(source, 14, parts).encode() for _ in range(400)]
    texts += [random_text(source, 9, (*spaces, *"abcZ", "\u0301")).encode() for _ in range(300)]
    texts += [random_bytes(source, 12) for _ in range(100)]
    texts += [f"the{between}\u0301 he{between}\u0327".encode() for between in VANISHING]
    assert_same_unless_cut(spec, [*texts, *OWN_TEXTS])
    assert_same(spec, texts[:100], 7)


@pytest.mark.parametrize(
    "steps",
    [
        [NFKC, NFC],
        [NFC, bert()],
        [LOWER, bert(handle_chinese_chars=True)],
        [replace(r"\w+", "x")],
        [replace("ab", "c", "String")],
        [replace(" {2,}", "--"), NFC],
        [replace("a", "\0", "String")],
        [NFC, strip(True, True), replace(r"\s+", " "), LOWER, strip(True, True), NMT],
        [{"type": "Prepend", "prepend": "x"}, NFC],
    ],
)
def test_refused(steps: list[dict[str, Any]]) -> None:
    with pytest.raises(EtchError) as refused:
        read_plain_normalizer({"type": "Sequence", "normalizers": steps})
    assert refused.value.code in ("tokenizer-normalizer", "tokenizer-type")


@pytest.mark.parametrize("step", [bert(lowercase=None), replace("a", "b", "Glob"), {**NFC, "form": "C"}])
def test_malformed(step: dict[str, Any]) -> None:
    with pytest.raises(EtchError) as refused:
        read_plain_normalizer(json.loads(json.dumps([LOWER, step]))[1])
    assert refused.value.code in ("tokenizer-type", "tokenizer-field")


@pytest.mark.sweep
@pytest.mark.minutes(2)
@pytest.mark.parametrize("name", sampled(NAMES, 1, "scalars by sequence"))
def test_scalars(name: str) -> None:
    sweep_scalars(Comparison(byte_level(name)), f"scalars, {name}")


BEFORE_MAPS: dict[str, list[dict[str, Any]]] = {
    "form": [NFC],
    "decomposed": [NFD],
    "compatible-uncased": [NFKC, LOWER],
    "form-and-more": [NFD, replace("[0-9]", "0"), LOWER, STRIPPED],
    "characters": [*QUOTES, NMT, replace("z", "the", "String")],
}


@pytest.mark.parametrize("name", BEFORE_MAPS)
def test_before_a_compiled_map(name: str) -> None:
    source = random_source()
    for runs in ((), (RUNS,)):
        charsmap, split = compiled(random_rules(source)), bool(source.getrandbits(1))
        before = [*BEFORE_MAPS[name], *([strip(True, True)] if source.getrandbits(1) else [])]
        options = {"charsmap": charsmap, "before": before, "after": runs, "split_whitespace": split}
        spec = read_unigram_json(unigram_json(random_vocabulary(source), added=specials(), **options))
        texts = [random_text(source, 12, (*TRICKY_PARTS, *MARKS, *TRICKY, "``")).encode() for _ in range(400)]
        assert_same_unless_cut(spec, [*texts, *OWN_TEXTS, *(random_bytes(source, 12) for _ in range(60))])
        assert_same(spec, texts[:100], 6)


def test_a_mark_behind_letters_that_were_read_ahead() -> None:
    source = random_source()
    values = unigram_json(random_vocabulary(source), charsmap=compiled({"t": "ee"}), before=[NFKC], added=specials())
    assert_same(read_unigram_json(values), ["the\u0345\u00e9".encode(), "the\u0345x the\u0323\u0345".encode()])


def test_what_is_refused_before_a_compiled_map() -> None:
    source = random_source()
    values = unigram_json(random_vocabulary(source), charsmap=compiled({}), before=[LOWER, NFC], added=specials())
    with pytest.raises(EtchError, match="before Precompiled one normal form"):
        read_unigram_json(values)
