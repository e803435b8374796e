# SPDX-License-Identifier: Apache-2.0
"""Texts that are padded for a model that reads the padding: the ids of AutoTokenizer(...)(text, padding="max_length",
max_length=16, truncation=True) of `transformers` 5.23, which token it pads with, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir.template_spec import Padding
from codegen.library_tokenizer.own_tokenizer import own_tokenizer
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.vocabulary.prunable import keep_pieces

TEXT, WHOLE, WHOLE_2 = "siglip_text_model/base", "siglip/whole", "siglip2/whole"
TOKENS = 16
PADDING = {
    "strategy": {"Fixed": TOKENS},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 3,
    "pad_type_id": 0,
    "pad_token": "<unk>",
}


def edited(name: str, **values: Any) -> Change:
    """Sets keys of a JSON file; None removes one."""

    def change(path: Path) -> None:
        config = json.loads((path / name).read_text(encoding="utf-8")) | values
        write_json(path / name, {key: value for key, value in config.items() if value is not None})

    return change


def settings(**values: Any) -> Change:
    return edited("tokenizer_config.json", **values)


def both(*changes: Callable[[Path], None]) -> Change:
    def change(path: Path) -> None:
        for one in changes:
            one(path)

    return change


AS_IN_JSON = settings(tokenizer_class="TokenizersBackend", pad_token=None)


@pytest.mark.parametrize(
    ("variant", "change", "token"),
    [
        (WHOLE, configure(), 0),
        (WHOLE, settings(pad_token=None), 0),
        (WHOLE, settings(pad_token="<mask>"), 4),
        (WHOLE, both(settings(pad_token=None), edited("special_tokens_map.json", pad_token="<eos>")), 1),
        (WHOLE, both(settings(pad_token=None), edited("tokenizer.json", padding=PADDING)), 0),
        (TEXT, both(AS_IN_JSON, edited("tokenizer.json", padding=PADDING)), 3),
        (TEXT, both(settings(padding_side=None, tokenizer_class="TokenizersBackend")), 0),
        (TEXT, both(settings(padding_side=None), edited("tokenizer.json", padding=PADDING)), 0),
    ],
)
def test_the_token(variant: str, change: Change, token: int, tmp_path: Path) -> None:
    def with_map(path: Path) -> None:
        write_json(path / "special_tokens_map.json", {})
        change(path)

    spec = pipeline.load(changed(variant, with_map, tmp_path)).tokenizer
    assert spec.template.padding == Padding(token, TOKENS)
    assert [note for note in spec.notes if "padd" in note] == [
        f"texts are padded to {TOKENS} tokens with '{spec.model.pieces[token]}', which are read: "
        "each costs as much as a whole one"
    ]


def with_tokenizer_of(variant: str, pad_token: str) -> Change:
    """SentencePiece's Unigram, which SigLIP 1 has, in a tokenizer.json that counts as it is."""

    def change(path: Path) -> None:
        shutil.copy(folder(variant) / "tokenizer.json", path)
        write_json(
            path / "tokenizer_config.json",
            {
                "model_input_names": ["input_ids"],
                "pad_token": pad_token,
                "padding_side": "right",
                "tokenizer_class": "PreTrainedTokenizerFast",
            },
        )

    return change


@pytest.mark.parametrize(
    ("variant", "pad_token", "number", "ids"),
    [
        ("t5/mean", "</s>", 1, ([], [3, 5, 11, 4, 3, 2, 6, 5, 2], [3, 6, 1, 3, 23])),
        (
            "albert/own_words",
            "<pad>",
            0,
            ([2, 3], [2, 5, 7, 13, 6, 36, 1, 3], [2, 5, 8, 5, 1, 12, 1, 5, 25, 3]),
        ),
    ],
)
def test_ids_of_unigram(variant: str, pad_token: str, number: int, ids: tuple[list[int], ...], tmp_path: Path) -> None:
    spec = pipeline.load(changed(TEXT, with_tokenizer_of(variant, pad_token), tmp_path)).tokenizer
    assert spec.template.padding == Padding(number, TOKENS)
    encodings = text_tokenizer(spec, TOKENS).encode_batch(["", "the Cat!", "a </s> b"])
    assert [one.ids for one in encodings] == [[*one, *[number] * (TOKENS - len(one))] for one in ids]


THE_CUT = [25, 13, 10, 5, 61, 59, 5, 8, 6, 25, 5, 24, 6, 25, 5, 1]


