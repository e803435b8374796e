# SPDX-License-Identifier: Apache-2.0
"""Folders of sentence-transformers: both generations of its files, and every setting that would change an embedding."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from malformed import SENTENCE, Case, both, cased, check_refused, drop, parametrize, put, raw, remove
from sentence_folders import (
    FLAGS,
    MODULES,
    NORMALIZE,
    POOLING,
    SETTINGS,
    WIDTH,
    new_files,
    old_files,
    read,
    types,
)
from tiny_checkpoint import write_json, write_tiny_checkpoint

from codegen.ir.prompts import Prompts
from codegen.load.folder import load_checkpoint
from codegen.load.sentence import SentenceModules


def module(place: int, **values: object) -> Callable[[Path], None]:
    """Other values in one entry of modules.json."""

    def apply(folder: Path) -> None:
        items = json.loads((folder / MODULES).read_text())
        items[place] |= values
        write_json(folder / MODULES, items)

    return apply


def s(name: str, change: Callable[[Path], object], code: str, file: str = MODULES, words: str = "") -> Case:
    return Case(name, both(old_files, change), code, file, None, words)


def pooling(code: str, words: str = "", **values: object) -> Case:
    name = f"pooling {json.dumps(values)}"[:60]
    return s(name, put(POOLING, **values), code, POOLING, words)


CASES = [
    s("modules an object", raw(MODULES, b"{}"), "json-not-a-list"),
    s("modules truncated", raw(MODULES, b"[{"), "json-malformed"),
    s("modules too deep", raw(MODULES, b"[" * 200_000), "json-too-deep"),
    s("no modules", raw(MODULES, b"[]"), "sentence-modules-order", words="no modules"),
    s("a module a text", raw(MODULES, b'["x"]'), "sentence-module"),
    s("a module without path", raw(MODULES, b'[{"type": "sentence_transformers.models.Pooling"}]'), "sentence-module"),
    s("a type that is a number", module(1, type=1), "sentence-module"),
    s("a hundred modules", raw(MODULES, b"[" + b"0," * 99 + b"0]"), "sentence-modules-order", words="100"),
    s("transformer alone", types("Transformer"), "sentence-modules-order"),
    s("pooling twice", types("Transformer", "Pooling", "Pooling"), "sentence-modules-order", words="Pooling, Pooling"),
    s("normalize first", types("Transformer", "Normalize", "Pooling"), "sentence-modules-order"),
    s("idx in another order", module(1, idx=0), "sentence-module"),
    s("kwargs", module(0, kwargs=["task"]), "sentence-module"),
    s("Dense before pooling", types("Transformer", "Dense", "Pooling"), "sentence-modules-order"),
    s("Dense behind Normalize", types("Transformer", "Pooling", "Normalize", "Dense"), "sentence-modules-order"),
    s(
        "WeightedLayerPooling",
        types("Transformer", "WeightedLayerPooling", "Pooling"),
        "sentence-module-not-supported",
        words="'WeightedLayerPooling' is not supported (supported: Transformer, Pooling, Dense, LayerNorm, ",
    ),
    s("Dropout of tokens", types("Transformer", "Dropout", "Pooling"), "sentence-modules-order", words="got Transf"),
    s(
        "LayerNorm behind Normalize",
        types("Transformer", "Pooling", "Normalize", "LayerNorm"),
        "sentence-modules-order",
    ),
    s("a class of their own", module(1, type="pooling.Pooling"), "remote-code", words="'pooling.Pooling'"),
    s("a class from elsewhere", module(1, type="os.system"), "remote-code"),
    s("path ..", module(1, path="../1_Pooling"), "sentence-path"),
    s("path only ..", module(1, path=".."), "sentence-path"),
    s("path absolute", module(1, path="/etc"), "sentence-path"),
    s("path in a folder", module(1, path="a/1_Pooling"), "sentence-path"),
    s("path with backslash", module(1, path="..\\x"), "sentence-path"),
    s("path with NUL", module(1, path="a\0"), "sentence-path"),
    s("path of pooling empty", module(1, path=""), "sentence-path"),
    s("transformer in a folder", module(0, path="0_Transformer"), "sentence-path-not-supported", words="move"),
    s("pooling missing", lambda p: shutil.rmtree(p / "1_Pooling"), "sentence-file-missing", POOLING),
    s("pooling malformed", raw(POOLING, b"{"), "json-malformed", POOLING),
    s(
        "pooling linked away",
        both(remove(POOLING), lambda p: (p / POOLING).symlink_to("/etc/passwd")),
        "symlink-escapes",
        POOLING,
    ),
    s("no width", drop(POOLING, "word_embedding_dimension"), "config-missing", POOLING),
    pooling("sentence-width", "expected a width of 10 (hidden_size), got 384", word_embedding_dimension=384),
    pooling("sentence-width", word_embedding_dimension=10.0),
    pooling("sentence-width", embedding_dimension=11),
    pooling("sentence-setting", "'pooling_mode_median'", pooling_mode_median=True),
    pooling("sentence-prompt", include_prompt=False),
    pooling("config-type", pooling_mode_max_tokens=1),
    pooling("sentence-conflict", pooling_mode="cls"),
    pooling("sentence-conflict", "no pooling mode", pooling_mode_mean_tokens=False),
    pooling("config-type", pooling_mode=3),
    pooling("config-type", pooling_mode=[]),
    pooling("config-type", pooling_mode=[["mean"]]),
    s(
        "cls, and mean not said",
        both(drop(POOLING, "pooling_mode_mean_tokens"), put(POOLING, pooling_mode_cls_token=True)),
        "sentence-conflict",
        POOLING,
        "before version 6 that meant true",
    ),
    s(
        "seven modes",
        lambda p: write_json(p / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": ["cls"] * 7}),
        "sentence-pooling-not-supported",
        POOLING,
        "7 poolings are too many",
    ),
    s(
        "modes in another order than the flags'",
        put(POOLING, pooling_mode=["mean", "cls"], pooling_mode_cls_token=True),
        "sentence-conflict",
        POOLING,
    ),
    s(
        "unknown mode",
        lambda p: write_json(p / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": ["cls", "median"]}),
        "sentence-pooling-not-supported",
        POOLING,
        "'median' is not supported (supported: cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken)",
    ),
    s(
        "tokens normalized",
        both(
            lambda p: (p / "2_Normalize").mkdir(),
            put(NORMALIZE, module_input_name="token_embeddings"),
        ),
        "sentence-setting",
        NORMALIZE,
    ),
    s("task", put(SENTENCE, transformer_task="fill-mask"), "sentence-setting", SENTENCE, "'fill-mask'"),
    s("output", put(SENTENCE, module_output_name="scores"), "sentence-setting", SENTENCE),
    s("tokenizer arguments", put(SENTENCE, tokenizer_args={"use_fast": False}), "sentence-setting", SENTENCE),
    s("unknown setting", put(SENTENCE, pooling="x"), "sentence-setting", SENTENCE, "'pooling'"),
    s(
        "settings under another name",
        lambda p: (p / SENTENCE).rename(p / "sentence_roberta_config.json"),
        "sentence-setting",
        "sentence_roberta_config.json",
        f"must be named {SENTENCE}",
    ),
    s(
        "lower-casing before a tokenizer that does not",
        both(cased, put(SENTENCE, do_lower_case=True)),
        "sentence-lowercase",
        SENTENCE,
        "make it false, and texts lower case",
    ),
    s(
        "257 prompts",
        put(SETTINGS, prompts={str(i): "" for i in range(257)}),
        "sentence-prompt",
        SETTINGS,
        "257 prompts",
    ),
    s("a long prompt", put(SETTINGS, prompts={"q": "\u00e4" * 8193}), "sentence-prompt", SETTINGS, "is too long"),
    s("default prompt null", put(SETTINGS, prompts={"q": None}, default_prompt_name="q"), "sentence-prompt", SETTINGS),
    s("default prompt not there", put(SETTINGS, default_prompt_name="q"), "sentence-prompt", SETTINGS),
    s("default prompt a number", put(SETTINGS, default_prompt_name=1), "sentence-prompt", SETTINGS),
    s("default prompt a list", put(SETTINGS, default_prompt_name=[1]), "sentence-prompt", SETTINGS),
    s("prompts a list", put(SETTINGS, prompts=["query: "]), "config-type", SETTINGS),
    s("prompt a number", put(SETTINGS, prompts={"q": 1}), "config-type", SETTINGS),
    s("truncated embedding", put(SETTINGS, truncate_dim=4), "sentence-setting", SETTINGS, "--dimensions 4"),
    s("sparse encoder", put(SETTINGS, model_type="SparseEncoder"), "sentence-setting", SETTINGS),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


@pytest.mark.parametrize("files", [old_files, new_files])
def test_both_generations(files: Callable[[Path], None], tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    assert read(tmp_path) is None
    files(tmp_path)
    assert read(tmp_path) == SentenceModules("mean", (), normalize=True)
    items = json.loads((tmp_path / MODULES).read_text())
    write_json(tmp_path / MODULES, items[:2])
    assert read(tmp_path) == SentenceModules("mean", (), normalize=False)


@pytest.mark.parametrize(
    ("flag", "mode", "ours"),
    [
        ("pooling_mode_cls_token", "cls", "cls"),
        ("pooling_mode_mean_tokens", "mean", "mean"),
        ("pooling_mode_max_tokens", "max", "max"),
        ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean_sqrt"),
        ("pooling_mode_weightedmean_tokens", "weightedmean", "weighted_mean"),
    ],
)
def test_modes(flag: str, mode: str, ours: Any, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(POOLING, **(FLAGS | {"pooling_mode_mean_tokens": False, flag: True}))(tmp_path)
    assert read(tmp_path) == SentenceModules(ours, (), normalize=True)
    for value in ({"pooling_mode": mode}, {"pooling_mode": [mode]}, {"pooling_mode": mode, flag: True}):
        write_json(tmp_path / POOLING, {"embedding_dimension": WIDTH} | value)
        assert read(tmp_path) == SentenceModules(ours, (), normalize=True)


def test_several_modes(tmp_path: Path) -> None:
    """Flags in the library's order, modes in that of the list."""
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(POOLING, pooling_mode_weightedmean_tokens=True, pooling_mode_lasttoken=True)(tmp_path)
    assert read(tmp_path) == SentenceModules("mean", (), True, ("weighted_mean", "last"))
    write_json(tmp_path / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": ["max", "mean", "cls"]})
    assert read(tmp_path) == SentenceModules("max", (), True, ("mean", "cls"))


def test_mean_is_the_default_of_every_version(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    for flags in ({}, {"pooling_mode_cls_token": False}):
        write_json(tmp_path / POOLING, {"word_embedding_dimension": WIDTH, **flags})
        assert read(tmp_path) == SentenceModules("mean", (), normalize=True)


def test_prompts_that_nobody_adds_are_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(SETTINGS, prompts={"query": "", "document": None})(tmp_path)
    assert load_checkpoint(tmp_path).notes == ()
    put(SETTINGS, prompts={"query": "query: ", "none": ""}, default_prompt_name="none")(tmp_path)
    (note,) = load_checkpoint(tmp_path).notes
    assert "has prompts (query): embed-NAME --prompt writes one before a text, calls do not" in note
    found = read(tmp_path)
    assert found is not None
    assert found.prompts == Prompts((("query", "query: "), ("none", "")))
    put(SETTINGS, default_prompt_name="query")(tmp_path)
    (note,) = load_checkpoint(tmp_path).notes
    assert "before a text, 'query' unless told otherwise" in note
    found = read(tmp_path)
    assert found is not None
    assert (found.prompts.usual_place, found.prompts.usual_text) == (0, "query: ")


def test_length_of_sentence_transformers_wins(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    put("tokenizer_config.json", model_max_length=16)(tmp_path)
    assert load_checkpoint(tmp_path).default_max_tokens == 16
    old_files(tmp_path)
    assert load_checkpoint(tmp_path).default_max_tokens == 24


def test_every_file_counts_for_the_digest(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    new_files(tmp_path)
    seen = {load_checkpoint(tmp_path).digest}
    for name in (MODULES, POOLING, NORMALIZE, SENTENCE, SETTINGS):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "\n")
        seen.add(load_checkpoint(tmp_path).digest)
    assert len(seen) == 6
