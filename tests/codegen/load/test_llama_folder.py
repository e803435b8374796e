# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE of a folder: its own file as LlamaTokenizer of transformers 5.23 reads it, whose ids are recorded
here, and tokenizer.json, which counts as it is: notes stand wherever the ids of AutoTokenizer were others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from recorded_changes import assert_refused
from sentencepiece_files import sentencepiece_file
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.ir.tokenizer_spec import METASPACE, CharacterBpeModel, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.llama import derived_merges
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_config import AS_IN_JSON
from codegen.load.tokenizer_files.tokenizer_json.decoder import read_decoder
from codegen.tokenizer import compile_tokenizer

UNKNOWN, CONTROL, USER_DEFINED, BYTE = 2, 3, 4, 6
FIRST = (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), ("<tool>", USER_DEFINED))
BYTES = tuple((piece, BYTE) for piece in BYTE_PIECES)
WORDS = ("t", "he", "the", "at", "c", "cat", "th", "cat", "ing", "in", "ng", "the", "", *"thecaing<s>/\u00e9")
SPACED = (0, 2, 4, 5, 12)  # of them begin with U+2581
TEXTS = ("the cats", " \u00c9t\u00e9  in<tool>the </s>catching", "", "chanting the\n", "\u4e2d<s>the")
PAIR = "the cat", "at"
_SECOND = [272, 199, 141, 273, 285, 272, 272, 269, 3]
EXPECTED: list[tuple[dict[str, Any], list[list[int]]]] = [
    (
        {},
        [
            [262, 265, 282],
            [*_SECOND, 271, 272, 2, 267, 276, 274, 268],
            [],
            [264, 274, 277, 279, 273, 268, 262, 14],
            [272, 232, 188, 177, 1, 271],
            [262, 265, 272, 263],
        ],
    ),
    (
        {"legacy": True},
        [
            [262, 265, 282],
            [*_SECOND, 262, 272, 2, 265, 276, 274, 268],
            [],
            [264, 274, 277, 279, 273, 268, 262, 14],
            [272, 232, 188, 177, 1, 262],
            [262, 265, 272, 263],
        ],
    ),
    (
        {"add_bos_token": True, "add_eos_token": True},
        [
            [1, 262, 265, 282, 2],
            [1, *_SECOND, 271, 272, 2, 267, 276, 274, 268, 2],
            [1, 2],
            [1, 264, 274, 277, 279, 273, 268, 262, 14, 2],
            [1, 272, 232, 188, 177, 1, 271, 2],
            [1, 262, 265, 2, 1, 272, 263, 2],
        ],
    ),
    (
        {"add_prefix_space": False, "add_bos_token": None},
        [
            [271, 265, 282],
            [*_SECOND, 271, 272, 2, 267, 276, 274, 268],
            [],
            [276, 274, 277, 279, 273, 268, 262, 14],
            [232, 188, 177, 1, 271],
            [271, 265, 263],
        ],
    ),
]


def pieces() -> list[tuple[str, float]]:
    texts = [METASPACE * (i in SPACED) + word for i, word in enumerate(WORDS)]
    return [(text, -float(i)) for i, text in enumerate(texts) if text not in texts[:i]]


def model_folder(
    path: Path,
    first: Iterable[tuple[str, int]] = (*FIRST, *BYTES),
    more: Iterable[tuple[str, float]] = (),
    model_type: int = 2,
    **config: Any,
) -> Path:
    path.joinpath("tokenizer.model").write_bytes(sentencepiece_file(first, [*pieces(), *more], model_type=model_type))
    path.joinpath("tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "LlamaTokenizer", **config}))
    return path


def read(path: Path, class_in_config: object = None, usual: str = "BertTokenizer") -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(path), 300, class_in_config, usual)


