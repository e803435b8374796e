# SPDX-License-Identifier: Apache-2.0
"""The weights file: every lie its header can tell, every tensor that does not fit, and the odd files that are legal."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from malformed import WEIGHTS, Case, check_refused, edit_header, edit_header_text, load_and_take, parametrize, raw
from tiny_checkpoint import read_raw_safetensors, write_safetensors, write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.load.safetensors import TensorFile

BIAS = "classifier.bias"  # 3 values, somewhere in the middle of the sorted names, last in the file
FIRST = "bert.embeddings.word_embeddings.weight"
NORM = "bert.embeddings.LayerNorm.weight"


def entry(**values: object) -> Callable[[Path], None]:
    return edit_header(lambda header: header[BIAS].update(values))


def offsets(begin: Callable[[int], object], end: Callable[[int], object]) -> Callable[[Path], None]:
    def change(header: dict[str, Any]) -> None:
        old = header[BIAS]["data_offsets"]
        header[BIAS]["data_offsets"] = [begin(old[0]), end(old[1])]

    return edit_header(change)


def tensors(change: Callable[[dict[str, np.ndarray]], object], **dtypes: str) -> Callable[[Path], None]:
    """Rewrite the weights with other tensors or dtypes."""

    def apply(folder: Path) -> None:
        values = read_tensors(folder)
        change(values)
        names = {name.replace("__", "."): dtype for name, dtype in dtypes.items() if name != "all_"}
        write_safetensors(folder / WEIGHTS, values, dtype=dtypes.get("all_", "F32"), dtypes=names)

    return apply


def read_tensors(folder: Path) -> dict[str, np.ndarray]:
    header, data = read_raw_safetensors(folder / WEIGHTS)
    values = {}
    for name, item in header.items():
        if name != "__metadata__":
            begin, end = item["data_offsets"]
            values[name] = np.frombuffer(data[begin:end], "<f4").reshape(item["shape"]).copy()
    return values


def poke(name: str, index: int, value: float) -> Callable[[dict[str, np.ndarray]], None]:
    return lambda values: values[name].reshape(-1).__setitem__(index, value)


def append(data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes() + data)


def cut(count: int) -> Callable[[Path], None]:
    return lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-count])


def replace(old: str, new: str) -> Callable[[Path], None]:
    def change(text: bytes) -> bytes:
        assert old.encode() in text
        return text.replace(old.encode(), new.encode(), 1)

    return edit_header_text(change)


def file_with(header: bytes, data: bytes = b"") -> Callable[[Path], None]:
    return raw(WEIGHTS, struct.pack("<Q", len(header)) + header + data)


def second_norm(values: dict[str, np.ndarray]) -> None:
    values["bert.embeddings.LayerNorm.gamma"] = values[NORM]


def w(name: str, change: Callable[[Path], object], code: str, tensor: str | None = None, words: str = "") -> Case:
    return Case(name, change, code, WEIGHTS, tensor, words)


HEADER_CASES = [
    w("empty file", raw(WEIGHTS, b""), "safetensors-too-short"),
    w("seven bytes", raw(WEIGHTS, b"\2\0\0\0\0\0\0"), "safetensors-too-short"),
    w("length beyond file", raw(WEIGHTS, struct.pack("<Q", 3) + b"{}"), "safetensors-header-truncated"),
    w("length over the limit", raw(WEIGHTS, struct.pack("<Q", (100 << 20) + 1)), "safetensors-header-too-large"),
    w("length 2^64-1", raw(WEIGHTS, b"\xff" * 8 + b"{}"), "safetensors-header-too-large"),
    w("length zero", raw(WEIGHTS, bytes(8)), "safetensors-header-start"),
    w("length zero before a brace", raw(WEIGHTS, bytes(8) + b"{}"), "safetensors-header-start"),
    w("space before brace", edit_header_text(lambda text: b" " + text), "safetensors-header-start"),
    w("array as header", file_with(b"[]"), "safetensors-header-start"),
    w("pickle inside", raw(WEIGHTS, b"\x80\x02}q\x00" + bytes(100)), "safetensors-header-too-large"),
    w("bad utf-8", edit_header_text(lambda text: text.replace(b"bert", b"b\xffrt", 1)), "json-not-utf8"),
    w("overlong utf-8", edit_header_text(lambda text: text.replace(b"bert", b"b\xc0\xaft", 1)), "json-not-utf8"),
    w("truncated json", edit_header_text(lambda text: text[:-1]), "json-malformed"),
    w("text after json", edit_header_text(lambda text: text + b"{}"), "json-malformed"),
    w("nul after json", edit_header_text(lambda text: text + b"\0"), "json-malformed"),
    w("100000 levels", file_with(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "json-too-deep"),
    w("65 levels", file_with(b'{"a":' + b"[" * 65 + b"]" * 65 + b"}"), "json-too-deep"),
    w("tensor twice", replace("{", '{"classifier.bias":{},'), "json-duplicate-key", words=BIAS),
    w("field twice", replace('"dtype":', '"dtype":"F16","dtype":'), "json-duplicate-key", words="'dtype'"),
    w("metadata twice", replace("{", '{"__metadata__":{},'), "json-duplicate-key"),
    w("NaN dimension", replace('"shape":[', '"shape":[NaN,'), "json-not-finite", words="NaN"),
    w("Infinity dimension", replace('"shape":[', '"shape":[Infinity,'), "json-not-finite"),
    w("1e999 dimension", replace('"shape":[', '"shape":[1e999,'), "json-not-finite"),
    w("5000-digit dimension", replace('"shape":[', '"shape":[' + "9" * 5000 + ","), "json-number-too-long"),
    w("lone surrogate", replace('"bert.pooler', '"\\ud800bert.pooler'), "json-lone-surrogate"),
    w("control character in name", replace('"bert.pooler', '"\nbert.pooler'), "json-malformed"),
    w("metadata not strings", edit_header(lambda h: h.update(__metadata__={"format": 1})), "safetensors-metadata"),
    w("metadata a list", edit_header(lambda h: h.update(__metadata__=[])), "safetensors-metadata"),
    w("entry not an object", edit_header(lambda h: h.update({BIAS: [1]})), "safetensors-entry", BIAS),
    w(
        "entry a list of its fields",
        edit_header(lambda h: h.update({BIAS: ["dtype", "shape", "data_offsets"]})),
        "safetensors-entry",
        BIAS,
    ),
    w("entry lacks dtype", edit_header(lambda h: h[BIAS].pop("dtype")), "safetensors-entry", BIAS),
    w("entry has more fields", entry(strides=[1]), "safetensors-entry", BIAS),
    w("unknown dtype", entry(dtype="Q4_0"), "safetensors-dtype", BIAS, "'Q4_0'"),
    w("dtype not a string", entry(dtype=["F32"]), "safetensors-dtype", BIAS),
    w("dtype in lower case", entry(dtype="f32"), "safetensors-dtype", BIAS),
    w("negative dimension", entry(shape=[-3]), "safetensors-shape", BIAS, "-3"),
    w("two negative dimensions", entry(shape=[-1, -3]), "safetensors-shape", BIAS),
    w("float dimension", entry(shape=[3.0]), "safetensors-shape", BIAS, "3.0"),
    w("bool dimension", entry(shape=[3, True]), "safetensors-shape", BIAS, "true"),
    w("string dimension", entry(shape=["3"]), "safetensors-shape", BIAS),
    w("dimension of 31 digits", entry(shape=[10**30]), "safetensors-shape", BIAS),
    w("shape a number", entry(shape=3), "safetensors-shape", BIAS),
    w("rank 9", entry(shape=[1] * 8 + [3]), "safetensors-shape", BIAS),
    w("shape too large", entry(shape=[4]), "safetensors-size", BIAS, "16 bytes, data_offsets give 12"),
    w("dtype too wide", entry(dtype="F64"), "safetensors-size", BIAS),
    w("2^64 elements wrap to 3", entry(shape=[2**40, 2**24 + 1, 3]), "safetensors-size", BIAS),
    w("offsets reversed", offsets(lambda b: b + 12, lambda e: e - 12), "safetensors-offsets", BIAS),
    w("offset negative", offsets(lambda b: -12, lambda e: 0), "safetensors-offsets", BIAS),
    w("offset a float", offsets(float, lambda e: e), "safetensors-offsets", BIAS),
    w("three offsets", entry(data_offsets=[0, 4, 12]), "safetensors-offsets", BIAS),
    w("offsets a string", entry(data_offsets="0,12"), "safetensors-offsets", BIAS),
    w("overlap", offsets(lambda b: b - 4, lambda e: e - 4), "safetensors-overlap", BIAS),
    w("overlap by offset 0", offsets(lambda b: 0, lambda e: 12), "safetensors-overlap", FIRST),
    w("hole", offsets(lambda b: b + 4, lambda e: e + 4), "safetensors-hole", BIAS),
    w("hole at 2^63", offsets(lambda b: 2**63, lambda e: 2**63 + 12), "safetensors-hole", BIAS),
    w("trailing byte", append(b"\0"), "safetensors-trailing-bytes"),
    w("data cut", cut(1), "safetensors-data-truncated", words="the file has"),
    w("no tensors but data", file_with(b"{}", b"abc"), "safetensors-trailing-bytes"),
]

TENSOR_CASES = [
    w("NaN", tensors(poke("classifier.weight", 7, np.nan)), "tensor-not-finite", "classifier.weight", "nan at [0, 7]"),
    w("Inf", tensors(poke(FIRST, -1, np.inf)), "tensor-not-finite", FIRST, "inf"),
    w("overflow in F16", tensors(poke(BIAS, 1, 70000.0), all_="F16"), "tensor-not-finite", BIAS, "inf at [1]"),
    w("-Inf in F16", tensors(poke(BIAS, 0, -np.inf), all_="F16"), "tensor-not-finite", BIAS, "-inf"),
    w("NaN in BF16", tensors(poke(BIAS, 2, np.nan), all_="BF16"), "tensor-not-finite", BIAS, "nan at [2]"),
    w("-Inf in BF16", tensors(poke(BIAS, 0, -np.inf), all_="BF16"), "tensor-not-finite", BIAS, "-inf at [0]"),
    w(
        "F64",
        tensors(lambda t: None, classifier__bias="F64"),
        "dtype-not-supported",
        BIAS,
        "expected one of F32, F16, BF16, got F64",
    ),
    w("I64 weights", tensors(lambda t: None, classifier__bias="I64"), "dtype-not-supported", BIAS),
    w("missing", tensors(lambda t: t.pop(BIAS)), "missing-tensor", BIAS),
    w("extra", tensors(lambda t: t.update(backdoor=np.ones(3))), "unused-tensor", "backdoor", "1 of 26"),
    w("header only", file_with(b"{}"), "missing-tensor", FIRST),
    w("one row less", tensors(lambda t: t.update({BIAS: t[BIAS][:2]})), "wrong-shape", BIAS, "expected [3], got [2]"),
    w("no elements", tensors(lambda t: t.update({BIAS: t[BIAS][:0]})), "wrong-shape", BIAS, "got [0]"),
    w(
        "transposed",
        tensors(lambda t: t.update({"classifier.weight": t["classifier.weight"].T})),
        "wrong-shape",
        "classifier.weight",
        "expected [3, 10], got [10, 3]",
    ),
    w("both names of a norm", tensors(second_norm), "tensor-twice", NORM),
]


@parametrize(HEADER_CASES + TENSOR_CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


def test_values_are_exact_and_read_only(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, seed=3)
    file = TensorFile.open(tmp_path / WEIGHTS)
    for name, values in read_tensors(tmp_path).items():
        assert file.info(name) == ("F32", values.shape)
        taken = file.take(name, values.shape)
        assert taken.values.dtype == np.float32
        assert taken.values.tobytes() == values.tobytes()
        assert not taken.values.flags.writeable
    file.finish()


def test_f16_is_converted_exactly(tmp_path: Path) -> None:
    every = np.arange(1 << 16, dtype="<u2").view("<f2")
    finite = every[np.isfinite(every)].astype(np.float32)
    write_safetensors(tmp_path / WEIGHTS, {"all": finite}, dtype="F16")
    taken = TensorFile.open(tmp_path / WEIGHTS).take("all", finite.shape)
    assert taken.values.tobytes() == finite.tobytes()


def test_bf16_is_the_upper_half_of_a_float(tmp_path: Path) -> None:
    every = (np.arange(1 << 16, dtype="<u4") << 16).view("<f4")
    finite = every[np.isfinite(every)]
    write_safetensors(tmp_path / WEIGHTS, {"all": finite, "scalar": finite[9].reshape(())}, dtype="BF16")
    file = TensorFile.open(tmp_path / WEIGHTS)
    taken = file.take("all", finite.shape)
    assert taken.values.tobytes() == finite.tobytes()
    assert not taken.values.flags.writeable
    assert file.take("scalar", ()).values.tobytes() == finite[9].tobytes()


def test_unaligned_data(tmp_path: Path) -> None:
    write_safetensors(tmp_path / WEIGHTS, {"x": np.arange(5, dtype=np.float32)})
    header, data = read_raw_safetensors(tmp_path / WEIGHTS)
    for pad in range(8):
        text = json.dumps(header).encode() + b" " * pad
        (tmp_path / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text + data)
        assert TensorFile.open(tmp_path / WEIGHTS).take("x", (5,)).values.tolist() == [0, 1, 2, 3, 4]


def test_scalars_and_empty_tensors(tmp_path: Path) -> None:
    values = {
        "deep": np.ones((1,) * 8, np.float32),
        "scalar": np.float32(2.5).reshape(()),
        "none": np.zeros((0, 4), np.float32),
        "one": np.ones(1, np.float32),
    }
    write_safetensors(tmp_path / WEIGHTS, values)
    file = TensorFile.open(tmp_path / WEIGHTS)
    assert file.take("scalar", ()).values == 2.5
    assert file.take("none", (0, 4)).values.shape == (0, 4)
    assert file.names == ("deep", "none", "one", "scalar")
    assert file.info("deep") == ("F32", (1,) * 8)


def test_a_scalar_that_is_not_finite(tmp_path: Path) -> None:
    write_safetensors(tmp_path / WEIGHTS, {"scalar": np.float32(np.nan).reshape(())})
    with pytest.raises(EtchError, match=r"nan at \[\]"):
        TensorFile.open(tmp_path / WEIGHTS).take("scalar", ())


def test_the_last_value_of_a_large_tensor_is_checked(tmp_path: Path) -> None:
    values = np.zeros((1 << 20) + 1, np.float32)
    values[-1] = np.nan
    write_safetensors(tmp_path / WEIGHTS, {"x": values})
    with pytest.raises(EtchError, match=r"nan at \[1048576\] \(1 of"):
        TensorFile.open(tmp_path / WEIGHTS).take("x", values.shape)


def legal_zero_channel(values: dict[str, np.ndarray]) -> None:
    values["classifier.weight"][1] = 0


def legal_legacy_names(values: dict[str, np.ndarray]) -> None:
    for name in [name for name in values if "LayerNorm" in name]:
        values[name.replace(".weight", ".gamma").replace(".bias", ".beta")] = values.pop(name)


def legal_shuffled(values: dict[str, np.ndarray]) -> None:
    names = sorted(values, key=lambda name: name[::-1])
    for name in names:
        values[name] = values.pop(name)


LEGAL = {
    "all-zero channel": tensors(legal_zero_channel),
    "largest F16": tensors(poke(BIAS, 0, 65504.0), all_="F16"),
    "F16": tensors(lambda t: None, all_="F16"),
    "BF16": tensors(lambda t: None, all_="BF16"),
    "largest BF16": tensors(poke(BIAS, 0, 3.38e38), all_="BF16"),
    "F16 and BF16 beside F32": tensors(lambda t: None, classifier__bias="F16", classifier__weight="BF16"),
    "F16 beside F32": tensors(lambda t: None, classifier__bias="F16"),
    "denormal": tensors(poke(BIAS, 0, 1e-42)),
    "legacy gamma and beta": tensors(legal_legacy_names),
    "shuffled order": tensors(legal_shuffled),
    "integer buffer": tensors(
        lambda t: t.update({"bert.embeddings.position_ids": np.arange(32).reshape(1, 32)}),
        bert__embeddings__position_ids="I64",
    ),
    "no metadata": edit_header(lambda h: h.pop("__metadata__")),
}


@pytest.mark.parametrize("name", LEGAL)
def test_odd_but_legal(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    LEGAL[name](tmp_path)
    load_and_take(tmp_path)


def test_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "a")
    write_tiny_checkpoint(tmp_path / "b")
    LEGAL["shuffled order"](tmp_path / "b")
    a, b = (TensorFile.open(tmp_path / name / WEIGHTS) for name in "ab")
    assert a.names == b.names
    for name in a.names:
        shape = a.info(name)[1]
        assert a.take(name, shape).values.tobytes() == b.take(name, shape).values.tobytes()


def test_ignore_returns_what_it_matched(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    file = TensorFile.open(tmp_path / WEIGHTS)
    assert file.ignore("bert.pooler.*", "nothing") == ("bert.pooler.dense.bias", "bert.pooler.dense.weight")
    assert file.ignore("*")
    file.finish()
