# SPDX-License-Identifier: Apache-2.0
"""`etch convert` of GGUF files: recorded folders as llama.cpp's converter writes them become what they were, whose
answers the library recorded; and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import random_tensors, read_tensors, write_json, write_safetensors

gguf = pytest.importorskip("gguf")

from gguf import GGMLQuantizationType as Type  # noqa: E402
from gguf_files import RECORDED, WRITERS, converted, source_of, write_gguf  # noqa: E402

from codegen import cli  # noqa: E402
from codegen.convert.gguf.refusals import refusals_of  # noqa: E402
from codegen.convert.gguf.stored_tensor import StoredTensor  # noqa: E402
from codegen.convert.gguf.types import READABLE, stored_values, type_of  # noqa: E402
from codegen.frontends import family_of  # noqa: E402
from codegen.load.bare_encoder import with_pooling  # noqa: E402
from codegen.load.config import Config  # noqa: E402
from codegen.load.files import CheckpointFolder  # noqa: E402
from codegen.load.generation_config import read_generation  # noqa: E402
from codegen.load.safetensors import TensorFile  # noqa: E402
from codegen.load.shards import open_weights  # noqa: E402
from codegen.oracle.interpret import Interpreter  # noqa: E402
from codegen.pipeline import load, to_graph  # noqa: E402

PRES = {"gpt2": "gpt-2", "llama": "llama-bpe", "phi3": "gpt-2", "qwen2": "qwen2", "qwen3": "qwen2"}
# What a file of llama.cpp's cannot say, as the library's own answers need it said, is taken out of the folder.
WITHOUT_WINDOW: dict[str, Any] = {"use_sliding_window": False, "sliding_window": None, "layer_types": None}
VARIANTS: dict[str, dict[str, Any]] = {
    "gemma/own": {},
    "gemma2/own": {"query_pre_attn_scalar": 10},
    "gemma3_text/own": {"query_pre_attn_scalar": 10, "layer_types": ["sliding_attention"] * 3},
    "gpt2/texts": {},
    "gpt2/two_layers": {},
    "llama/scaled": {},
    "llama/texts": {},
    "llama/tied": {},
    "llama/wide_heads": {},
    "mistral/ends": WITHOUT_WINDOW,
    "olmo2/own": {},
    "phi3/texts": {},
    "qwen2/texts": WITHOUT_WINDOW,
    "qwen3/texts": WITHOUT_WINDOW,
}


def keys_of(variant: str) -> Callable[[Any], None]:
    """What the file says besides."""

    def add(writer: Any) -> None:
        if variant.endswith("/texts"):
            writer.add_tokenizer_pre(PRES[variant.partition("/")[0]])
        if variant == "llama/scaled":
            writer.add_rope_scaling_orig_ctx_len(40)

    return add


def interpreter_of(path: Path, max_target: int) -> Interpreter:
    folder = CheckpointFolder(path)
    config = Config.from_json(folder.read_json("config.json"))
    family = family_of(config.model_type)
    settings = read_generation(folder, config, family.read_limits(config).target_vocabulary, has_encoder=False)
    return Interpreter(family.graph_of(config, open_weights(folder)[0], 24, max_target, settings))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_writer_is_what_it_was(variant: str, tmp_path: Path) -> None:
    """Its logits are those that the library recorded or, where the folder was changed, those of that folder. Norms of
    Gemma's were float32's sums with 1."""
    source = source_of(variant, tmp_path / "source", **VARIANTS[variant])
    file = write_gguf(source, tmp_path / "model.gguf", add=keys_of(variant))
    code, out = converted(file)
    assert code == 0
    before, after = read_tensors(source / "model.safetensors"), read_tensors(out / "model.safetensors")
    assert set(before) == set(after)
    for name, values in before.items():
        np.testing.assert_allclose(after[name], values.astype(np.float32), atol=1e-6 if "gemma" in variant else 0)
    recorded = json.loads((source / "recorded.json").read_text())
    found, own = (interpreter_of(path, recorded["max_target"]) for path in (out, source))
    for text in recorded["outputs"][:3]:
        ids, written = text["ids"], text["written"][:-1]
        logits = found.logits(ids, [0] * len(ids), written)
        expected = own.logits(ids, [0] * len(ids), written)
        if not VARIANTS[variant]:
            expected[: len(text["logits"])] = text["logits"]
        assert np.abs(logits - expected).max() < (1e-5 if "gemma" in variant else 1e-10) * np.abs(expected).max()


@pytest.mark.parametrize("variant", ["bert/poolings", "nomic_bert/softmax"])
def test_an_encoder_is_what_it_was(variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = source_of(variant, tmp_path / "source", RECORDED / "recorded")
    file = write_gguf(source, tmp_path / "model.gguf", add=lambda writer: writer.add_pooling_type(gguf.PoolingType.CLS))
    code, out = converted(file)
    assert code == 0
    assert "whether embeddings are normalized the file does not say" in capsys.readouterr().out
    before, after = read_tensors(source / "model.safetensors"), read_tensors(out / "model.safetensors")
    names = {name: name.removeprefix("nomic_bert.") for name in before if "pooler" not in name and "class" not in name}
    assert set(names.values()) == set(after)
    for name, short in names.items():
        np.testing.assert_array_equal(after[short], before[name].astype(np.float32))
    own, config = (json.loads((path / "config.json").read_text()) for path in (source, out))
    computed = ("hidden_size", "num_attention_heads", "layer_norm_eps", "hidden_act", "rope_parameters", "vocab_size")
    assert {key: own.get(key) for key in computed} == {key: config.get(key) for key in computed}
    pooling = json.loads((out / "1_Pooling" / "config.json").read_text())
    assert [key for key, value in pooling.items() if value is True] == ["pooling_mode_cls_token"]
    assert cli.main(["inspect", str(out)]) == 0
    assert "pooling first" in capsys.readouterr().out


FAMILY_NAMES = {"bert/poolings": "Bert", "nomic_bert/softmax": "NomicBert", "xlm-roberta/mean": "XLMRoberta"}


def rows_of(folder: Path) -> list[np.ndarray]:
    """The mean of rows, or what the folder's modules make of them, of some ids."""
    checkpoint = load(folder)
    checkpoint = with_pooling(checkpoint, "mean") if checkpoint.sentence is None else checkpoint
    interpreter = Interpreter(to_graph(checkpoint, 12))
    return [interpreter.output(ids, [0] * len(ids)) for ids in ([5], [7, 9, 11, 3], list(range(12)))]


