# SPDX-License-Identifier: Apache-2.0
"""Folders with SentencePiece's Unigram: what their files make of a text, as transformers 5.23 has it (AutoTokenizer was
asked for the same folders), and which contradictions are refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece_files import CONTROL, UNKNOWN, USER_DEFINED, sentencepiece_file
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import FoldingNormalizer
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.fields import FILE as JSON
from codegen.tokenizer import compile_tokenizer

CONFIG = "tokenizer_config.json"
PIECES = [
    *(
        (text, -2.0 - i / 8)
        for i, text in enumerate(("\u2581the", "\u2581ca", "t", "s", "\u2581", "e", "\u00e9", "\u2581E"))
    ),
    *((text, -6.5) for text in "abch'\"<>[]"),
]
FAIRSEQ = (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL))
OWN = (("<pad>", CONTROL), ("<unk>", UNKNOWN), ("[CLS]", CONTROL), ("[SEP]", CONTROL), ("[MASK]", CONTROL))
T5 = (("<pad>", CONTROL), ("</s>", CONTROL), ("<unk>", UNKNOWN))
DEBERTA = (("[PAD]", CONTROL), ("[CLS]", CONTROL), ("[SEP]", CONTROL), ("[UNK]", UNKNOWN))
FILES = {
    "XLMRobertaTokenizer": ("sentencepiece.bpe.model", FAIRSEQ),
    "CamembertTokenizer": ("sentencepiece.bpe.model", FAIRSEQ),
    "AlbertTokenizer": ("spiece.model", OWN),
    "T5Tokenizer": ("spiece.model", T5),
    "DebertaV2Tokenizer": ("spm.model", DEBERTA),
}
TEXTS = ("the cats", " \u00c9t\u00e9 ``x''  ", "a <mask> [MASK]b</s>", "")
PAIR = ("the cat", "tests")
EXTRA_IDS = {100: [3, 119, 4, 5, 21, 1], 3: [3, 22, 4, 5, 17, 8, 2, 5, 2, 11, 2, 18, 1]}
# By transformers 5.23.0, tokenizers 0.23.3, from the two files that `model_folder` writes.
EXPECTED: dict[str, list[list[int]]] = {
    "XLMRobertaTokenizer": [
        [0, 4, 5, 6, 7, 2],
        [0, 8, 3, 6, 10, 8, 3, 16, 16, 2],
        [0, 8, 12, 22, 8, 20, 3, 21, 13, 2, 2],
        [0, 2],
        [0, 4, 5, 6, 2, 2, 8, 6, 9, 7, 6, 7, 2],
    ],
    "CamembertTokenizer": [
        [5, 7, 8, 9, 10, 6],
        [5, 11, 3, 9, 13, 11, 3, 19, 19, 6],
        [5, 11, 15, 25, 11, 23, 3, 24, 16, 6, 6],
        [5, 6],
        [5, 7, 8, 9, 6, 6, 11, 9, 12, 10, 9, 10, 6],
    ],
    "AlbertTokenizer": [
        [2, 5, 6, 7, 8, 3],
        [2, 9, 10, 7, 10, 9, 18, 1, 18, 3],
        [2, 9, 13, 9, 19, 1, 13, 8, 1, 20, 4, 9, 14, 19, 1, 8, 20, 3],
        [2, 3],
        [2, 5, 6, 7, 3, 9, 7, 10, 8, 7, 8, 3],
    ],
    "T5Tokenizer": [
        [3, 4, 5, 6, 1],
        [7, 2, 5, 9, 7, 2, 15, 15, 1],
        [7, 11, 7, 17, 2, 11, 6, 2, 18, 7, 19, 2, 20, 12, 1, 1],
        [1],
        [3, 4, 5, 1, 7, 5, 8, 6, 5, 6, 1],
    ],
    "DebertaV2Tokenizer": [
        [1, 4, 5, 6, 7, 2],
        [1, 8, 3, 6, 10, 8, 3, 16, 16, 2],
        [1, 8, 12, 8, 18, 3, 12, 7, 3, 19, 22, 8, 13, 18, 3, 7, 19, 2],
        [1, 2],
        [1, 4, 5, 6, 2, 8, 6, 9, 7, 6, 7, 2],
    ],
}
DEBERTA_TEXTS = ("the cats\n\n\u3000the", " \u00c9te\u0301\tE ", "a[MASK]the")
DEBERTA_LOWER = [[1, 4, 5, 6, 7, 4, 2], [1, 8, 10, 6, 10, 8, 9, 2], [1, 8, 12, 22, 4, 2]]
DEBERTA_FIRST = [[1, 4, 5, 6, 7, 4, 2], [1, 8, 3, 6, 10, 11, 2], [1, 8, 12, 22, 6, 15, 9, 2]]


def model_folder(path: Path, name: str) -> Path:
    """SentencePiece's file and the name of the class."""
    path.mkdir(exist_ok=True)
    file, first = FILES[name]
    (path / file).write_bytes(sentencepiece_file(first, PIECES))
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": name}))
    return path


