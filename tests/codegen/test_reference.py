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

from codegen import reference
from codegen.reference import ACTIVATIONS, Reference, erf

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
    assert np.abs(Reference(tmp_path).logits(IDS, SEGMENTS) - TRANSFORMERS[activation]).max() < 1e-12


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
    ],
    ids=str,
)
def test_logits_of_transformers(tmp_path: Path, shape: dict[str, Any]) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    write_tiny_checkpoint(tmp_path, **shape)
    assert np.abs(Reference(tmp_path).logits(IDS, SEGMENTS) - transformers_logits(tmp_path)).max() < 1e-12


def test_legacy_names_mean_the_same(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    expected = Reference(tmp_path).logits(IDS, SEGMENTS)
    header, data = read_raw_safetensors(tmp_path / "model.safetensors")
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): entry
        for name, entry in header.items()
    }
    assert renamed != header
    write_raw_safetensors(tmp_path / "model.safetensors", renamed, data)
    assert Reference(tmp_path).logits(IDS, SEGMENTS).tolist() == expected.tolist()


def test_defaults_of_the_configuration(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    expected = Reference(tmp_path).logits(IDS, SEGMENTS)
    config = json.loads((tmp_path / "config.json").read_text())
    for key in ("hidden_act", "layer_norm_eps"):
        del config[key]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert Reference(tmp_path).logits(IDS, SEGMENTS).tolist() == expected.tolist()


def test_half_precision_is_read_exactly(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "half", dtype="F16")
    write_tiny_checkpoint(tmp_path / "single")
    half, single = (Reference(tmp_path / kind).logits(IDS, SEGMENTS) for kind in ("half", "single"))
    assert 0 < np.abs(half - single).max() < 0.02


def test_erf_to_double_precision() -> None:
    x = np.concatenate([np.linspace(-7, 7, 300_001), [0.0, -0.0, 1e-300, 5.99, 6.0, 1e300]])
    exact = np.array([math.erf(value) for value in x])
    assert np.abs(erf(x) - exact).max() < 4e-16
    assert (np.signbit(erf(x)) == np.signbit(x)).all()


def test_it_imports_nothing_from_the_generator() -> None:
    source = ast.parse(Path(reference.__file__).read_text())
    imported = {alias.name for node in ast.walk(source) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    outside = {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert outside == {"numpy"}


if __name__ == "__main__":
    import tempfile

    for name in sorted(ACTIVATIONS):
        with tempfile.TemporaryDirectory() as temporary:
            write_tiny_checkpoint(temporary, **shape_of(name))
            print(f'    "{name}": {transformers_logits(Path(temporary)).tolist()},')
