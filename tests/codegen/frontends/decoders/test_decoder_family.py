# SPDX-License-Identifier: Apache-2.0
"""Decoders that write nothing: classifiers of the last row and embeddings, what their folders may say, and what is
refused. test_recorded_models.py has what they compute, test_decoders.py those that write."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from tiny_checkpoint import read_raw_safetensors, write_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends import decoders
from codegen.frontends.bases.decoder_family import Family
from codegen.frontends.decoders import qwen3
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

LAST, CLASSIFIER, WINDOW = "qwen3/last", "qwen3/softmax", "mistral/softmax"

REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "answers": (
        CLASSIFIER,
        configure(architectures=["Qwen3ForQuestionAnswering"]),
        "architecture-not-supported",
        "Qwen3ForSequenceClassification, Qwen3ForCausalLM, Qwen3ForTokenClassification, or ",
    ),
    "rows alone": (CLASSIFIER, configure(architectures=["Qwen3Model"]), "modules-missing", "--pooling"),
    "an embedding of a classifier": (
        LAST,
        configure(architectures=["Qwen3ForSequenceClassification"]),
        "architecture-conflict",
        "Qwen3Model",
    ),
    "padding that texts end with": (CLASSIFIER, configure(pad_token_id=0), "config-value", "pad_token_id 0"),
    "a window that is not used": (
        LAST,
        configure(layer_types=["sliding_attention"]),
        "config-not-supported",
        "use_sliding_window says no window",
    ),
    "a window of itself": (
        WINDOW,
        configure(sliding_window=1),
        "config-not-supported",
        "sliding_window 1: the library",
    ),
    "a window of none": (WINDOW, configure(sliding_window=0), "config-out-of-range", "sliding_window"),
    "heads of the usual width": (LAST, configure(head_dim=128), "wrong-shape", "q_proj"),
    "biases": ("llama/multi_label", configure(attention_bias=False), "unused-tensor", "q_proj.bias"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_a_window_that_nobody_says(tmp_path: Path) -> None:
    """As the library has it; null says that there is none."""
    path = changed(WINDOW, configure(max_position_embeddings=5000), tmp_path)
    assert seen_by(path, 5000) == ("past", 4095)
    assert seen_by(path, 4096) == ("causal", None)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps(config | {"sliding_window": None}), encoding="utf-8")
    assert seen_by(path, 5000) == ("causal", None)


def seen_by(path: Path, tokens: int) -> tuple[object, object]:
    """Mask and window of the layers."""
    graph = pipeline.to_graph(pipeline.load(path), tokens)
    attention = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention))
    return attention.mask, attention.window


def rows(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).output([7, 9, 0], [0, 0, 0])


def as_a_writer(path: Path) -> None:
    """The class that the model was trained as, with its names and the weights of its logits."""
    configure(architectures=["Qwen3ForCausalLM"])(path)
    header, data = read_raw_safetensors(path / "model.safetensors")
    tensors = {
        f"model.{name}": np.frombuffer(data[slice(*entry["data_offsets"])], np.float16)
        .reshape(entry["shape"])
        .astype(np.float32)
        for name, entry in header.items()
        if name != "__metadata__"
    }
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    write_safetensors(path / "model.safetensors", tensors)


def test_a_writer_with_modules_makes_embeddings(tmp_path: Path) -> None:
    """Qwen3's embeddings have the class of a writer."""
    path = changed(LAST, as_a_writer, tmp_path)
    graph = graph_of(path)
    assert (graph.task.verb, graph.target_rules) == ("embed", None)
    assert "not used by sentence-transformers: lm_head.weight" in graph.notes
    assert np.array_equal(rows(path), rows(folder(LAST)))


def test_pooling_that_is_asked_for(tmp_path: Path) -> None:
    def alone(path: Path) -> None:
        (path / "modules.json").unlink()

    path = changed(LAST, alone, tmp_path)
    graph = pipeline.to_graph(pipeline.load(path, Reading(pooling="last")), None)
    pools = [op.kind for op, _ in g.ops_of(graph) if isinstance(op, g.Pool)]
    assert (pools, graph.task.verb) == (["last"], "embed")
    configure(architectures=["Qwen3ForCausalLM"], eos_token_id=0)(path)
    of_writer = pipeline.to_graph(pipeline.load(path, Reading(pooling="last")), None)
    assert (of_writer.task.verb, of_writer.target_rules) == ("embed", None)