@pytest.mark.parametrize("variant", FAMILY_NAMES)
def test_rows_of_an_encoder(variant: str, tmp_path: Path) -> None:
    source = source_of(variant, tmp_path / "source", RECORDED / "recorded")
    code, out = converted(write_gguf(source, tmp_path / "model.gguf"))
    assert code == 0
    (source / "modules.json").unlink(missing_ok=True)
    config = json.loads((source / "config.json").read_text())
    write_json(source / "config.json", config | {"architectures": [f"{FAMILY_NAMES[variant]}Model"]})
    _keep_encoder(source / "model.safetensors")
    for found, expected in zip(rows_of(out), rows_of(source), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def _keep_encoder(path: Path) -> None:
    tensors = read_tensors(path)
    path.unlink()
    write_safetensors(path, {name: values for name, values in tensors.items() if not name.startswith("classifier")})


def test_an_embedding_of_gemma(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the linears behind its pooling; of a file that names none these have no place."""
    source = source_of("gemma3_text/mean", tmp_path / "source", RECORDED / "recorded")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (source / name).unlink()
    config = json.loads((source / "config.json").read_text()) | {"query_pre_attn_scalar": 6}
    write_json(source / "config.json", config)

    def add(writer: Any) -> None:
        writer.add_uint32("gemma-embedding.attention.sliding_window_pattern", 3)
        writer.add_dense_features_dims("dense_2", 20, 31)

    file = write_gguf(source, tmp_path / "model.gguf", add=add)
    assert converted(file)[0] == 1
    assert "tensor 'dense_2.weight': a linear behind a pooling" in capsys.readouterr().err
    mean = gguf.PoolingType.MEAN
    file = write_gguf(source, tmp_path / "model.gguf", add=lambda w: add(w) or w.add_pooling_type(mean))
    code, out = converted(file)
    assert code == 0
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(out / name, source / name)
    for found, expected in zip(rows_of(out), rows_of(source), strict=True):
        np.testing.assert_allclose(found / np.linalg.norm(found), expected, rtol=1e-5)


def test_one_segment_that_lies_there_without_a_dimension(tmp_path: Path) -> None:
    source = source_of("bert/poolings", tmp_path / "source", RECORDED / "recorded")
    config = json.loads((source / "config.json").read_text())
    write_json(source / "config.json", config | {"type_vocab_size": 1})
    name = "embeddings.token_type_embeddings.weight"
    _change(source / "model.safetensors", name, lambda values: values[:1])
    code, out = converted(write_gguf(source, tmp_path / "model.gguf"))
    assert code == 0
    assert TensorFile.open(out / "model.safetensors").info(name) == ("F32", (1, 20))


def _change(path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    tensors = read_tensors(path)
    path.unlink()
    write_safetensors(path, tensors | {name: change(tensors[name])})


def wide_llama(folder: Path) -> Path:
    """With rows of 256, for blocks of that many values."""
    width, vocabulary = 256, 45
    config = json.loads((WRITERS / "llama/tied/config.json").read_text())
    sizes = {"hidden_size": width, "intermediate_size": width, "head_dim": 64, "num_attention_heads": 4}
    sizes |= {"num_key_value_heads": 4, "num_hidden_layers": 1, "vocab_size": vocabulary}
    config = config | sizes | {"attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False}
    linears = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
    linears += ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
    layer = {f"model.layers.0.{name}.weight": (width, width) for name in linears}
    norms = ("model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm", "model.norm")
    words = {f"{name}.weight": (vocabulary, width) for name in ("model.embed_tokens", "lm_head")}
    folder.mkdir()
    write_json(folder / "config.json", config)
    write_safetensors(
        folder / "model.safetensors", random_tensors(layer | words | {f"{n}.weight": (width,) for n in norms})
    )
    return folder


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0"])
def test_quantized_weights_are_near_the_first_ones(kind: str, tmp_path: Path) -> None:
    """Of the types that the package can write; F16 and BF16 stay what they are."""
    source = wide_llama(tmp_path / "source")
    file = write_gguf(source, tmp_path / "model.gguf", lambda _: Type[kind])
    code, out = converted(file)
    assert code == 0
    tensors = TensorFile.open(out / "model.safetensors")
    stored = kind if kind in ("F16", "BF16") else "F32"
    error = {"F16": 0.001, "BF16": 0.008, "Q8_0": 0.01, "Q4_0": 0.15, "Q4_1": 0.15, "Q5_0": 0.07, "Q5_1": 0.07}
    for name, before in read_tensors(source / "model.safetensors").items():
        dtype, shape = tensors.info(name)
        assert dtype == ("F32" if before.ndim == 1 else stored)
        values = tensors.take(name, shape).values
        difference = np.abs(values - before).max() / np.abs(before).max()
        assert difference < error.get(kind, 1.01)


@pytest.mark.parametrize(("dtype", "stored", "error"), [("float16", "F16", 2.0**-11), ("bfloat16", "BF16", 2.0**-8)])
def test_quantized_matrices_that_are_rounded(dtype: str, stored: str, error: float, tmp_path: Path) -> None:
    file = write_gguf(wide_llama(tmp_path / "source"), tmp_path / "model.gguf", lambda _: Type.Q8_0)
    assert cli.main(["convert", str(file), "--out", str(tmp_path / "exact")]) == 0
    code, out = converted(file, "--dtype", dtype)
    assert code == 0
    exact, tensors = (TensorFile.open(path / "model.safetensors") for path in (tmp_path / "exact", out))
    for name in exact.names:
        _, shape = exact.info(name)
        assert tensors.info(name) == ("F32" if len(shape) == 1 else stored, shape)
        values = exact.take(name, shape).values
        assert (np.abs(tensors.take(name, shape).values - values) <= error * np.abs(values) + 2.0**-25).all()
    assert json.loads((out / "config.json").read_text())["dtype"] == dtype
    assert cli.main(["convert", str(out), "--out", str(tmp_path / "again"), "--dtype", dtype]) == 2


def test_weights_that_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_gguf(wide_llama(tmp_path / "source"), tmp_path / "model.gguf", lambda _: Type.Q8_0)
    monkeypatch.setattr("codegen.convert.gguf.weights.MAX_FILE_BYTES", 1_500_000)
    assert converted(file)[0] == 1
    assert "--dtype float16 rounds them" in capsys.readouterr().err
    assert converted(file, "--dtype", "float16")[0] == 0


def test_a_block_of_each_common_type_by_its_definition() -> None:
    """ggml's dequantize_row_q8_0 and _q4_0: a float16 and 32 integers; the halves of 16 bytes, less 8."""
    random = np.random.default_rng(1)
    scale = np.array([0.125], np.float16).view(np.uint8)
    values = random.integers(-128, 128, 32).astype(np.int8)
    np.testing.assert_array_equal(
        _dequantized("Q8_0", np.concatenate([scale, values.view(np.uint8)])), values.astype(np.float32) / 8
    )
    halves = random.integers(0, 256, 16).astype(np.uint8)
    expected = (np.concatenate([halves & 15, halves >> 4]).astype(np.float32) - 8) / 8
    np.testing.assert_array_equal(_dequantized("Q4_0", np.concatenate([scale, halves])), expected)


def _dequantized(kind: str, raw: np.ndarray) -> np.ndarray:
    refuse = refusals_of("m.gguf")
    found = type_of(Type[kind], "w", refuse)
    return stored_values(StoredTensor("w", found, (found.block,), memoryview(raw.tobytes())), refuse)


@pytest.mark.parametrize("kind", READABLE)
def test_rows_of_each_type_are_read_alone_as_together(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Large tensors are read in parts."""
    refuse = refusals_of("m.gguf")
    found = type_of(Type[kind], "w", refuse)
    rows, columns = 7, found.block * 2
    raw = np.random.default_rng(2).integers(0, 256, rows * 2 * found.bytes).astype(np.uint8)
    tensor = StoredTensor("w", found, (rows, columns), memoryview(raw.tobytes()))
    whole = stored_values(tensor, refuse)
    assert whole.shape == (rows, columns)
    monkeypatch.setattr("codegen.convert.gguf.types._CHUNK_VALUES", columns * 2)
    assert stored_values(tensor, refuse).tobytes() == whole.tobytes()


def test_what_was_converted_is_generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a quantized file to sources, whose self test the emulator has."""
    file = write_gguf(wide_llama(tmp_path / "source"), tmp_path / "model.gguf", lambda _: Type.Q4_0)
    code, out = converted(file)
    assert code == 0
    generated = tmp_path / "generated"
    assert cli.main(["generate", str(out), "--out", str(generated), "--name", "small", "--max-target", "4"]) == 0
    assert "4 tokens" in capsys.readouterr().out
    assert (generated / "small.hpp").is_file()


def test_a_licence_and_a_template_go_along(tmp_path: Path) -> None:
    def add(writer: Any) -> None:
        writer.add_license("apache-2.0")
        writer.add_chat_template("{{ messages }}")
        writer.add_tokenizer_pre("llama-bpe")
        writer.add_eot_token_id(283)

    source = source_of("llama/texts", tmp_path / "source")
    code, out = converted(write_gguf(source, tmp_path / "model.gguf", add=add))
    assert code == 0
    assert (out / "README.md").read_text() == "---\nlicense: apache-2.0\n---\n"
    assert json.loads((out / "tokenizer_config.json").read_text())["chat_template"] == "{{ messages }}"
    generation = json.loads((out / "generation_config.json").read_text())
    assert generation == {"bos_token_id": 281, "eos_token_id": [282, 283]}
    assert json.loads((out / "etch.json").read_text())["converted"] is True


def test_a_file_whose_end_is_converted_again(tmp_path: Path) -> None:
    """What was written there before is replaced; what somebody else wrote is not."""
    file = write_gguf(source_of("olmo2/own", tmp_path / "source"), tmp_path / "model.gguf")
    assert converted(file)[0] == 0
    code, out = converted(file)
    assert code == 0
    (out / "mine.txt").write_text("mine")
    assert converted(file)[0] == 1
