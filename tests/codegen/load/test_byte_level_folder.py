# SPDX-License-Identifier: Apache-2.0
"""Folders with byte-level BPE: what the files beside vocabulary and merges make of them, as transformers 5.23 has it
(AutoTokenizer was asked for the same folders), and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.byte_level import MERGES_FILE, VOCAB_FILE, read_byte_level_folder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_config import ADDED_TOKENS_FILE, SPECIAL_TOKENS_FILE
from codegen.load.tokenizer_files.tokenizer_config import FILE as CONFIG
from codegen.load.tokenizer_files.tokenizer_json.fields import FILE as JSON
from codegen.tokenizer import compile_tokenizer

PIECES = 286
Change = Callable[[Path], object]


def put(file: str, **values: object) -> Change:
    """Sets keys of a JSON file, which need not be there; None removes one."""

    def change(path: Path) -> None:
        old = json.loads((path / file).read_text()) if (path / file).exists() else {}
        new = {key: value for key, value in (old | values).items() if value is not None}
        (path / file).write_text(json.dumps(new))

    return change


def remove(*files: str) -> Change:
    return lambda path: [(path / file).unlink() for file in files]


def both(*changes: Change) -> Change:
    return lambda path: [change(path) for change in changes]


def described(change: Callable[[dict[str, Any]], object]) -> Change:
    """Changes tokenizer.json."""

    def apply(path: Path) -> None:
        values = json.loads((path / JSON).read_text())
        change(values)
        (path / JSON).write_text(json.dumps(values))

    return apply


def token(text: str, **flags: object) -> dict[str, Any]:
    usual = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"content": text, **usual, **flags}


def added(text: str, number: int, **flags: object) -> Change:
    """One more token in tokenizer.json."""
    return described(lambda values: values["added_tokens"].append({"id": number, **token(text, **flags)}))


FILES_ONLY = remove(JSON, CONFIG)
AS_IN_JSON = put(CONFIG, tokenizer_class="PreTrainedTokenizerFast")
DECODER = {
    str(number): token(text, special=True)
    for number, text in enumerate(("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    if text != "<mask>"
} | {str(PIECES - 1): token("<mask>", special=True)}
BERT = {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "<s>", "type_id": 1}},
        {"Sequence": {"id": "B", "type_id": 1}},
    ],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with all of the files."""
    path = shutil.copytree(folder("roberta/softmax"), tmp_path / "model")
    for file in (VOCAB_FILE, MERGES_FILE):
        shutil.copy(folder("roberta/regression") / file, path)
    return path


def read(path: Path) -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(path), PIECES + 5, usual_class="RobertaTokenizer")


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(*texts).ids


def test_files_alone_are_the_same_tokenizer(place: Path) -> None:
    whole = read(place)
    FILES_ONLY(place)
    assert replace(read(place), json="") == replace(whole, json="")
    assert [t.content for t in whole.added_tokens] == ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    assert not any(t.normalized or t.lstrip for t in whole.added_tokens)
    assert ids(whole, "the", "cat")[:2] == [0, ids(whole, "the")[1]]
    assert [i for i in ids(whole, "the", "cat") if i in (0, 2)] == [0, 2, 2, 2]
    assert whole.template.segments == 1


