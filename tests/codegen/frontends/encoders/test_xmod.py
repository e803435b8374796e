# SPDX-License-Identifier: Apache-2.0
"""X-MOD's front-end: the language, where an adapter has its norm, and what is refused. test_recorded_models.py has what
its models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

LANGUAGES, PLAIN, MASKS = "xmod/languages", "xmod/plain", "masks/xmod"
ADAPTER = "roberta.encoder.layer.0.output.adapter_modules."
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "no language": (LANGUAGES, configure(default_language=None), "config-value", "en_XX, de_DE, sw_KE"),
    "a language without adapters": (LANGUAGES, configure(default_language="fr_XX"), "config-value", "'fr_XX'"),
    "languages that are none": (LANGUAGES, configure(languages="de_DE"), "config-type", "languages"),
    "an adapter of no values": (LANGUAGES, configure(adapter_reduction_factor=21), "config-out-of-range", "factor"),
    "no adapter": (LANGUAGES, rename(f"{ADAPTER}de_DE.dense1.weight", "other"), "missing-tensor", "de_DE.dense1"),
    "no second linear": (PLAIN, rename(f"{ADAPTER}de_DE.dense2.bias", "other"), "missing-tensor", "de_DE.dense2"),
    "a language that is not named": (
        LANGUAGES,
        add(f"{ADAPTER}fr_XX.dense1.bias", (10,)),
        "unused-tensor",
        "fr_XX.dense1",
    ),
    "no norm of its own": (
        PLAIN,
        rename("roberta.encoder.layer.0.output.adapter_layer_norm.weight", "other"),
        "missing-tensor",
        "adapter_layer_norm",
    ),
    "no last norm": (MASKS, rename("roberta.encoder.LayerNorm.bias", "other"), "missing-tensor", "encoder.LayerNorm"),
    "a decoder": (LANGUAGES, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "another class": (LANGUAGES, configure(architectures=["XmodForCausalLM"]), "architecture-not-supported", "Causal"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def adapter_of(path: Path) -> tuple[str | None, str]:
    """The norm of what it reads, and what it reads."""
    (layers,) = (node for node in graph_of(path).body if isinstance(node, g.Layers))
    inner = next(op for op in layers.body if isinstance(op, g.Linear) and op.name == "adapter_inner")
    norms = [op for op in layers.body if isinstance(op, g.Norm) and op.name == "adapter_norm"]
    return (norms[0].gamma.name if norms else None), inner.input


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        (LANGUAGES, ("output_norm_gamma", "hidden")),
        (PLAIN, ("adapter_norm_gamma", "normed")),
        (MASKS, ("output_norm_gamma", "normed")),
    ],
)
def test_what_adapters_read(variant: str, expected: tuple[str, str]) -> None:
    assert adapter_of(folder(variant)) == expected


def test_adapters_without_a_norm(tmp_path: Path) -> None:
    assert adapter_of(changed(LANGUAGES, configure(adapter_reuse_layer_norm=False), tmp_path)) == (None, "hidden")


@pytest.mark.parametrize(("language", "others"), [("de_DE", "en_XX, sw_KE"), ("sw_KE", "en_XX, de_DE")])
def test_the_language(language: str, others: str, tmp_path: Path) -> None:
    graph = graph_of(changed(LANGUAGES, configure(default_language=language), tmp_path))
    adapters = {array.name for parameter in g.parameters_of(graph) for array in parameter.arrays}
    assert f"{ADAPTER}{language}.dense2.weight" in adapters
    assert graph.notes[:2] == (
        f"texts are in {language} (default_language)",
        f"not used: 16 tensors of the adapters of {others}",
    )
