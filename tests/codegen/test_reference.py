# SPDX-License-Identifier: Apache-2.0
"""The float64 reference: against logits that `transformers` gave, and `transformers` itself where it is installed."""

from __future__ import annotations

import ast
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors, write_tiny_checkpoint
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen.oracle import bert
from codegen.oracle.bert import ACTIVATIONS, Reference
from codegen.oracle.functions import erf

IDS = [2, 5, 7, 9, 23, 30, 3, 6, 8, 16, 1, 3]
SEGMENTS = [0] * 7 + [1] * 5

# BertForSequenceClassification of transformers 5.23.0 in float64, attn_implementation="eager", for IDS and SEGMENTS on
# write_tiny_checkpoint(folder, layers=2, seed=3, hidden_act=NAME); printed by `python tests/codegen/test_reference.py`.
TRANSFORMERS: dict[str, list[float]] = {
    "gelu": [-0.302845006488756, 0.5475743657392097, 0.20646533490159288],
    "gelu_fast": [-0.3026660977915083, 0.5475665664794549, 0.20661364518058173],
    "gelu_new": [-0.302666097791899, 0.5475665664787785, 0.2066136451794412],
    "gelu_pytorch_tanh": [-0.302666097791899, 0.5475665664787785, 0.2066136451794412],
    "quick_gelu": [-0.29721333207949685, 0.5522571403456804, 0.2241275439599606],
    "relu": [-0.3579540210339696, 0.3837573600966583, 0.03312095319666125],
    "silu": [-0.2333350346619405, 0.6934166567878504, 0.4572164694395252],
    "swish": [-0.2333350346619405, 0.6934166567878504, 0.4572164694395252],
    "tanh": [0.061057206755807364, 1.0685739076240854, 1.141518295270342],
}


def shape_of(activation: str) -> dict[str, Any]:
    return {"layers": 2, "seed": 3, "hidden_act": activation}


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_logits_recorded_from_transformers(tmp_path: Path, activation: str) -> None:
    write_tiny_checkpoint(tmp_path, **shape_of(activation))
    assert np.abs(Reference(tmp_path).output(IDS, SEGMENTS) - TRANSFORMERS[activation]).max() < 1e-12


def transformers_logits(folder: Path) -> np.ndarray:
    import torch
    from transformers import BertForSequenceClassification

    model = BertForSequenceClassification.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", local_files_only=True
    )
    with torch.no_grad():
        output = model.eval()(input_ids=torch.tensor([IDS]), token_type_ids=torch.tensor([SEGMENTS]))
    return output.logits[0].numpy()


@pytest.mark.parametrize(
    "shape",
    [
        *(shape_of(activation) for activation in sorted(ACTIVATIONS)),
        {"hidden": 36, "heads": 3, "layers": 3, "labels": 2},
        {"hidden": 64, "heads": 4, "labels": 1000, "dtype": "F16"},
        {"labels": 1, "problem_type": "regression"},
        {"labels": 5, "problem_type": "multi_label_classification"},
    ],
    ids=str,
)
def test_logits_of_transformers(tmp_path: Path, shape: dict[str, Any]) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    write_tiny_checkpoint(tmp_path, **shape)
    assert np.abs(Reference(tmp_path).output(IDS, SEGMENTS) - transformers_logits(tmp_path)).max() < 1e-12


# The arithmetic of sentence_transformers.models.Pooling and Normalize (5.x) on BertModel of transformers 5.23.0 in
# float64, for IDS and SEGMENTS on write_tiny_sentence_model(folder, pooling=NAME, normalize=..., seed=3, hidden=4);
# printed by the same script.
EMBEDDINGS: dict[str, list[float]] = {
    "cls, normalized": [-0.05171783778018984, 0.7987624020948654, -0.3463645506690745, -0.48921926402666605],
    "cls": [-0.09926103790672254, 1.533049107926417, -0.6647707303548012, -0.9389489970102836],
    "mean, normalized": [-0.10145440410239266, 0.7665020615668195, -0.17102892711350282, -0.6106805217070935],
    "mean": [-0.05199485844956523, 0.3928283502827928, -0.08765144238659885, -0.3129706153714242],
    "max, normalized": [0.27728861020992146, 0.5759909229244431, 0.43059079532703937, 0.6371318939875213],
    "max": [0.7380273535599433, 1.533049107926417, 1.146054231733156, 1.6957810320166555],
    "mean_sqrt, normalized": [-0.10145440410239268, 0.7665020615668195, -0.17102892711350282, -0.6106805217070935],
    "mean_sqrt": [-0.18011547313399787, 1.3607973226865222, -0.3036335031405709, -1.0841620141988075],
}


