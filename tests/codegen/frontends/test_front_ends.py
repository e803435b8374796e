# SPDX-License-Identifier: Apache-2.0
"""The families by model type."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codegen.frontends import FRONT_ENDS, family_of

ROOT = Path(__file__).resolve().parents[3]


def test_each_is_found_by_its_model_type() -> None:
    types = list(FRONT_ENDS)
    assert len(types) == len(set(types)) == len(FRONT_ENDS) > 100
    assert [FRONT_ENDS[model_type].MODEL_TYPE for model_type in types] == types


def test_a_family_is_an_object_or_functions_and_never_both() -> None:
    """Functions beside a `FAMILY` would be read by nobody."""
    for model_type in FRONT_ENDS:
        assert hasattr(family_of(model_type), "build_graph"), model_type
        module = vars(FRONT_ENDS[model_type])
        assert "FAMILY" not in module or module.keys().isdisjoint(("build_graph", "read_limits", "graph_of")), (
            model_type
        )


@pytest.mark.parametrize("name", ["", "Bert", "deberta_v2", "bases", "__init__", "no/such", "bert.x"])
def test_nothing_else_is_one(name: str) -> None:
    assert name not in FRONT_ENDS


def test_a_model_imports_its_own_alone() -> None:
    asked = "import sys; from codegen.frontends import FRONT_ENDS; FRONT_ENDS['mpnet']; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "codegen.frontends.encoders.mpnet" in done.stdout.split()
    assert "codegen.frontends.decoders.gpt2" not in done.stdout.split()