@pytest.mark.parametrize(("config", "expected"), EXPECTED)
def test_as_transformers_reads_it(config: dict[str, Any], expected: list[list[int]], tmp_path: Path) -> None:
    spec = read(model_folder(tmp_path, **config))
    wheel = Tokenizer.from_str(spec.json)
    assert [wheel.encode(text).ids for text in TEXTS] + [wheel.encode(*PAIR).ids] == expected
    assert spec.summary == "SentencePiece BPE"
    assert read_decoder(json.loads(spec.json)["decoder"]).strip == config.get("add_prefix_space", True)
    compile_tokenizer(spec)


def test_the_class_that_config_json_names(tmp_path: Path) -> None:
    path = model_folder(tmp_path)
    whole = read(path)
    (path / "tokenizer_config.json").unlink()
    assert read(path, "LlamaTokenizerFast") == whole
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": None}))
    assert read(path, "LlamaTokenizer") == read(path, usual="LlamaTokenizer") == whole


@pytest.mark.parametrize("usual", ["Qwen2Tokenizer", AS_IN_JSON])
def test_families_that_do_not_ask_for_the_class(usual: str, tmp_path: Path) -> None:
    """`transformers` makes their own of tokenizer.model, or a TokenizersBackend, with other ids than LlamaTokenizer."""
    with pytest.raises(EtchError, match=r"Qwen2Tokenizer|'TokenizersBackend' needs tokenizer\.json") as refused:
        read(model_folder(tmp_path), usual=usual)
    assert (refused.value.code, refused.value.file) == ("tokenizer-class", None)


def test_a_llama_of_which_no_file_names_the_class(tmp_path: Path) -> None:
    """`transformers` makes a TokenizersBackend of it, too."""

    def without_class(path: Path) -> None:
        model_folder(path)
        (path / "tokenizer_config.json").unlink()
        (path / "tokenizer.json").unlink()

    words = "'TokenizersBackend' needs tokenizer.json"
    assert_refused("llama/multi_label", without_class, "tokenizer-class", words, tmp_path)


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_new_tokens_get_ids_in_the_order_of_the_library(file: str, tmp_path: Path) -> None:
    """Not in that of the file."""
    path = model_folder(tmp_path)
    values = json.loads((path / file).read_text()) if (path / file).exists() else {}
    named = {"unk_token": "<2>", "eos_token": "<1>", "bos_token": "<0>"}
    (path / file).write_text(json.dumps(values | named))
    new = [token for token in read(path).added_tokens if token.content in named.values()]
    assert [token.content for token in new] == ["<0>", "<1>", "<2>"]


def test_merges_are_all_ways_to_write_a_piece() -> None:
    """In the order of `generate_merges` of transformers, recorded."""
    vocab = {text: i for i, (text, _) in enumerate(pieces())}
    written = "_ t|h e|_ the|_t he|a t|_ c|_ cat|_c at|t h|c at|i ng|in g|i n|n g|t he|th e"
    assert derived_merges(vocab) == [pair.split() for pair in written.replace("_", METASPACE).split("|")]


def json_folder(path: Path, **changes: Any) -> Path:
    """With what tokenizer.model makes as tokenizer.json in its place; a dictionary changes the part of its name."""
    config = path / "tokenizer_config.json"
    written = config.read_text()
    config.write_text(json.dumps({"tokenizer_class": "LlamaTokenizer"}))
    values = json.loads(read(path).json)
    config.write_text(written)
    for key, value in changes.items():
        values[key] = {**(values[key] or {}), **value} if key == "model" else value
    path.joinpath("tokenizer.json").write_text(json.dumps(values))
    path.joinpath("tokenizer.model").unlink()
    return path


