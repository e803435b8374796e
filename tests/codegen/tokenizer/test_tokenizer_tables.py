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
from codegen.load.tokenizer_spec import AddedToken, WordPieceSpec
from codegen.tokenizer import UNICODE_TABLE_BYTES, compile_wordpiece, scratch_bytes, unicode_tables
from codegen.tokenizer.unicode_probe import Probe, probe

ROOT = Path(__file__).resolve().parents[3]
STALE = "stale: run python3 -m codegen.tokenizer.unicode_tables"


@pytest.fixture(scope="module")
def asked() -> Probe:
    return probe()


def test_unicode_tables_are_current(asked: Probe) -> None:
    assert unicode_tables.PATH.read_text(encoding="utf-8") == unicode_tables.render(asked), STALE


def test_unicode_tables_are_small(asked: Probe) -> None:
    assert unicode_tables.table_bytes(asked) == UNICODE_TABLE_BYTES < 20 << 10


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
    first, second = compile_wordpiece(spec()), compile_wordpiece(spec())
    assert first.fields == second.fields
    assert first.constants == second.constants
    for (name, array), (_, other) in zip(first.arrays, second.arrays, strict=True):
        assert array.tobytes() == other.tobytes(), name
        assert array.ndim == 1, name
        assert len(array) > 0, name
        assert array.dtype in (np.uint8, np.uint16, np.uint32, np.int32), name


def test_fields_are_those_of_the_struct_in_order() -> None:
    header = (ROOT / "runtime" / "include" / "etch" / "tokenizer.hpp").read_text(encoding="utf-8")
    body = header.split("struct WordPiece {")[1].split("};")[0]
    declared = [line.split(";")[0].split()[-1] for line in body.splitlines() if ";" in line.split("//")[0]]
    assert [field.name for field in compile_wordpiece(spec()).fields] == declared


def test_bytes_per_piece() -> None:
    """Random digits share fewer beginnings than words: with BERT's vocabulary it is 6.2."""
    pieces = (*PIECES, *(f"{'##' if i % 4 == 0 else ''}{i * 7919 % 10**6:06d}" for i in range(30_000)))
    tables = compile_wordpiece(_with_pieces(tuple(dict.fromkeys(pieces))))
    assert tables.constants["table_bytes"] / tables.constants["piece_count"] < 7


def test_scratch_formula() -> None:
    assert scratch_bytes(100) == 1400
    assert scratch_bytes(0) == 0
    assert compile_wordpiece(spec()).constants["scratch_bytes"] == scratch_bytes(100)


def _with_pieces(pieces: tuple[str | None, ...]) -> WordPieceSpec:
    base = spec()
    described = json.loads(base.json)
    described["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces) if piece is not None}
    return replace(base, pieces=pieces, json=json.dumps(described))


def _with_token(content: str, **changes: bool | int) -> WordPieceSpec:
    flags = {"special": False, "normalized": False, "single_word": False, "lstrip": False, "rstrip": False}
    token = AddedToken(content, **{"id": len(PIECES), **flags, **changes})
    return spec((token,))


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        ("duplicate-piece", lambda: _with_pieces((*PIECES, "the"))),
        ("word-limit-unsupported", lambda: replace(spec(), max_input_chars_per_word=5000)),
        ("word-limit-unsupported", lambda: replace(spec(), max_input_chars_per_word=-1)),
        ("token-id-out-of-range", lambda: replace(spec(), unknown_id=-1)),
        ("token-id-out-of-range", lambda: replace(spec(), separate_id=2**31)),
        ("empty-vocabulary", lambda: replace(spec(), pieces=(None,) * 5)),
        ("added-token-id-mismatch", lambda: _with_token("new", id=7)),
        ("added-token-id-mismatch", lambda: _with_token("new", id=10**7)),
        ("token-id-out-of-range", lambda: _with_token("new", id=2**31)),
        ("added-token-unsupported", lambda: _with_token("a\ufffdb")),
        ("added-token-unsupported", lambda: _with_token("\u0301", normalized=True)),
        ("added-token-unsupported", lambda: _with_token(" l", lstrip=True, rstrip=True)),
    ],
)
def test_refusals(code: str, broken: Callable[[], WordPieceSpec]) -> None:
    with pytest.raises(EtchError) as refused:
        compile_wordpiece(broken())
    assert refused.value.code == code
    assert refused.value.stage in {"front-end", "pack"}
