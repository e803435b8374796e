# SPDX-License-Identifier: Apache-2.0
"""`etch convert` of weights that are quantized already: the values that each method's library reads, recorded by
record_quantized.py, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import read_tensors, split_weights, write_json, write_tiny_checkpoint

from codegen import cli
from codegen.convert.quantized.blocks import spread
from codegen.convert.quantized.packed_integers import unpacked
from codegen.convert.quantized.plain_weights import READERS
from codegen.files.safetensors_file import Stored, write_safetensors
from codegen.load.quantized_config import METHODS
from codegen.load.safetensors import TensorFile

RECORDED = Path(__file__).with_name("quantized")
CASES = sorted(path.name for path in RECORDED.iterdir())
WEIGHTS = "model.safetensors"
QUERY = "bert.encoder.layer.0.attention.self.query"


def stored(path: Path) -> dict[str, Stored]:
    tensors = TensorFile.open(path)
    return {name: Stored(*tensors.stored(name)) for name in tensors.names}


def settings_of(case: str) -> dict[str, Any]:
    return json.loads((RECORDED / case / "recorded.json").read_text())["quantization_config"]


def quantized(folder: Path, case: str, dtype: str | None = None) -> Path:
    """A BERT with the linears of a recorded case."""
    write_tiny_checkpoint(folder, hidden=32, intermediate=64)
    config = json.loads((folder / "config.json").read_text())
    config |= {"quantization_config": settings_of(case)} | ({"dtype": dtype} if dtype else {})
    write_json(folder / "config.json", config)
    plain = stored(RECORDED / case / "read.safetensors")
    tensors = {name: tensor for name, tensor in stored(folder / WEIGHTS).items() if name not in plain}
    tensors |= stored(RECORDED / case / "stored.safetensors")
    (folder / WEIGHTS).unlink()
    write_safetensors(folder / WEIGHTS, tensors)
    return folder


def converted(folder: Path) -> tuple[int, Path]:
    out = folder.with_name("out")
    return cli.main(["convert", str(folder), "--out", str(out)]), out


@pytest.mark.parametrize("case", CASES)
def test_weights_are_those_that_the_library_reads(case: str, tmp_path: Path) -> None:
    """GPTQ's and AWQ's libraries have them as float16, which is what our exact products round to."""
    folder = quantized(tmp_path / "model", case)
    before = stored(folder / WEIGHTS)
    code, out = converted(folder)
    assert code == 0
    assert "quantization_config" not in json.loads((out / "config.json").read_text())
    plain = read_tensors(out / WEIGHTS)
    for name, expected in read_tensors(RECORDED / case / "read.safetensors").items():
        assert plain[name].dtype == np.float32
        np.testing.assert_array_equal(plain.pop(name).astype(expected.dtype), expected)
    after = stored(out / WEIGHTS)
    assert all(bytes(after[name].data) == bytes(before[name].data) for name in plain)


@pytest.mark.parametrize(("dtype", "type_stored"), [("float16", "F16"), ("bfloat16", "BF16"), ("float32", "F32")])
def test_weights_are_of_the_type_that_the_configuration_says(dtype: str, type_stored: str, tmp_path: Path) -> None:
    code, out = converted(quantized(tmp_path / "model", "nf4", dtype))
    assert code == 0
    tensors = TensorFile.open(out / WEIGHTS)
    expected = TensorFile.open(RECORDED / "nf4" / "read.safetensors")
    error = {"F16": 2.0**-11, "BF16": 2.0**-8, "F32": 0.0}[type_stored]
    for name in expected.names:
        assert tensors.info(name)[0] == type_stored
        shape = expected.info(name)[1]
        exact, rounded = expected.take(name, shape).values, tensors.take(name, shape).values
        assert (np.abs(rounded - exact) <= error * np.abs(exact) + 2.0**-25).all()


def test_shards(tmp_path: Path) -> None:
    folder = quantized(tmp_path / "model", "fp8_whole")
    split_weights(folder)
    code, out = converted(folder)
    assert code == 0
    assert [path.name for path in out.glob("model*")] == [WEIGHTS]
    split_weights(out)  # is a folder as any other
    assert cli.main(["inspect", str(out)]) == 0


def test_the_refusal_names_each_method() -> None:
    assert set(READERS) == set(METHODS)


def test_blocks_that_are_not_whole() -> None:
    scales = np.arange(6).reshape(2, 3)
    found = spread(scales, (3, 5), (2, 2), "w")
    assert found.tolist() == [[0, 0, 1, 1, 2], [0, 0, 1, 1, 2], [3, 3, 4, 4, 5]]


def test_a_block_larger_than_the_weight() -> None:
    assert spread(np.ones((1, 1), np.float32), (3, 5), (1 << 60, 1 << 60), "w").shape == (3, 5)


@pytest.mark.parametrize("bits", range(2, 9))
def test_values_that_go_on_in_the_next_word(bits: int) -> None:
    values = np.random.default_rng(bits).integers(0, 1 << bits, (3, 37))
    rows = [sum(int(value) << (place * bits) for place, value in enumerate(row)) for row in values]
    words = -(-37 * bits // 32)
    packed = np.array([[(row >> (32 * word)) & 0xFFFFFFFF for word in range(words)] for row in rows], np.uint32)
    assert unpacked(packed.view(np.int32), bits, 37).tolist() == values.tolist()


def config(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        said = json.loads((folder / "config.json").read_text())
        said["quantization_config"] |= changes
        write_json(folder / "config.json", said)

    return change


def top(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        write_json(folder / "config.json", json.loads((folder / "config.json").read_text()) | changes)

    return change


def tensor(name: str, value: Stored | None) -> Callable[[Path], None]:
    """Exchanges one of the query's, or leaves it out."""

    def change(folder: Path) -> None:
        tensors = stored(folder / WEIGHTS)
        del tensors[f"{QUERY}.{name}"]
        if value is not None:
            tensors[f"{QUERY}.{name}"] = value
        (folder / WEIGHTS).unlink()
        write_safetensors(folder / WEIGHTS, tensors)

    return change


