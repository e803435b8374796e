# SPDX-License-Identifier: Apache-2.0
"""Folders of sentence-transformers: both generations of its files, and every setting that would change an embedding."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from malformed import SENTENCE, Case, both, cased, check_refused, drop, load_and_take, parametrize, put, raw, remove
from tiny_checkpoint import write_json, write_safetensors, write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.load.dense import Dense
from codegen.load.folder import load_checkpoint
from codegen.load.row_norm import RowNorm
from codegen.load.sentence import SentenceModules

MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
NORMALIZE = "2_Normalize/config.json"
DENSE, DENSE_WEIGHTS = "2_Dense/config.json", "2_Dense/model.safetensors"
NORM, NORM_WEIGHTS, DROPOUT = "2_LayerNorm/config.json", "2_LayerNorm/model.safetensors", "3_Dropout/config.json"
TANH = "torch.nn.modules.activation.Tanh"
SETTINGS = "config_sentence_transformers.json"
WIDTH = 10  # of the tiny checkpoint
OLD = "sentence_transformers.models."
NEW = "sentence_transformers.base.modules."
FLAGS = {
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}


def modules(*types: str, paths: tuple[str, ...] = ("", "1_Pooling", "2_Normalize", "3")) -> Callable[[Path], None]:
    """modules.json with these types."""
    items = [{"idx": i, "name": str(i), "path": paths[i], "type": name} for i, name in enumerate(types)]
    return lambda folder: write_json(folder / MODULES, items)


def module(place: int, **values: object) -> Callable[[Path], None]:
    """Other values in one entry of modules.json."""

    def apply(folder: Path) -> None:
        items = json.loads((folder / MODULES).read_text())
        items[place] |= values
        write_json(folder / MODULES, items)

    return apply


def old_files(folder: Path) -> None:
    """As versions 1 to 5 wrote them: mean, then Normalize."""
    modules(OLD + "Transformer", OLD + "Pooling", OLD + "Normalize")(folder)
    (folder / "1_Pooling").mkdir()
    write_json(folder / POOLING, {"word_embedding_dimension": WIDTH, **FLAGS})
    write_json(folder / SENTENCE, {"max_seq_length": 24, "do_lower_case": False})
    write_json(folder / SETTINGS, {"__version__": {"sentence_transformers": "2.0.0"}})


def new_files(folder: Path) -> None:
    """As version 6 writes them."""
    modules(
        NEW + "transformer.Transformer",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        NEW + "normalize.Normalize",
    )(folder)
    for name in (POOLING, NORMALIZE):
        (folder / name).parent.mkdir()
    write_json(folder / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": "mean", "include_prompt": True})
    names = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
    write_json(folder / NORMALIZE, names)
    task = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
    write_json(
        folder / SENTENCE,
        {
            "transformer_task": "feature-extraction",
            "modality_config": task,
            "module_output_name": "token_embeddings",
            "processing_kwargs": {},
            "unpad_inputs": None,
        },
    )
    write_json(
        folder / SETTINGS,
        {
            "model_type": "SentenceTransformer",
            "__version__": {"sentence_transformers": "6.2.0"},
            "prompts": {"query": "", "document": ""},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )


def s(name: str, change: Callable[[Path], object], code: str, file: str = MODULES, words: str = "") -> Case:
    return Case(name, both(old_files, change), code, file, None, words)


def pooling(code: str, words: str = "", **values: object) -> Case:
    name = f"pooling {json.dumps(values)}"[:60]
    return s(name, put(POOLING, **values), code, POOLING, words)


def types(*names: str) -> Callable[[Path], None]:
    return modules(*(OLD + name for name in names))


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
    s("default prompt", put(SETTINGS, prompts={"q": "query: "}, default_prompt_name="q"), "sentence-prompt", SETTINGS),
    s("default prompt not there", put(SETTINGS, default_prompt_name="q"), "sentence-prompt", SETTINGS),
    s("default prompt a number", put(SETTINGS, default_prompt_name=1), "sentence-prompt", SETTINGS),
    s("default prompt a list", put(SETTINGS, default_prompt_name=[1]), "sentence-prompt", SETTINGS),
    s("prompts a list", put(SETTINGS, prompts=["query: "]), "config-type", SETTINGS),
    s("prompt a number", put(SETTINGS, prompts={"q": 1}), "config-type", SETTINGS),
    s("truncated embedding", put(SETTINGS, truncate_dim=4), "sentence-setting", SETTINGS, "'truncate_dim': 4"),
    s("sparse encoder", put(SETTINGS, model_type="SparseEncoder"), "sentence-setting", SETTINGS),
]


def dense(folder: Path) -> None:
    """A linear of 7 outputs with tanh behind the pooling."""
    modules(OLD + "Transformer", OLD + "Pooling", OLD + "Dense", paths=("", "1_Pooling", "2_Dense"))(folder)
    (folder / "2_Dense").mkdir()
    values = {"in_features": WIDTH, "out_features": 7, "bias": True, "activation_function": TANH}
    write_json(folder / DENSE, values)
    weights = {"linear.weight": np.ones((7, WIDTH), np.float32), "linear.bias": np.ones(7, np.float32)}
    write_safetensors(folder / DENSE_WEIGHTS, weights)


def row_norm(folder: Path) -> None:
    """A norm and a dropout behind the pooling."""
    kinds = ("Transformer", "Pooling", "LayerNorm", "Dropout")
    modules(*(OLD + kind for kind in kinds), paths=("", "1_Pooling", "2_LayerNorm", "3_Dropout"))(folder)
    for name in ("2_LayerNorm", "3_Dropout"):
        (folder / name).mkdir()
    write_json(folder / NORM, {"dimension": WIDTH})
    write_json(folder / DROPOUT, {"dropout": 0.2})
    weights = {"norm.weight": np.ones(WIDTH, np.float32), "norm.bias": np.ones(WIDTH, np.float32)}
    write_safetensors(folder / NORM_WEIGHTS, weights)


def n(name: str, change: Callable[[Path], object], code: str, file: str, words: str = "") -> Case:
    return Case(name, both(old_files, row_norm, change), code, file, None, words)


def d(name: str, change: Callable[[Path], object], code: str, file: str = DENSE, words: str = "") -> Case:
    return Case(name, both(old_files, dense, change), code, file, None, words)


def cross_encoder(folder: Path) -> None:
    """As version 6 writes them: the classifier is all."""
    modules(NEW + "transformer.Transformer")(folder)
    task = {"text": {"method": "forward", "method_output_name": "logits"}}
    write_json(
        folder / SENTENCE,
        {"transformer_task": "sequence-classification", "modality_config": task, "module_output_name": "scores"},
    )
    write_json(folder / SETTINGS, {"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity"})


def x(name: str, change: Callable[[Path], object], code: str, file: str, words: str = "") -> Case:
    return Case(name, both(cross_encoder, change), code, file, None, words)


CASES += [
    d("no configuration of Dense", remove(DENSE), "sentence-file-missing"),
    d("Dense of another width", put(DENSE, in_features=WIDTH + 1), "sentence-width", words="has 10 values"),
    d("Dense without a width", drop(DENSE, "out_features"), "config-missing"),
    d("Dense of no outputs", put(DENSE, out_features=0), "config-out-of-range"),
    d("activation of Dense", put(DENSE, activation_function="torch.nn.Mish"), "activation-not-supported"),
    d("a setting of Dense", put(DENSE, dropout=0.1), "sentence-setting", words="'dropout'"),
    d("Dense of every token", put(DENSE, module_input_name="token_embeddings"), "sentence-setting"),
    d("weights of Dense", remove(DENSE_WEIGHTS), "weights-missing", DENSE_WEIGHTS),
    d(
        "weights of Dense pickled",
        lambda p: (p / DENSE_WEIGHTS).rename(p / "2_Dense/pytorch_model.bin"),
        "pickle-refused",
        "2_Dense/pytorch_model.bin",
    ),
    n("no configuration of LayerNorm", remove(NORM), "sentence-file-missing", NORM),
    n("LayerNorm of another width", put(NORM, dimension=9), "sentence-width", NORM, "the row before it has 10 values"),
    n("LayerNorm without a width", drop(NORM, "dimension"), "config-missing", NORM),
    n("a setting of LayerNorm", put(NORM, eps=1e-6), "sentence-setting", NORM, "'eps'"),
    n("weights of LayerNorm", remove(NORM_WEIGHTS), "weights-missing", NORM_WEIGHTS, "of the LayerNorm module"),
    n("a setting of Dropout", put(DROPOUT, p=0.1), "sentence-setting", DROPOUT, "'p'"),
    x("CrossEncoder of embeddings", put(SENTENCE, transformer_task="feature-extraction"), "sentence-setting", SENTENCE),
    x("CrossEncoder's function", put(SETTINGS, activation_fn=3), "sentence-setting", SETTINGS),
    x("CrossEncoder with pooling", types("Transformer", "Pooling"), "sentence-setting", SENTENCE),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


def read(folder: Path) -> SentenceModules | None:
    return load_and_take(folder).sentence


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
    """Flags in the library's order, modes in that of the list; what follows has as many values."""
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(POOLING, pooling_mode_weightedmean_tokens=True, pooling_mode_lasttoken=True)(tmp_path)
    assert read(tmp_path) == SentenceModules("mean", (), True, ("weighted_mean", "last"))
    write_json(tmp_path / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": ["max", "mean", "cls"]})
    assert read(tmp_path) == SentenceModules("max", (), True, ("mean", "cls"))
    dense(tmp_path)
    with pytest.raises(EtchError, match="the row before it has 30 values"):
        load_checkpoint(tmp_path)
    put(DENSE, in_features=3 * WIDTH)(tmp_path)
    found = read(tmp_path)
    assert found is not None and isinstance(found.dense[0], Dense) and found.dense[0].inputs == 30


def test_a_norm_of_the_row_and_no_dropout(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    row_norm(tmp_path)
    found = read(tmp_path)
    assert found is not None
    (norm,) = found.dense
    assert isinstance(norm, RowNorm) and norm.outputs == WIDTH
    (tmp_path / DROPOUT).unlink()
    assert len((read(tmp_path) or found).dense) == 1


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
    assert "has prompts (query)" in note


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
