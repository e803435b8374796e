# SPDX-License-Identifier: Apache-2.0
"""Decoders alone as families, GPT-2's, Qwen2's and Llama's shape: what their folders may say, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import read_raw_safetensors, write_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

RECORDED = Path(__file__).resolve().parents[2] / "generation"
OWN_FILES = ("recorded.json", "beams.json", "texts.json")
LINEAR = {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}
LLAMA3 = LINEAR | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def folder(out: Path, family: str, *, generation: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A recorded checkpoint with keys of its configuration changed; None removes one."""
    shutil.copytree(RECORDED / family / "texts", out, ignore=shutil.ignore_patterns(*OWN_FILES))
    for file, values in (("config.json", changes), ("generation_config.json", generation or {})):
        new = json.loads((out / file).read_text(encoding="utf-8")) | values
        new = {key: value for key, value in new.items() if value is not None}
        (out / file).write_text(json.dumps(new), encoding="utf-8")
    return out


def graph_of(path: Path, max_tokens: int | None = None, max_target: int | None = None) -> g.Graph:
    return pipeline.to_graph(pipeline.load(path, Reading(max_target=max_target)), max_tokens)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_text_and_what_is_written_share_the_positions(family: str, tmp_path: Path) -> None:
    own = folder(tmp_path / "own", family)
    silent = folder(tmp_path / "silent", family, generation={"max_new_tokens": None})
    for path, asked, expected in (
        (own, (None, None), (25, 17)),
        (own, (10, None), (10, 17)),
        (own, (None, 30), (12, 30)),
        (own, (41, 1), (41, 1)),
        (silent, (None, None), (21, 21)),
        (silent, (30, None), (30, 12)),
    ):
        graph = graph_of(path, *asked)
        assert graph.target_rules is not None
        assert (graph.max_tokens, graph.target_rules.max_tokens) == expected
        assert (graph.task.name, graph.task.verb, graph.target_rules.begin) == ("generation", "generate", ())
        assert (graph.target_rules.empty, graph.notes) == (281, ())


@pytest.mark.parametrize("name", ["InternLM3", "IQuestCoder"])
def test_files_that_are_older_than_the_librarys_class(name: str, tmp_path: Path) -> None:
    """They name one of their own; such a Llama by another name writes what that one does."""
    ids, said = [7, 9, 4], {"model_type": name.lower(), "architectures": [f"{name}ForCausalLM"]}
    own, other = (
        Interpreter(graph_of(folder(tmp_path / of, "llama", **changes)))
        for of, changes in (("own", {}), (name, said | {"rms_norm_eps": 1e-6}))
    )
    assert np.array_equal(other.logits(ids, [0] * 3, []), own.logits(ids, [0] * 3, []))
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "tagger", "llama", **said | {"architectures": [f"{name}ForTokenClassification"]}))
    assert caught.value.code == "architecture-not-supported"


def test_mpts_own_name_of_its_class(tmp_path: Path) -> None:
    """As mpt-7b was published, which the library reads as MptForCausalLM."""
    model = RECORDED / "mpt" / "own"
    path = folder(tmp_path / "mpt", "gpt_neox")
    config = json.loads((model / "config.json").read_text(encoding="utf-8")) | {"vocab_size": 283}
    graphs = []
    for name in ("MPTForCausalLM", "MptForCausalLM"):
        (path / "config.json").write_text(json.dumps(config | {"architectures": [name]}), encoding="utf-8")
        header, data = read_raw_safetensors(model / "model.safetensors")
        tensors = {
            name: np.frombuffer(data[slice(*entry["data_offsets"])], np.float16).reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__"
        }
        words = "transformer.wte.weight"
        tensors[words] = np.resize(tensors[words], (283, tensors[words].shape[1]))
        write_safetensors(path / "model.safetensors", {name: of.astype(np.float32) for name, of in tensors.items()})
        graphs.append(graph_of(path))
    assert np.array_equal(*(Interpreter(graph).logits([7, 9, 4], [0] * 3, []) for graph in graphs))


@pytest.mark.parametrize(
    ("family", "prefix"),
    [
        ("gpt2", "transformer."),
        ("openai-gpt", "transformer."),
        ("gpt_neo", "transformer."),
        ("opt", "model."),
        ("llama", "model."),
    ],
)
def test_files_of_the_model_alone(family: str, prefix: str, tmp_path: Path) -> None:
    """Names without a prefix; in GPT's and GPT-2's first files also the masks of attention beside the weights."""
    usual = folder(tmp_path / "usual", family)
    first = folder(tmp_path / "first", family)
    header, data = read_raw_safetensors(first / "model.safetensors")
    tensors = {
        name.removeprefix(prefix): np.frombuffer(data[slice(*entry["data_offsets"])], np.float16)
        .reshape(entry["shape"])
        .astype(np.float32)
        for name, entry in header.items()
        if name != "__metadata__"
    }
    if family in ("gpt2", "openai-gpt"):
        tensors["h.0.attn.bias"] = np.tril(np.ones((1, 1, 41, 41), np.float32))
    write_safetensors(first / "model.safetensors", tensors)
    logits = [Interpreter(graph_of(path)).logits([51, 71], [0, 0], [5]) for path in (usual, first)]
    assert np.array_equal(*logits)


