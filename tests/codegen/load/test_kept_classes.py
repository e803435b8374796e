# SPDX-License-Identifier: Apache-2.0
"""BigBird's, RemBERT's, XGLM's and XLNet's tokenizer.json: as it is, with notes of what their classes make
otherwise; what a folder asks for besides is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from test_load_unigram import RUNS, charsmap, precompiled
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import FoldingNormalizer
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

MAP, LOWER = precompiled(charsmap(texts=b"a\0")), {"type": "Lowercase"}
BIG_BIRD, REMBERT, XLNET = "big_bird/full", "rembert/softmax", "xlnet/softmax"
XGLM = Path(__file__).parents[1] / "generation" / "xglm" / "texts"
COMPILED = [
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"},
]


def read(variant: str | Path, place: Path, described: dict[str, Any] | None = None, **settings: Any) -> TokenizerSpec:
    """Of a folder with parts of tokenizer.json, and settings, changed; None removes one."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy((folder(variant) if isinstance(variant, str) else variant) / name, place / name)
    for name, values in (("tokenizer.json", described or {}), ("tokenizer_config.json", settings)):
        path = place / name
        merged = json.loads(path.read_text()) | values
        path.write_text(json.dumps({key: value for key, value in merged.items() if value is not None}))
    return load_tokenizer(CheckpointFolder(place), 1000, None, "BigBirdTokenizer")


@pytest.mark.parametrize("variant", [BIG_BIRD, REMBERT, XLNET])
def test_what_the_class_saves_is_what_it_makes(variant: str, tmp_path: Path) -> None:
    spec = read(variant, tmp_path)
    assert not any("counts" in note for note in spec.notes)
    assert spec.template.segments == 1  # the class does not tell the model of them
    theirs = Tokenizer.from_file(str(folder(variant) / "tokenizer.json"))
    for text in ("the cat  and [MASK] the", "``the'' Caf\u00e9 <mask> cat", " zzz", ""):
        assert Tokenizer.from_str(spec.json).encode(text).ids == theirs.encode(text).ids


@pytest.mark.parametrize(
    ("variant", "part", "value"),
    [
        (BIG_BIRD, "normalizer", {"type": "Sequence", "normalizers": COMPILED}),
        (REMBERT, "normalizer", {"type": "Sequence", "normalizers": COMPILED[1:]}),
        (XLNET, "normalizer", {"type": "Sequence", "normalizers": COMPILED[1:]}),
        (XLNET, "post_processor", None),
        (REMBERT, "pre_tokenizer", {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}),
    ],
)
def test_parts_that_the_class_makes_otherwise_are_notes(
    variant: str, part: str, value: dict[str, Any], tmp_path: Path
) -> None:
    notes = [note for note in read(variant, tmp_path, {part: value}, add_prefix_space=None).notes if "counts" in note]
    assert len(notes) == 1 and part in notes[0]


def test_an_unknown_piece_that_the_class_does_not_have_is_a_note(tmp_path: Path) -> None:
    for variant in (BIG_BIRD, REMBERT):
        model = json.loads((folder(variant) / "tokenizer.json").read_text())["model"]
        spec = read(variant, tmp_path, {"model": model | {"unk_id": 0}})
        assert any("another unknown piece" in note for note in spec.notes)
        assert spec.model.unknown_id == 0


