# SPDX-License-Identifier: Apache-2.0
"""Apertus: what its file says of xIELU, and its angles. lower/test_generation.py has what it writes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_generation import HERE, graph_of
from tiny_checkpoint import read_raw_safetensors, write_safetensors

from codegen.errors import EtchError
from codegen.frontends.shared.xielu import softplus, trained_xielu
from codegen.ir import graph as g
from codegen.load.safetensors import TensorFile

OWN, SOURCE = "apertus/own", "model.layers.1.mlp.act_fn"


def second_layer(path: Path) -> dict[str, np.ndarray]:
    """What its activation has."""
    header, data = read_raw_safetensors(path)
    return {
        name: np.frombuffer(data[slice(*header[f"{SOURCE}.{name}"]["data_offsets"])], np.float16)
        .reshape(header[f"{SOURCE}.{name}"]["shape"])
        .astype(np.float32)
        for name in ("alpha_p", "alpha_n", "beta", "eps")
    }


def numbers_of(path: Path, changes: dict[str, float | None]) -> np.ndarray:
    """With other tensors, or without some."""
    tensors = second_layer(HERE / OWN / "model.safetensors")
    for name, value in changes.items():
        tensors[name] = np.full_like(tensors[name], value or 0)
    kept = {f"{SOURCE}.{name}": tensor for name, tensor in tensors.items() if changes.get(name, 0) is not None}
    write_safetensors(path / "model.safetensors", kept)
    return trained_xielu(TensorFile.open(path / "model.safetensors"), [SOURCE], "inner").numbers.at(0).values


def test_trained_numbers_are_behind_their_softplus(tmp_path: Path) -> None:
    """The second one lies above the linear part."""
    changes = {"alpha_p": 1.5, "alpha_n": -0.75, "beta": 0.25, "eps": -0.5}
    wanted = [math.log1p(math.exp(1.5)), 0.25 + math.log1p(math.exp(-0.75)), -0.5, 0.25]
    assert numbers_of(tmp_path, changes).tolist() == pytest.approx(wanted, rel=1e-15)


def test_a_limit_of_the_power_above_0_is_none(tmp_path: Path) -> None:
    """Above 0 the square counts."""
    assert numbers_of(tmp_path, {"eps": 0.5})[2] == 0


@pytest.mark.parametrize("x", [-700.0, -30.0, -1.0, 0.0, 3.0, 19.5])
def test_softplus(x: float) -> None:
    assert softplus(x) == pytest.approx(math.log1p(math.exp(x)), rel=1e-15, abs=1e-40)


def test_softplus_of_large_numbers_is_pytorchs() -> None:
    assert softplus(20.5) == 20.5


def test_a_file_without_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        numbers_of(tmp_path, {"eps": None})
    assert (caught.value.code, caught.value.tensor) == ("missing-tensor", f"{SOURCE}.eps")


def test_an_empty_object_of_angles_asks_for_plain_ones() -> None:
    """No object, for the library's own, which are Llama 3's; a theta beside none does not count."""

    def cosines(*without: str, **changes: Any) -> np.ndarray:
        ops = (op for op, _ in g.ops_of(graph_of(OWN, without, **changes)) if isinstance(op, g.Rotary))
        return next(ops).cosines[0].arrays[0].values

    own = cosines()
    assert np.array_equal(cosines("rope_parameters", rope_theta=500.0), own)
    assert np.array_equal(cosines(rope_parameters={}), cosines(rope_parameters={"rope_theta": 12e6}))
    assert not np.array_equal(cosines(rope_parameters={}), own)