def sentence_embedding(folder: Path, pooling: str, normalize: bool) -> np.ndarray:
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager", local_files_only=True)
    mask = torch.ones(1, len(IDS), dtype=torch.int64)
    with torch.no_grad():
        tokens = model.eval()(
            input_ids=torch.tensor([IDS]), token_type_ids=torch.tensor([SEGMENTS]), attention_mask=mask
        ).last_hidden_state
    spread = mask.unsqueeze(-1).expand(tokens.size()).to(tokens.dtype)
    sums, count = torch.sum(tokens * spread, 1), torch.clamp(spread.sum(1), min=1e-9)
    if pooling == "cls":
        embedding = tokens[:, 0]
    elif pooling == "max":
        tokens[spread == 0] = -1e9
        embedding = torch.max(tokens, 1)[0]
    else:
        embedding = sums / (count if pooling == "mean" else torch.sqrt(count))
    return (torch.nn.functional.normalize(embedding, p=2, dim=1) if normalize else embedding)[0].numpy()


def write_embedding(folder: Path, pooling: str, normalize: bool) -> None:
    write_tiny_sentence_model(folder, pooling=pooling, normalize=normalize, seed=3, hidden=4, layers=2)


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_embeddings_recorded_from_transformers(tmp_path: Path, case: str) -> None:
    pooling, _, normalize = case.partition(", ")
    write_embedding(tmp_path, pooling, bool(normalize))
    assert np.abs(Reference(tmp_path).output(IDS, SEGMENTS) - EMBEDDINGS[case]).max() < 1e-12


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_embeddings_of_transformers(tmp_path: Path, pooling: str, normalize: bool, prefix: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    write_tiny_sentence_model(tmp_path, pooling=pooling, normalize=normalize, prefix=prefix, hidden=36, heads=3)
    expected = sentence_embedding(tmp_path, pooling, normalize)
    assert np.abs(Reference(tmp_path).output(IDS, SEGMENTS) - expected).max() < 1e-12


def test_pooling_by_its_newer_key(tmp_path: Path) -> None:
    write_embedding(tmp_path, "max", True)
    expected = Reference(tmp_path).output(IDS, SEGMENTS).tolist()
    for named in ("max", ["max"]):
        (tmp_path / "1_Pooling/config.json").write_text(json.dumps({"embedding_dimension": 4, "pooling_mode": named}))
        assert Reference(tmp_path).output(IDS, SEGMENTS).tolist() == expected


def test_legacy_names_mean_the_same(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    expected = Reference(tmp_path).output(IDS, SEGMENTS)
    header, data = read_raw_safetensors(tmp_path / "model.safetensors")
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): entry
        for name, entry in header.items()
    }
    assert renamed != header
    write_raw_safetensors(tmp_path / "model.safetensors", renamed, data)
    assert Reference(tmp_path).output(IDS, SEGMENTS).tolist() == expected.tolist()


def test_defaults_of_the_configuration(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    expected = Reference(tmp_path).output(IDS, SEGMENTS)
    config = json.loads((tmp_path / "config.json").read_text())
    for key in ("hidden_act", "layer_norm_eps"):
        del config[key]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert Reference(tmp_path).output(IDS, SEGMENTS).tolist() == expected.tolist()


def test_half_precision_is_read_exactly(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "half", dtype="F16")
    write_tiny_checkpoint(tmp_path / "single")
    half, single = (Reference(tmp_path / kind).output(IDS, SEGMENTS) for kind in ("half", "single"))
    assert 0 < np.abs(half - single).max() < 0.02


def test_erf_to_double_precision() -> None:
    x = np.concatenate([np.linspace(-7, 7, 300_001), [0.0, -0.0, 1e-300, 5.99, 6.0, 1e300]])
    exact = np.array([math.erf(value) for value in x])
    assert np.abs(erf(x) - exact).max() < 4e-16
    assert (np.signbit(erf(x)) == np.signbit(x)).all()


def test_it_imports_nothing_from_the_generator() -> None:
    source = ast.parse(Path(bert.__file__).read_text())
    imported = {alias.name for node in ast.walk(source) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    outside = {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert outside == {"numpy", "functions"}  # activations in float64, the oracles' own


if __name__ == "__main__":
    import tempfile

    for name in sorted(ACTIVATIONS):
        with tempfile.TemporaryDirectory() as temporary:
            write_tiny_checkpoint(temporary, **shape_of(name))
            print(f'    "{name}": {transformers_logits(Path(temporary)).tolist()},')
    for name in POOLINGS:
        for normalized in (True, False):
            with tempfile.TemporaryDirectory() as temporary:
                write_embedding(Path(temporary), name, normalized)
                numbers = sentence_embedding(Path(temporary), name, normalized).tolist()
                print(f'    "{name}{", normalized" if normalized else ""}": {numbers},')