@pytest.mark.parametrize(
    ("variant", "settings", "words"),
    [
        (REMBERT, {"do_lower_case": True}, "do_lower_case"),
        (REMBERT, {"keep_accents": False}, "keep_accents"),
        (XLNET, {"do_lower_case": True}, "do_lower_case"),
        (XLNET, {"add_prefix_space": False}, "add_prefix_space"),
        (BIG_BIRD, {"add_prefix_space": False}, "add_prefix_space"),
        (BIG_BIRD, {"mask_token": "<mask>"}, "<mask>"),
    ],
)
def test_settings_that_ask_for_something_else(
    variant: str, settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(EtchError, match=words) as caught:
        read(variant, tmp_path, **settings)
    assert caught.value.code == "tokenizer-conflict"


def test_byte_fallback_is_refused(tmp_path: Path) -> None:
    model = json.loads((folder(BIG_BIRD) / "tokenizer.json").read_text())["model"]
    with pytest.raises(EtchError, match="byte fallback") as caught:
        read(BIG_BIRD, tmp_path, {"model": model | {"byte_fallback": True}})
    assert caught.value.code == "tokenizer-conflict"


def test_a_run_of_spaces_before_a_compiled_map(tmp_path: Path) -> None:
    """As RemBERT's converter writes it, and as its class makes it again of the map: spaces that are there become one,
    those that come of the map stay."""
    own = json.loads((folder(REMBERT) / "tokenizer.json").read_text())["normalizer"]["normalizers"]
    assert len(own) == 3
    steps: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
        (own, {}),
        ([own[2], *own[:2]], {}),  # neither makes what the other one finds
        ([*own, LOWER], {"do_lower_case": True}),
        ([*own, {"type": "NFKD"}, {"type": "StripAccents"}, LOWER], {"do_lower_case": True, "keep_accents": False}),
    ]
    for normalizers, settings in steps:
        whole = {"type": "Sequence", "normalizers": [*normalizers, MAP]}
        spec = read(REMBERT, tmp_path, {"normalizer": whole}, **settings)
        assert isinstance(spec.normalizer, FoldingNormalizer)
        assert spec.normalizer.joins_spaces and spec.normalizer.joins_quotes
        assert not any("counts" in note for note in spec.notes)


@pytest.mark.parametrize("steps", [[LOWER, RUNS], [{**RUNS, "content": "\u2581"}], [RUNS, {"type": "NFC"}]])
def test_other_runs_before_a_compiled_map_are_refused(steps: list[dict[str, Any]], tmp_path: Path) -> None:
    """What becomes of characters may be spaces, which the run would join."""
    with pytest.raises(EtchError) as caught:
        read(REMBERT, tmp_path, {"normalizer": {"type": "Sequence", "normalizers": [*steps, MAP]}})
    assert caught.value.code == "tokenizer-normalizer"


def test_xglm_begins_a_text_with_its_end(tmp_path: Path) -> None:
    """What its class saves is what it makes, with the compiled map before the runs of spaces."""
    spec = read(XGLM, tmp_path)
    assert not any("counts" in note for note in spec.notes)
    assert [part.content for part in spec.template.single] == [2, "A"]
    assert [part.content for part in spec.template.pair] == [2, "A", 2, 2, "B"]
    theirs = Tokenizer.from_file(str(XGLM / "tokenizer.json"))
    for text in ("the cat  and \u00e9 the", " zzz\u3000\u3000a", ""):
        assert Tokenizer.from_str(spec.json).encode(text).ids == theirs.encode(text).ids


def test_tokens_that_xglm_adds_are_there(tmp_path: Path) -> None:
    """Otherwise the class would give them ids behind the last one."""
    added = json.loads((XGLM / "tokenizer.json").read_text())["added_tokens"]
    fewer = [token for token in added if token["content"] != "<madeupword6>"]
    with pytest.raises(EtchError, match="<madeupword6>") as caught:
        read(XGLM, tmp_path, {"added_tokens": fewer}, extra_special_tokens=None)
    assert caught.value.code == "tokenizer-conflict"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "NFC"}]}),
        ("post_processor", None),
        ("pre_tokenizer", {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}),
    ],
)
def test_parts_that_xglm_makes_otherwise_are_notes(part: str, value: Any, tmp_path: Path) -> None:
    notes = [note for note in read(XGLM, tmp_path, {part: value}, add_prefix_space=None).notes if "counts" in note]
    assert [part in note for note in notes] == [True]


def test_xlnet_ends_a_text_with_two_tokens(tmp_path: Path) -> None:
    """The last of which is in a segment of its own, where the model is told of segments."""
    spec = read(XLNET, tmp_path)
    assert [part.content for part in spec.template.single] == ["A", 4, 3]
    assert [part.content for part in spec.template.pair] == ["A", 4, "B", 4, 3]
    told = read(XLNET, tmp_path, model_input_names=["input_ids", "token_type_ids"])
    assert not any("counts" in note for note in told.notes)
    assert [part.segment for part in told.template.pair] == [0, 0, 1, 1, 2]


def test_tokens_that_xlnet_adds_are_there(tmp_path: Path) -> None:
    added = json.loads((folder(XLNET) / "tokenizer.json").read_text())["added_tokens"]
    fewer = [token for token in added if token["content"] != "<eop>"]
    with pytest.raises(EtchError, match="<eop>") as caught:
        read(XLNET, tmp_path, {"added_tokens": fewer}, extra_special_tokens=None)
    assert caught.value.code == "tokenizer-conflict"
