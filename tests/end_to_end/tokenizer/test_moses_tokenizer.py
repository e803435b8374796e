# SPDX-License-Identifier: Apache-2.0
"""BioGptTokenizer: the runtime against `sacremoses` and the wheel; load/test_moses_folder.py has what `transformers`
itself made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from fairseq_files import learned
from moses_files import ALPHABET, SPECIAL, drawn_text, write_folder
from public_data import data_folder
from tokenizer_harness import UNLIMITED, Runtime, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, SCALARS, corpus_lines, random_bytes, swept_scalars

from codegen.ir.tokenizer_spec import CharacterBpeModel
from codegen.library_tokenizer.wheel_tokenizer import WheelTokenizer, wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

pytest.importorskip("sacremoses")
_LETTERS = "abeghinorstDMNS.,'&;@-0159\u00e9\u4e2d"


@dataclass(frozen=True)
class Compared:
    runtime: Runtime
    library: WheelTokenizer
    behind: int = 0  # special tokens behind a text


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Merges of drawn words and of what the rules write; some pieces have no id."""
    place = tmp_path_factory.mktemp("moses")
    source = random_source()
    words = [
        *("&apos;", "&apos;s", "&quot;", "&amp;", "&#91;", "@-@", "..."),
        *("".join(source.choices(_LETTERS, k=5)) for _ in range(200)),
    ]
    pairs, _ = learned(source, words, 80)
    symbols = {*_LETTERS, *ALPHABET, *"quotampl#9137MULTI"}
    symbols |= {"".join(pair) for pair in pairs} | {symbol + "</w>" for symbol in symbols if len(symbol) == 1}
    pieces = sorted(symbol for symbol in symbols if not symbol.isspace() and source.random() < 0.9)
    write_folder(place, pairs, [piece for piece in pieces if piece and "<" not in piece.removesuffix("</w>")])
    found = load_tokenizer(CheckpointFolder(place), 1000)
    assert isinstance(found.model, CharacterBpeModel) and found.model.without_id
    return Compared(Runtime(found), wheel_tokenizer(found))


def check(both: Compared, texts: Sequence[bytes], most: int = UNLIMITED, *, plain_text: bool = False) -> None:
    """Ids are those of the libraries; `sacremoses` tells no offsets: they ascend, inside of the text."""
    both.library.encode_special_tokens = plain_text
    both.library.enable_truncation(most)
    for text, ours in zip(texts, both.runtime.encode(texts, most, plain_text), strict=True):
        theirs = both.library.encode(text.decode(errors="replace"))
        assert ours.ids.tolist() == theirs.ids, text
        assert ours.truncated == bool(theirs.overflowing), text
        places = ours.offsets[1 : len(ours.ids) - both.behind]
        assert (places[:, 0] <= places[:, 1]).all() and (places[:, 1] <= len(text)).all(), text
        assert (np.diff(places[:, 0].astype(np.int64)) >= 0).all(), text


def test_drawn_texts(both: Compared) -> None:
    source = random_source()
    texts = [*HARD_TEXTS, *(drawn_text(source) for _ in range(1500))]
    with_tokens = ["".join(source.choices((*ALPHABET, *SPECIAL, "</", "s>"), k=9)) for _ in range(500)]
    given = [text.encode() for text in (*texts, *with_tokens)]
    check(both, given)
    check(both, given, 5)
    check(both, given, plain_text=True)
    check(both, [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))])


def test_pairs(both: Compared) -> None:
    source = random_source()
    pairs = [(drawn_text(source), drawn_text(source)) for _ in range(300)]
    given = [(first.encode(), second.encode()) for first, second in pairs]
    for most in (UNLIMITED, 8):
        both.library.encode_special_tokens = False
        both.library.enable_truncation(most)
        for pair, ours in zip(pairs, both.runtime.encode_pairs(given, most), strict=True):
            assert ours.ids.tolist() == both.library.encode(*pair).ids, pair


def test_every_short_text(both: Compared) -> None:
    """Of what rules are about."""
    texts = ["".join(one) for size in range(1, 5) for one in product("'.,- a5s", repeat=size)]
    check(both, [text.encode() for text in texts])


def real_texts(corpus: str) -> list[bytes]:
    """Some of each file; a word of more than 1,024 bytes is cut. All together: a start of the driver takes as long as
    a hundred texts."""
    some = [line for _, lines in corpus_lines(data_folder(), corpus) for line in lines[:: len(lines) // 40 + 1]]
    return [line for line in some if all(len(word) < 1000 for word in line.split())]


def around(scalars: Sequence[int]) -> list[bytes]:
    """Each between letters, digits, apostrophes and commas, and behind a period."""
    every = [chr(scalar) for scalar in scalars]
    parts = (every[at : at + 64] for at in range(0, len(every), 64))
    return [" ".join(f"a{c}'b{c},5{c}-{c}5, .{c} A. {c}" for c in part).encode() for part in parts]


def test_the_edges_of_kinds(both: Compared) -> None:
    ranges = dict(both.runtime.tables.arrays)["class_ranges"] >> 8
    edges = {int(scalar) for scalar in (*ranges, *(ranges - 1))}
    check(both, around(sorted(edges & {*SCALARS} | {*range(128)})))


@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_every_scalar(both: Compared) -> None:
    check(both, around(swept_scalars()))


@pytest.mark.parametrize("corpus", ["ag_news", "ner", "tokenizer_text", "unicode", "wikitext"])
def test_real_texts(corpus: str, both: Compared) -> None:
    check(both, real_texts(corpus))


def test_a_long_text_and_long_runs(both: Compared) -> None:
    """What is held does not grow."""
    for text in (
        "." * 1000,
        "DOT" * 300 + "MULTI",
        "DOT" * 300,
        "'" * 500,
        "," * 501,
        "- " * 700,
        "a.b " * 600,
        "Mr. " * 400,
    ):
        for behind in ("", "a", " 5", "'", "..", "\x01"):
            check(both, [(text + behind).encode()])
