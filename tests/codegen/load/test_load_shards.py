# SPDX-License-Identifier: Apache-2.0
"""Weights in several files: the same model as in one, and every way in which index and files can disagree."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from malformed import CONFIG, WEIGHTS, Case, both, check_refused, edit, load_and_take, parametrize, put, raw
from tiny_checkpoint import read_raw_safetensors, split_weights, write_raw_safetensors, write_tiny_checkpoint

from codegen.load import shards
from codegen.load.folder import load_checkpoint
from codegen.oracle.bert import Reference

INDEX = WEIGHTS + ".index.json"
FIRST, SECOND = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
BIAS = "classifier.bias"  # in the second file
WORDS = "bert.embeddings.word_embeddings.weight"  # in the first


def weight_map(change: Callable[[dict[str, str]], object]) -> Callable[[Path], None]:
    return edit(INDEX, lambda index: change(index["weight_map"]))


def move(tensor: str, file: object) -> Callable[[Path], None]:
    return weight_map(lambda places: places.update({tensor: file}))


def header(file: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        values, data = read_raw_safetensors(folder / file)
        change(values)
        write_raw_safetensors(folder / file, values, data)

    return apply


def poke_nan(folder: Path) -> None:
    values, data = read_raw_safetensors(folder / SECOND)
    begin, end = values[BIAS]["data_offsets"]
    write_raw_safetensors(folder / SECOND, values, data[:begin] + np.float32([np.nan] * 3).tobytes() + data[end:])


def rename(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: (folder / old).rename(folder / new) and None


def linked_away(folder: Path) -> None:
    shutil.move(folder / SECOND, folder.parent / "elsewhere")
    (folder / SECOND).symlink_to("../elsewhere")


def c(
    name: str,
    change: Callable[[Path], object],
    code: str,
    file: str = INDEX,
    tensor: str | None = None,
    words: str = "",
) -> Case:
    return Case(name, both(split_weights, change), code, file, tensor, words)


CASES = [
    c("index malformed", raw(INDEX, b"{"), "json-malformed"),
    c("index a list", raw(INDEX, b"[]"), "json-not-an-object"),
    c("index with a tensor twice", raw(INDEX, b'{"weight_map": {"a": "x", "a": "y"}}'), "json-duplicate-key"),
    c("no weight_map", edit(INDEX, lambda index: index.pop("weight_map")), "shard-index", words="got null"),
    c("weight_map a list", put(INDEX, weight_map=[FIRST]), "shard-index"),
    c("weight_map empty", put(INDEX, weight_map={}), "shard-index"),
    c("unknown field", put(INDEX, files=2), "shard-index"),
    c("metadata a list", put(INDEX, metadata=[]), "shard-index"),
    c(
        "a thousand and one files",
        put(INDEX, weight_map={f"t{i}": f"{i}.safetensors" for i in range(1001)}),
        "shard-index",
        words="1001 files",
    ),
    c("file a number", move(BIAS, 2), "shard-path", tensor=BIAS),
    c("file null", move(BIAS, None), "shard-path", tensor=BIAS),
    c("file above", move(BIAS, f"../{SECOND}"), "shard-path", tensor=BIAS, words=f"'../{SECOND}'"),
    c("file absolute", move(BIAS, f"/etc/{SECOND}"), "shard-path", tensor=BIAS),
    c("file in a folder", move(BIAS, f"parts/{SECOND}"), "shard-path", tensor=BIAS),
    c("file with backslash", move(BIAS, f"..\\{SECOND}"), "shard-path", tensor=BIAS),
    c("file with NUL", move(BIAS, f"\0{SECOND}"), "shard-path", tensor=BIAS),
    c("file hidden", move(BIAS, ".safetensors"), "shard-path", tensor=BIAS),
    c("file a pickle", move(BIAS, "pytorch_model.bin"), "shard-path", tensor=BIAS),
    c("shard missing", lambda folder: (folder / SECOND).unlink(), "shard-missing", SECOND),
    c("shard renamed", rename(SECOND, "second.safetensors"), "shard-missing", SECOND),
    c("shard linked away", linked_away, "symlink-escapes", SECOND),
    c(
        "shard cut",
        lambda folder: (folder / SECOND).write_bytes((folder / SECOND).read_bytes()[:-1]),
        "safetensors-data-truncated",
        SECOND,
    ),
    c("shard empty", raw(FIRST, b""), "safetensors-too-short", FIRST),
    c(
        "shard of another checkpoint",
        lambda folder: shutil.copy(folder / FIRST, folder / "model-00003-of-00003.safetensors"),
        "shard-not-listed",
        "model-00003-of-00003.safetensors",
    ),
    c("one file as well", lambda folder: shutil.copy(folder / FIRST, folder / WEIGHTS), "weights-twice"),
    c(
        "tensor in two files",
        both(lambda folder: shutil.copy(folder / FIRST, folder / "x.safetensors"), move(WORDS, "x.safetensors")),
        "shard-conflict",
        FIRST,
        WORDS,
        "puts it into 'x.safetensors'",
    ),
    c("tensor in the other file", move(BIAS, FIRST), "shard-conflict", SECOND, BIAS),
    c("tensor in no file", move("classifier.extra", FIRST), "shard-conflict", FIRST, "classifier.extra", "it does not"),
    c(
        "tensor not in the index",
        weight_map(lambda places: places.pop(BIAS)),
        "shard-conflict",
        SECOND,
        BIAS,
        "does not name it",
    ),
    c(
        "tensor missing in both",
        both(
            weight_map(lambda places: places.pop(BIAS)),
            header(SECOND, lambda h: h.update({"x": h.pop(BIAS)})),
            move("x", SECOND),
        ),
        "missing-tensor",
        INDEX,
        BIAS,
    ),
    c("wrong shape in a shard", header(SECOND, lambda h: h[BIAS].update(shape=[3, 1])), "wrong-shape", SECOND, BIAS),
    c("NaN in a shard", poke_nan, "tensor-not-finite", SECOND, BIAS),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["F32", "BF16"])
def test_the_same_tensors_as_in_one_file(count: int, dtype: str, tmp_path: Path) -> None:
    for name in ("one", "many"):
        write_tiny_checkpoint(tmp_path / name, layers=2, dtype=dtype)
    split_weights(tmp_path / "many", count)
    one, many = (load_and_take(tmp_path / name) for name in ("one", "many"))
    assert one.tensors.names == many.tensors.names
    for name in one.tensors.names:
        shape = one.tensors.info(name)[1]
        assert one.tensors.take(name, shape).values.tobytes() == many.tensors.take(name, shape).values.tobytes()
    assert many.notes == one.notes
    assert one.digest != many.digest
    ids, segments = [2, 5, 7, 3], [0] * 4
    logits = [Reference(tmp_path / name).output(ids, segments).tolist() for name in ("one", "many")]
    assert logits[0] == logits[1]


def test_every_shard_counts_for_the_digest(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    split_weights(tmp_path)
    seen = {load_checkpoint(tmp_path).digest}
    for file in (FIRST, SECOND):
        values, data = read_raw_safetensors(tmp_path / file)
        write_raw_safetensors(tmp_path / file, values | {"__metadata__": {"format": "np"}}, data)
        seen.add(load_checkpoint(tmp_path).digest)
    assert len(seen) == 3


@pytest.mark.parametrize("size", [0, 1e9, "much", None])
def test_total_size_is_not_trusted(size: object, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    split_weights(tmp_path)
    put(INDEX, metadata={"total_size": size})(tmp_path)
    (note,) = load_and_take(tmp_path).notes
    assert "claims" in note
    assert "not used" in note


def test_an_index_needs_no_metadata(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    split_weights(tmp_path)
    edit(INDEX, lambda index: index.pop("metadata"))(tmp_path)
    assert load_and_take(tmp_path).notes == ()


def test_the_limit_counts_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("large", split_weights, "file-too-large", INDEX)
    write_tiny_checkpoint(tmp_path / "model")
    size = (tmp_path / "model" / WEIGHTS).stat().st_size
    assert (tmp_path / "model" / CONFIG).stat().st_size < size
    monkeypatch.setattr(shards, "MAX_FILE_BYTES", size // 2)
    check_refused(case, tmp_path / "model")
