# SPDX-License-Identifier: Apache-2.0
"""PLBartTokenizer's folder: its ids are those that `transformers` 5.23 gave; what it asks for besides is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sentencepiece_files import CONTROL, sentencepiece_file

from codegen.errors import EtchError
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.languages import language_of, language_tokens
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "generation"))
from m2m_files import FIRST, PIECES

FILE, ROWS = "sentencepiece.bpe.model", 60
SCORES = [(piece, -float(i)) for i, piece in enumerate(PIECES)]
MERGED = sentencepiece_file(FIRST, SCORES, model_type=2)
# Of `multi`: without what ends them.
IDS = {
    "the cat and a king": [6, 9, 14, 12, 20, 31, 11],
    "  the   catering\n": [6, 9, 17, 11, 3],
    "</s>the cat": [2, 6, 9],
    "<unk>": [3],
    "__java__ the__python__a": [47, 6, 48, 12],
    "": [],
    "\u2581the": [20, 6],
    "THE the": [20, 3, 6],
    "a<pad>a": [12, 1, 12],
    "__go__ in": [53, 16],
    "in 'q'": [16, 20, 3, 37, 3],
}
MULTI = {"language_codes": "multi"}


def read(place: Path, model: bytes | None = MERGED, rows: int = ROWS, **config: Any) -> TextTokenizers:
    """Of a folder with this file, None: without one."""
    if model is not None:
        (place / FILE).write_bytes(model)
    (place / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    limits = Limits(8, rows, 64, "positions", "PLBartTokenizer")
    return load_text_tokenizers(CheckpointFolder(place), Config.from_json({"model_type": "plbart"}), limits)


@pytest.mark.parametrize(
    ("config", "end"),
    [
        (MULTI, [2, 49]),
        (MULTI | {"src_lang": "go"}, [2, 53]),
        (MULTI | {"src_lang": "__php__"}, [2, 51]),
        ({"language_codes": "base", "src_lang": "python"}, [2, 48]),
        ({}, [2]),
    ],
)
def test_ids_are_those_of_the_library(config: dict[str, Any], end: list[int], tmp_path: Path) -> None:
    tokenizers = read(tmp_path, **config)
    library = wheel_tokenizer(tokenizers.source)
    texts = [text for text in IDS if config.get("language_codes") == "multi" or "__go__" not in text]
    assert {text: library.encode(text).ids for text in texts} == {text: [*IDS[text], *end] for text in texts}
    assert library.encode("a", "the b").ids == [12, 6, 20, 22, *end]
    assert tokenizers.source.sentencepiece is not None
    assert set(tokenizers.source.added_tokens) == set(tokenizers.target.spec.added_tokens)


def test_the_mask_is_behind_the_languages(tmp_path: Path) -> None:
    assert wheel_tokenizer(read(tmp_path).source).encode("the <mask> cat").ids == [6, 50, 9, 2]


def test_unigram(tmp_path: Path) -> None:
    """The likeliest pieces, not the first that are merged."""
    scores = [("\u2581", -1.0), ("\u2581a", -9.0), ("a", -2.0), ("b", -3.0)]
    tokenizers = read(tmp_path, sentencepiece_file(FIRST, scores, model_type=1))
    assert wheel_tokenizer(tokenizers.source).encode("ab \u732b").ids == [4, 6, 7, 4, 3, 2]


def test_languages(tmp_path: Path) -> None:
    spec = read(tmp_path, **MULTI).source
    assert language_of(spec) == "en_XX"
    codes = ("java", "python", "en_XX", "javascript", "php", "ruby", "go")
    assert language_tokens(spec) == {code: 47 + i for i, code in enumerate(codes)}


def test_what_is_written_keeps_its_spaces(tmp_path: Path) -> None:
    """The class drops them where it is not told otherwise; in another form `<mask>` is no piece."""
    noted = [note for note in read(tmp_path).target.spec.notes if "clean_up" in note]
    assert len(noted) == 1
    assert read(tmp_path, rows=51, clean_up_tokenization_spaces=False).target.spec.notes == ()
    (note,) = read(tmp_path, rows=54, clean_up_tokenization_spaces=False, **MULTI).target.spec.notes
    assert note.startswith("<mask> in a text")


TOKEN = {"content": "<y>", "special": True} | dict.fromkeys(("normalized", "single_word", "lstrip", "rstrip"), False)
REFUSED: dict[str, tuple[bytes | None, dict[str, Any], str, str]] = {
    "no file": (None, {}, "tokenizer-missing", FILE),
    "sampling": (MERGED, {"sp_model_kwargs": {"enable_sampling": True}}, "tokenizer-setting", "sp_model_kwargs"),
    "another reading": (MERGED, {"legacy": False}, "tokenizer-setting", "legacy"),
    "other languages": (MERGED, {"language_codes": "all"}, "tokenizer-setting", "language_codes"),
    "a list of languages": (MERGED, {"language_codes": ["base"]}, "tokenizer-setting", "language_codes"),
    "no language": (MERGED, {"src_lang": "go"}, "tokenizer-setting", "src_lang"),
    "not the name of a language": (MERGED, {"src_lang": 3}, "tokenizer-setting", "src_lang"),
    "another end": (MERGED, {"eos_token": "<s>"}, "tokenizer-setting", "eos_token"),
    "a token more": (MERGED, {"extra_special_tokens": ["<y>"]}, "added-token-unsupported", "<y>"),
    "a token of a file": (MERGED, {"added_tokens_decoder": {"51": TOKEN}}, "added-token-unsupported", "<y>"),
    "another id": (
        MERGED,
        {"added_tokens_decoder": {"4": TOKEN | {"content": "<mask>"}}},
        "added-token-unsupported",
        "<mask>",
    ),
    "other first pieces": (
        sentencepiece_file([FIRST[0], FIRST[2], FIRST[1]], SCORES, model_type=2),
        {},
        "sentencepiece-setting",
        "first pieces",
    ),
    "a language as a piece": (
        sentencepiece_file([*FIRST, ("__java__", CONTROL)], SCORES, model_type=2),
        {},
        "tokenizer-conflict",
        "__java__",
    ),
    "words": (sentencepiece_file(FIRST, SCORES, model_type=3), {}, "sentencepiece-type", "of type 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    model, config, code, words = REFUSED[case]
    with pytest.raises(EtchError) as caught:
        read(tmp_path, model, **config)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_rows_are_enough(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        read(tmp_path, rows=50)
    assert caught.value.code == "token-id-out-of-range"