def read(path: Path, usual: str = "BertTokenizer") -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(path), 200, usual_class=usual)


def described(path: Path, change: Callable[[dict[str, Any]], object] = lambda values: None) -> Path:
    """Adds the tokenizer.json that means the same, but for a change."""
    values = json.loads(read(path).json)
    change(values)
    (path / JSON).write_text(json.dumps(values))
    return path


@pytest.mark.parametrize("name", FILES)
def test_as_transformers_reads_it(name: str, tmp_path: Path) -> None:
    alone = model_folder(tmp_path, name)
    specs = [read(alone), read(described(alone))]
    (alone / FILES[name][0]).unlink()
    specs.append(read(alone))
    (alone / CONFIG).unlink()
    specs.append(read(alone, name))
    for spec in specs:
        wheel = Tokenizer.from_str(spec.json)
        assert [wheel.encode(text).ids for text in TEXTS] + [wheel.encode(*PAIR).ids] == EXPECTED[name]
        assert spec.template.segments == (2 if name == "DebertaV2Tokenizer" else 1)
        assert not [note for note in spec.notes if "counts" in note]
    compile_tokenizer(specs[0])


def test_pieces_that_users_define_are_found_as_a_whole(tmp_path: Path) -> None:
    """Without tokenizer.json; where a file lists extra tokens these count alone. Recorded, as above."""
    path = model_folder(tmp_path, "XLMRobertaTokenizer")
    model = sentencepiece_file((*FAIRSEQ, ("(", USER_DEFINED), ("ca", USER_DEFINED)), PIECES)
    (path / "sentencepiece.bpe.model").write_bytes(model)
    assert Tokenizer.from_str(read(path).json).encode("the cats").ids == [0, 6, 5, 10, 8, 9, 2]
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "XLMRobertaTokenizer", "extra_special_tokens": []}))
    assert Tokenizer.from_str(read(path).json).encode("the cats").ids == [0, 6, 7, 8, 9, 2]


def test_pieces_that_the_configuration_lists_as_special(tmp_path: Path) -> None:
    """As published camembert-ner, which has no tokenizer.json; by transformers 5.23.0."""
    path = model_folder(tmp_path, "CamembertTokenizer")
    listed = {"additional_special_tokens": ["<s>NOTUSED", "</s>NOTUSED"]}
    (path / CONFIG).write_text(json.dumps(json.loads((path / CONFIG).read_text()) | listed))
    tokenizer = Tokenizer.from_str(read(path).json)
    texts = ("a <s>NOTUSED the", "x</s>NOTUSED")
    assert [tokenizer.encode(text).ids for text in texts] == [[5, 11, 15, 0, 7, 6], [5, 11, 3, 2, 6]]


