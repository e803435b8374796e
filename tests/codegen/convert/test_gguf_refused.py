# SPDX-License-Identifier: Apache-2.0
"""GGUF files that `etch convert` refuses by name, and the commands that refuse any."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import read_tensors, write_safetensors

gguf = pytest.importorskip("gguf")

from gguf import GGMLQuantizationType as Type  # noqa: E402
from gguf_files import WRITERS, converted, source_of, write_gguf  # noqa: E402

from codegen import cli  # noqa: E402
from codegen.convert.gguf.folder import FAMILIES, write_folder  # noqa: E402
from codegen.convert.gguf.refusals import refusals_of  # noqa: E402
from codegen.convert.gguf.types import type_of  # noqa: E402
from codegen.errors import EtchError  # noqa: E402


def _add_uint(key: str, value: int) -> Callable[[Any], None]:
    return lambda writer: writer.add_uint32(key, value)


REFUSED: list[tuple[str, Callable[[Any], None], str, str]] = [
    ("olmo2/own", _add_uint("olmo2.expert_count", 4), "gguf-not-supported", "'olmo2.expert_count'"),
    ("olmo2/own", _add_uint("split.count", 3), "gguf-not-supported", "llama-gguf-split --merge"),
    ("olmo2/own", lambda writer: writer.add_type("adapter"), "gguf-not-supported", "'adapter'"),
    ("olmo2/own", _add_uint("olmo2.rope.dimension_count", 2), "gguf-not-supported", "a part of each head"),
    ("olmo2/own", _add_uint("olmo2.pooling_type", 4), "gguf-not-supported", "a model that ranks"),
    ("olmo2/own", _add_uint("olmo2.attention.value_length", 7), "gguf-not-supported", "another width"),
    (
        "olmo2/own",
        lambda writer: writer.add_string("olmo2.rope.scaling.type", "yarn") or writer.add_rope_scaling_factor(2.0),
        "gguf-not-supported",
        "rope.scaling.type 'yarn'",
    ),
    ("llama/scaled", lambda _: None, "gguf-not-supported", "not Llama 3's"),
    ("llama/texts", lambda writer: writer.add_tokenizer_pre("default"), "gguf-tokenizer", "'default' does not say"),
    ("llama/texts", lambda writer: writer.add_tokenizer_pre("tekken"), "gguf-tokenizer", "(read: gpt-2, "),
    ("gemma3_text/own", lambda w: w.add_final_logit_softcapping(3.0), "gguf-not-supported", "final_logit_softcapping"),
]


@pytest.mark.parametrize(("variant", "add", "code", "part"), REFUSED)
def test_what_is_refused(
    variant: str, add: Callable[[Any], None], code: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_gguf(WRITERS / variant, tmp_path / "model.gguf", add=add)
    found, out = converted(file)
    assert found == 1
    assert not out.exists()
    told = capsys.readouterr().err
    assert f"error[{code}] convert: model.gguf: " in told
    assert part in told


def test_an_architecture_that_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(file, "mamba")
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(EtchError) as caught:
        write_folder(file, tmp_path)
    assert caught.value.code == "gguf-architecture"
    assert ", ".join(sorted(FAMILIES)) in caught.value.message


@pytest.mark.parametrize("missing", ["token_embd.weight", "output_norm.weight", "blk.0.attn_q.weight"])
def test_a_tensor_that_is_missing(missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_gguf(WRITERS / "olmo2/own", tmp_path / "model.gguf", leave_out=frozenset({missing}))
    assert converted(file)[0] == 1
    assert "error[missing-tensor]" in capsys.readouterr().err


def test_a_type_of_tensor_that_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        type_of(Type.I32, "w", refusals_of("m.gguf"))
    assert caught.value.code == "gguf-type"
    assert "I32 is not read (read: F32, F16, BF16, Q4_0" in caught.value.message


@pytest.mark.parametrize("kind", [Type.F32, Type.BF16])
def test_values_that_are_not_finite(kind: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = source_of("olmo2/own", tmp_path / "source")
    tensors = read_tensors(source / "model.safetensors")
    name = "model.layers.0.mlp.up_proj.weight"
    tensors[name] = tensors[name] * np.float16(np.inf)
    (source / "model.safetensors").unlink()
    write_safetensors(source / "model.safetensors", tensors)
    assert converted(write_gguf(source, tmp_path / "model.gguf", lambda _: kind))[0] == 1
    told = capsys.readouterr().err
    assert "error[tensor-not-finite] convert: model.gguf: tensor 'blk.0.ffn_up.weight': " in told


def test_commands_that_want_a_folder_name_the_one_that_makes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    for asked in (file, tmp_path):
        assert cli.main(["inspect", str(asked)]) == 1
        told = capsys.readouterr().err
        assert "error[format-not-supported] load: model.gguf: this is a GGUF file; " in told
        assert f"convert {file} --out " in told
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    assert cli.main(["convert", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "but 'model.gguf': name that file" in capsys.readouterr().err
    assert converted(file, "--file", "x.bin")[0] == 2
    assert "error[option-conflict] arguments: --file" in capsys.readouterr().err


def test_the_package_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_gguf(WRITERS / "olmo2/own", tmp_path / "model.gguf")
    monkeypatch.setitem(sys.modules, "gguf", None)
    assert converted(file)[0] == 1
    assert "error[library-missing] convert: model.gguf: " in capsys.readouterr().err