@pytest.mark.parametrize(
    ("family", "model"),
    [
        *(("gpt2", "GPT2"), ("gpt_neo", "GPTNeo"), ("gpt_neox", "GPTNeoX"), ("openai-gpt", "OpenAIGPT")),
        *(("opt", "OPT"), ("phi", "Phi"), ("phi3", "Phi3")),
    ],
)
def test_rows_of_the_model_alone(family: str, model: str, tmp_path: Path) -> None:
    """They are those that a writer's logits are made of."""
    path = folder(tmp_path / "model", family)
    writes = Interpreter(graph_of(path))
    alone = folder(tmp_path / "alone", family, architectures=[f"{model}Model"])
    embeds = pipeline.to_graph(pipeline.load(alone, Reading(pooling="last")), None)
    assert (embeds.task.verb, embeds.target_rules) == ("embed", None)
    ids = [51, 71, 5]
    logits = writes.logits(ids, [0] * len(ids), [])[0]
    linear = next(op for op, _ in g.ops_of(graph_of(path)) if isinstance(op, g.Linear) and op.out == "logits")
    row = Interpreter(embeds).output(ids, [0] * len(ids))
    made = linear.weight.arrays[0].values @ row
    if linear.bias is not None:
        made += linear.bias.arrays[0].values
    assert np.abs(made - logits).max() < 1e-9 * np.abs(logits).max()


@pytest.mark.parametrize(
    ("family", "changes", "code"),
    [
        ("gpt2", {"architectures": ["GPT2ForQuestionAnswering"]}, "architecture-not-supported"),
        ("openai-gpt", {"architectures": ["OpenAIGPTDoubleHeadsModel"]}, "architecture-not-supported"),
        ("openai-gpt", {"generation": {"eos_token_id": None}}, "config-missing"),
        ("gpt2", {"add_cross_attention": True}, "config-not-supported"),
        ("gpt2", {"n_layer": 2}, "missing-tensor"),
        ("gpt2", {"n_embd": None}, "config-missing"),
        ("gpt2", {"num_attention_heads": 4}, "config-value"),
        ("gpt2", {"num_hidden_layers": 2}, "config-value"),
        ("gpt2", {"is_encoder_decoder": True}, "config-value"),
        ("gpt2", {"vocab_size": 281}, "token-id-out-of-range"),
        ("gpt2", {"n_positions": 16}, "max-tokens-out-of-range"),
        ("gpt2", {"generation": {"do_sample": True, "num_beams": 2}}, "generation-not-supported"),
        ("gpt2", {"generation": {"eos_token_id": None}}, "config-missing"),
        ("gpt2", {"generation": {"eos_token_id": [*range(9)]}}, "generation-not-supported"),
        ("gpt2", {"generation": {"bos_token_id": 282}}, "token-id-out-of-range"),
        ("llama", {"architectures": ["LlamaForQuestionAnswering"]}, "architecture-not-supported"),
        ("llama", {"rope_parameters": LINEAR | {"factor": 0.5}}, "rotary-not-supported"),
        ("llama", {"rope_parameters": LINEAR | {"rope_type": "yarn"}}, "rotary-not-supported"),
        ("llama", {"rope_parameters": LINEAR | {"partial_rotary_factor": 0.5}}, "rotary-not-supported"),
        ("llama", {"rope_parameters": LINEAR | {"rope_type": "default"}}, "rotary-not-supported"),
        (
            "llama",
            {"rope_parameters": LINEAR, "rope_scaling": {"type": "linear", "factor": 3.0}},
            "rotary-not-supported",
        ),
        ("llama", {"rope_parameters": LLAMA3 | {"low_freq_factor": 4.0}}, "rotary-not-supported"),
        ("llama", {"rope_parameters": LLAMA3 | {"original_max_position_embeddings": 0}}, "config-out-of-range"),
        ("llama", {"original_max_position_embeddings": 20}, "rotary-not-supported"),
        ("llama", {"rope_parameters": None, "rope_scaling": {"type": "dynamic"}}, "rotary-not-supported"),
        ("llama", {"rope_parameters": None, "rope_scaling": "linear"}, "rotary-not-supported"),
        ("llama", {"mlp_bias": True}, "missing-tensor"),
        ("qwen2", {"architectures": ["LlamaForCausalLM"]}, "architecture-not-supported"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 1}, "config-not-supported"),
        ("qwen2", {"use_sliding_window": True, "max_window_layers": -1}, "config-out-of-range"),
        ("qwen2", {"use_sliding_window": False}, "config-not-supported"),
        ("llama", {"num_key_value_heads": 3}, "heads-do-not-divide"),
        ("llama", {"vocab_size": 282}, "token-id-out-of-range"),
        ("llama", {"hidden_act": "mish"}, "activation-not-supported"),
    ],
)
def test_what_is_refused(family: str, changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", family, **changes))
    assert caught.value.code == code


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    path = folder(tmp_path / "model", "gpt2")
    for tokens, target, words in (
        (41, 2, "42 tokens, 41 of the text and 1 written behind it"),
        (26, None, "26 of the text"),
        (None, 42, "42 tokens that are written leave a text none of the"),
    ):
        with pytest.raises(EtchError, match=words) as caught:
            graph_of(path, tokens, target)
        assert caught.value.code == "max-tokens-out-of-range"
    classifier = RECORDED.parent / "recorded" / "bert" / "softmax"
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(classifier, tmp_path / "out", max_target=5), lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("option-conflict", "arguments")
    assert not (tmp_path / "out").exists()