OLD = {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": METASPACE},
            {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE},
        ],
    },
    "pre_tokenizer": None,
}
GEMMA = {
    "normalizer": OLD["normalizer"]["normalizers"][1],
    "pre_tokenizer": {
        "type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False,
    },
}  # fmt: skip
AS_GEMMA = {"tokenizer_class": "GemmaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
AS_GEMMA |= {"pad_token": "</s>", "mask_token": "<unk>"}


@pytest.mark.parametrize(
    ("changes", "config", "other"),
    [
        ({}, {}, []),
        ({}, {"legacy": False, "add_bos_token": True, "add_prefix_space": None}, []),
        ({}, {"legacy": None}, []),
        ({}, {"legacy": True}, ["pre_tokenizer"]),
        (OLD, {"legacy": False, "add_prefix_space": True}, ["pre_tokenizer"]),
        (OLD, {"tokenizer_class": "PreTrainedTokenizerFast"}, []),
        (GEMMA, AS_GEMMA, []),
        (GEMMA, {"add_prefix_space": False}, []),
        (OLD, AS_GEMMA, ["pre_tokenizer"]),
        ({"model": {"ignore_merges": True}}, {}, ["model"]),
        ({"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}}, {}, ["normalizer"]),
    ],
)
def test_tokenizer_json_counts(
    changes: dict[str, Any], config: dict[str, Any], other: list[str], tmp_path: Path
) -> None:
    found = read(json_folder(model_folder(tmp_path, **config), **changes))
    theirs, ours = Tokenizer.from_file(f"{tmp_path / 'tokenizer.json'}"), Tokenizer.from_str(found.json)
    assert [ours.encode(text).ids for text in TEXTS] == [theirs.encode(text).ids for text in TEXTS]
    assert [note.split(":")[0].split()[-1] for note in found.notes if note.endswith("counts")] == other
    compile_tokenizer(found)


@pytest.mark.parametrize("name", ["BarthezTokenizer", "T5TokenizerFast", "CamembertTokenizer"])
def test_older_files_of_other_classes(name: str, tmp_path: Path) -> None:
    """BPE where `transformers` 5 has Unigram only: it does not read them, `tokenizers` does."""
    path = json_folder(model_folder(tmp_path, tokenizer_class=name), **OLD)
    found = read(path)
    theirs, ours = Tokenizer.from_file(f"{path / 'tokenizer.json'}"), Tokenizer.from_str(found.json)
    assert [ours.encode(text).ids for text in TEXTS] == [theirs.encode(text).ids for text in TEXTS]
    assert found.notes[0].startswith(f"{name.removesuffix('Fast')} of transformers 5 does not read")
    compile_tokenizer(found)


def test_both_files_must_have_the_same_pieces(tmp_path: Path) -> None:
    json_folder(model_folder(tmp_path))
    model_folder(tmp_path)
    assert read(tmp_path).notes == ("vocab_size is 300, the tokenizer produces ids up to 285",)
    model_folder(tmp_path, more=[("another", 0.0)])
    with pytest.raises(EtchError, match="other pieces") as refused:
        read(tmp_path)
    assert refused.value.code == "tokenizer-conflict"


def test_special_pieces(tmp_path: Path) -> None:
    spec = read(model_folder(tmp_path))
    assert [(token.content, token.special) for token in spec.added_tokens] == [
        ("<unk>", True), ("<s>", True), ("</s>", True), ("<tool>", False),
    ]  # fmt: skip
    assert isinstance(spec.model, CharacterBpeModel)
    assert (spec.model.unknown_id, spec.model.byte_fallback) == (None, True)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"model_type": 1}, "sentencepiece-type"),
        ({"first": FIRST}, "missing-special-token"),
        ({"first": (*FIRST, *BYTES[:9])}, "tokenizer-bytes"),
        ({"more": [("the", 0.0)]}, "vocab-duplicate-piece"),
        ({"add_bos_token": 1}, "config-type"),
        ({"legacy": 1}, "config-type"),
        ({"pad_token": "<pad>"}, "tokenizer-conflict"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as refused:
        read(model_folder(tmp_path, **changes))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("changes", "config", "words"),
    [
        ({}, {"add_prefix_space": False}, "add_prefix_space"),
        ({}, {"added_tokens_decoder": {}}, "added tokens"),
        ({}, {"tokenizer_class": "GemmaTokenizer"}, "<bos>"),
        ({"pre_tokenizer": None}, {}, "Replace of spaces"),
    ],
)
def test_contradictions_are_refused(
    changes: dict[str, Any], config: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = json_folder(model_folder(tmp_path, **config), **changes)
    with pytest.raises(EtchError, match=words):
        read(path)