def test_extra_ids(tmp_path: Path) -> None:
    """Recorded, as above: the last one first, behind the pieces; tokenizer.json has to list as many."""
    path = model_folder(tmp_path, "T5Tokenizer")
    text = "the <extra_id_1>cat<extra_id_99>"
    assert Tokenizer.from_str(read(path).json).encode(text).ids == EXTRA_IDS[100]
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "T5Tokenizer", "extra_ids": 3}))
    assert Tokenizer.from_str(read(path).json).encode(text).ids == EXTRA_IDS[3]
    described(path)
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "T5Tokenizer"}))
    with pytest.raises(EtchError, match="<extra_id_10>") as caught:
        read(path)
    assert caught.value.code == "tokenizer-conflict"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"do_lower_case": True}, DEBERTA_LOWER),
        ({"add_prefix_space": False}, DEBERTA_FIRST),
    ],
)
def test_settings_of_deberta(asked: dict[str, bool], expected: list[list[int]], tmp_path: Path) -> None:
    """Recorded, as above; a tokenizer.json that says the same agrees with the file beside it."""
    path = model_folder(tmp_path, "DebertaV2Tokenizer")
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer", **asked}))
    for folder in (path, described(path)):
        spec = read(folder)
        wheel = Tokenizer.from_str(spec.json)
        assert [wheel.encode(text).ids for text in DEBERTA_TEXTS] == expected
        assert not [note for note in spec.notes if "counts" in note]


@pytest.mark.parametrize(("named", "normalized"), [({}, True), ({"sep_token": "[SEP]"}, False)])
def test_a_special_token_that_added_tokens_names(named: dict[str, str], normalized: bool, tmp_path: Path) -> None:
    """Where no other file does it is found in normalized text: as transformers has it."""
    path = model_folder(tmp_path, "DebertaV2Tokenizer")
    (path / "added_tokens.json").write_text(json.dumps({"[SEP]": 2}))
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer", **named}))
    (token,) = [token for token in read(path).added_tokens if token.content == "[SEP]"]
    assert (token.id, token.special, token.normalized) == (2, True, normalized)


def test_another_template_than_debertas_is_noted(tmp_path: Path) -> None:
    path = described(model_folder(tmp_path, "DebertaV2Tokenizer"), lambda values: values.update(post_processor=None))
    assert "DebertaV2Tokenizer of transformers has another post_processor: tokenizer.json counts" in read(path).notes


def test_what_deberta_cannot_be(tmp_path: Path) -> None:
    path = model_folder(tmp_path, "DebertaV2Tokenizer")
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer", "split_by_punct": True}))
    with pytest.raises(EtchError, match="split_by_punct") as caught:
        read(path)
    assert caught.value.code == "tokenizer-setting"
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer"}))
    (path / "spm.model").write_bytes(sentencepiece_file(OWN, PIECES))
    with pytest.raises(EtchError, match="UNK") as caught:
        read(path)
    assert caught.value.code == "missing-special-token"
    (path / "spm.model").rename(path / "spiece.model")
    with pytest.raises(EtchError, match=r"spm\.model") as caught:
        read(path)
    assert caught.value.code == "tokenizer-missing"


@pytest.mark.parametrize("count", [-1, "3", 10**9, True])
def test_a_number_of_extra_ids_that_is_none(count: object, tmp_path: Path) -> None:
    path = model_folder(tmp_path, "T5Tokenizer")
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "T5Tokenizer", "extra_ids": count}))
    with pytest.raises(EtchError, match="extra_ids") as refused:
        read(path)
    assert refused.value.code == "config-type"


def test_a_template_that_albert_loses_is_refused(tmp_path: Path) -> None:
    path = model_folder(tmp_path, "AlbertTokenizer")
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "AlbertTokenizer", "add_eos_token": False}))
    with pytest.raises(EtchError, match="add_eos_token") as refused:
        read(path)
    assert refused.value.code == "tokenizer-setting"


