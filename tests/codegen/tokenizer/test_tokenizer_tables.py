# SPDX-License-Identifier: Apache-2.0
"""The compiled tables: complete, deterministic, compact; what is unsupported is refused; generated files current."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import make_test_vocabulary
import numpy as np
import pytest
from make_test_vocabulary import PIECES, spec

from codegen.errors import EtchError
from codegen.expressions.syntax import parse
from codegen.ir.split_spec import ExpressionLevel, ExpressionSegmenter
from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.template_spec import Padding, Template, TemplatePart, bert_template
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.tokenizer import (
    UNICODE_TABLE_BYTES,
    compile_decoder,
    compile_tokenizer,
    grapheme_tables,
    letter_tables,
    unicode_tables,
)
from codegen.tokenizer.expressions import compile_expressions
from codegen.tokenizer.unicode_probe import Probe, probe
from codegen.tokenizer.wordpiece import scratch_bytes

ROOT = Path(__file__).resolve().parents[3]
STALE = "stale: run python3 -m codegen.tokenizer.unicode_tables"


@pytest.fixture(scope="module")
def asked() -> Probe:
    return probe()


@pytest.mark.sweep
def test_unicode_tables_are_current(asked: Probe) -> None:
    assert unicode_tables.PATH.read_text(encoding="utf-8") == unicode_tables.render(asked), STALE


@pytest.mark.sweep
def test_unicode_tables_are_small(asked: Probe) -> None:
    assert unicode_tables.table_bytes(asked) == UNICODE_TABLE_BYTES < 20 << 10


@pytest.mark.sweep
@pytest.mark.parametrize(
    "change",
    [
        lambda asked: replace(asked, white_space=asked.white_space - {0x3000}),
        lambda asked: replace(asked, lower={**asked.lower, 0x41: (0x61, 0x61)}),
        lambda asked: replace(asked, lower={**asked.lower, 0x41: (0x10061,)}),
        lambda asked: replace(asked, decomposition={**asked.decomposition, 0xAC00: (0x1100,)}),
        lambda asked: replace(asked, decomposition={**asked.decomposition, 0xE9: (0x65, 0x301, 0x65)}),
        lambda asked: replace(asked, chinese=asked.chinese | {0x301}),
    ],
)
def test_a_wheel_that_breaks_an_assumption_is_noticed(asked: Probe, change: Callable[[Probe], Probe]) -> None:
    with pytest.raises(AssertionError, match="no longer does what the runtime assumes"):
        unicode_tables.check_assumptions(change(asked))


def test_the_vocabulary_of_the_runtime_tests_is_current() -> None:
    text = make_test_vocabulary.PATH.read_text(encoding="utf-8")
    assert text == make_test_vocabulary.render(), "stale: run tests/codegen/tokenizer/make_test_vocabulary.py"


def test_tables_are_deterministic_and_never_empty() -> None:
    first, second = compile_tokenizer(spec()), compile_tokenizer(spec())
    assert first.fields == second.fields
    assert first.constants == second.constants
    for (name, array), (_, other) in zip(first.arrays, second.arrays, strict=True):
        assert array.tobytes() == other.tobytes(), name
        assert array.ndim == 1, name
        assert len(array) > 0, name
        assert array.dtype in (np.uint8, np.uint16, np.uint32, np.int32), name


def test_fields_are_those_of_the_struct_in_order() -> None:
    """With what a template may leave at its default."""
    tables = compile_tokenizer(replace(spec(), template=replace(spec().template, padding=Padding(7, 12))))
    groups = {field.name: field.group or () for field in tables.fields}
    trie = next(field for field in groups["model"] if field.name == "trie").group or ()
    for struct, fields in {
        "Tokenizer": tables.fields,
        "AddedTokens": groups["raw_tokens"],
        "BertNormalizer": groups["normalizer"],
        "BertSegmenter": groups["segmenter"],
        "WordPiece": groups["model"],
        "Trie": trie,
        "Template": groups["parts"],
    }.items():
        assert [field.name for field in fields] == _declared(struct), struct


def test_fields_of_other_parts() -> None:
    """What the driver reads them in the order of."""
    folder = ROOT / "tests" / "runtime" / "tokenizer"
    driver = "".join((folder / name).read_text(encoding="utf-8") for name in ("driver_tables.hpp", "driver.cpp"))
    parts = (
        "ByteLevelSegmenter",
        "DigitsSegmenter",
        "WhitespaceSegmenter",
        "Cl100kSegmenter",
        "ClipSegmenter",
        "ExpressionSegmenter",
        "WordSegmenter",
        "CharacterClasses",
        "ByteLevelBpe",
        "Bytes",
        "CharsmapNormalizer",
        "NormalForm",
        "NormalFormNormalizer",
        "Folding",
        "CharacterNormalizer",
        "FoldingNormalizer",
        "FormCharsmapNormalizer",
        "StripRule",
        "RunRule",
        "SequenceNormalizer",
        "MetaspaceSegmenter",
        "Unigram",
        "Decoder",
    )
    for struct in parts:
        body = driver.split(f"etch::{struct}&")[1].split("\n}")[0]
        read = [line.split(".", 1)[1].split(" ")[0].rstrip(");") for line in body.splitlines() if "." in line]
        assert read == _declared(struct), struct


def test_fields_of_a_decoder_are_those_of_the_struct_in_order() -> None:
    decoder = compile_decoder(spec(), DecoderSpec(glued=False, prefix="##"), compile_tokenizer(spec()))
    assert [field.name for field in decoder.fields] == _declared("Decoder")


@pytest.mark.sweep
def test_letter_tables_are_current() -> None:
    kinds = letter_tables.probe()
    stale = "stale: run python3 -m codegen.tokenizer.letter_tables"
    assert letter_tables.PATH.read_text(encoding="utf-8") == letter_tables.render(kinds), stale


@pytest.mark.sweep
def test_grapheme_tables_are_current() -> None:
    stale = "stale: run python3 -m codegen.tokenizer.grapheme_tables"
    text = grapheme_tables.render(grapheme_tables.probe())
    assert grapheme_tables.PATH.read_text(encoding="utf-8") == text, stale


def _declared(struct: str) -> list[str]:
    """The names of a struct's fields, in order."""
    folder = ROOT / "runtime" / "include" / "etch"
    text = "".join(
        file.read_text(encoding="utf-8") for file in [folder / "tokenizer.hpp", *(folder / "tokenizer").glob("*.hpp")]
    )
    body = text.split(f"struct {struct} {{")[1].split("};")[0]
    lines = (line.split("//")[0] for line in body.splitlines())
    fields = [line for line in lines if ";" in line and "using" not in line and "constexpr" not in line]
    return [line.split(";")[0].split("=")[0].split()[-1].split("[")[0] for line in fields]


