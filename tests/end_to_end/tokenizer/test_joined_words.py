# SPDX-License-Identifier: Apache-2.0
"""Texts of words that Moses' rules join: the runtime against `sacremoses`, token by token, and what `transformers`
itself made of ids."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from moses_cases import FOLDERS, PIECES, drawn_ids, write
from moses_files import drawn_text
from public_data import data_folder
from tokenizer_harness import Decoding, random_source
from tokenizer_texts import SCALARS, corpus_lines, swept_scalars

from codegen.ir.target_tokenizer import DecoderSpec, TargetTokenizer
from codegen.ir.tokenizer_spec import END_OF_WORD, TokenizerSpec
from codegen.library_tokenizer.joined_words import JoinedWords
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.character_tokenizers import character_spec
from codegen.load.tokenizer_files.moses_library import moses_words
from codegen.load.tokenizer_files.text_tokenizers import load_text_tokenizers

pytest.importorskip("sacremoses")
GENERATION = Path(__file__).resolve().parents[2] / "codegen" / "generation"
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# What rules ask for, and what looks like it.
_PARTS = (
    *("'", '"', "`", "\u201e", "\u201c", "\u201d", "''", "``", "'s", "'S", "n't", "s", "es", "ab", "A", "5", "1,000"),
    *(
        ".",
        ",",
        "?",
        "!",
        ":",
        ";",
        "\\",
        "%",
        "}",
        "]",
        ")",
        "...",
        "(",
        "[",
        "{",
        "$",
        "\u20ac",
        "\xbf",
        "\xa1",
        "$5",
    ),
    *("@-@", "@", "-", "@-", "-@", "&amp;", "&apos;", "&quot;", "&#91;", "&#93;", "&#124;", "&lt;", "&gt;", "&bar;"),
    *("&bra;", "&ket;", "&", "&a", "amp;", "&quot", "#91;", "&amp", "lt;", ";", "\u4e2d", "\u3042", "\ud55c", "\u3002"),
    *("\xe9", "\u0416", "\u0301", "\U0001f600", "\ud55c\u4e2d", "&#1", "&&", "\xa0", "\u2028x", "a\tb", "\x1c", "a b"),
)


@dataclass(frozen=True)
class Joined:
    decoding: Decoding
    library: JoinedWords
    ids: dict[str, int]

    def of(self, words: Sequence[str]) -> list[int]:
        return [self.ids[word] for word in words]


def joined(language: str, texts: Sequence[str] = ()) -> Joined:
    """Each part with an end of a word and without, then the texts; a gap, and a token that is added."""
    pieces = tuple(dict.fromkeys((*_SPECIAL, *_PARTS, *(part + END_OF_WORD for part in _PARTS), *texts)))
    spec: TokenizerSpec = character_spec(pieces, 3, _SPECIAL, None, None)
    decoder = DecoderSpec(space=END_OF_WORD, moses=language, absent="<unk>")
    return Joined(
        Decoding(spec, decoder),
        JoinedWords(TargetTokenizer(spec, decoder)),
        {piece: i for i, piece in enumerate(pieces)},
    )


@pytest.fixture(scope="module", params=["english", "german"])
def both(request: pytest.FixtureRequest) -> Joined:
    return joined(request.param)


def check(both: Joined, behind: Sequence[tuple[Sequence[int], Sequence[int]]]) -> None:
    for (prompt, ids), parts in zip(behind, both.decoding.join(behind), strict=True):
        for part in parts:
            part.decode()  # whole characters
        assert b"".join(parts).decode() == both.library.text(ids, prompt), (prompt, ids)


def drawn(source: random.Random, both: Joined, most: int) -> list[int]:
    return source.choices(range(len(both.ids)), k=source.randint(0, most))


def test_drawn_ids(both: Joined) -> None:
    source = random_source()
    check(both, [((), drawn(source, both, 12)) for _ in range(3000)])


def test_drawn_words(both: Joined) -> None:
    """Each of which ends."""
    source = random_source()
    ends = [i for text, i in both.ids.items() if text.endswith(END_OF_WORD)]
    check(both, [((), source.choices(ends, k=source.randint(0, 30))) for _ in range(1000)])


def test_behind_prompts(both: Joined) -> None:
    source = random_source()
    check(both, [(drawn(source, both, 6), drawn(source, both, 5)) for _ in range(4000)])


@pytest.mark.parametrize("name", FOLDERS)
def test_texts_of_the_library(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)
    rows = 4 + len(PIECES)
    limits = Limits(20, rows, 20, "max_position_embeddings", writes_texts=True, target_entries=rows)
    target = load_text_tokenizers(CheckpointFolder(tmp_path), Config.from_json({"model_type": "fsmt"}), limits).target
    parts = Decoding(target.spec, target.decoder).join([((), ids) for ids in drawn_ids()])
    recorded = json.loads((GENERATION / "moses_texts.json").read_text(encoding="utf-8"))
    assert [b"".join(one).decode() for one in parts] == recorded[name]["decoded"]


def test_every_short_text(both: Joined) -> None:
    """Of what the rules are about."""
    some = both.of(["'</w>", '"</w>', "'", ".", ".</w>", "(</w>", "s</w>", "@-@</w>", "\u4e2d</w>"])
    every = [one for size in range(1, 4) for one in product(some, repeat=size)]
    check(both, [((), one) for one in every])
    check(both, [(one[:split], one[split:]) for one in every for split in range(1, len(one))])


@pytest.mark.parametrize("language", ["english", "german"])
def test_the_edges_of_kinds(language: str) -> None:
    ranges = dict(joined(language).decoding.part.arrays)["class_ranges"] >> 8
    edges = {int(scalar) for scalar in (*ranges, *(ranges - 1))}
    check_scalars(language, sorted(edges & {*SCALARS} | {*range(1, 128)}))


@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_every_scalar() -> None:
    check_scalars("english", swept_scalars())


def check_scalars(language: str, scalars: Sequence[int]) -> None:
    """Each as a word, behind an apostrophe, and before a letter."""
    for at in range(0, len(scalars), 4096):
        each = [[f"{c}</w>", f"'{c}</w>", f"{c}a</w>"] for c in map(chr, scalars[at : at + 4096])]
        of = joined(language, [text for texts in each for text in texts])
        mark, word = of.of(["'</w>", "A</w>"])
        check(of, [((), [word, first, second, first, word, mark, third]) for first, second, third in map(of.of, each)])


@pytest.mark.parametrize("corpus", ["ag_news", "wikitext", "tokenizer_text"])
def test_real_texts(corpus: str) -> None:
    """Words as the rules find them, one a token."""
    some = [line for _, lines in corpus_lines(data_folder(), corpus) for line in lines[:: len(lines) // 40 + 1]]
    words = [[word + END_OF_WORD for word in moses_words(line.decode(errors="replace"))] for line in some]
    words = [[word for word in each if len(word) < 300] for each in words]
    for language in ("english", "german"):
        both = joined(language, sorted({word for each in words for word in each}))
        check(both, [((), both.of(each)) for each in words])


def test_words_too_long_to_be_held() -> None:
    """Of 28 marks and more, and of more than three quotation marks: sacremoses remembers any."""
    both = joined("english")
    dot, word, quote, end = both.of([".", "ab</w>", "'", ".</w>"])
    text = b"".join(both.decoding.join([((word,), [*[dot] * 28, word])])[0]).decode()
    assert text == " " + "." * 28 + "ab"
    text = b"".join(both.decoding.join([((word,), [*[dot] * 29, word])])[0]).decode()
    assert text == "." * 29 + "ab"
    check(both, [((), [word, *[dot] * 60, end, word])])
    quotes = [*[quote] * 3, both.ids["'</w>"]]
    parts = both.decoding.join([((), [word, *quotes, word, *quotes, word])])[0]
    assert b"".join(parts).decode() == "ab ''''ab ''''ab"


def test_what_is_decided_is_written() -> None:
    both = joined("english")
    ids = both.of(["ab", "s</w>", ".</w>", "'", "s</w>", "&quot", ";</w>", "A</w>", "(</w>"])
    parts = [part.decode() for part in both.decoding.join([((), ids)])[0]]
    assert parts == ["ab", "s", "", ".", "'s", "", "", ' "A', " (", ""]


def test_drawn_texts_come_back() -> None:
    source = random_source()
    texts = [drawn_text(source, 20) for _ in range(300)]
    words = [[word + END_OF_WORD for word in moses_words(text)] for text in texts]
    of = joined("english", sorted({word for each in words for word in each}))
    check(of, [((), of.of(each)) for each in words])
