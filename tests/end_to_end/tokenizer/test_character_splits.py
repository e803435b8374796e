# SPDX-License-Identifier: Apache-2.0
"""Rows of pre-tokenizers that part a text at single characters, before every model, against the wheel."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from byte_level import EXPRESSIONS, small_json
from character_bpe import character_bpe_json, random_model
from sampling import sampled
from test_byte_level import OWN_TEXTS
from test_word_level import word_level_json
from test_word_piece_steps import word_piece_json
from tokenizer_harness import assert_same, assert_same_unless_cut, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, TRICKY, random_bytes, random_text, swept_scalars
from unigram import compiled, random_rules, random_vocabulary, specials, unigram_json

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import SplitSegmenter, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json
from codegen.load.tokenizer_files.tokenizer_json.word_level import read_word_level_json
from codegen.load.tokenizer_files.tokenizer_json.word_piece import read_word_piece_json
from codegen.tokenizer import compile_tokenizer

BEHAVIORS = ("Isolated", "Contiguous", "Removed", "MergedWithPrevious", "MergedWithNext")


def split(text: str, behavior: str = "Isolated", *, regex: bool = True, invert: bool = False) -> dict[str, Any]:
    pattern = {"Regex" if regex else "String": text}
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


PLAIN = (
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *({"type": "Digits", "individual_digits": individual} for individual in (True, False)),
    {"type": "CharDelimiterSplit", "delimiter": "-"},
)
PATTERNS = ((" ", False), ("a", False), ("\u00e9", False), (r"\d", True), (r"\s+", True), ("[^a-d ]+", True))
PARTS = (
    *TRICKY,
    *"abcd 12.,!-_ \u00e9\u0663\u00b2\u2167\u4e2d\u3000\n\t",
    "[MASK]",
    "</s>",
    "<mask>",
    "12",
    "a-b",
    "  ",
)
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def row(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def random_parts(source: random.Random) -> list[dict[str, Any]]:
    """Two Splits and some others, in any order."""
    parts = source.sample(PLAIN, source.randint(0, 3))
    for text, regex in source.sample(PATTERNS, source.randint(not parts, 2)):
        behavior, invert = source.choice(BEHAVIORS), source.random() < 0.3
        parts.insert(source.randint(0, len(parts)), split(text, behavior, regex=regex, invert=invert))
    return parts


def _words(source: random.Random) -> TokenizerSpec:
    values = word_level_json(steps=source.choice(((), ("NFC",), ("NFD", "Lowercase", "StripAccents"))))
    return read_word_level_json(values | {"pre_tokenizer": row(*random_parts(source))})


def _word_piece(source: random.Random) -> TokenizerSpec:
    values = word_piece_json(source.choice(((), ("NFC",), ("Lowercase",), ("NFD", "Lowercase", "StripAccents"))))
    if source.random() < 0.3:
        values["normalizer"] = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": source.random() < 0.5,
        }
    return read_word_piece_json(values | {"pre_tokenizer": row(*random_parts(source))})


def _bytes(source: random.Random) -> TokenizerSpec:
    steps = source.choice(((), ("NFC",), ("Lowercase",)))
    trims = source.random() < 0.5
    values = small_json(steps=steps, trim_offsets=trims, processor=source.choice(("RobertaProcessing", "none")))
    last = _BYTE_LEVEL | {"add_prefix_space": source.random() < 0.5, "use_regex": source.random() < 0.6}
    behind = [split(EXPRESSIONS["gpt2"]), _BYTE_LEVEL | {"use_regex": False}]
    parts = [*random_parts(source), *(behind if source.random() < 0.3 else [last])]
    return read_byte_level_json(values | {"pre_tokenizer": row(*parts)})


def _metaspace(source: random.Random) -> dict[str, Any]:
    parts = random_parts(source)
    scheme = source.choice(("always", "first", "never"))
    last = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": source.random() < 0.7}
    return row(*parts, last) if source.random() < 0.6 else row(*parts)


def _characters(source: random.Random) -> TokenizerSpec:
    before = [{"type": step} for step in source.choice(((), ("NFKC",), ("NFD", "StripAccents")))]
    values = character_bpe_json(random_model(source, fuse_unk=source.random() < 0.5), before=before)
    return read_character_bpe_json(values | {"pre_tokenizer": _metaspace(source)})


def _unigram(source: random.Random) -> TokenizerSpec:
    charsmap = compiled(random_rules(source)) if source.random() < 0.5 else None
    before = [] if charsmap else [{"type": step} for step in source.choice(((), ("NFKC",), ("Lowercase", "NFD")))]
    values = unigram_json(random_vocabulary(source), charsmap=charsmap, before=before, added=specials())
    return read_unigram_json(values | {"pre_tokenizer": _metaspace(source)})


MODELS = {"words": _words, "WordPiece": _word_piece, "bytes": _bytes, "characters": _characters, "Unigram": _unigram}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_rows(make: Callable[[random.Random], TokenizerSpec]) -> None:
    source = random_source()
    for _ in range(2):
        spec = make(source)
        print(json.loads(spec.json)["pre_tokenizer"], json.loads(spec.json)["normalizer"])
        texts = [random_text(source, 14, PARTS).encode() for _ in range(200)]
        texts += [*(text.encode() for text in HARD_TEXTS), *INVALID_TEXTS, *OWN_TEXTS]
        texts += [random_bytes(source, 12) for _ in range(50)]
        assert_same_unless_cut(spec, texts)
        assert_same(spec, texts[:100], 5)


def _stripping(values: dict[str, Any], part: dict[str, Any], lstrip: bool, rstrip: bool) -> dict[str, Any]:
    """With <m>, which is looked for in normalized text and takes the white space beside it."""
    taken = [token["id"] for token in values["added_tokens"]]
    token = {"id": max(len(values["model"]["vocab"]) - 1, *taken) + 1, "content": "<m>", "special": False}
    flags = {"normalized": True, "single_word": False, "lstrip": lstrip, "rstrip": rstrip}
    before = values["pre_tokenizer"]
    ends = [before] if before and before["type"] in ("ByteLevel", "Metaspace") else []
    return values | {"added_tokens": [*values["added_tokens"], token | flags], "pre_tokenizer": row(part, *ends)}


_LOWER = {"type": "Lowercase"}
STRIPPED = {
    "words": lambda source: (read_word_level_json, word_level_json()),
    "WordPiece": lambda source: (read_word_piece_json, word_piece_json(("Lowercase",))),
    "bytes": lambda source: (read_byte_level_json, small_json(steps=("Lowercase",))),
    "characters": lambda source: (read_character_bpe_json, character_bpe_json(random_model(source), before=[_LOWER])),
    "Unigram": lambda source: (
        read_unigram_json,
        unigram_json(random_vocabulary(source), before=[_LOWER], added=specials()),
    ),
}


@pytest.mark.parametrize("model", STRIPPED)
@pytest.mark.parametrize("part", PLAIN, ids=json.dumps)
def test_tokens_that_strip(model: str, part: dict[str, Any]) -> None:
    """White space that words may have cannot be taken back from them: such a token is refused."""
    source = random_source()
    for lstrip, rstrip in ((True, False), (False, True), (True, True)):
        read, values = STRIPPED[model](source)
        spec = read(_stripping(values, part, lstrip, rstrip))
        if part["type"] in ("Punctuation", "Digits", "CharDelimiterSplit"):
            with pytest.raises(EtchError, match="'<m>' is normalized and strips") as refused:
                compile_tokenizer(spec)
            assert refused.value.code == "added-token-unsupported"
        else:
            assert_same(spec, [random_text(source, 10, (*PARTS, *["<m>", " "] * 8)).encode() for _ in range(300)])


@pytest.mark.parametrize(
    "part",
    [PLAIN[1], PLAIN[3], PLAIN[8], *(split("\u00e9", behavior) for behavior in BEHAVIORS)],
    ids=json.dumps,
)
def test_letters_read_ahead(part: dict[str, Any]) -> None:
    """ASCII letters that stay together are read at once, but not behind what they are parted from, a letter itself."""
    source = random_source()
    letters = ("a", "the", "quick", "brownfox", "\u00e9", "\u00e9\u00e9", "\u00df", "\u4e2d")
    others = ("'s", "'", "'re", "-", "--", ".", " ", "  ", "7", "12", "<mask>", "</s>", "\u0663", "\n", "\u0301")
    texts = [random_text(source, 14, (*letters, *letters, *others)).encode() for _ in range(300)]
    texts += ["a\u00e9quick\u00e9the 1quick2\u00e9a-the.quick<mask>the\u00e9".encode(), *OWN_TEXTS, *INVALID_TEXTS]
    for last in (_BYTE_LEVEL, _BYTE_LEVEL | {"add_prefix_space": True}):
        spec = read_byte_level_json(small_json() | {"pre_tokenizer": row(part, split("-"), last)})
        assert isinstance(spec.segmenter, SplitSegmenter)
        assert_same(spec, texts)
        for capacity in (3, 5, 9):
            assert_same(spec, texts[:150], capacity)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("make", "part"),
    sampled(
        [(make, part) for make in ("WordPiece", "bytes") for part in (*PLAIN, split(r"\p{N}", "Isolated"))],
        3,
        "characters that texts are parted at",
    ),
    ids=str,
)
def test_every_scalar(make: str, part: dict[str, Any]) -> None:
    values = word_piece_json() | {"pre_tokenizer": row(part, {"type": "CharDelimiterSplit", "delimiter": "q"})}
    spec = read_word_piece_json(values)
    if make == "bytes":
        spec = read_byte_level_json(small_json() | {"pre_tokenizer": row(part, split("q"), _BYTE_LEVEL)})
    assert isinstance(spec.segmenter, SplitSegmenter)
    swept = swept_scalars()
    chunks = (map(chr, swept[first : first + 64]) for first in range(0, len(swept), 64))
    assert_same(spec, ["".join(f"a{c}1q {c}{c}bq.{c}q" for c in chunk).encode() for chunk in chunks])


def test_letters_that_stay_together() -> None:
    """Where no two letters are parted they are read ahead, up to what ends them."""
    part = {"type": "Punctuation", "behavior": "Isolated"}
    spec = read_byte_level_json(small_json() | {"pre_tokenizer": row(part, split("7"), _BYTE_LEVEL)})
    ends = ("7", ".", " ", "'s", "\u00e9", "\u0301", "\u4e2d", "1", "_", "<mask>", "\n")
    texts = [f"{before}{'the' * 7}{end}faces{end}" for before in ("", " ", "7", "'", "\u00e9") for end in ends]
    assert_same(spec, [*(text.encode() for text in texts), *INVALID_TEXTS])
    assert_same(spec, [text.encode() for text in texts], 5)


def test_a_folder(tmp_path: Path) -> None:
    """As the quick tour of `tokenizers` trains it: BPE over characters behind Whitespace."""
    values = character_bpe_json(random_model(random.Random(5))) | {"pre_tokenizer": {"type": "Whitespace"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(values))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    spec = load_tokenizer(CheckpointFolder(tmp_path), 1000)
    assert spec.summary == "BPE of characters"
    assert_same(spec, [b"the face, of it 12 x<mask>y", *OWN_TEXTS])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([split("ab", regex=False)], "Split by 'ab' is not supported at this place"),
        ([split(r"\p{N}{1,3}")], "one character, a class like"),
        ([split(r"\w+|[^\w\s]+")], "one character, a class like"),
        ([{"type": "Metaspace", "replacement": "\u2581"}, PLAIN[0]], "Metaspace is supported as the last"),
        ([{"type": "UnicodeScripts"}], "'UnicodeScripts' is not supported"),
        ([], "Metaspace would"),
        ([{"type": "Digits", "individual_digits": 1}], "individual_digits must be true/false"),
        ([{**split("a"), "behavior": "Kept"}], "behavior is 'Kept'"),
    ],
)
def test_what_is_refused(parts: list[dict[str, Any]], message: str) -> None:
    values = character_bpe_json(random_model(random.Random(5))) | {"pre_tokenizer": row(*parts)}
    with pytest.raises(EtchError, match=message) as refused:
        read_character_bpe_json(values)
    assert refused.value.stage == "load"


def test_more_classes_than_there_is_room_for() -> None:
    letters = string.ascii_letters[:32]
    parts = [split(f"[{''.join(c for i, c in enumerate(letters) if i >> bit & 1)}]") for bit in range(5)]
    spec = read_word_piece_json(word_piece_json() | {"pre_tokenizer": row(*parts[:4])})
    assert_same(spec, [b"abcxyz cab zyx " * 3, letters.encode()])
    for too_many, message in ((parts, "make 32 classes of characters"), ([split(c) for c in letters], "at most 24")):
        spec = read_word_piece_json(word_piece_json() | {"pre_tokenizer": row(*too_many)})
        with pytest.raises(EtchError, match=message):
            compile_tokenizer(spec)