def of(dtype: str, values: np.ndarray) -> Stored:
    return Stored(dtype, values.shape, memoryview(values.tobytes()))


def without_weights(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")


NONE, ONE = np.zeros(0, np.float32), np.zeros((1, 1), np.float32)
REFUSED = {
    "another method": ("awq", config(quant_method="hqq"), "quantization-not-supported"),
    "no method": ("awq", config(quant_method=None), "quantization-not-supported"),
    "inputs first": ("awq", top(model_type="gpt2"), "quantization-not-supported"),
    "pickles": ("awq", without_weights, "quantization-not-supported"),
    "awq: bits": ("awq", config(bits=8), "quantization-not-supported"),
    "awq: version": ("awq", config(version="gemv"), "quantization-not-supported"),
    "awq: no zero point": ("awq", config(zero_point=False), "quantization-not-supported"),
    "awq: no scales": ("awq", tensor("scales", None), "missing-tensor"),
    "awq: groups": ("awq", tensor("scales", of("F32", np.ones((3, 32), "<f4"))), "wrong-shape"),
    "awq: outputs": ("awq", tensor("scales", of("F32", np.ones((2, 40), "<f4"))), "wrong-shape"),
    "awq: no inputs": ("awq", tensor("qweight", of("I32", np.zeros((0, 4), "<i4"))), "wrong-shape"),
    "awq: type": ("awq", tensor("qweight", of("F32", np.ones((32, 4), "<f4"))), "dtype-not-supported"),
    "gptq: bits": ("gptq_4_bits", config(bits=5), "quantization-not-supported"),
    "gptq: bits of a word": ("gptq_4_bits", config(bits="4"), "quantization-not-supported"),
    "gptq: bits of a fraction": ("gptq_4_bits", config(bits=4.0), "quantization-not-supported"),
    "gptq: no inputs": ("gptq_4_bits", tensor("g_idx", of("I32", np.zeros(0, "<i4"))), "wrong-shape"),
    "gptq: form": ("gptq_4_bits", config(checkpoint_format="marlin"), "quantization-not-supported"),
    "gptq: by module": ("gptq_4_bits", config(dynamic={"-:lm_head": {}}), "quantization-not-supported"),
    "gptq: other bits": ("gptq_4_bits", config(bits=8), "wrong-shape"),
    "gptq: groups": ("gptq_4_bits", tensor("g_idx", of("I32", np.full(32, 2, "<i4"))), "index-out-of-range"),
    "gptq: below": ("gptq_4_bits", tensor("g_idx", of("I32", np.full(32, -1, "<i4"))), "index-out-of-range"),
    "gptq: infinite": (
        "gptq_4_bits",
        tensor("scales", of("F32", np.full((2, 32), np.inf, "<f4"))),
        "tensor-not-finite",
    ),
    "fp8: form": ("fp8_blocks", config(fmt="e5m2"), "quantization-not-supported"),
    "fp8: blocks": ("fp8_blocks", config(weight_block_size=[128, 128]), "wrong-shape"),
    "fp8: one number": ("fp8_blocks", config(weight_block_size=[128]), "quantization-not-supported"),
    "fp8: text": ("fp8_blocks", config(weight_block_size="16x16"), "quantization-not-supported"),
    "fp8: no rows": ("fp8_whole", tensor("weight", of("F8_E4M3", np.zeros((0, 32), "u1"))), "wrong-shape"),
    "fp8: one row": ("fp8_blocks", tensor("weight", of("F8_E4M3", np.zeros(1024, "u1"))), "wrong-shape"),
    "fp8: no number": ("fp8_whole", tensor("weight", of("F8_E4M3", np.full((32, 32), 127, "u1"))), "tensor-not-finite"),
    "fp8: nothing": ("packed_4_bits", config(quant_method="fp8"), "nothing-to-convert"),
    "bitsandbytes: storage": ("nf4", config(bnb_4bit_quant_storage="bfloat16"), "quantization-not-supported"),
    "bitsandbytes: bytes": ("nf4", tensor("weight", of("U8", np.zeros(7, "u1"))), "wrong-shape"),
    "bitsandbytes: state": (
        "nf4",
        tensor("weight.quant_state.bitsandbytes__nf4", of("U8", np.frombuffer(b"{", "u1"))),
        "json-malformed",
    ),
    "bitsandbytes: no block": (
        "nf4",
        tensor("weight.quant_state.bitsandbytes__nf4", of("U8", np.frombuffer(b'{"shape": [32, 32]}', "u1"))),
        "quantization-not-supported",
    ),
    "bitsandbytes: rows": ("int8", tensor("SCB", of("F32", np.ones(3, "<f4"))), "wrong-shape"),
    "compressed: form": ("packed_4_bits", config(format="nvfp4-pack-quantized"), "quantization-not-supported"),
    "compressed: status": ("packed_4_bits", config(quantization_status="frozen"), "quantization-not-supported"),
    "compressed: sparse": (
        "packed_4_bits",
        config(sparsity_config={"format": "sparse-24-bitmask"}),
        "quantization-not-supported",
    ),
    "compressed: turned": (
        "packed_4_bits",
        config(transform_config={"config_groups": {}}),
        "quantization-not-supported",
    ),
    "compressed: no groups": ("packed_4_bits", config(config_groups={}), "quantization-not-supported"),
    "compressed: two ways": (
        "packed_4_bits",
        config(
            config_groups={
                "a": {"weights": {"num_bits": 4, "strategy": "channel"}},
                "b": {"weights": {"num_bits": 8, "strategy": "channel"}},
            }
        ),
        "quantization-not-supported",
    ),
    "compressed: no weights": ("packed_4_bits", config(config_groups={"a": {}}), "quantization-not-supported"),
    "compressed: shape": ("packed_4_bits", tensor("weight_shape", of("I64", np.zeros(2, "<i8"))), "wrong-shape"),
    "compressed: groups": ("packed_4_bits", tensor("weight_scale", of("F32", ONE)), "wrong-shape"),
    "compressed: a scale of no groups": (
        "packed_zero",
        tensor("weight_scale", of("F32", np.ones((), "<f4"))),
        "wrong-shape",
    ),
    "compressed: no columns": ("compressed_zero", tensor("weight", of("I8", np.zeros((32, 0), "i1"))), "wrong-shape"),
    "compressed: none": ("packed_4_bits", tensor("weight_scale", of("F32", NONE)), "wrong-shape"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, change, error = REFUSED[name]
    folder = quantized(tmp_path / "model", case)
    change(folder)
    code, out = converted(folder)
    assert code == 1
    assert f"error[{error}]" in capsys.readouterr().err
    assert not out.exists()


def test_another_command_says_how_they_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = quantized(tmp_path / "model", "packed_4_bits")
    assert cli.main(["inspect", str(folder)]) == 1
    assert "etch convert FOLDER --out DIR makes plain ones of them" in capsys.readouterr().err
