# SPDX-License-Identifier: Apache-2.0
"""Word-level tokenizers against the wheel: whole words between white space, lower-cased or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tokenizer_harness import SPECIALS, Runtime, Wheel, assert_same, differences, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, SMALL_VOCABULARY, TRICKY, random_bytes, random_text
from tokenizers import normalizers

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import CharacterNormalizer
from codegen.ir.template_spec import Template, TemplatePart
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.word_level import read_word_level_json
from codegen.tokenizer.unicode_probe import changed_by

WORDS = tuple(dict.fromkeys((*SPECIALS, *SMALL_VOCABULARY, "##a", "'s", "!!", "...", "a!", "x" * 300, "the", "cat")))


def word_level_json(
    *,
    lowercase: bool = True,
    splits_words: bool = True,
    steps: tuple[str, ...] = (),
    specials: tuple[str, ...] = SPECIALS,
    words: Sequence[str] = WORDS,
) -> dict[str, Any]:
    ids = {word: i for i, word in enumerate(words)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    separator = {"SpecialToken": {"id": "[SEP]", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[text], "content": text, **flags} for text in specials],
        "normalizer": _normalizer(steps or ("Lowercase",) * lowercase),
        "pre_tokenizer": {"type": "Whitespace" if splits_words else "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*single, separator],
            "pair": [*single, separator, {"Sequence": {"id": "B", "type_id": 0}}, separator],
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": "[UNK]"},
    }


def _normalizer(steps: tuple[str, ...]) -> dict[str, Any] | None:
    if len(steps) < 2:
        return {"type": steps[0]} if steps else None
    return {"type": "Sequence", "normalizers": [{"type": step} for step in steps]}


def word_level_spec(**options: Any) -> TokenizerSpec:
    return read_word_level_json(word_level_json(**options))


@pytest.mark.parametrize(("lowercase", "splits_words"), list(product((True, False), repeat=2)))
def test_texts(lowercase: bool, splits_words: bool) -> None:
    source = random_source()
    spec = word_level_spec(lowercase=lowercase, splits_words=splits_words)
    alphabet = (*TRICKY, *WORDS[:40], "'s", "!!", "the ", " cat", "a!")
    texts = [*(text.encode() for text in HARD_TEXTS), *INVALID_TEXTS, b"x" * 300, b"x" * 301, b"X" * 300]
    texts += [random_text(source, 20, alphabet).encode() for _ in range(1500)]
    texts += [random_bytes(source, 12) for _ in range(300)]
    assert_same(spec, texts)
    assert_same(spec, texts, 6)
    pairs = list(zip(texts[:40], texts[40:80], strict=True))
    for capacity in range(3, 20):
        ours = Runtime(spec).encode_pairs(pairs, capacity)
        assert not differences(pairs, ours, Wheel(spec).encode_pairs(pairs, capacity))


@pytest.mark.parametrize("splits_words", [True, False])
def test_special_tokens_are_never_plain_text(splits_words: bool) -> None:
    """They are words, too, which the wheel finds where it is told not to look for tokens. So it is asked with others in
    their place, of which no text has one."""
    source = random_source()
    described = word_level_json(lowercase=False, splits_words=splits_words, specials=(*SPECIALS, "the"))
    spec = read_word_level_json(described)
    alphabet = (*TRICKY, *(f" {text} " for text in (*SPECIALS, "the", "cat", "[sep]")))
    texts = [b"a [SEP] b", b"the [CLS] the", b"[SEP]", b"[PAD][MASK]", b" [UNK]\t"]
    texts += [random_text(source, 12, alphabet).encode() for _ in range(500)]
    assert_same(spec, texts)
    hidden = {
        f"{text} {text}" if text in (*SPECIALS, "the") else text: i for text, i in described["model"]["vocab"].items()
    }
    unknown = described["model"] | {"vocab": hidden, "unk_token": "[UNK] [UNK]"}
    oracle = Wheel(
        replace(spec, json=json.dumps({**described, "added_tokens": [], "post_processor": None, "model": unknown}))
    )
    bare = replace(spec, template=Template((TemplatePart("A", 0),), (TemplatePart("A", 0), TemplatePart("B", 0))))
    assert not differences(texts, Runtime(bare).encode(texts, plain_text=True), oracle.encode(texts))


STEPS = [
    ("NFD", "StripAccents"),
    ("NFD", "StripAccents", "Lowercase"),
    ("NFD", "Lowercase", "StripAccents"),
    ("Lowercase", "NFD", "StripAccents"),
    ("Lowercase", "NFD", "Lowercase", "StripAccents"),
]


@pytest.mark.parametrize("steps", STEPS)
def test_accents_that_are_stripped(steps: tuple[str, ...]) -> None:
    """Of every character that the steps change, beside others and marks."""
    source = random_source()
    spec = word_level_spec(steps=steps)
    assert spec.normalizer == CharacterNormalizer(steps)
    normalize = normalizers.Sequence([getattr(normalizers, step)() for step in steps]).normalize_str
    changed = [chr(c) for c in changed_by(normalize)]
    assert len(changed) > 13_000
    texts = [f"a{c}b {c}\u0323\u0301 \u1b44{c}".encode() for c in changed if not "\uac10" < c < "\ud7a0"]
    texts += [random_text(source, 20, (*TRICKY, *WORDS[:40])).encode() for _ in range(500)]
    texts += [b"[S\xc3\x89P] a", "[se\u0301p]".encode()]  # special tokens that only normalizing makes
    assert_same(spec, texts)


def test_text_of_words() -> None:
    assert Runtime(word_level_spec()).pieces() == [word.encode() for word in WORDS]


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(word_level_json()))
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}))
    spec = load_tokenizer(CheckpointFolder(tmp_path), 1000)
    assert spec.summary == "uncased words"
    assert spec.model == word_level_spec().model
    config.write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<new>"}))
    with pytest.raises(EtchError) as refused:
        load_tokenizer(CheckpointFolder(tmp_path), 1000)
    assert refused.value.code == "tokenizer-conflict"
    config.write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    with pytest.raises(EtchError) as refused:
        load_tokenizer(CheckpointFolder(tmp_path), 1000)
    assert refused.value.code == "tokenizer-class"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("normalizer", {"type": "Lowercase", "more": 1}),
        ("normalizer", _normalizer(("NFC", "NFD"))),
        ("normalizer", {"type": "Sequence", "normalizers": 1}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, 1]}),
        ("pre_tokenizer", {"type": "UnicodeScripts"}),
        ("pre_tokenizer", None),
        ("post_processor", {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}),
        ("model", {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}),
        ("model", {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": None}),
    ],
)
def test_what_is_refused(part: str, value: object) -> None:
    with pytest.raises(EtchError) as refused:
        read_word_level_json({**word_level_json(), "added_tokens": [], part: value})
    assert refused.value.stage == "load"