def test_bytes_per_piece() -> None:
    """Random digits share fewer beginnings than words: with BERT's vocabulary it is 6.2."""
    pieces = (*PIECES, *(f"{'##' if i % 4 == 0 else ''}{i * 7919 % 10**6:06d}" for i in range(30_000)))
    tables = compile_tokenizer(_with_pieces(tuple(dict.fromkeys(pieces))))
    assert tables.constants["table_bytes"] / tables.constants["piece_count"] < 7


@pytest.mark.parametrize("expression", ["(?i:s{1}s)", "'(?i:s{1,1}t|x)", "(?i:f{1}i)"])
def test_an_expression_that_finds_one_character_for_two_letters_is_refused(expression: str) -> None:
    """Oniguruma takes \u00df for ss here, and \ufb06 for st; the automaton does not."""
    described = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    level = ExpressionLevel(parse(expression), "isolated")
    with pytest.raises(EtchError, match="otherwise than these expressions are read here") as refused:
        compile_expressions(ExpressionSegmenter((level,), json.dumps(described)))
    assert refused.value.code == "tokenizer-pre-tokenizer"


def test_scratch_formula() -> None:
    assert scratch_bytes(100) == 1400
    assert scratch_bytes(0) == 0
    assert compile_tokenizer(spec()).constants["scratch_bytes"] == scratch_bytes(100)


def _with_pieces(pieces: tuple[str | None, ...]) -> TokenizerSpec:
    base = spec()
    described = json.loads(base.json)
    described["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces) if piece is not None}
    return replace(base, model=replace(base.model, pieces=pieces), json=json.dumps(described))


def _with_model(**changes: object) -> TokenizerSpec:
    return replace(spec(), model=replace(spec().model, **changes))


A, B = (TemplatePart("A", 0),), (TemplatePart("B", 1),)


def _with_token(content: str, **changes: bool | int) -> TokenizerSpec:
    flags = {"special": False, "normalized": False, "single_word": False, "lstrip": False, "rstrip": False}
    token = AddedToken(content, **{"id": len(PIECES), **flags, **changes})
    return spec((token,))


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        ("duplicate-piece", lambda: _with_pieces((*PIECES, "the"))),
        ("word-limit-unsupported", lambda: _with_model(max_input_chars_per_word=5000)),
        ("word-limit-unsupported", lambda: _with_model(max_input_chars_per_word=-1)),
        ("token-id-out-of-range", lambda: _with_model(unknown_id=-1)),
        ("token-id-out-of-range", lambda: replace(spec(), template=bert_template(2, 2**31))),
        ("tokenizer-template", lambda: replace(spec(), template=bert_template(2, 3, 256))),
        ("tokenizer-template", lambda: replace(spec(), template=Template(A, A))),
        ("tokenizer-template", lambda: replace(spec(), template=Template((*A, *A), (*A, *B)))),
        ("tokenizer-template", lambda: replace(spec(), template=Template(A, (*B, *A)))),
        ("tokenizer-template", lambda: replace(spec(), template=Template((*A, *[TemplatePart(2, 0)] * 8), (*A, *B)))),
        ("empty-vocabulary", lambda: _with_model(pieces=(None,) * 5)),
        ("added-token-id-mismatch", lambda: _with_token("new", id=7)),
        ("added-token-id-mismatch", lambda: _with_token("new", id=10**7)),
        ("token-id-out-of-range", lambda: _with_token("new", id=2**31)),
        ("added-token-unsupported", lambda: _with_token("a\ufffdb")),
        ("added-token-unsupported", lambda: _with_token("\u0301", normalized=True)),
        ("added-token-unsupported", lambda: _with_token(" l", lstrip=True, rstrip=True)),
    ],
)
def test_refusals(code: str, broken: Callable[[], TokenizerSpec]) -> None:
    with pytest.raises(EtchError) as refused:
        compile_tokenizer(broken())
    assert refused.value.code == code
    assert refused.value.stage in {"front-end", "pack"}