@pytest.mark.parametrize(
    ("variant", "text", "ids"),
    [
        (WHOLE, "", [1]),
        (WHOLE, "the Cat!", [25, 13, 10, 5, 129, 6, 25, 44, 1]),
        (WHOLE, "THE \u00e9\u00c9\u4e2d \u00df", [146, 134, 131, 5, 52, 257, 199, 53, 5, 257, 221, 1]),
        (WHOLE, "the  and a cat sat on the mat and on", THE_CUT),
        (WHOLE, "a <eos> b", [6, 5, 1, 5, 7, 1]),
        (WHOLE_2, "the Cat!", [25, 13, 10, 5, 8, 6, 25, 44, 1]),
        (WHOLE_2, "THE \u00e9\u00c9\u4e2d \u00df", [25, 13, 10, 5, 52, 52, 53, 5, 257, 221, 1]),
        (WHOLE_2, "the  and a cat sat on the mat and on", THE_CUT),
        (TEXT, "the Cat!", [25, 13, 10, 5, 129, 6, 25, 44, 1]),
    ],
)
def test_ids(variant: str, text: str, ids: list[int]) -> None:
    spec = pipeline.load(folder(variant)).tokenizer
    encoding = text_tokenizer(spec, TOKENS).encode(text)
    assert encoding.ids == [*ids, *[0] * (TOKENS - len(ids))]
    assert encoding.type_ids == [0] * TOKENS


def test_ids_of_pairs() -> None:
    spec = pipeline.load(folder(WHOLE)).tokenizer
    expected = [25, 13, 10, 5, 8, 6, 25, 1, 6, 19, 9, 5, 57, 1, 0, 0]
    assert text_tokenizer(spec, TOKENS).encode("the cat", "and on").ids == expected


def test_the_folders_own_tokenizer_pads() -> None:
    """As `verify` asks it."""
    own = own_tokenizer(folder(WHOLE), TOKENS, pipeline.load(folder(WHOLE)).tokenizer.template)
    assert not isinstance(own, str)
    assert own.tokenizer.encode("a").ids == [6, 1, *[0] * 14]


def test_a_pruned_vocabulary_keeps_the_token() -> None:
    """Of a tokenizer that can be pruned, as SigLIP's cannot."""
    spec = pipeline.load(folder("distilbert/softmax")).tokenizer
    kept = np.array([i for i in range(len(spec.model.pieces)) if i not in (10, 11)])
    moved = replace(spec, template=replace(spec.template, padding=Padding(15, TOKENS)))
    assert 15 in moved.template.special_ids
    assert keep_pieces(moved, kept).template.padding == Padding(13, TOKENS)


def test_a_class_that_writes_in_lower_case_whatever_the_file_says() -> None:
    """That of the family, in the place of the one that tokenizer_config.json names."""
    spec = pipeline.load(folder(WHOLE_2)).tokenizer
    assert [note for note in spec.notes if "padd" not in note] == [
        "normalizer is that of Siglip2Tokenizer, not what tokenizer.json says"
    ]
    assert json.loads(spec.json)["normalizer"]["normalizers"][0] == {"type": "Lowercase"}


@pytest.mark.parametrize("tokens", [TOKENS - 1, TOKENS + 1, 3])
def test_other_lengths_are_refused(tokens: int) -> None:
    with pytest.raises(EtchError, match=rf"{tokens} tokens: texts are padded to 16 \(.*\), which are read") as caught:
        pipeline.to_graph(pipeline.load(folder(WHOLE)), tokens)
    assert caught.value.code == "max-tokens-out-of-range"


def test_a_shorter_length_that_the_folder_says(tmp_path: Path) -> None:
    checkpoint = pipeline.load(changed(WHOLE, settings(model_max_length=12), tmp_path))
    assert checkpoint.tokenizer.template.padding == Padding(0, 12)
    assert pipeline.to_graph(checkpoint, None).max_tokens == 12


NO_TOKEN = both(settings(pad_token=None, tokenizer_class="TokenizersBackend"))
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "left": (WHOLE, settings(padding_side="left"), "tokenizer-setting", "padded on the left"),
    "left by the class": (WHOLE, settings(padding_side=None), "tokenizer-setting", "padded on the left"),
    "left by tokenizer.json": (
        TEXT,
        both(
            settings(padding_side=None, tokenizer_class="TokenizersBackend"),
            edited("tokenizer.json", padding=PADDING | {"direction": "Left"}),
        ),
        "tokenizer-setting",
        "padded on the left",
    ),
    "another side": (WHOLE, settings(padding_side="both"), "config-type", "left or right"),
    "no token": (TEXT, NO_TOKEN, "missing-special-token", "pad_token null"),
    "a mask": (WHOLE, settings(model_input_names=["input_ids", "attention_mask"]), "tokenizer-setting", "without"),
    "a mask unless it is told": (WHOLE, settings(model_input_names=None), "tokenizer-setting", "attention_mask"),
    "names that are no list": (WHOLE, settings(model_input_names="input_ids"), "config-type", "must be a list"),
    "SigLIP's own class": (
        WHOLE,
        settings(tokenizer_class="SiglipTokenizer"),
        "tokenizer-class",
        "'SiglipTokenizer' is not supported",
    ),
    "SigLIP's own class, which no file names": (
        WHOLE,
        settings(tokenizer_class=None),
        "tokenizer-class",
        "'SiglipTokenizer' is not supported",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)