ACCEPTED: dict[str, tuple[Change, Callable[[TokenizerSpec], bool]]] = {
    "tokenizer.json alone": (remove(VOCAB_FILE, MERGES_FILE, CONFIG), lambda spec: not spec.segmenter.add_prefix_space),
    "prefix": (both(FILES_ONLY, put(CONFIG, add_prefix_space=True)), lambda spec: spec.segmenter.add_prefix_space),
    "offsets": (both(FILES_ONLY, put(CONFIG, trim_offsets=False)), lambda spec: spec.trimming is None),
    "mask strips": (
        both(FILES_ONLY, put(SPECIAL_TOKENS_FILE, mask_token=token("<mask>", lstrip=True))),
        lambda spec: [t.content for t in spec.added_tokens if t.lstrip] == ["<mask>"],
    ),
    "a decoder without tokenizer.json": (
        both(FILES_ONLY, put(CONFIG, added_tokens_decoder=DECODER | {str(PIECES): token("[X]", rstrip=True)})),
        lambda spec: [(t.id, t.rstrip) for t in spec.added_tokens if t.content == "[X]"] == [(PIECES, True)],
    ),
    "added_tokens.json": (
        both(FILES_ONLY, put(ADDED_TOKENS_FILE, **{"[X]": PIECES})),
        lambda spec: [(t.id, t.normalized) for t in spec.added_tokens if not t.special] == [(PIECES, True)],
    ),
    "added_tokens.json beside a decoder": (
        both(put(CONFIG, added_tokens_decoder=DECODER), put(ADDED_TOKENS_FILE, **{"[X]": PIECES})),
        lambda spec: len(spec.added_tokens) == 5 and any(ADDED_TOKENS_FILE in note for note in spec.notes),
    ),
    "one more in tokenizer.json": (
        added("[X]", PIECES, lstrip=True),
        lambda spec: [t.lstrip for t in spec.added_tokens if t.content == "[X]"] == [True],
    ),
    "a special token beyond the vocabulary": (
        both(FILES_ONLY, put(CONFIG, mask_token="[MASK]")),
        lambda spec: [t.id for t in spec.added_tokens if t.content == "[MASK]"] == [PIECES],
    ),
    "as in tokenizer.json": (AS_IN_JSON, lambda spec: spec.template.segments == 1),
    "another name of the class": (
        both(FILES_ONLY, put(CONFIG, tokenizer_class="BartTokenizerFast")),
        lambda spec: len(spec.template.pair) == 6,
    ),
    "Llama's class": (
        both(put(CONFIG, tokenizer_class="LlamaTokenizer"), described(lambda v: v.update(post_processor=TEMPLATE))),
        lambda spec: len(spec.template.pair) == 4,
    ),
    # transformers does not tell the model of segments
    "with a template of its own": (
        both(AS_IN_JSON, described(lambda values: values.update(post_processor=TEMPLATE))),
        lambda spec: len(spec.template.pair) == 4 and spec.template.segments == 1,
    ),
    "with segments asked for": (
        both(
            AS_IN_JSON,
            put(CONFIG, model_input_names=["input_ids", "token_type_ids"]),
            described(lambda values: values.update(post_processor=TEMPLATE)),
        ),
        lambda spec: spec.template.segments == 2,
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, place: Path) -> None:
    change, holds = ACCEPTED[name]
    change(place)
    spec = read(place)
    assert holds(spec)
    compile_tokenizer(spec)


REFUSED: dict[str, tuple[Change, str, str]] = {
    "prefix only here": (put(CONFIG, add_prefix_space=True), "tokenizer-conflict", "another pre_tokenizer"),
    "offsets only here": (put(CONFIG, trim_offsets=False), "tokenizer-conflict", "another trim_offsets"),
    "a flag that is none": (put(CONFIG, trim_offsets=1), "config-type", "trim_offsets"),
    "other template": (
        described(lambda values: values.update(post_processor=BERT)),
        "tokenizer-conflict",
        "another post_processor",
    ),
    "segments that nobody is told of": (
        both(AS_IN_JSON, described(lambda values: values.update(post_processor=BERT))),
        "tokenizer-template",
        "segments",
    ),
    "ignored merges": (
        described(lambda values: values["model"].update(ignore_merges=True)),
        "tokenizer-conflict",
        "model",
    ),
    "normalizer": (described(lambda v: v.update(normalizer={"type": "NFC"})), "tokenizer-conflict", "normalizer"),
    "other vocabulary": (put(VOCAB_FILE, zz=PIECES), "tokenizer-conflict", "vocabulary"),
    "other merges": (
        lambda path: (path / MERGES_FILE).write_text("t h\n"),
        "tokenizer-conflict",
        "merges",
    ),
    "a decoder without a token": (
        both(put(CONFIG, added_tokens_decoder=DECODER), added("[X]", PIECES)),
        "tokenizer-conflict",
        "another added_tokens",
    ),
    "a decoder that says otherwise": (
        both(AS_IN_JSON, put(CONFIG, added_tokens_decoder=DECODER | {"0": token("<s>", special=True, rstrip=True)})),
        "tokenizer-conflict",
        "'<s>'",
    ),
    "a decoder that is none": (put(CONFIG, added_tokens_decoder=[]), "config-type", "added_tokens_decoder"),
    "a decoder with one id twice": (
        put(CONFIG, added_tokens_decoder=DECODER | {"00": token("[X]")}),
        "config-type",
        "the key '00'",
    ),
    "a decoder with a long number": (
        put(CONFIG, added_tokens_decoder=DECODER | {"9" * 5000: token("[X]")}),
        "config-type",
        "the key '9999",
    ),
    "special token that nobody lists": (both(AS_IN_JSON, put(CONFIG, eos_token="[E]")), "tokenizer-conflict", "[E]"),
    "extra token that nobody lists": (put(CONFIG, extra_special_tokens=["[E]"]), "tokenizer-conflict", "[E]"),
    "image token": (put(CONFIG, image_token="[E]"), "tokenizer-conflict", "[E]"),
    "split special tokens": (put(CONFIG, split_special_tokens=True), "tokenizer-setting", "split_special_tokens"),
    "BERT's class": (put(CONFIG, tokenizer_class="BertTokenizer"), "tokenizer-class", "byte-level BPE"),
    "remote code": (put(CONFIG, auto_map=["x.Y", None]), "remote-code", "auto_map"),
    "no tokenizer.json": (both(remove(JSON), AS_IN_JSON), "tokenizer-class", JSON),
    "no tokenizer.json for Llama's class": (
        both(remove(JSON), put(CONFIG, tokenizer_class="LlamaTokenizer")),
        "tokenizer-class",
        JSON,
    ),
    "ids beyond the embedding": (
        both(FILES_ONLY, put(ADDED_TOKENS_FILE, **{f"[{i}]": PIECES + i for i in range(6)})),
        "token-id-out-of-range",
        "[5]",
    ),
    "a gap": (both(FILES_ONLY, put(ADDED_TOKENS_FILE, **{"[X]": PIECES + 1})), "added-token-conflict", "[X]"),
    "no id": (both(FILES_ONLY, put(ADDED_TOKENS_FILE, **{"[X]": "1"})), "config-type", "[X]"),
    "WordPiece in RoBERTa's folder": (
        both(remove(JSON, VOCAB_FILE, MERGES_FILE, CONFIG), lambda path: (path / "vocab.txt").write_text("a\n")),
        "tokenizer-class",
        "WordPiece",
    ),
    "only one of two files": (both(FILES_ONLY, remove(MERGES_FILE)), "tokenizer-class", "WordPiece"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, place: Path) -> None:
    change, code, words = REFUSED[name]
    change(place)
    with pytest.raises(EtchError) as caught:
        read(place)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_null_token_is_refused(place: Path) -> None:
    values = json.loads((place / CONFIG).read_text()) | {"sep_token": None}
    (place / CONFIG).write_text(json.dumps(values))
    with pytest.raises(EtchError) as caught:
        read_byte_level_folder(CheckpointFolder(place), json.loads((place / JSON).read_text()))
    assert caught.value.code == "config-type"


@pytest.mark.parametrize(("names", "segments"), [(None, {0}), (["input_ids", "token_type_ids"], {0, 1})])
def test_the_segments_of_gpt2_are_those_that_its_files_ask_for(
    names: list[str] | None, segments: set[int], tmp_path: Path
) -> None:
    source = Path(__file__).resolve().parents[1] / "generation" / "gpt2" / "texts"
    for file in (VOCAB_FILE, MERGES_FILE):
        shutil.copy(source / file, tmp_path / file)
    (tmp_path / CONFIG).write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", "model_input_names": names}))
    assert {part.segment for part in read(tmp_path).template.pair} == segments


def test_new_tokens_of_gpt2_get_ids_in_the_order_of_the_library(tmp_path: Path) -> None:
    """Not in that of the file."""
    source = Path(__file__).resolve().parents[1] / "generation" / "gpt2" / "texts"
    for file in (VOCAB_FILE, MERGES_FILE):
        shutil.copy(source / file, tmp_path / file)
    named = {"pad_token": "<3>", "unk_token": "<2>", "eos_token": "<1>", "bos_token": "<0>"}
    (tmp_path / CONFIG).write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", **named}))
    assert [token.content for token in read(tmp_path).added_tokens] == ["<0>", "<1>", "<2>", "<3>"]


@pytest.mark.parametrize(("ignore_merges", "noted"), [(True, True), (False, False)])
def test_special_tokens_that_words_hold_are_a_note(ignore_merges: bool, noted: bool, place: Path) -> None:
    both(remove(VOCAB_FILE, MERGES_FILE), AS_IN_JSON, put(CONFIG, mask_token=None))(place)

    def as_word(values: dict[str, Any]) -> None:
        vocab = values["model"]["vocab"]
        vocab["mask"] = vocab.pop("<mask>")
        next(one for one in values["added_tokens"] if one["content"] == "<mask>")["content"] = "mask"
        values["model"]["ignore_merges"] = ignore_merges

    described(as_word)(place)
    assert any("'mask' is a piece of words" in note for note in read(place).notes) == noted