def test_segments_where_the_model_is_told_of_them(tmp_path: Path) -> None:
    path = model_folder(tmp_path, "AlbertTokenizer")
    asks = {"tokenizer_class": "AlbertTokenizer", "model_input_names": ["input_ids", "token_type_ids"]}
    (path / CONFIG).write_text(json.dumps(asks))
    assert read(path).template.segments == 2
    assert read(described(path)).template.segments == 2


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, ("NFKD", "StripAccents", "Lowercase")),
        ({"do_lower_case": False}, ("NFKD", "StripAccents")),
        ({"keep_accents": True}, ("Lowercase",)),
        ({"keep_accents": True, "do_lower_case": False}, ()),
    ],
)
def test_settings_of_albert(settings: dict[str, bool], steps: tuple[str, ...], tmp_path: Path) -> None:
    path = model_folder(tmp_path, "AlbertTokenizer")
    (path / CONFIG).write_text(json.dumps({"tokenizer_class": "AlbertTokenizer", **settings}))
    for spec in (read(path), read(described(path))):
        assert isinstance(spec.normalizer, FoldingNormalizer)
        assert spec.normalizer.steps == steps
    (path / CONFIG).write_text(
        json.dumps({"tokenizer_class": "AlbertTokenizer", "do_lower_case": "Lowercase" not in steps})
    )
    with pytest.raises(EtchError, match="do_lower_case") as refused:
        read(path)
    assert refused.value.code == "tokenizer-conflict"


def test_what_transformers_makes_otherwise_is_said(tmp_path: Path) -> None:
    path = model_folder(tmp_path, "XLMRobertaTokenizer")
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}

    def change(values: dict[str, Any]) -> None:
        values["normalizer"]["normalizers"].append(strip)
        values["pre_tokenizer"] = values["pre_tokenizer"]["pretokenizers"][1]

        values["post_processor"]["single"].pop()

    notes = read(described(path, change)).notes
    assert "XLMRobertaTokenizer of transformers has another post_processor: tokenizer.json counts" in notes
    assert "XLMRobertaTokenizer of transformers has another normalizer: tokenizer.json counts" in notes
    assert "XLMRobertaTokenizer of transformers has another pre_tokenizer: tokenizer.json counts" in notes


def put(file: str, **values: object) -> Callable[[Path], object]:
    return lambda path: (path / file).write_text(json.dumps(values))


def other_score(values: dict[str, Any]) -> None:
    values["model"]["vocab"][-2][1] += 1


def other_map(values: dict[str, Any]) -> None:
    blob = base64.b64encode(b"\4\0\0\0\0\0\0\0").decode()
    values["normalizer"]["normalizers"].append({"type": "Precompiled", "precompiled_charsmap": blob})


XLM_R = "XLMRobertaTokenizer"
CONFLICTS: list[Any] = [
    (lambda path: described(path, other_score), "tokenizer-conflict", "pieces or scores"),
    (lambda path: described(path, other_map), "tokenizer-conflict", "compiled map"),
    (lambda path: described(path, lambda v: v["model"].update(unk_id=0)), "tokenizer-conflict", "unknown piece"),
    (lambda path: described(path, lambda v: v["model"].update(byte_fallback=True)), "tokenizer-conflict", "fallback"),
    (lambda path: described(path, lambda v: v["added_tokens"].pop()), "tokenizer-conflict", "'<mask>'"),
    (put("spm.model"), "tokenizer-conflict", "as well"),
    (put(CONFIG, tokenizer_class="BarthezTokenizer"), "tokenizer-class", "SentencePiece"),
    (put(CONFIG, tokenizer_class="T5Tokenizer"), "tokenizer-missing", "spiece.model"),
    (put(CONFIG, tokenizer_class=XLM_R, eos_token="[E]"), "tokenizer-setting", "eos_token"),
    (put(CONFIG, tokenizer_class="PreTrainedTokenizerFast"), "tokenizer-class", "missing"),
    (put(CONFIG, tokenizer_class=XLM_R, add_prefix_space=1), "config-type", "add_prefix_space"),
    (
        lambda path: (described(path), put(CONFIG, tokenizer_class=XLM_R, add_prefix_space=False)(path)),
        "tokenizer-conflict",
        "add_prefix_space",
    ),
    (
        lambda path: (path / FILES[XLM_R][0]).write_bytes(sentencepiece_file(FAIRSEQ, PIECES, model_type=2)),
        "sentencepiece-type",
        "type 2",
    ),
]


@pytest.mark.parametrize(("change", "code", "says"), CONFLICTS)
def test_refused(change: Callable[[Path], object], code: str, says: str, tmp_path: Path) -> None:
    path = model_folder(tmp_path, XLM_R)
    change(path)
    with pytest.raises(EtchError, match=says) as refused:
        read(path)
    assert refused.value.code == code