ANGLES = ("rope_parameters", "num_key_value_heads", "hidden_act")
UNSAID = {
    "gpt2/softmax": ("activation_function", "layer_norm_epsilon", "scale_attn_weights", "tie_word_embeddings"),
    "gpt_neo/softmax": ("activation_function", "attention_types", "layer_norm_epsilon", "tie_word_embeddings"),
    "gpt_bigcode/softmax": ("activation_function", "layer_norm_epsilon", "tie_word_embeddings"),
    "nemotron/regression": ("hidden_act", "norm_eps"),
    "gptj/multi_label": ("activation_function", "layer_norm_epsilon", "tie_word_embeddings"),
    "opt/regression": ("activation_function", "do_layer_norm_before", "enable_bias", "layer_norm_elementwise_affine"),
    "phi/softmax": (*ANGLES, "layer_norm_eps", "qk_layernorm"),
    "phi3/multi_label": (*ANGLES[::2], "rms_norm_eps", "original_max_position_embeddings", "sliding_window"),
    "stablelm/softmax": (*ANGLES[::2], "layer_norm_eps", "qk_layernorm", "use_parallel_residual", "use_qkv_bias"),
    "starcoder2/regression": (*ANGLES, "norm_epsilon", "sliding_window"),
}


@pytest.mark.parametrize("variant", UNSAID)
def test_what_no_key_says(variant: str, tmp_path: Path) -> None:
    """As the library has it, which wrote these keys down."""
    path = changed(variant, configure(**dict.fromkeys(UNSAID[variant])), tmp_path)
    assert np.array_equal(rows(path), rows(folder(variant)))


def test_heads_of_keys_that_nobody_counts(tmp_path: Path) -> None:
    """As Phi 1.5 has it."""
    path = changed("phi/softmax", configure(), tmp_path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps(config | {"num_key_value_heads": None}), encoding="utf-8")
    assert np.array_equal(rows(path), rows(folder("phi/softmax")))


def test_all_positions_are_a_texts() -> None:
    """Nothing is written behind it."""
    config = json.loads((folder(CLASSIFIER) / "config.json").read_text())
    assert pipeline.load(folder(CLASSIFIER)).default_max_tokens == config["max_position_embeddings"]


def test_a_row_sees_none_behind_it() -> None:
    graph = graph_of(folder(CLASSIFIER))
    assert {op.mask for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)} == {"causal"}
    heads = {op.gamma.name: op.heads for op, _ in g.ops_of(graph) if isinstance(op, g.Norm)}
    assert (heads["query_norm_gamma"], heads["key_norm_gamma"], heads["final_norm_gamma"]) == (4, 2, 1)


def test_padding_that_only_the_library_says(tmp_path: Path) -> None:
    """Texts that end with it would be read by the row before it."""
    config = json.loads((folder(CLASSIFIER) / "config.json").read_text(encoding="utf-8"))
    assert config.pop("pad_token_id") is None
    path = changed(CLASSIFIER, lambda copy: (copy / "config.json").write_text(json.dumps(config)), tmp_path)
    checkpoint = pipeline.load(path)
    qwen3.FAMILY.build_graph(checkpoint, 8)
    with pytest.raises(EtchError, match="pad_token_id 0, is one of the special tokens") as caught:
        replace(qwen3.FAMILY, padding=0).build_graph(checkpoint, 8)
    assert caught.value.code == "config-value"


def test_padding_is_the_librarys() -> None:
    """Of every family that has one where the configuration does not say it."""
    transformers = pytest.importorskip("transformers")
    compared = 0
    for found in iter_modules(decoders.__path__):
        module = import_module(f"{decoders.__name__}.{found.name}")
        family = getattr(module, "FAMILY", getattr(module, "_FAMILY", None))
        if isinstance(family, Family) and module.MODEL_TYPE in transformers.CONFIG_MAPPING:
            usual = getattr(transformers.CONFIG_MAPPING[module.MODEL_TYPE](), "pad_token_id", None)
            assert family.padding == usual or usual is None, module.MODEL_TYPE
            compared += usual is not None
    assert compared > 20
