# SPDX-License-Identifier: Apache-2.0
"""XLMTokenizer, FlaubertTokenizer and FSMTTokenizer: the runtime against `sacremoses`, Python's Unicode and the wheel;
load/test_xlm_folder.py and load/test_fsmt_folder.py have what `transformers` itself made."""

from __future__ import annotations

import unicodedata
from itertools import product

import pytest
from fairseq_files import learned
from moses_files import ALPHABET, NORMALIZED_ALPHABET, XLM_SPECIAL, drawn_text, write_folder
from sampling import sampled
from test_moses_tokenizer import Compared, around, check, real_texts
from tokenizer_harness import Runtime, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, SCALARS, random_bytes, swept_scalars

from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

pytest.importorskip("sacremoses")
_KINDS = {
    "flaubert": {"tokenizer_class": "FlaubertTokenizer"},
    "flaubert, lower case": {"tokenizer_class": "FlaubertTokenizer", "do_lowercase": True},
    "xlm": {"tokenizer_class": "XLMTokenizer"},
    "xlm, as it is": {"tokenizer_class": "XLMTokenizer", "do_lowercase_and_remove_accent": False},
    "fsmt, english": {"tokenizer_class": "FSMTTokenizer", "langs": ["en", "de"]},
    "fsmt, german": {"tokenizer_class": "FSMTTokenizer", "langs": ["de", "ru"], "do_lower_case": True},
    "fsmt, russian": {"tokenizer_class": "FSMTTokenizer", "langs": ["ru", "en"]},
}
_RUSSIAN = "\u0442\u044b\u0441\u0433\u041c"
_ABBREVIATED = ("\u0442\u044b\u0441. ", "\u0433. ", "bzw. ", "z.B. ", "Hr. ", "1. ", "12. ", "Nr. 5")
_EVERY = (*NORMALIZED_ALPHABET, *ALPHABET)


@pytest.fixture(scope="module", params=sampled([*_KINDS], 3, "kinds of Moses' words"))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Single characters, and merges of drawn words; some pieces have no id."""
    place = tmp_path_factory.mktemp("xlm")
    source = random_source()
    words = ["".join(drawn_text(source, 5, _EVERY).split()) or "a" for _ in range(200)]
    pairs, _ = learned(source, words, 60)
    pairs = [pair for pair in pairs if "<" not in "".join(pair).replace("</w>", "")]
    characters = {c for text in _EVERY for one in (text, text.lower()) for c in one + unicodedata.normalize("NFD", one)}
    symbols = {f"{c}{end}" for c in characters | {*map(chr, range(33, 127))} for end in ("", "</w>")}
    symbols |= {"".join(pair) for pair in pairs}
    symbols |= {*"&;#9137", *(f"{c}{end}" for c in _RUSSIAN for end in ("", "</w>"))}
    some = sorted(symbol for symbol in symbols if not symbol.isspace() and source.random() < 0.97)
    pieces = [piece for piece in some if "<" not in piece.removesuffix("</w>")]
    write_folder(place, pairs, pieces, **_KINDS[request.param])
    found = load_tokenizer(CheckpointFolder(place), 2000)
    return Compared(Runtime(found), wheel_tokenizer(found), behind=1)


def test_drawn_texts(both: Compared) -> None:
    source = random_source()
    texts = [*HARD_TEXTS, *(drawn_text(source, alphabet=NORMALIZED_ALPHABET) for _ in range(1500))]
    texts += [drawn_text(source, alphabet=_EVERY) for _ in range(500)]
    texts += [drawn_text(source, alphabet=(*_RUSSIAN, *_ABBREVIATED, *" .,-'5\"")) for _ in range(300)]
    with_tokens = ["".join(source.choices((*_EVERY, *XLM_SPECIAL, "</", "s>"), k=9)) for _ in range(300)]
    given = [text.encode() for text in (*texts, *with_tokens)]
    check(both, given)
    check(both, given, 5)
    check(both, given, plain_text=True)
    check(both, [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(100))])


@pytest.mark.parametrize(
    "letters", ['\xab\xbb\xa0",1', ".,\"< '", "'`\u2019\xb4a ", "\u03a3A.\u0301 b", "-a5'\u2014 &"]
)
def test_every_short_text(letters: str, both: Compared) -> None:
    """Of what rules are about."""
    texts = ["".join(one) for size in range(1, 5) for one in product(letters, repeat=size)]
    check(both, [text.encode() for text in texts])


def test_the_edges_of_kinds(both: Compared) -> None:
    ranges = dict(both.runtime.tables.arrays)["class_ranges"] >> 8
    edges = {int(scalar) for scalar in (*ranges, *(ranges - 1))}
    check(both, around(sorted(edges & {*SCALARS} | {*range(128)})))


@pytest.mark.sweep
@pytest.mark.minutes(5)
def test_every_scalar(both: Compared) -> None:
    check(both, around(swept_scalars()))


@pytest.mark.parametrize("corpus", ["ag_news", "tokenizer_text", "unicode", "wikitext"])
def test_real_texts(corpus: str, both: Compared) -> None:
    check(both, real_texts(corpus))


def test_long_runs(both: Compared) -> None:
    """What is held does not grow."""
    for text in ("." * 1000, '."' * 300, '"' + "," * 500, "\xa0" * 501, "'" * 500, "\u3002" + " " * 700, "1\xa0" * 400):
        for behind in ("", "a", '"', '"x', "\xbb", "1"):
            check(both, [(text + behind).encode()])
